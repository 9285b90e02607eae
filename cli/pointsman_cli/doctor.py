"""`pointsman doctor`: what is wrong with a deployment, in order of weight."""

import click
from rich.text import Text

from pointsman_cli import options
from pointsman_cli.diagnosis import Finding, Weight, diagnose
from pointsman_cli.failures import FOUND
from pointsman_cli.letters import shown
from pointsman_cli.printing import counted, print_json, say
from pointsman_cli.screen import screen

LONGEST = 1000  # characters of a sentence
COLOURS = {Weight.ERROR: "red", Weight.WARNING: "yellow"}


@click.command(short_help="What is wrong with a deployment, the worst first.")
@click.option("--queue", metavar="NAME", help="Look at this queue only, and at what all queues share.")
@options.as_json
@options.deployed
@click.pass_context
def doctor(ctx: click.Context, queue: str | None, as_json: bool) -> None:
    """Look at rules, queues, policies, alarms, leases, clocks, permissions, dead letters and rollouts.

    It changes nothing. What it may not read it names, and goes on. Exits with 1 when there is an error.
    """
    with options.examiner(ctx) as found:
        findings = diagnose(found.examine(queue))
    if as_json:
        print_json({"findings": [shape(finding) for finding in findings]})
    else:
        _print(findings)
    ctx.exit(FOUND if any(finding.weight is Weight.ERROR for finding in findings) else 0)


def shape(finding: Finding) -> dict[str, str]:
    """A finding for scripts."""
    return {
        "weight": finding.weight.name.lower(),
        "place": finding.place,
        "what": finding.what,
        "remedy": finding.remedy,
    }


def _print(findings: tuple[Finding, ...]) -> None:
    out = screen()
    for finding in findings:
        label = Text(f"{finding.weight.name.lower():7}", COLOURS.get(finding.weight, ""))
        out.print(label, f"{shown(finding.place)}: {shown(finding.what, LONGEST)}", soft_wrap=True)
        say(f"        {shown(finding.remedy, LONGEST)}")
    counts = [sum(finding.weight is weight for finding in findings) for weight in Weight]
    words = [counted(count, weight.name.lower()) for count, weight in zip(counts, Weight, strict=True) if count]
    say(", ".join(words) if words else "all is well")
