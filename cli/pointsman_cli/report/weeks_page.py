"""The report as one page that needs nothing else."""

from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from string import Template

from pointsman_cli.printing import when
from pointsman_cli.report import figures, week_charts
from pointsman_cli.report.figures import Figure
from pointsman_cli.report.parts import asset, legend, plots, section
from pointsman_cli.report.weeks import Weeks


def weeks_page(told: Weeks, command: str) -> str:
    """The page as HTML."""
    from plotly.offline import get_plotlyjs

    whole, waits = list(week_charts.whole(told)), list(week_charts.by_class(told))
    costs = list(week_charts.costs(told))
    looks = zip(told.weeks, week_charts.looks(told.weeks), strict=True)
    chosen = [*figures.WHOLE, *(one for name in (*told.classes, None) for one in figures.waits(name))]
    return Template(asset("weeks.html")).substitute(
        title=escape(f"{told.queue}: week by week"),
        queue=escape(told.queue),
        at=when(told.at),
        legend="\n".join(legend(week.name, look, f"{week.days[0].day} to {week.days[-1].day}") for week, look in looks),
        whole="\n".join(section(chart, level=3) for chart in whole),
        waits="\n".join(section(chart, level=3) for chart in waits),
        costs="\n".join(section(chart, level=3) for chart in costs) or "<p>There were none.</p>",
        table=_table(told, chosen),
        command=escape(command),
        version=escape(version("pointsman")),
        figures=plots([*whole, *waits, *costs]),
        style=asset("page.css"),
        script=asset("page.js"),
        plotly=get_plotlyjs(),
    )


def _table(told: Weeks, chosen: Sequence[Figure]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("day", *(one.title for one in chosen), "Rollouts"))
    rows = []
    for beside in zip(*(week.days for week in told.weeks), strict=True):
        for one in beside:
            cells = [figure.written(one.sums) for figure in chosen]
            rows.append(_row(one.day, [*cells, figures.outcomes(one)], own=one is beside[0]))
    for week in told.weeks:
        cells = [figure.written(week.total) for figure in chosen]
        rows.append(_row(week.name, [*cells, figures.outcomes(week)], own=not week.ago))
    if len(told.weeks) > 1:
        change = [figure.change(told.weeks[0].total, told.weeks[1].total) for figure in chosen]
        rows.append(_row("change", [*change, ""], own=False))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(name: str, cells: Sequence[str], *, own: bool) -> str:
    mine = ' class="own"' if own else ""
    return f"<tr{mine}><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
