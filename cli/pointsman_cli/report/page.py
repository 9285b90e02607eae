"""One page that needs nothing else: the plots, the figures as a table, the command, and what they do not mean."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from string import Template

from pointsman.queues.policy import Policy
from pointsman_cli.report import charts
from pointsman_cli.report.charts import TIMES
from pointsman_cli.report.parts import asset, legend, plots, section
from pointsman_simulator.measures import Run, figures
from pointsman_simulator.replay import Replay

ABOUT = {
    "fifo_strict": "Batch without a scheduling policy: the head of the line, and nobody before it",
    "fifo_skip": "first come, first served among those that fit (Batch does not offer it)",
    "pools_equal": "a pool for each team, all of one size",
    "pools_demand": "a pool for each team, sized by what it will ask for (hindsight)",
    "fair_static": "Batch's fair share with equal weights for teams",
    "class_strict": "priority by class, set once at submission",
    "sesf": "least expected work first (Batch does not offer it)",
    "sjf_oracle": "least work first, with run times known (hindsight)",
    "pointsman": "Pointsman under the policy, in a fair-share queue",
    "pointsman_quota": "Pointsman under the policy, in a quota share, with evictions",
    "pointsman_quota_youngest": "the same, but the youngest is evicted first",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page shows: the runs, and the policy's own (`own`) under several head starts."""

    command: str
    replay: Replay
    policy: Policy
    own: str
    runs: tuple[Run, ...]
    frontier: tuple[tuple[float, Run], ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that have jobs, in the policy's order."""
        return tuple(one.name for one in self.policy.classes if one.name in self.replay.classes)


def page(facts: Facts) -> str:
    """The page as HTML."""
    from plotly.offline import get_plotlyjs

    look = charts.looks(facts.runs, facts.own)
    first = list(charts.frontier(facts.runs, facts.frontier, facts.classes[0], look))
    waits = list(charts.waits_by_class(facts.replay, facts.runs, facts.classes, look))
    evicted = charts.evictions(facts.runs, look)
    times = [charts.use_over_time(facts.runs, look), charts.depth_over_time(facts.runs, look)]
    replay = facts.replay
    return Template(asset("page.html")).substitute(
        title=escape(f"Policy of {facts.policy.queue}, tried"),
        queue=escape(facts.policy.queue),
        jobs=f"{len(replay.jobs):,}",
        teams=f"{len(replay.teams):,}",
        work=f"{replay.gpu_seconds / 3600:,.0f}",
        capacity=f"{replay.capacity:,}",
        span=_span(replay.window),
        load=f"{replay.gpu_seconds / (replay.capacity * replay.window):.0%}",
        left_out=f"; {replay.left_out:,} larger than the pool are left out" if replay.left_out else "",
        legend="\n".join(legend(run.name, look[run.name], ABOUT.get(run.name, "")) for run in facts.runs),
        first=escape(facts.classes[0]),
        frontier="\n".join(section(chart, level=3) for chart in first),
        waits="\n".join(section(chart, level=3) for chart in waits),
        times="\n".join(map(section, times)),
        evictions="\n".join(section(chart, level=3) for chart in evicted) or "<p>No run evicted a job.</p>",
        table=_table(facts),
        head_starts=escape(_head_starts(facts.policy)),
        command=escape(facts.command),
        version=escape(version("pointsman")),
        figures=plots([*first, *waits, *evicted, *times]),
        style=asset("page.css"),
        script=asset("page.js"),
        plotly=get_plotlyjs(),
    )


def _head_starts(policy: Policy) -> str:
    return ", ".join(f"{one.name} {one.head_start / 3600:g} h" for one in policy.classes)


def _table(facts: Facts) -> str:
    names = [*facts.classes, "all"]
    heads = ["run", *(f"{name}, mean" for name in names), "95th percentile", "worst", "16 GPUs and more", "time to end",
             "in use", "evictions", "GPU-hours lost", "writes a job"]  # fmt: skip
    rows = [_row(run.name, run, facts, names) for run in facts.runs]
    rows += [
        _row(f"{facts.own}, head starts {TIMES}{factor:g}", run, facts, names)
        for factor, run in facts.frontier
        if factor != 1
    ]
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(name: str, run: Run, facts: Facts, names: Sequence[str]) -> str:
    one = figures(run, facts.replay.gpu_seconds)
    hours = one["wait_hours"]
    cells: Iterable[str] = (
        *(_hours(hours.get(each, {}).get("mean")) for each in names),
        _hours(hours["all"]["p95"]),
        _hours(hours["all"]["max"]),
        _hours(one["big_wait_hours"]["mean"]),
        _hours(one["jct_hours"]["mean"]),
        f"{one['utilisation']:.1%}",
        f"{one['evictions']:,}",
        f"{one['lost_gpu_hours']:,.1f}",
        f"{one['api']['update'] / one['jobs']:.2f}",
    )
    mine = ' class="own"' if name == facts.own else ""
    name += f" (without {one['jobs'] - one['finished']} jobs that fit no pool)" if one["finished"] < one["jobs"] else ""
    return f"<tr{mine}><th>{escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _span(seconds: float) -> str:
    return f"{seconds / 3600:,.0f} hours" if seconds < 2 * charts.DAY else f"{seconds / charts.DAY:,.3g} days"


def _hours(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
