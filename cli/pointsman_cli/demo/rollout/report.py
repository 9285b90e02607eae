"""What `pointsman demo rollout` prints for people."""

from rich.console import Console

from pointsman_cli.demo.rollout.executions import stays
from pointsman_cli.demo.rollout.result import Result
from pointsman_cli.demo.rollout.scenario import Scenario
from pointsman_cli.screen import table

GOOD = frozenset({"SUCCEEDED"})


def say(out: Console, scenario: Scenario, result: Result) -> None:
    """The line of time, then what it came to."""
    out.print(f"{scenario.name}: {scenario.about}", style="bold")
    out.print()
    for execution in result.executions:
        out.print(f"execution {execution.name}  {execution.status}  {execution.error}".rstrip(), style="bold")
        if execution.cause:
            out.print(f"because   {execution.cause}")
        out.print()
        waits = [
            (it.event, _clock(it.at - result.started), it.state, it.waits, it.how) for it in stays(execution.events)
        ]
        out.print(table(("event", "at", "state", "times", "how it ended"), waits, right=("event", "at", "times")))
        out.print()
    rows = [(_clock(line.at - result.started), line.what, line.why) for line in result.timeline]
    out.print(table(("at", "what", "why"), rows, right=("at",)))
    out.print()
    out.print(f"outcome   {result.outcome}", style="green" if result.outcome in GOOD else "yellow")
    if result.cause:
        out.print(f"because   {result.cause}")
    out.print(f"copies    {result.lowest_serving} of {result.wanted_copies} served at the lowest")
    lost = f"{result.lost} lost, {result.failed} answered with an error"
    out.print(f"requests  {result.requests}: {lost}", style="default" if not result.lost else "red")
    for fault in result.faults:
        out.print(f"fault     {fault}", style="red")


def _clock(seconds: float) -> str:
    """Seconds after the request, as a clock shows them.

    >>> _clock(3725.0)
    '1:02:05'
    """
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
