"""The page in a browser without a network: it draws, and no script fails."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from pointsman_cli.report.page import page
from tests.unit.report.runs import facts

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST = """<script>
window.faults = [];
addEventListener("error", (event) => faults.push(event.message));
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => faults.push(event.violatedDirective + " " + event.blockedURI));
</script>"""
LAST = """<script>
const MARKS = ".scatterlayer .trace .js-line, .scatterlayer .point, .barlayer .point path";
const marks = (plot) => plot.querySelectorAll(MARKS).length;
const told = () => {
  const plots = Object.fromEntries([...document.querySelectorAll(".plot")].map((plot) => [plot.id, marks(plot)]));
  const wide = document.documentElement.scrollWidth - innerWidth;
  const fetched = performance.getEntriesByType("resource").map((one) => one.name);
  const drawn = document.documentElement.dataset.drawn;
  document.body.dataset.told = JSON.stringify({ faults, plots, wide, fetched, drawn });
};
const wait = () => document.documentElement.dataset.drawn || faults.length ? told() : setTimeout(wait, 50);
wait();
</script>"""


def browser() -> str:
    """A browser on this machine; without one the test is left out, but never where everything must run."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        missing = "no chromium on this machine: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def _drawn(folder: Path, profile: str) -> str:
    command = [
        browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        f"--user-data-dir={folder / profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,2000",
        "--virtual-time-budget=30000", "--dump-dom", (folder / "page.html").as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout  # noqa: S603 - ours


def opened(html: str, folder: Path) -> dict[str, Any]:
    """What the page tells of itself once it is drawn."""
    watched = html.replace("<script", FIRST + "<script", 1).replace("</body>", LAST + "</body>")
    (folder / "page.html").write_text(watched, encoding="utf-8")
    try:
        dom = _drawn(folder, "profile")
    except subprocess.TimeoutExpired:  # on a busy machine a browser hangs now and then before it has loaded anything
        dom = _drawn(folder, "second-profile")
    told = re.search(r'data-told="([^"]*)"', dom)
    assert told, "the page was not drawn"
    found: dict[str, Any] = json.loads(unescape(told[1]))
    return found


def test_every_plot_has_its_marks_and_no_script_fails(tmp_path: Path) -> None:
    one = facts(evictions=True)
    told = opened(page(one), tmp_path)
    assert told["faults"] == []
    runs = len(one.runs)
    least = {"frontier": 5 + 2, "frontier-own": 5, "use": runs, "depth": runs, "evictions": runs, "lost": runs}
    least |= {f"waits-{place}": runs for place in range(len(one.classes))}
    assert set(told["plots"]) == set(least)
    assert {key: marks for key, marks in told["plots"].items() if marks < least[key]} == {}
    assert told["drawn"] == str(len(least))


def test_the_page_fetches_nothing_and_is_no_wider_than_the_window(tmp_path: Path) -> None:
    told = opened(page(facts(evictions=False)), tmp_path)
    assert (told["fetched"], told["faults"]) == ([], [])
    assert told["wide"] <= 0


def test_the_check_sees_a_script_that_fails(tmp_path: Path) -> None:
    broken = page(facts(evictions=False)).replace("Plotly.react(", "Plotly.gone(")
    assert any("gone" in fault for fault in opened(broken, tmp_path)["faults"])
