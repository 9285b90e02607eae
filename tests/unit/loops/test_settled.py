"""When it is sure what runs in a queue's shares: only then is anybody raised who might evict."""

from dataclasses import replace

import pytest

from pointsman.loops.quota import settled
from pointsman.ports import Snapshot
from pointsman.queues.jobs import Detail, JobRecord, Status

NOW = 1_800_000_000.0
RUNS = JobRecord("runs", "q", "runs", Status.RUNNING, NOW - 600, NOW - 900, detail=Detail(4, 4, "all", 0))
NEW = replace(RUNS, job_id="new", status=Status.RUNNABLE, at=NOW, created=NOW)
STARTED = replace(RUNS, job_id="started", at=NOW)
BACK = replace(RUNS, job_id="back", status=Status.RUNNABLE, at=NOW)
ENDED = replace(RUNS, job_id="ended", status=Status.SUCCEEDED, at=NOW)


@pytest.mark.parametrize(
    "case, known, ended, used, wanted",
    [
        ("the snapshot has what the jobs add up to", [RUNS], [], 4, True),
        ("somebody has started of whom nothing is known", [RUNS], [], 6, False),
        ("somebody has gone", [RUNS], [], 0, False),
        ("what was submitted since the snapshot held nothing then", [RUNS, NEW], [], 8, False),
        ("what has started since may have been told to it already", [RUNS, STARTED], [], 8, True),
        ("or not", [RUNS, STARTED], [], 4, True),
        ("what came back since may have held capacity then", [RUNS, BACK], [], 8, True),
        ("what has ended since too", [RUNS], [ENDED], 8, True),
        ("but no more than that", [RUNS, STARTED], [ENDED], 13, False),
        ("nor less than what has been there for long", [RUNS, STARTED], [], 3, False),
    ],
)
def test_it_is_sure(case: str, known: list[JobRecord], ended: list[JobRecord], used: int, wanted: bool) -> None:
    snapshot = Snapshot((), used, NOW - 5)
    assert settled({row.job_id: row for row in known}, ended, snapshot, frozenset()) is wanted, case


def test_it_is_not_while_a_job_is_in_doubt_or_nothing_was_seen() -> None:
    known = {RUNS.job_id: RUNS}
    assert not settled(known, (), Snapshot((), 4, NOW - 5), frozenset({"other"}))
    assert not settled(known, (), None, frozenset())
