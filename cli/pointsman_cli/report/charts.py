"""Plots as plotly's own JSON. Colours of text and grid are the page's: it has a light and a dark side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from pointsman_simulator.measures import Run, waits
from pointsman_simulator.replay import Replay
from pointsman_simulator.series import buckets, depth, distribution, in_use

OURS = "#0072b2"
COLOURS = ("#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f", "#a05195", "#44aa99", "#882255")
"""Okabe and Ito's set without the yellow that white swallows, and five more of their kind; blue is the policy's own."""
DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = (
    "square",
    "diamond",
    "triangle-up",
    "x",
    "star",
    "cross",
    "triangle-down",
    "hexagon",
    "pentagon",
    "star-square",
)
TIMES = "\N{MULTIPLICATION SIGN}"
MINUTE = 1 / 60
DAY = 86400.0
SPREAD = 20.0
"""From this ratio of the largest to the least on, an axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one run is drawn, in every plot."""

    colour: str
    dash: str
    width: float
    symbol: str


OWN = Look(OURS, "solid", 3.0, "circle")


@dataclass(frozen=True, slots=True)
class Chart:
    """One plot: what it says, in words first; `layout` and `data` are plotly's."""

    key: str
    title: str
    about: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def looks(runs: Sequence[Run], own: str) -> dict[str, Look]:
    """Our run in blue and drawn through, the others in colours and dashes of their own."""
    found: dict[str, Look] = {}
    for run in runs:
        found[run.name] = OWN if run.name == own else other(len(found) - (own in found))
    return found


def other(place: int) -> Look:
    """How what stands beside our own is drawn."""
    return Look(COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)], 1.8, SYMBOLS[place % len(SYMBOLS)])


def frontier(
    runs: Sequence[Run], own: Sequence[tuple[float, Run]], first: str, look: Mapping[str, Look]
) -> tuple[Chart, Chart]:
    """What a longer head start buys the first class, and what it costs who waits longest: among others, and alone."""
    line = [(factor, *_place(run, first)) for factor, run in own]
    ours = {run.name for _, run in own}
    others = [run for run in runs if run.name not in ours and any(job.job_class == first for job in run.jobs)]
    places = {run.name: _place(run, first) for run in others}
    most = max(x for x, _ in [*places.values(), *((x, y) for _, x, y in line)])
    points = [_point(name, *place, most, look[name]) for name, place in places.items()]
    among = _own_line(line, ["your policy" if factor == 1 else "" for factor, _, _ in line], "bottom center")
    labels = _marked([f"{TIMES}{factor:g}" for factor, _, _ in line], line)
    alone = _own_line(line, labels, _turns([x for _, x, _ in line]))
    return (
        Chart("frontier", "Beside the queue without it", "The large dot is the policy as it is.", [among, *points],
              _plane(first, [among, *points])),
        Chart("frontier-own", "The same line, closer", "Its head starts times 0, ½, 1, 2, 4.",
              [alone], _plane(first, [alone])),
    )  # fmt: skip


def _own_line(line: Sequence[tuple[float, float, float]], labels: list[str], places: str | list[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "name": "your policy",
        "x": [x for _, x, _ in line],
        "y": [y for _, _, y in line],
        "text": labels,
        "textposition": places,
        "line": {"color": OURS, "width": 2},
        "marker": {"color": OURS, "size": [15 if factor == 1 else 9 for factor, _, _ in line]},
        "customdata": [f"head starts {TIMES}{factor:g}" for factor, _, _ in line],
        "hovertemplate": "%{customdata}<br>%{x:.2f} h mean, %{y:.1f} h worst<extra></extra>",
    }


def _plane(first: str, data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "xaxis": _axis(f"mean wait of {first}, hours", [x for trace in data for x in trace["x"]]),
        "yaxis": _axis("worst wait of any job, hours", [y for trace in data for y in trace["y"]]),
        "hovermode": "closest",
        "height": 400,
    }


def _marked(labels: list[str], line: Sequence[tuple[float, float, float]]) -> list[str]:
    """Points that lie on one another share one label, that of the first."""
    seen: dict[tuple[float, float], int] = {}
    for place, (_, x, y) in enumerate(line):
        first = seen.setdefault((round(x, 3), round(y, 3)), place)
        if first != place:
            labels[first] += f" {labels[place]}"
            labels[place] = ""
    return labels


def _turns(xs: Sequence[float]) -> list[str]:
    """Where the labels go, so that neighbours along the axis do not lie on one another."""
    order = sorted(range(len(xs)), key=xs.__getitem__)
    return [("top center", "bottom center")[order.index(place) % 2] for place in range(len(xs))]


def _point(name: str, x: float, y: float, most: float, look: Look) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": [x],
        "y": [y],
        "text": [name],
        "textposition": "middle left" if x > 0.7 * most else "middle right",
        "marker": {"color": look.colour, "size": 11, "symbol": look.symbol},
        "hovertemplate": f"{name}<br>%{{x:.2f}} h mean, %{{y:.1f}} h worst<extra></extra>",
    }


def _place(run: Run, first: str) -> tuple[float, float]:
    """The mean wait of a class, and the longest of any job, in hours."""
    return waits([job for job in run.jobs if job.job_class == first])["mean"], waits(run.jobs)["max"]


def use_over_time(runs: Sequence[Run], look: Mapping[str, Look]) -> Chart:
    """How much of the pool runs jobs."""
    return Chart(
        "use",
        "GPUs in use over time",
        "The part of the pool that running jobs hold.",
        _over_time(runs, look, {run.name: in_use(run) for run in runs}, "%{y:.0%}"),
        {
            "xaxis": _time(runs[0].window),
            "yaxis": {"title": {"text": "of the pool"}, "tickformat": ".0%", "rangemode": "tozero"},
            "hovermode": "x unified",
            "height": 340,
        },
    )


def depth_over_time(runs: Sequence[Run], look: Mapping[str, Look]) -> Chart:
    """How many jobs wait."""
    return Chart(
        "depth",
        "Jobs waiting over time",
        "Jobs submitted or evicted, and not running. Letting small jobs pass leaves fewer, not less work.",
        _over_time(runs, look, {run.name: depth(run) for run in runs}, "%{y:.0f}"),
        {
            "xaxis": _time(runs[0].window),
            "yaxis": {"title": {"text": "jobs"}, "rangemode": "tozero"},
            "hovermode": "x unified",
            "height": 340,
        },
    )


def _over_time(
    runs: Sequence[Run], look: Mapping[str, Look], series: Mapping[str, list[float]], shown: str
) -> list[dict[str, Any]]:
    window = runs[0].window
    _, unit = _unit(window)
    count = buckets(window)
    times = [round((place + 0.5) * window / count / unit, 4) for place in range(count)]
    return [
        line(run.name, look[run.name], times, [round(value, 4) for value in series[run.name]], f"{run.name} {shown}")
        for run in runs
    ]


def line(name: str, look: Look, x: Sequence[float | str], y: Sequence[float | None], hover: str) -> dict[str, Any]:
    """One line of a plot."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": look.colour, "dash": look.dash, "width": look.width},
        "hovertemplate": f"{hover}<extra></extra>",
    }


def waits_by_class(
    replay: Replay, runs: Sequence[Run], classes: Sequence[str], look: Mapping[str, Look]
) -> Iterator[Chart]:
    """How long the jobs of each class wait, as a distribution."""
    for place, name in enumerate(classes):
        data = []
        for run in runs:
            jobs = [job for job in run.jobs if job.job_class == name]
            if jobs:
                hours, parts = distribution(jobs)
                shown = [round(max(hour, MINUTE), 4) for hour in hours]
                data.append(line(run.name, look[run.name], shown, parts, f"{run.name} %{{y:.0%}} within %{{x:.2f}} h"))
        count = sum(job.job_class == name for job in replay.jobs)
        longest = max((trace["x"][-1] for trace in data), default=1.0)
        yield Chart(
            f"waits-{place}",
            name,
            f"{count:,} jobs",
            data,
            {
                "xaxis": {
                    "title": {"text": "waited at most"},
                    "type": "log",
                    "range": [-1.9, 0.1 + log10(max(longest, 1.0))],
                    "tickvals": [MINUTE, 10 * MINUTE, 1, 10, 100, 1000],
                    "ticktext": ["1 min", "10 min", "1 h", "10 h", "100 h", "1000 h"],
                },
                "yaxis": {"title": {"text": "of the jobs"}, "tickformat": ".0%", "range": [0, 1.03]},
                "hovermode": "closest",
                "height": 300,
            },
        )


def evictions(runs: Sequence[Run], look: Mapping[str, Look]) -> list[Chart]:
    """What evictions there were, and what they cost; nothing where there were none."""
    told = {run.name: sum(job.evictions for job in run.jobs) for run in runs}
    lost = {run.name: sum(job.lost * job.instances for job in run.jobs) / 3600 for run in runs}
    if not any(told.values()):
        return []
    return [
        _bars("evictions", "Evictions", "how often a job was stopped for another", told, look, ",.0f"),
        _bars(
            "lost", "GPU-hours that ran twice", "work since the last checkpoint, and the restart", lost, look, ",.1f"
        ),
    ]


def _bars(key: str, title: str, about: str, values: Mapping[str, float], look: Mapping[str, Look], form: str) -> Chart:
    names = list(values)[::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [values[name] for name in names],
        "y": names,
        "text": [format(values[name], form) for name in names],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": [look[name].colour for name in names]},
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }
    layout = {
        "xaxis": {"range": [0, 1.15 * (max(values.values()) or 1)]},
        "yaxis": {"automargin": True},
        "height": 90 + 34 * len(names),
        "hovermode": "closest",
    }
    return Chart(key, title, about, [trace], layout)


def _unit(window: float) -> tuple[str, float]:
    return ("days", DAY) if window > 3 * DAY else ("hours", 3600.0)


def _time(window: float) -> dict[str, Any]:
    name, unit = _unit(window)
    return {"title": {"text": f"{name} after the window's start"}, "range": [0, window / unit]}


def _axis(title: str, values: Sequence[float]) -> dict[str, Any]:
    """Room for all values, and a tenth of the largest at least: small differences are not to look like large ones."""
    least, most = min(values), max(values)
    if least > 0 and most / least > SPREAD:
        room = 0.12 * log10(most / least)
        return {"title": {"text": title}, "type": "log", "range": [log10(least) - room, log10(most) + room], "dtick": 1}
    spread = max(most - least, 0.1 * most, 0.01)
    middle = (least + most) / 2
    return {"title": {"text": title}, "range": [max(-0.02 * spread, middle - 0.65 * spread), middle + 0.65 * spread]}
