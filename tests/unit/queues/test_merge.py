"""What is known of a job after one more sighting of it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.jobs import Detail, JobRecord, Sighting, Stage, Status, merge, refuse

T = 1_800_000_000.0
DETAIL = Detail(2, 16, "all", 3, {"team": "ranker"})


def seen(status: str, at: float = T, *, attempts: int = 0, preemptions: int = 0, detail: Detail | None = None,
         started: float | None = None) -> Sighting:  # fmt: skip
    return Sighting(
        "job-1", Status(status), at, "training", "sweep-1", T - 100, attempts, preemptions, started, None, detail
    )


def known(status: str, at: float = T, **more: object) -> JobRecord:
    record = merge(None, seen(status, at))
    assert record is not None
    return replace(record, **{"detail": DETAIL, "submitted_priority": 3, **more})  # type: ignore[arg-type]


def test_the_first_sighting_makes_a_record_that_must_be_described() -> None:
    record = merge(None, seen("RUNNABLE"))
    assert record is not None
    assert (record.queue, record.name, record.status, record.version) == ("training", "sweep-1", Status.RUNNABLE, 0)
    assert record.needs_describe
    assert record.submitted_priority is None


def test_a_job_first_seen_by_a_describe_was_submitted_with_the_priority_that_it_has() -> None:
    record = merge(None, seen("RUNNABLE", detail=DETAIL))
    assert record is not None
    assert (record.submitted_priority, record.needs_describe) == (3, False)


@pytest.mark.parametrize(
    "case, before, sighting, wanted",
    [
        ("an event tells the attempts", {}, replace(seen("RUNNABLE", T + 9, attempts=2), crashes=2), 2),
        ("an attempt that worked ends them", {"attempts": 2, "crashes": 2}, seen("RUNNABLE", T + 9, attempts=3), 0),
        ("a listing does not say", {"attempts": 2, "crashes": 2}, seen("RUNNING", T + 9), 2),
        ("a Describe is the truth", {"attempts": 2, "crashes": 2},
         seen("RUNNABLE", T + 9, attempts=2, detail=DETAIL), 0),
    ],
)  # fmt: skip
def test_attempts_that_failed_soon_are_known_from_what_tells_of_attempts(
    case: str, before: dict[str, int], sighting: Sighting, wanted: int
) -> None:
    record = merge(known("SCHEDULED", **before), sighting)
    assert record is not None
    assert record.crashes == wanted, case


NOTHING, DOUBT = "nothing new", "doubtful"


@pytest.mark.parametrize(
    "case, record, sighting, wanted",
    [
        ("a later event moves the job on", known("RUNNABLE"), seen("SCHEDULED", T + 5), "SCHEDULED"),
        ("a late event tells nothing", known("RUNNING"), seen("SCHEDULED", T - 5), NOTHING),
        ("the same event again tells nothing", known("RUNNABLE"), seen("RUNNABLE"), NOTHING),
        ("the same status later is newer", known("RUNNABLE"), seen("RUNNABLE", T + 1), "RUNNABLE"),
        ("a capacity bounce goes back at a later second", known("SCHEDULED"), seen("RUNNABLE", T + 1), "RUNNABLE"),
        ("a retry goes back with one attempt more", known("RUNNING"), seen("RUNNABLE", T + 1, attempts=1), "RUNNABLE"),
        ("two stages in one second cannot be ordered", known("RUNNABLE"), seen("SCHEDULED"), DOUBT),
        ("nor the other way round", known("SCHEDULED"), seen("RUNNABLE"), DOUBT),
        ("parts of one second are one second", known("RUNNABLE", T + 0.9), seen("RUNNING", T), DOUBT),
        ("not even with an attempt more", known("RUNNING"), seen("RUNNABLE", attempts=1), DOUBT),
        ("a doubt that is there already is nothing new", known("RUNNABLE", doubtful=True), seen("RUNNING"), NOTHING),
        ("within one stage the further one counts", known("SCHEDULED"), seen("RUNNING"), "RUNNING"),
        ("and the other way round tells nothing", known("RUNNING"), seen("SCHEDULED"), NOTHING),
        ("but for one attempt more", known("RUNNING"), seen("SCHEDULED", attempts=1), "SCHEDULED"),
        ("an end in the same second counts", known("RUNNING"), seen("SUCCEEDED"), "SUCCEEDED"),
        ("an end counts though our clock was ahead", known("RUNNING", T + 3), seen("FAILED", T + 1), "FAILED"),
        ("ended stays ended", known("SUCCEEDED"), seen("RUNNABLE", T + 99), NOTHING),
        ("ended stays as it ended", known("SUCCEEDED"), seen("FAILED", T + 99), NOTHING),
        ("an old describe tells nothing", known("RUNNING"), seen("RUNNABLE", T - 1, detail=DETAIL), NOTHING),
        ("a describe of this moment is the truth", known("RUNNING"), seen("RUNNABLE", detail=DETAIL), "RUNNABLE"),
    ],
)
def test_a_sighting_tells(case: str, record: JobRecord, sighting: Sighting, wanted: str) -> None:
    merged = merge(record, sighting)
    if wanted is NOTHING:
        assert merged is None, case
    elif wanted is DOUBT:
        assert merged == replace(record, doubtful=True), case
    else:
        assert merged is not None, case
        assert (merged.status, merged.doubtful) == (Status(wanted), record.doubtful), case


def test_a_describe_clears_the_doubt_and_keeps_what_the_job_was_submitted_with() -> None:
    lifted = replace(DETAIL, priority=4999)
    merged = merge(known("RUNNABLE", doubtful=True), seen("RUNNABLE", T + 1, detail=lifted))
    assert merged is not None
    assert (merged.doubtful, merged.submitted_priority, merged.detail) == (False, 3, lifted)


def test_a_describe_is_not_older_than_a_listing_of_the_same_moment_that_was_stored_in_milliseconds() -> None:
    record = merge(known("RUNNING", T + 0.266, detail=None), seen("RUNNING", T + 0.265625, detail=DETAIL))
    assert record is not None
    assert record.detail == DETAIL


def test_a_describe_is_not_older_than_a_record_whose_time_is_of_the_same_moment_and_was_not_stored_yet() -> None:
    record = merge(known("RUNNING", T + 0.2654, detail=None), seen("RUNNING", T + 0.2654, detail=DETAIL))
    assert record is not None
    assert record.detail == DETAIL


def test_an_event_keeps_the_detail_and_a_job_that_waits_again_has_not_started() -> None:
    running = merge(known("SCHEDULED"), seen("RUNNING", T + 1, started=T + 1))
    assert running is not None
    assert (running.detail, running.started) == (DETAIL, T + 1)
    back = merge(running, seen("RUNNABLE", T + 2, attempts=1))
    assert back is not None
    assert (back.detail, back.started, back.attempts) == (DETAIL, None, 1)


def test_a_listing_says_nothing_of_attempts_and_does_not_lower_them() -> None:
    merged = merge(known("RUNNABLE", attempts=2, preemptions=1), seen("RUNNING", T + 1))
    assert merged is not None
    assert (merged.attempts, merged.preemptions) == (2, 1)


def test_each_attempt_names_its_training_job_and_one_that_waits_has_none() -> None:
    running = merge(known("RUNNABLE"), replace(seen("RUNNING", T + 1, started=T + 1), training="first"))
    assert running is not None
    assert running.training == "first"
    listed = merge(running, seen("STARTING", T + 2))  # a listing or an event that does not tell
    assert listed is not None
    assert listed.training == "first"
    back = merge(listed, replace(seen("RUNNABLE", T + 3, attempts=1), training="first"))
    assert back is not None
    assert back.training == ""
    again = merge(replace(back, status=Status.RUNNING, training="first"), seen("RUNNING", T + 4, attempts=2))
    assert again is not None
    assert again.training == "", "another attempt, whose name nobody has told yet"


@st.composite
def courses(draw: st.DrawFn) -> list[Sighting]:
    """One job's events, each in a second of its own, as Batch would send them."""
    events, at, attempts = [seen("RUNNABLE")], T, 0
    for step in draw(st.lists(st.sampled_from(("on", "bounce", "retry", "end")), max_size=8)):
        at += draw(st.integers(1, 100))
        stage = events[-1].status.stage
        if stage is Stage.WAITING:
            events.append(seen("SCHEDULED", at, attempts=attempts))
        elif step == "on":
            events.append(seen("RUNNING", at, attempts=attempts, started=at))
        elif step == "bounce":
            events.append(seen("RUNNABLE", at, attempts=attempts))
        elif step == "retry":
            attempts += 1
            events.append(seen("RUNNABLE", at, attempts=attempts))
        else:
            events.append(seen("SUCCEEDED", at, attempts=attempts + 1, started=T))
            break
    return events


@settings(max_examples=100, deadline=None)
@given(courses(), st.data())
def test_the_order_and_number_of_events_in_distinct_seconds_make_no_difference(
    course: list[Sighting], data: st.DataObject
) -> None:
    extra = data.draw(st.lists(st.sampled_from(course), max_size=6))
    mixed = data.draw(st.permutations([*course, *extra]))
    record: JobRecord | None = None
    for event in mixed:
        record = merge(record, event) or record
    last = course[-1]
    assert record is not None
    assert (record.status, record.at, record.attempts, record.started, record.doubtful) == (
        last.status,
        last.at,
        last.attempts,
        last.started,
        False,
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(Status), min_size=1, max_size=6), st.data())
def test_events_of_one_second_end_in_the_same_stage_or_in_doubt(statuses: list[Status], data: st.DataObject) -> None:
    events = [seen(status.value) for status in statuses]
    record: JobRecord | None = None
    for event in data.draw(st.permutations(events)):
        record = merge(record, event) or record
    assert record is not None
    stages = {status.stage for status in statuses}
    assert record.doubtful or stages == {record.stage} or record.stage is Stage.ENDED


def test_a_job_that_batch_does_not_know_is_in_doubt_and_let_go_when_it_says_so_once_more() -> None:
    once = refuse(known("RUNNING"), T + 60, unlisted=True)
    assert (once.stage, once.doubtful, once.folded) == (Stage.BUSY, True, False)
    twice = refuse(once, T + 120, unlisted=True)
    assert (twice.status, twice.needs_describe, twice.folded) == (Status.FAILED, False, True)
    listed = refuse(once, T + 120, unlisted=False)
    assert (listed.stage, listed.doubtful) == (Stage.BUSY, True), "a listing has it"
    waited = refuse(refuse(known("RUNNABLE"), T + 60, unlisted=False), T + 120, unlisted=False)
    assert (waited.stage, waited.doubtful) == (Stage.WAITING, True), "it may hold capacity by now"


@pytest.mark.parametrize("sighting", [seen("RUNNING", T + 50), seen("RUNNING", T + 50, detail=DETAIL)])
def test_between_the_two_any_sign_of_the_job_counts(sighting: Sighting) -> None:
    again = merge(refuse(known("RUNNING"), T + 40, unlisted=True), sighting)
    assert again is not None
    assert refuse(again, T + 60, unlisted=True).stage is Stage.BUSY


@pytest.mark.parametrize(
    "sighting, doubtful",
    [
        (seen("RUNNING", T + 130), True),
        (seen("RUNNABLE", T + 130), True),
        (seen("FAILED", T + 30), True),
        (seen("RUNNING", T + 130, detail=DETAIL), False),
        (seen("SUCCEEDED", T + 130, detail=DETAIL), False),
    ],
)
def test_a_job_that_was_let_go_for_that_comes_back_with_the_next_sign_of_it(sighting: Sighting, doubtful: bool) -> None:
    again = merge(refuse(refuse(known("RUNNING"), T + 60, unlisted=True), T + 120, unlisted=True), sighting)
    assert again is not None
    assert (again.status, again.folded, again.doubtful) == (sighting.status, False, doubtful)


def test_what_was_seen_before_it_was_let_go_does_not_bring_it_back() -> None:
    assert (
        merge(refuse(refuse(known("RUNNING"), T + 60, unlisted=True), T + 120, unlisted=True), seen("RUNNING", T + 50))
        is None
    )


def test_a_job_that_has_ended_for_sure_stays_so_whatever_batch_knows_of_it() -> None:
    ended = known("SUCCEEDED", folded=True)
    assert refuse(ended, T + 60, unlisted=True) == ended
    assert merge(refuse(ended, T + 60, unlisted=True), seen("SUCCEEDED", T + 90)) is None
    doubted = refuse(known("FAILED", doubtful=True), T + 60, unlisted=True)
    assert (doubted.needs_describe, doubted.folded) == (False, False), "people are told of it all the same"


def test_a_describe_that_shows_a_job_that_was_let_go_brings_it_back() -> None:
    again = merge(known("FAILED", folded=True), seen("RUNNING", T + 9, detail=DETAIL))
    assert again is not None
    assert (again.stage, again.folded) == (Stage.BUSY, False)
