"""`python -m bench.pictures FOLDER`: the pictures of the docs, from days on the emulator; it takes minutes.

The report is what `pointsman report --html` writes of two weeks; in the first the queue only observes. The dashboard is
the template's own, drawn by plotly from what the emulator's CloudWatch holds after a day; CloudWatch draws otherwise.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends
from plotly.offline import get_plotlyjs

from pointsman.policy_documents import stored_policy
from pointsman.queues.days import day_of
from pointsman_cli.demo.day import Stage, opened
from pointsman_cli.demo.scenario import DAY, DEMO_SEED, QUEUE, ROOT, Scenario, demo_day
from pointsman_cli.report.weeks import ended_since, first_day, weeks_of
from pointsman_cli.report.weeks_page import weeks_page
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_simulator.workload import generate

DAYS, WEEKS = 14, 2
BUCKET = 300.0  # seconds, the period of the dashboard
SEARCH = re.compile(r"SEARCH\('\{(?P<names>[^}]*)\} MetricName=\"(?P<metric>\w+)\"', '(?P<stat>\w+)', \d+\)")
STATS: Mapping[str, Callable[[list[float]], float]] = {"Sum": sum, "Maximum": max, "Average": fmean}
Series = dict[tuple[str, str, tuple[tuple[str, str], ...]], dict[float, list[float]]]


def _scenario() -> Scenario:
    return demo_day(DEMO_SEED, None, ROOT / "examples" / "policy.yaml", 1.0, ROOT / "template.yaml")


def _fortnight() -> Scenario:
    one = _scenario()
    jobs = [
        replace(job, submit=job.submit + day * DAY, name=f"{job.name}-{day}")
        for day in range(DAYS)
        for job in generate(DEMO_SEED + day)
        if job.instances <= one.capacity
    ]
    return replace(one, jobs=tuple(jobs), drift=None)


def report() -> str:
    """The page of two weeks."""
    with opened(_fortnight()) as stage:
        control, document = stage.wiring.control, stage.scenario.document
        control.put_policy(QUEUE, json.dumps({**document, "mode": "observe"}), stage.aws.now, "demo")
        acting = partial(control.put_policy, QUEUE, json.dumps(document), stage.start + DAYS / 2 * DAY, "demo")
        stage.aws.at(stage.start + DAYS / 2 * DAY, acting)
        for day in range(1, DAYS + 1):
            stage.aws.run(stage.start + day * DAY - 60)
            print(f"day {day} of {DAYS}", file=sys.stderr)  # noqa: T201 - it takes minutes
        now, stored = stage.aws.now, control.policy(QUEUE)
        assert stored is not None  # noqa: S101 - it was put above
        named = [one.name for one in stored_policy(stored.document).classes]
        first = first_day(now, WEEKS)
        days = stage.wiring.days.days(QUEUE, first, day_of(now))
        told = weeks_of(QUEUE, now, WEEKS, named, days, ended_since(stage.wiring.rollouts, first))
        return weeks_page(told, f"pointsman report {QUEUE} --stack pointsman --html report.html")


@dataclass(frozen=True, slots=True)
class _Dashboard:
    """The dashboard's widgets, and what CloudWatch holds, by namespace, metric and dimensions."""

    widgets: list[dict[str, Any]]
    series: Series
    start: float


def dashboard() -> str:
    """A page that looks like the dashboard after a day."""
    with opened(_scenario()) as stage:
        stage.aws.run(stage.start + DAY)
        return _drawn(_Dashboard(_widgets(stage), _series(), stage.start))


def _widgets(stage: Stage) -> list[dict[str, Any]]:
    found = stage.aws.client("cloudwatch").list_dashboards()["DashboardEntries"]
    body = stage.aws.client("cloudwatch").get_dashboard(DashboardName=found[0]["DashboardName"])["DashboardBody"]
    widgets: list[dict[str, Any]] = json.loads(body)["widgets"]
    return widgets


def _series() -> Series:
    series: Series = defaultdict(lambda: defaultdict(list))
    held: Any = cloudwatch_backends[ACCOUNT][REGION].metric_data
    for datum in held:
        dimensions = tuple(sorted((one.name, one.value) for one in datum.dimensions))
        at = datum.timestamp.timestamp() // BUCKET * BUCKET
        series[datum.namespace, datum.name, dimensions][at].append(float(datum.value))
    return series


def _lines(board: _Dashboard, widget: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for metric in widget["metrics"]:
        if isinstance(metric[0], dict):
            wanted = SEARCH.match(metric[0]["expression"])
            if wanted is None:
                continue
            namespace, *names = wanted["names"].split(",")
            for (where, name, dimensions), points in sorted(board.series.items()):
                if (where, name, sorted(names)) == (namespace, wanted["metric"], [key for key, _ in dimensions]):
                    of = next((value for key, value in dimensions if key == "class"), "")
                    yield _line(board, f"{name} {of}".strip(), points, wanted["stat"])
        else:
            namespace, name, *rest = metric
            dimensions = tuple(sorted(zip(rest[::2], rest[1::2], strict=False)))
            points = board.series.get((namespace, name, dimensions), {})
            yield _line(board, name, points, widget.get("stat", "Average"))


def _line(board: _Dashboard, name: str, points: Mapping[float, list[float]], stat: str) -> dict[str, Any]:
    times = sorted(points)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [(at - board.start) / 3600 for at in times],
        "y": [STATS[stat](points[at]) for at in times],
        "line": {"width": 1.3},
    }


def _drawn(board: _Dashboard) -> str:
    cells, plots = [], []
    for number, widget in enumerate(board.widgets):
        asked = widget["properties"]
        place = f"grid-column: {widget['x'] + 1} / span {widget['width']};"
        place += f"grid-row: {widget['y'] + 1} / span {widget['height']}"
        if widget["type"] == "text":
            cells.append(f'<h2 style="{place}">{escape(asked["markdown"].lstrip("# "))}</h2>')
            continue
        if widget["type"] != "metric":
            continue
        cells.append(
            f'<div class="cell" style="{place}"><b>{escape(asked["title"])}</b><div id="p{number}"></div></div>'
        )
        layout = {"margin": {"l": 36, "r": 8, "t": 4, "b": 22}, "height": 190, "font": {"size": 10},
                  "legend": {"orientation": "h", "y": -0.15, "font": {"size": 9}}}  # fmt: skip
        told = json.dumps([list(_lines(board, asked)), layout]).replace("<", "\\u003c")
        plots.append(f'Plotly.newPlot("p{number}", ...{told}, {{staticPlot: true}});')
    style = (
        "body{margin:8px;font:13px system-ui,sans-serif;background:#f2f3f3}h2{margin:4px 0 0;font-size:15px}"
        ".board{display:grid;grid-template-columns:repeat(24,1fr);grid-auto-rows:38px;gap:4px}"
        ".cell{background:#fff;border:1px solid #d5dbdb;padding:6px;overflow:hidden}"
    )
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style><script>{get_plotlyjs()}</script>'
        f'<div class="board">{"".join(cells)}</div><script>{"".join(plots)}</script>'
    )


def _photograph(html: str, picture: Path, size: str) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        raise SystemExit("chromium is missing")
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   f"--user-data-dir={folder}/profile", f"--window-size={size}", "--virtual-time-budget=20000",
                   f"--screenshot={picture.resolve()}", page.as_uri()]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - ours


if __name__ == "__main__":
    place = Path(sys.argv[1])
    wanted = sys.argv[2:] or ["dashboard", "report"]
    if "dashboard" in wanted:
        _photograph(dashboard(), place / "dashboard.png", "1400,1960")
    if "report" in wanted:
        (place / "report.html").write_text(text := report(), encoding="utf-8")
        _photograph(text, place / "report.png", "1240,2000")
