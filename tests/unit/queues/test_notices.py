"""What people are told of a queue, once for each time that it begins."""

from dataclasses import replace

import pytest

from pointsman.queues.jobs import Detail, JobRecord, Status
from pointsman.queues.notices import EACH, NEW_AT_MOST, QueueNotice, failures, standing, transitions, unplanned
from pointsman.queues.policy import JobClass, Match, Policy
from pointsman.queues.reasons import Move, Reason, Tell, Told

NOW = 1_800_000_000.0
POLICY = Policy("q", (JobClass("production", Match("prod-*")), JobClass("sweep")))


def told(stored: list[QueueNotice], *stands: str, now: float = NOW, happened: str = "", unsure: str = "") -> list[str]:
    """What is begun, and what ends (with a minus), each by its key."""
    found = transitions(stored, dict.fromkeys(stands, "S."), {happened: "H."} if happened else {}, now, {unsure})
    return [("-" if notice.over else "") + notice.key for notice, _ in found]


STANDS = QueueNotice("at_risk/j", "S.", NOW - 60, sent=True)
CASES = {
    "what begins is told": ([], {"stands": ("at_risk/j",)}, ["at_risk/j"]),
    "what goes on is not told again": ([STANDS], {"stands": ("at_risk/j",)}, []),
    "what ends is kept as over": ([STANDS], {}, ["-at_risk/j"]),
    "what is over stays so": ([replace(STANDS, over=True)], {}, []),
    "what begins again is told again": ([replace(STANDS, over=True)], {"stands": ("at_risk/j",)}, ["at_risk/j"]),
    "of a job that is not known for sure nothing ends": ([STANDS], {"unsure": "j"}, []),
    "what happened is told": ([], {"happened": "failed/j"}, ["failed/j"]),
    "what happened never ends": ([QueueNotice("failed/j", "H.", NOW - 60, sent=True)], {}, []),
    "and never happens again": ([QueueNotice("failed/j", "H.", NOW - 60)], {"happened": "failed/j"}, []),
}


@pytest.mark.parametrize("stored,now,wanted", CASES.values(), ids=CASES.keys())
def test_transitions(stored: list[QueueNotice], now: dict[str, object], wanted: list[str]) -> None:
    stands = now.get("stands", ())
    assert isinstance(stands, tuple)
    more = {key: str(value) for key, value in now.items() if key != "stands"}
    assert told(stored, *stands, **more) == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "case, began, ends",
    [("before the look", -60.0, True), ("after it", 60.0, False), ("by a wrong clock", 86_400.0, True)],
)
def test_what_stands_is_ended_by_no_look_from_before_it_began(case: str, began: float, ends: bool) -> None:
    stands = QueueNotice("at_risk/j", "S.", NOW + began)
    assert bool(transitions([stands], {}, {}, NOW)) is ends, case


def test_each_time_has_an_id_of_its_own_that_stays() -> None:
    ((first, _),) = transitions([], {"at_risk/j": "S."}, {}, NOW)
    ((again, before),) = transitions([replace(first, sent=True, over=True)], {"at_risk/j": "S."}, {}, NOW + 60)
    assert first.id("q") == "q/at_risk/j/1800000000"
    assert (again.id("q"), again.sent, before) == (
        "q/at_risk/j/1800000060",
        False,
        replace(first, sent=True, over=True),
    )


def test_many_that_begin_at_once_are_told_as_one_that_is_stored_first() -> None:
    stands = {f"cannot_fit/j{n:03d}": f"Job {n}." for n in range(100)}
    begun = [notice for notice, _ in transitions([], stands, {}, NOW)]
    assert len(begun) == NEW_AT_MOST
    assert [notice.sent for notice in begun] == [False] + [True] * (NEW_AT_MOST - 1)
    assert begun[0].sentence.startswith("Job 0. And 24 more jobs are so: j001, j002, ")
    few = [notice for notice, _ in transitions([], dict(list(stands.items())[:EACH]), {}, NOW)]
    assert [notice.sent for notice in few] == [False] * EACH


def row(job_id: str, status: Status, reason: str = "", name: str = "") -> JobRecord:
    detail = Detail(1, 1, "all", 0, {"team": "search"})
    return JobRecord(job_id, "q", name or job_id, status, NOW, NOW, detail=detail, reason=reason)


def test_a_blocked_queue_is_told_with_its_reason_and_the_remedy() -> None:
    reason = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - the job asks for too much"
    found = standing((), [row("b", Status.RUNNABLE, reason), row("c", Status.RUNNABLE, "some other words")], "q")
    assert found == {
        "blocked/b": f"Queue q is blocked by b: {reason} (raise the service environment's limit, or end the job: "
        "until then nothing behind it is looked at)."
    }


def test_what_is_told_of_single_jobs_stands_by_kind_and_job() -> None:
    one = Told(Tell.CANNOT_FIT, "j", "big", "sweep", "big can never start. Its owner is search.")
    assert standing([one], [], "q") == {"cannot_fit/j": one.sentence}


def test_only_a_job_of_the_first_class_that_failed_is_told_of_with_its_owner() -> None:
    rows = [
        row("p", Status.FAILED, "CapacityError: none", name="prod-1"),
        row("s", Status.FAILED, name="sweep"),
        row("o", Status.SUCCEEDED, name="prod-2"),
    ]
    told_of = {"failed/p": "prod-1 (production) has failed: CapacityError: none. Its owner is search."}
    assert failures(rows, POLICY) == told_of
    assert failures(rows, Policy("q", (JobClass("everything"),))) == {}


def test_an_eviction_that_nobody_asked_for_is_told_once_for_each_time_and_the_planned_are_not() -> None:
    def move(reason: Reason) -> Move:
        return Move(
            "v", "sweep-1", "sweep", 0, 0, reason, "Batch evicted sweep-1, a job that nobody had asked it to evict."
        )

    evicted = replace(row("v", Status.RUNNABLE), preemptions=2)
    found = unplanned([move(Reason.UNPLANNED), move(Reason.EVICTED), move(Reason.RECLAIMED)], {"v": evicted})
    assert found == {"unplanned/v/2": "Batch evicted sweep-1, a job that nobody had asked it to evict."}
    again = unplanned([move(Reason.UNPLANNED)], {"v": replace(evicted, preemptions=3)})
    assert found.keys() != again.keys()
