"""How a deliberate eviction goes on, from what is known of its two parties."""

from dataclasses import replace

import pytest

from pointsman.queues.evictions import AT_MOST, Eviction, Progress, follow
from pointsman.queues.jobs import BusyJob, WaitingJob
from tests.unit.queues.build import NOW
from tests.unit.queues.quota_build import eviction, runs, waits

EVICTOR, VICTIM = waits("e", "production", size=2), runs("v", 2)
ASKED = eviction(EVICTOR, VICTIM)


@pytest.mark.parametrize(
    "case, waiting, busy, unsure, wanted",
    [
        ("as it was while its victim still runs", [EVICTOR], [VICTIM], [], Progress.ASKED),
        ("seen once the victim waits again", [EVICTOR, waits("v")], [], [], Progress.SEEN),
        ("seen while the victim that is out is still shown to run", [EVICTOR], [replace(VICTIM, preempted=1)], [],
         Progress.SEEN),
        ("failed once the victim runs anew", [EVICTOR], [replace(VICTIM, preempted=1, started=NOW - 9)], [],
         Progress.FAILED),
        ("failed once the victim is about to run anew", [EVICTOR], [replace(VICTIM, preempted=1, started=None)], [],
         Progress.FAILED),
        ("seen once the victim ended by itself", [EVICTOR], [], [], Progress.SEEN),
        ("as it was while it is not sure what the victim does", [EVICTOR], [], ["v"], Progress.ASKED),
        ("done once the evictor holds capacity", [], [runs("e", 2), VICTIM], [], Progress.DONE),
        ("failed once the evictor is gone", [], [VICTIM], [], Progress.FAILED),
        ("as it was while it is not sure what the evictor does", [], [VICTIM], ["e"], Progress.ASKED),
        ("failed once someone else set the evictor's priority", [replace(EVICTOR, foreign=True)], [VICTIM], [],
         Progress.FAILED),
    ],
)  # fmt: skip
def test_an_eviction_is(
    case: str, waiting: list[WaitingJob], busy: list[BusyJob], unsure: list[str], wanted: Progress
) -> None:
    after = follow(ASKED, {j.job_id: j for j in waiting}, {j.job_id: j for j in busy}, unsure, NOW)
    assert after.progress is wanted, case
    assert (after.ended == NOW) is wanted.over


@pytest.mark.parametrize("unsure", [(), ("e",), ("v",)])
def test_an_eviction_that_does_not_come_about_is_given_up(unsure: tuple[str, ...]) -> None:
    late = replace(ASKED, asked=NOW - AT_MOST - 1)
    waiting = {} if "e" in unsure else {"e": EVICTOR}
    assert follow(late, waiting, {"v": VICTIM}, unsure, NOW).progress is Progress.TIMED_OUT


def test_an_eviction_that_is_over_stays_so() -> None:
    over: Eviction = replace(ASKED, progress=Progress.DONE, ended=NOW - 5)
    assert follow(over, {"e": EVICTOR}, {"v": VICTIM}, (), NOW) == over
