"""The page of `pointsman report` in a browser without a network, and what it says."""

from pathlib import Path

from pointsman_cli.report.weeks_page import weeks_page
from tests.unit.report.test_browser import opened
from tests.unit.report.two_weeks import report


def test_every_plot_of_the_weeks_has_its_marks_and_nothing_fails(tmp_path: Path) -> None:
    told = opened(weeks_page(report(), "pointsman report <q> --html page.html"), tmp_path)

    assert (told["faults"], told["fetched"]) == ([], [])
    assert told["wide"] <= 0
    lines = {key: marks for key, marks in told["plots"].items() if key in ("utilisation", "depth", "started")}
    assert all(marks >= 2 + 13 for marks in lines.values()), "two lines, and a dot for each day that was counted"
    assert told["plots"]["waits-0"] >= 4
    assert told["plots"]["evictions"] >= 7
    assert told["plots"]["rollouts"] >= 2
    assert told["drawn"] == str(len(told["plots"])) == str(3 + 3 + 3)


def test_the_page_has_the_figures_of_both_weeks_and_escapes_names() -> None:
    page = weeks_page(report(), "pointsman report <q>")

    assert "search &lt;training&gt;" in page
    assert "search <training>" not in page
    assert "<th>the week before</th><td>50.0%</td>" in page
    assert '<tr class="own"><th>this week</th><td>75.0%</td>' in page
    assert "<th>change</th><td>+25.0 points</td>" in page
