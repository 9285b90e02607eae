"""For all tests: the crash walks tell at the end what they covered; under CI the same examples are drawn each time."""

import os

import pytest
from hypothesis import settings

from tests.walks import PROPERTY, summary

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each walk that was made."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    parts = [value for report in reports for name, value in report.user_properties if name == PROPERTY]
    if parts:
        terminalreporter.section("walked")
        for line in summary(parts):
            terminalreporter.write_line(line)
