"""Windows of the week are open in a replay when they would have been open on the jobs' own days."""

from dataclasses import replace
from pathlib import Path

import pytest

from pointsman.queues.policy import JobClass, Policy, Settings, Window
from pointsman.wall_clock import moment, weekly
from pointsman_simulator.clock import since
from pointsman_simulator.replay import Replay, World, from_trace
from pointsman_simulator.steered import pointsman
from pointsman_simulator.traces import TraceError, TraceJob

HOUR = 3600.0
NOON = moment("2026-03-02T12:00:00Z")  # a Monday
POLICY = Policy(
    queue="q",
    classes=(JobClass("day"), JobClass("night")),
    share="all",
    windows=(Window(weekly("daily 20:00-08:00 UTC"), (("night", Settings(head_start=9 * HOUR)),)),),
)
JOBS = (
    TraceJob("running", 0.0, 2 * HOUR, 1, "a", "day"),
    TraceJob("day", 600.0, HOUR, 1, "a", "day"),
    TraceJob("night", 1200.0, HOUR, 1, "a", "night"),
)


def order(begins: float, policy: Policy = POLICY) -> list[str]:
    run = pointsman(Replay(JOBS, 0, 1, HOUR, begins), World(), policy)
    return [job.name for job in sorted(run.jobs, key=lambda job: job.spans[0])]


def test_the_same_jobs_go_in_another_order_at_night() -> None:
    assert order(NOON) == ["running", "day", "night"]
    assert order(NOON + 12 * HOUR) == ["running", "night", "day"]


def test_a_window_that_opens_while_jobs_wait_counts_from_then_on() -> None:
    assert order(NOON + 5 * HOUR) == ["running", "day", "night"]
    assert order(NOON + 6.5 * HOUR) == ["running", "night", "day"]


def test_a_replay_of_a_file_begins_when_the_window_does(tmp_path: Path) -> None:
    trace = tmp_path / "past.csv"
    trace.write_text(f"submit_s,duration_s,gpus,team,derived_class\n{NOON + 60},60,1,a,day\n")
    replay = from_trace(trace, f"{NOON:.0f}:{NOON + HOUR:.0f}", 4, "derived_class", ["day", "night"])
    assert (replay.begins, replay.jobs[0].submit) == (NOON, 60.0)


def test_a_policy_without_windows_is_played_as_it_is_at_any_time() -> None:
    plain = replace(POLICY, windows=())
    assert since(NOON, plain) == plain
    assert since(1e300, plain) == plain


def test_a_time_that_no_calendar_has_is_refused_with_the_remedy() -> None:
    with pytest.raises(TraceError, match=r"1772452800000 is no time of epoch seconds; let submit_s .* count seconds"):
        since(NOON * 1e3, POLICY)


def test_the_next_edge_is_told_in_the_replays_own_seconds() -> None:
    assert since(NOON, POLICY).next_edge(0.0) == 8 * HOUR
    assert since(NOON, POLICY).next_edge(8 * HOUR) == 20 * HOUR
