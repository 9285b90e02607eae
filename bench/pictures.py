"""`python -m bench.pictures FOLDER [report] [dashboard]`: the pictures of the docs.

The report is the page of `pointsman report --html` for two weeks in the simulator with the same jobs. The dashboard is
the template's own, drawn by plotly from what the emulator's CloudWatch holds after a day; CloudWatch draws otherwise.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends
from plotly.offline import get_plotlyjs

from pointsman.queues.day_sums import ClassSums, DaySums
from pointsman.queues.days import Day, day_of
from pointsman_cli.checkout import shipped
from pointsman_cli.demo.day import START, Stage, opened
from pointsman_cli.demo.scenario import DAY, DEMO_SEED, QUEUE, Scenario, demo_day
from pointsman_cli.report.weeks import weeks_of
from pointsman_cli.report.weeks_page import weeks_page
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.alarm_values import Series, SeriesKey
from pointsman_simulator.baselines import fifo_strict
from pointsman_simulator.measures import Run
from pointsman_simulator.replay import Replay, World
from pointsman_simulator.steered import pointsman
from pointsman_simulator.workload import DEMO_CAPACITY, generate

WEEK = 7  # days
BUCKET = 300.0  # seconds, the period of the dashboard
SEARCH = re.compile(r"SEARCH\('\{(?P<names>[^}]*)\} MetricName=\"(?P<metric>\w+)\"', '(?P<stat>\w+)', \d+\)")


def _scenario() -> Scenario:
    return demo_day(DEMO_SEED, None, shipped("examples/policy.yaml"), 1.0, shipped("template.yaml"))


def _week() -> Replay:
    jobs = [
        replace(job, submit=job.submit + day * DAY, name=f"{job.name}-{day}")
        for day in range(WEEK)
        for job in generate(DEMO_SEED + day)
        if job.instances <= DEMO_CAPACITY
    ]
    return Replay(tuple(jobs), 0, DEMO_CAPACITY, WEEK * DAY)


def _summed(run: Run, start: float) -> Iterator[Day]:
    """The days of a simulated week, as passes would have summed them up."""
    for number in range(WEEK):
        begins, ends = number * DAY, (number + 1) * DAY
        busy = sum(_within(one.instances, span, begins, ends) for one in run.jobs for span in one.spans)
        waits = sum(_within(1, (one.submitted, one.spans[0][0]), begins, ends) for one in run.jobs)
        sums = DaySums(seen=DAY, capacity=run.capacity * DAY, held=busy, working=busy, gpus=busy, waiting=waits)
        for one in run.jobs:
            if begins <= one.spans[0][0] < ends:
                sums = sums.of_class(one.job_class, ClassSums().with_start(one.spans[0][0] - one.submitted))
        yield Day(QUEUE, day_of(start + begins), sums)


def _within(size: float, span: tuple[float, float], begins: float, ends: float) -> float:
    return size * max(0.0, min(span[1], ends) - max(span[0], begins))


def report() -> str:
    """The page of two weeks with the same jobs: first come, first served, and then the example's policy."""
    policy, replay, start = _scenario().policy, _week(), START.timestamp()
    before = _summed(fifo_strict(replay), start)
    now = _summed(pointsman(replay, World(), policy), start + WEEK * DAY)
    named = [one.name for one in policy.classes]
    told = weeks_of(QUEUE, start + 2 * WEEK * DAY - 60, 2, named, [*before, *now], [])
    return weeks_page(told, f"pointsman report {QUEUE} --stack pointsman --html report.html")


@dataclass(frozen=True, slots=True)
class _Dashboard:
    """The dashboard's widgets, and what CloudWatch holds, by namespace, metric and dimensions."""

    widgets: list[dict[str, Any]]
    series: Mapping[SeriesKey, Series]
    start: float


def dashboard() -> str:
    """A page that looks like the dashboard after a day."""
    with opened(_scenario()) as stage:
        stage.aws.run(stage.start + DAY)
        backend: Any = cloudwatch_backends[ACCOUNT][REGION]
        return _drawn(_Dashboard(_widgets(stage), backend.model.series, stage.start))


def _widgets(stage: Stage) -> list[dict[str, Any]]:
    found = stage.aws.client("cloudwatch").list_dashboards()["DashboardEntries"]
    body = stage.aws.client("cloudwatch").get_dashboard(DashboardName=found[0]["DashboardName"])["DashboardBody"]
    widgets: list[dict[str, Any]] = json.loads(body)["widgets"]
    return widgets


def _lines(board: _Dashboard, widget: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for metric in widget["metrics"]:
        if isinstance(metric[0], dict):
            wanted = SEARCH.match(metric[0]["expression"])
            if wanted is None:
                continue
            namespace, *names = wanted["names"].split(",")
            for key in sorted(board.series):
                if (*key[:2], sorted(names)) == (namespace, wanted["metric"], [name for name, _ in key[2]]):
                    of = dict(key[2]).get("class", "")
                    yield _line(board, f"{key[1]} {of}".strip(), key, wanted["stat"])
        else:
            rest = [part for part in metric[2:] if isinstance(part, str)]
            key = (metric[0], metric[1], tuple(sorted(zip(rest[::2], rest[1::2], strict=True))))
            name = rest[-1].split("-")[-2] if metric[0] == "AWS/Lambda" else metric[1]
            yield _line(board, name, key, widget.get("stat", "Average"))


def _line(board: _Dashboard, name: str, key: SeriesKey, stat: str) -> dict[str, Any]:
    points = []
    if key in board.series:
        starts = [board.start + n * BUCKET for n in range(int(DAY / BUCKET))]
        points = [point for at in starts if (point := board.series[key].point(at, at + BUCKET, stat)) is not None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [(point.at - board.start) / 3600 for point in points],
        "y": [point.value for point in points],
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
        layout = {
            "margin": {"l": 36, "r": 8, "t": 4, "b": 22},
            "height": 190,
            "font": {"size": 10},
            "xaxis": {"range": [0, 24]},
            "yaxis": {"rangemode": "tozero"},
            "legend": {"orientation": "h", "y": -0.15, "font": {"size": 9}},
        }
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
        _photograph(dashboard(), place / "dashboard.png", "1200,1930")
    if "report" in wanted:
        (place / "report.html").write_text(text := report(), encoding="utf-8")
        _photograph(text, place / "report.png", "1080,1760")
