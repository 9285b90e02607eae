"""The load, small: what it proves of the recorder, and that it would tell if it were not so."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pointsman.loops import recorder
from pointsman.loops.recorder import Recorder
from pointsman.queues.jobs import Status, merge
from tests.fakes.job_table import FakeJobTable
from tests.fakes.messages import FakeDeadLetters
from tests.proof.queues.load import load

Patch = pytest.MonkeyPatch
RUNNABLE = Status.RUNNABLE


def test_of_many_events_all_poison_is_buried_with_its_reason_and_no_job_is_lost() -> None:
    assert load(20_000).wrong == ()


def _loses(patch: Patch) -> None:
    save = FakeJobTable.save
    patch.setattr(FakeJobTable, "save", lambda self, row: row if row.job_id == "job-7" else save(self, row))


def _forgets_poison(patch: Patch) -> None:
    patch.setattr(Recorder, "_bury", lambda *_: True)


def _gives_no_reason(patch: Patch) -> None:
    bury = FakeDeadLetters.bury
    patch.setattr(FakeDeadLetters, "bury", lambda self, body, _, place: bury(self, body, "", place))


def _takes_the_last_for_the_newest(patch: Patch) -> None:
    patch.setattr(recorder, "merge", lambda row, seen: merge(row and replace(row, at=0.0, status=RUNNABLE), seen))


def _acknowledges_what_failed(patch: Patch) -> None:
    record = Recorder.record
    patch.setattr(Recorder, "record", lambda self, told: record(self, told) and ())


def _wakes_nobody(patch: Patch) -> None:
    patch.setattr(Recorder, "_wake", lambda *_: [])


@pytest.mark.parametrize(
    "breaks, said",
    [
        (_loses, "1 jobs were lost"),
        (_forgets_poison, "were poison, 0 were buried"),
        (_gives_no_reason, "dead letters are without a reason or a place"),
        (_takes_the_last_for_the_newest, "jobs did not end as they did"),
        (_acknowledges_what_failed, "jobs did not end as they did"),
        (_wakes_nobody, "queues were never woken"),
    ],
)
def test_a_recorder_that_does_not_keep_its_promises_is_found(
    breaks: Callable[[Patch], None], said: str, monkeypatch: Patch
) -> None:
    breaks(monkeypatch)
    assert said in "; ".join(load(8_000).wrong)
