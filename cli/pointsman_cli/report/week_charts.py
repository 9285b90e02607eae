"""A report's plots: the days of the week along the axis, a line for each week."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from pointsman_cli.report.charts import OWN, Chart, Look, line, other
from pointsman_cli.report.figures import DEPTH, EVICTIONS, LOST, STARTED, UTILISATION, Figure, waits
from pointsman_cli.report.weeks import Week, Weeks


def looks(weeks: Sequence[Week]) -> list[Look]:
    """This week in blue and drawn through, those before in colours and dashes of their own."""
    return [OWN if not week.ago else other(week.ago - 1) for week in weeks]


def whole(told: Weeks) -> Iterator[Chart]:
    """The queue as a whole."""
    for figure in (UTILISATION, DEPTH, STARTED):
        form = ".0%" if figure.points else ""
        layout = _layout(told, {"rangemode": "tozero", "tickformat": form})
        yield Chart(figure.key, figure.title, figure.about, _lines(told, figure), layout)


def by_class(told: Weeks) -> Iterator[Chart]:
    """What each class waited: the mean, and thinner what nine of ten did not exceed."""
    for place, name in enumerate(told.classes):
        mean, most = waits(name)
        data = [*_lines(told, mean), *(_thin(one) for one in _lines(told, most))]
        layout = _layout(told, {"title": {"text": "hours"}, "rangemode": "tozero"})
        about = "Thick: the mean wait. Thin: nine of ten jobs waited no longer."
        yield Chart(f"waits-{place}", name, about, data, layout)


def costs(told: Weeks) -> Iterator[Chart]:
    """Evictions and what they lost, and the rollouts that ended; nothing of what there was none of."""
    for figure in (EVICTIONS, LOST):
        values = [[_value(figure, week, n) or 0.0 for n in range(len(week.days))] for week in told.weeks]
        yield from _bars(told, figure.key, figure.title, figure.about, values)
    about = "of the whole deployment; the table says how many did not succeed"
    ended = [[float(len(one.rollouts)) for one in week.days] for week in told.weeks]
    yield from _bars(told, "rollouts", "Rollouts that ended", about, ended)


def _bars(told: Weeks, key: str, title: str, about: str, values: Sequence[Sequence[float]]) -> Iterator[Chart]:
    if not any(map(any, values)):
        return
    data = [
        _bar(week.name, look, _days(told), list(each))
        for week, look, each in zip(told.weeks, looks(told.weeks), values, strict=True)
    ]
    yield Chart(key, title, about, data, _layout(told, {"rangemode": "tozero"}))


def _days(told: Weeks) -> list[str]:
    return [f"{date.fromisoformat(one.day):%a}" for one in told.weeks[0].days]


def _value(figure: Figure, week: Week, place: int) -> float | None:
    sums = week.days[place].sums
    return None if sums is None else figure.of(sums)


def _lines(told: Weeks, figure: Figure) -> list[dict[str, Any]]:
    form = ":.1%" if figure.points else ":,.2f"
    return [
        {
            **line(
                week.name,
                look,
                _days(told),
                [_value(figure, week, n) for n in range(len(week.days))],
                f"{week.name}, %{{x}}: %{{y{form}}}",
            ),
            "mode": "lines+markers",
            "marker": {"color": look.colour, "symbol": look.symbol, "size": 7},
        }
        for week, look in zip(told.weeks, looks(told.weeks), strict=True)
    ]


def _thin(trace: dict[str, Any]) -> dict[str, Any]:
    return {**trace, "mode": "lines", "line": {**trace["line"], "width": 1, "dash": "dot"}}


def _bar(name: str, look: Look, days: list[str], values: list[float]) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "x": days,
        "y": values,
        "marker": {"color": look.colour},
        "hovertemplate": f"{name}, %{{x}}: %{{y:,.1f}}<extra></extra>",
    }


def _layout(told: Weeks, yaxis: dict[str, Any]) -> dict[str, Any]:
    return {
        "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": _days(told)},
        "yaxis": yaxis,
        "hovermode": "closest",
        "height": 280,
    }
