"""`pointsman demo lending`: what idle quota is worth when it is lent."""

from collections.abc import Iterator
from typing import Any

import click

from pointsman_cli import options
from pointsman_cli.demo.scenario import DEMO_SEED
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen, table
from pointsman_simulator.lending import AFTER, BEFORE, DEMAND, QUOTA, Lent, delays, lent
from pointsman_simulator.measures import Run, utilisation


class Seeds(click.ParamType[range]):
    """`1-20`, both ends played; or one number."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """The seeds in order."""
        first, _, last = str(value).partition("-")
        try:
            seeds = range(int(first), int(last or first) + 1)
        except ValueError:
            self.fail(f"{value} is not a range of seeds; write 1-20", param, ctx)
        if not seeds:
            self.fail(f"{value} is empty; write the lower seed first, as in 1-20", param, ctx)
        return seeds


@click.command(short_help="What idle quota is worth when it is lent.")
@click.option("--seed", type=click.IntRange(0), default=DEMO_SEED, show_default=True, help="Of the generated week.")
@click.option("--seeds", type=Seeds(), metavar="A-B", help="Play these weeks, one line each, instead of one by team.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.debugged
def lending(seed: int, seeds: range | None, as_json: bool) -> None:
    """Play a week of nine teams' jobs twice: in quota shares that RESERVE, and in the same that LEND_AND_BORROW.

    Exits with 1 when a promise is broken: at most 50 % of the capacity in use before, at least 80 % after, and no
    team waits longer on average.
    """
    plays = map(lent, seeds or [seed])
    if as_json:
        weeks = [shape(one) for one in plays]
        print_json({"weeks": weeks})
        failed = any(week["broken"] for week in weeks)
    else:
        failed = _say_each(plays) if seeds else _say_one(next(plays))
    if failed:
        raise SystemExit(1)


def shape(one: Lent) -> dict[str, Any]:
    """One week as JSON; waits in hours."""
    before, after = delays(one.before), delays(one.after)
    return {
        "seed": one.seed,
        "jobs": len(one.week.jobs),
        "capacity": one.week.capacity,
        "load": one.week.load,
        "in_use": {"before": utilisation(one.before), "after": utilisation(one.after)},
        "teams": [
            {
                "team": team,
                "quota": QUOTA,
                "jobs": sum(job.team == team for job in one.week.jobs),
                "gpu_hours": _work(one, team),
                "wait_hours": {"before": before[team], "after": after[team]},
                "evicted": _evictions(one.after, team),
                "lost_gpu_hours": _lost(one.after, team),
            }
            for team in DEMAND
        ],
        "evictions": _evictions(one.after),
        "lost_gpu_hours": _lost(one.after),
        "broken": list(one.broken),
    }


def _work(one: Lent, team: str) -> float:
    return sum(job.seconds * job.gpus for job in one.week.jobs if job.team == team) / 3600


def _evictions(run: Run, team: str | None = None) -> int:
    return sum(job.evictions for job in run.jobs if team in (None, job.team))


def _lost(run: Run, team: str | None = None) -> float:
    return sum(job.lost * job.instances for job in run.jobs if team in (None, job.team)) / 3600


def _say_one(one: Lent) -> bool:
    facts, out = shape(one), screen()
    out.print(
        f"A week of {facts['jobs']} jobs on {facts['capacity']} one-GPU instances, {QUOTA} owned by each of "
        f"{len(DEMAND)} teams; the work offered is {facts['load']:.0%} of what they can do (seed {one.seed})."
    )
    columns = ("team", "jobs", "GPU-hours", "of its quota", "waits: RESERVE", "LEND_AND_BORROW", "evicted", "lost")
    hours = one.week.seconds / 3600
    rows = [
        (
            team["team"],
            team["jobs"],
            f"{team['gpu_hours']:,.0f}",
            f"{team['gpu_hours'] / (QUOTA * hours):.0%}",
            f"{team['wait_hours']['before']:.2f}",
            f"{team['wait_hours']['after']:.2f}",
            team["evicted"],
            f"{team['lost_gpu_hours']:.0f}",
        )
        for team in facts["teams"]
    ]
    out.print(table(columns, rows, right=columns[1:]))
    use = facts["in_use"]
    out.print(f"Mean capacity in use: {use['before']:.1%} with RESERVE, {use['after']:.1%} with LEND_AND_BORROW.")
    out.print(
        f"{facts['evictions']} borrowers were evicted for owners; {facts['lost_gpu_hours']:.0f} GPU-hours ran twice."
    )
    out.print("Mean hours waited; run time that was repeated after an eviction counts as waited.")
    return _say_broken(facts)


def _say_each(plays: Iterator[Lent]) -> bool:
    out = screen()
    failed, count = False, 0
    for one in plays:
        facts = shape(one)
        use = facts["in_use"]
        sooner = min(team["wait_hours"]["before"] - team["wait_hours"]["after"] for team in facts["teams"])
        out.print(
            f"seed {one.seed:>3}: load {facts['load']:.2f}, in use {use['before']:.1%} -> {use['after']:.1%}; the team "
            f"that gains least waits {_gain(sooner)}; {facts['evictions']} evicted, "
            f"{facts['lost_gpu_hours']:.0f} GPU-hours lost"
        )
        failed |= _say_broken(facts)
        count += 1
    if not failed:
        out.print(f"All {count}: {BEFORE:.0%} at most before, {AFTER:.0%} at least after, no team waits longer.")
    return failed


def _gain(hours: float) -> str:
    return f"{hours:.1f} h less" if hours >= 0 else f"{-hours * 3600:.0f} s longer"


def _say_broken(facts: dict[str, Any]) -> bool:
    for sentence in facts["broken"]:
        screen().print(f"BROKEN: {sentence}.")
    return bool(facts["broken"])
