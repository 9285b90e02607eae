"""What every page is made of."""

import json
from html import escape
from importlib.resources import files
from typing import Any

from pointsman_cli.report.charts import Chart, Look

DASH = {
    "solid": "",
    "dash": "7 4",
    "dot": "2 3",
    "dashdot": "7 3 2 3",
    "longdash": "11 4",
    "longdashdot": "11 3 2 3",
}


def asset(name: str) -> str:
    """A file of this folder."""
    return (files("pointsman_cli.report") / name).read_text(encoding="utf-8")


def plots(charts: list[Chart]) -> str:
    """The plots, for the script that draws them."""
    return as_json({chart.key: {"data": chart.data, "layout": chart.layout} for chart in charts})


def as_json(value: Any) -> str:
    """As it may stand in a script of a page."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def section(chart: Chart, level: int = 2) -> str:
    """Where a plot is drawn, with its words."""
    title = escape(chart.title)
    return (
        f'<section class="chart"><h{level}>{title}</h{level}><p>{escape(chart.about)}</p>'
        f'<div class="plot" id="{chart.key}" role="img" aria-label="{title}"></div></section>'
    )


def legend(name: str, look: Look, about: str) -> str:
    """A line of the legend."""
    return (
        f'<li><svg width="34" height="10" aria-hidden="true"><line x1="0" y1="5" x2="34" y2="5" stroke="{look.colour}" '
        f'stroke-width="{look.width}" stroke-dasharray="{DASH[look.dash]}"/></svg><b>{escape(name)}</b> '
        f"<span>{escape(about)}</span></li>"
    )
