"""What sets single jobs apart: pins, deadlines, what can never fit, what fails again and again; and classes' bounds."""

from dataclasses import replace

import pytest

from pointsman.queues.cases import NEAR
from pointsman.queues.decide import decide
from pointsman.queues.estimates import Finished, History
from pointsman.queues.explain import explain
from pointsman.queues.jobs import BusyJob, Due, WaitingJob, crashes_in
from pointsman.queues.moves import FRONT
from pointsman.queues.pins import Pin, PinKind, foreign_until
from pointsman.queues.policy import Deadline, Policy, Settings, Window, due_of
from pointsman.queues.reasons import Idle, Reason, Tell
from pointsman.queues.view import QueueView
from pointsman.wall_clock import weekly
from tests.unit.queues import quota_build as quota
from tests.unit.queues.build import HOUR, NOW, UNLIMITED, busy, view, waiting
from tests.unit.queues.case_build import NEW, OLD, PROD, due, first, lifted, ordered, with_class


@pytest.mark.parametrize(
    "case, of, wanted",
    [
        ("a job that a person put first goes before production", view(PROD, OLD, NEW, pins=[first("new")]),
         ["new", "prod", "old"]),
        ("one that a person put last goes behind all", view(PROD, OLD, NEW, pins=[first("prod", kind=PinKind.LAST)]),
         ["old", "new", "prod"]),
        ("a pin that is over counts no more", view(PROD, OLD, pins=[first("old", until=0.0)]), ["prod", "old"]),
        ("a pin of a job that does not wait is nothing", view(PROD, OLD, pins=[first("gone")]), ["prod", "old"]),
        ("a job that must start to meet its deadline goes first", view(PROD, OLD, due(NEW, 2 * HOUR)),
         ["new", "prod", "old"]),
        ("one whose deadline is far does not", view(PROD, OLD, due(NEW, 2 * HOUR + NEAR)), ["prod", "old", "new"]),
        ("nor one whose deadline has passed", view(PROD, OLD, due(NEW, -1.0)), ["prod", "old", "new"]),
        ("nor one whose deadline cannot be read", view(PROD, OLD, replace(NEW, due=Due(None, "noon"))),
         ["prod", "old", "new"]),
        ("a person goes before a deadline", view(OLD, due(NEW, HOUR), pins=[first("old")]), ["old", "new"]),
        ("of two that are due the better score goes first", view(due(NEW, HOUR), due(PROD, 2 * HOUR)), ["prod", "new"]),
        ("what can never fit goes last", view(waiting("big", "production", size=9), OLD, NEW), ["old", "new", "big"]),
        ("what has failed three times in a row goes last", view(replace(PROD, crashes=3), OLD), ["old", "prod"]),
        ("twice is not yet a loop", view(replace(PROD, crashes=2), OLD), ["prod", "old"]),
        ("a person's word counts more than a loop", view(replace(PROD, crashes=9), OLD, pins=[first("prod")]),
         ["prod", "old"]),
        ("a late deadline does not help what fails again and again", view(replace(due(NEW, HOUR), crashes=3), OLD),
         ["old", "new"]),
    ],
)  # fmt: skip
def test_the_order(case: str, of: QueueView, wanted: list[str]) -> None:
    assert ordered(of) == wanted, case


def test_a_job_deep_in_its_line_is_found_when_it_is_due() -> None:
    jobs = [waiting(f"{n:03}", waited=HOUR - n) for n in range(200)]
    jobs[150] = due(jobs[150], HOUR)
    assert ordered(view(*jobs))[:2] == ["150", "000"]


def test_the_newest_jobs_of_a_kind_that_all_failed_soon_put_the_kind_last_until_one_succeeds() -> None:
    history = History().learn([Finished(PROD.kind, 20.0, crashed=True)] * 3)
    of = view(PROD, OLD, history=history)
    assert ordered(of) == ["old", "prod"]
    assert [(t.what, t.job_id) for t in decide(of, UNLIMITED).told] == [(Tell.CRASH_LOOP, "prod")]
    mended = history.learn([Finished(PROD.kind, 900.0)])
    assert ordered(replace(of, history=mended)) == ["prod", "old"]


@pytest.mark.parametrize(
    "case, attempts, wanted",
    [
        ("none", [], 0),
        ("one that runs", [(NOW, None)], 0),
        ("one that worked for a while", [(NOW, NOW + 301)], 0),
        ("three that did not", [(NOW, NOW + 9), (NOW + 60, NOW + 70), (NOW + 80, NOW + 90)], 3),
        ("in whatever order they are told", [(NOW + 80, NOW + 90), (NOW, NOW + 4000), (NOW - 90, NOW - 80)], 0),
        ("those since one that worked", [(NOW, NOW + 4000), (NOW + 5000, NOW + 5010)], 1),
        ("one that never started", [(None, NOW + 9)], 1),
    ],
)
def test_attempts_that_failed_soon_are_counted_from_the_last(
    case: str, attempts: list[tuple[float | None, float | None]], wanted: int
) -> None:
    assert crashes_in(attempts) == wanted, case


@pytest.mark.parametrize(
    "case, job, what, words",
    [
        ("near its latest start", due(PROD, 1.5 * HOUR), Tell.AT_RISK,
         "must start within 30 min: it is due in 1.5 h, and such jobs take up to 1.0 h."),
        ("past it", due(PROD, 0.5 * HOUR), Tell.AT_RISK, "is late: it is due in 30 min"),
        ("past its deadline", due(PROD, -2 * HOUR), Tell.MISSED, "has missed its deadline by 2.0 h. Its owner is"),
        ("with a deadline that is no time", replace(PROD, due=Due(None, "noon")), Tell.UNREADABLE,
         "names 'noon' as its deadline, which is no time"),
        ("that can never fit", waiting("prod", "production", size=9), Tell.CANNOT_FIT,
         "can never start: the queue may use 8. Its owner is ranker."),
        ("that fails again and again", replace(PROD, crashes=4), Tell.CRASH_LOOP,
         "goes last: its last 4 attempts failed within minutes. Its owner is ranker."),
    ],
)  # fmt: skip
def test_people_are_told_of_a_job(case: str, job: WaitingJob, what: Tell, words: str) -> None:
    (told,) = decide(view(job, OLD), UNLIMITED).told
    assert (told.what, told.job_id, told.job_class) == (what, "prod", "production"), case
    assert words in told.sentence, case


@pytest.mark.parametrize(
    "case, of, job_id, reason, words",
    [
        ("put first", view(PROD, OLD, capacity=1, pins=[first("old")]), "old", Reason.PINNED,
         "was put first by ana, for another 1.0 h."),
        ("due", view(PROD, due(OLD, HOUR), capacity=1), "old", Reason.DEADLINE, "It goes first."),
    ],
)  # fmt: skip
def test_a_move_says_why_its_job_goes_first(case: str, of: QueueView, job_id: str, reason: Reason, words: str) -> None:
    (move,) = [move for move in decide(of, UNLIMITED).moves if move.after == FRONT]
    assert (move.job_id, move.reason) == (job_id, reason), case
    assert words in move.sentence, case


LOOP = replace(busy("loop", 1, ran=30.0, job_class="production"), priority=FRONT, crashes=3)


@pytest.mark.parametrize(
    "case, job, more, wanted",
    [
        ("that fails again and again gives back what put it forward", LOOP, {}, True),
        ("that has not started yet too", replace(LOOP, started=None), {}, True),
        ("that runs for a while this time keeps it", replace(LOOP, started=NOW - 301), {}, False),
        ("that failed twice keeps it", replace(LOOP, crashes=2), {}, False),
        ("that a person put first keeps it", LOOP, {"pins": [first("loop")]}, False),
        ("that has nothing of ours has nothing to give", replace(LOOP, priority=0), {}, False),
        ("of a kind whose newest jobs failed gives it back", replace(LOOP, crashes=0),
         {"history": History().learn([Finished(LOOP.kind, 9.0, crashed=True)] * 3)}, True),
    ],
)  # fmt: skip
def test_a_job_that_is_being_tried(case: str, job: BusyJob, more: dict[str, object], wanted: bool) -> None:
    of = view(OLD, capacity=1, used=1, busy=[job], **more)
    moves = {move.job_id: (move.after, move.reason) for move in decide(of, UNLIMITED).moves}
    assert (moves.get("loop") == (0, Reason.RETURNED)) is wanted, case


def test_a_job_that_fails_again_and_again_keeps_its_priority_while_nobody_waits() -> None:
    assert decide(view(capacity=1, used=1, busy=[LOOP]), UNLIMITED).moves == ()


def test_what_goes_last_is_not_said_to_go_first_whatever_its_deadline() -> None:
    for job, pins in ((replace(due(OLD, HOUR), crashes=3), ()), (due(OLD, HOUR), (first("old", kind=PinKind.LAST),))):
        (move,) = decide(view(job, capacity=1, pins=pins), UNLIMITED).moves
        assert move.reason is Reason.FRONT
        assert "goes first" not in move.sentence


def test_of_many_jobs_with_the_same_news_the_oldest_are_told() -> None:
    jobs = [waiting(f"{n:03}", size=9, waited=n) for n in range(250)]
    told = decide(view(*jobs), UNLIMITED).told
    assert [t.job_id for t in told] == [f"{n:03}" for n in range(249, 149, -1)]


def test_what_goes_last_takes_what_is_free_and_never_stands_by() -> None:
    demoted = first("old", kind=PinKind.LAST)
    assert lifted(view(OLD, pins=[demoted])) == ["old"]
    assert decide(view(OLD, NEW, used=8, pins=[demoted]), UNLIMITED).moves[0].job_id == "new"
    assert len(decide(view(OLD, NEW, used=8, pins=[demoted]), UNLIMITED).moves) == 1


@pytest.mark.parametrize(
    "case, job, pins, wanted",
    [
        ("due, though it has not waited long", due(waiting("big", size=4), HOUR), (), True),
        ("put first", waiting("big", size=4), (first("big"),), True),
        ("put last, though it has waited long", waiting("big", size=4, waited=9 * HOUR),
         (first("big", kind=PinKind.LAST),), False),
        ("in a loop", replace(waiting("big", size=4, waited=9 * HOUR), crashes=3), (), False),
        ("not long enough", waiting("big", size=4, waited=HOUR), (), False),
    ],
)  # fmt: skip
def test_a_place_is_held_for_a_job(case: str, job: WaitingJob, pins: tuple[Pin, ...], wanted: bool) -> None:
    hold = decide(view(job, used=6, pins=pins), UNLIMITED).hold
    assert (hold is not None) is wanted, case


# -------------------------------------------------------------------------------------------------- quota shares

EVICTOR = quota.waits("prod", "production", size=4, waited=2 * HOUR)


@pytest.mark.parametrize(
    "case, job, policy, pins, wanted",
    [
        ("whose class holds less than its entitlement", EVICTOR, with_class("production", quota.POLICY,
                                                                            entitlement=0.6), (), True),
        ("whose class holds its entitlement", EVICTOR, with_class("production", quota.POLICY, entitlement=0.5), (),
         False),
        ("whose class is at its ceiling", EVICTOR, with_class("production", quota.POLICY, ceiling=0.9), (), False),
        ("that fails again and again", replace(EVICTOR, crashes=3), quota.POLICY, (), False),
        ("that a person put last", EVICTOR, quota.POLICY, (first("prod", kind=PinKind.LAST),), False),
    ],
)  # fmt: skip
def test_others_are_evicted_for_a_job(
    case: str, job: WaitingJob, policy: Policy, pins: tuple[Pin, ...], wanted: bool
) -> None:
    rest = quota.runs("rest", 4, job_class="production", priority=FRONT)
    of = quota.quota_view(job, quota.runs("v", 4), rest, pins=pins)
    assert bool(decide(of, policy).describe) is wanted, case


def test_what_its_quota_share_may_never_hold_goes_last_and_is_told() -> None:
    shares = (quota.borrowing("a", 4, 100), quota.lending("b", 2))
    jobs = [quota.waits("big", "production", size=7, of="a"), quota.waits("fits", size=6, of="a")]
    of = quota.quota_view(*jobs, shares=shares)
    (told,) = decide(of, quota.POLICY).told
    assert (told.what, told.job_id) == (Tell.CANNOT_FIT, "big")
    assert "share a may not have so much" in told.sentence
    assert ordered(of, quota.POLICY) == ["fits", "big"]


def test_a_ceiling_holds_over_all_quota_shares_together() -> None:
    policy = with_class("sweep", quota.POLICY, ceiling=0.5)
    jobs = [quota.waits(f"{of}{n}", of=of) for of in "ab" for n in range(4)]
    of = quota.quota_view(*jobs, shares=(quota.share("a", 4), quota.share("b", 4)))
    decision = decide(of, policy)
    assert sum(move.after == FRONT for move in decision.moves) == 4
    assert decision.idle == ((Idle.CEILING, 4),)


# ------------------------------------------------------------------------------------------------------- windows

NIGHT = Window(weekly("daily 20:00-06:00 UTC"), (("sweep", Settings(head_start=48 * HOUR, ceiling=1.0)),))


def test_an_open_window_changes_what_it_sets_and_nothing_else() -> None:
    policy = replace(with_class("sweep", ceiling=0.5), windows=(NIGHT,))
    night, day = NOW + 14 * HOUR, NOW + 23 * HOUR  # NOW is 08:00
    sweep = policy.at(night).classes[-1]
    assert (sweep.head_start, sweep.ceiling, sweep.max_wait) == (48 * HOUR, 1.0, None)
    assert policy.at(night).classes[:-1] == policy.classes[:-1]
    assert policy.at(day).classes == policy.classes
    of = view(PROD, OLD, capacity=1)
    assert lifted(of, policy) == ["prod"]
    assert lifted(replace(of, now=night), policy) == ["old"]


def test_of_two_windows_that_are_open_the_later_counts_for_what_it_sets() -> None:
    more = Window(weekly("daily 22:00-23:00 UTC"), (("sweep", Settings(ceiling=0.2)),))
    policy = replace(UNLIMITED, windows=(NIGHT, more))
    sweep = policy.at(NOW + 14.5 * HOUR).classes[-1]
    assert (sweep.head_start, sweep.ceiling) == (48 * HOUR, 0.2)


@pytest.mark.parametrize(
    "case, of, policy, wanted",
    [
        ("a window that opens", view(OLD, used=8), replace(UNLIMITED, windows=(
            Window(weekly("daily 08:00-08:01 UTC"), NIGHT.settings),)), 60.0),
        ("a pin that ends", view(OLD, used=8, pins=[first("old", until=45.0)]), UNLIMITED, 45.0),
        ("a job that becomes due", view(due(OLD, 2 * HOUR + 40.0), used=8), UNLIMITED, 40.0),
        ("a deadline that passes", view(due(OLD, 50.0), used=8), UNLIMITED, 50.0),
        ("a person's priority that stands no longer",
         view(replace(OLD, foreign=True, priority=9, foreign_until=NOW + 35.0), used=8), UNLIMITED, 35.0),
        ("what has no end", view(replace(OLD, foreign=True, priority=9), used=8), UNLIMITED, 60.0),
    ],
)  # fmt: skip
def test_the_next_pass_comes_when_something_changes(case: str, of: QueueView, policy: Policy, wanted: float) -> None:
    assert decide(of, policy).next_wake == NOW + wanted, case


# ------------------------------------------------------------------------------------------- people and deadlines


@pytest.mark.parametrize(
    "case, pin, respect, stands",
    [
        ("for ever, where the policy says nothing", None, None, True),
        ("for as long as the policy says", None, 61.0, True),
        ("and no longer", None, 60.0, False),
        ("not against a newer pin", Pin("a", NOW + 9, PinKind.FIRST, "ana", NOW - 59), None, False),
        ("against an older pin", Pin("a", NOW + 9, PinKind.FIRST, "ana", NOW - 61), None, True),
        ("against a newer pin that is over", Pin("a", NOW, PinKind.FIRST, "ana", NOW - 59), None, True),
    ],
)
def test_a_priority_that_someone_else_set_a_minute_ago_stands(
    case: str, pin: Pin | None, respect: float | None, stands: bool
) -> None:
    assert (foreign_until(pin, NOW - 60, respect, NOW) > NOW) is stands, case


@pytest.mark.parametrize(
    "case, deadline, tags, wanted",
    [
        ("none", None, {"finish-by": "2027-01-15T09:00:00Z"}, None),
        ("so long after its submission", Deadline(within=HOUR), {}, Due(NOW + HOUR)),
        ("by its tag", Deadline(tag="finish-by"), {"finish-by": "2027-01-15T09:00:00Z"}, Due(NOW + HOUR)),
        ("by a tag in another zone", Deadline(tag="t"), {"t": "2027-01-15T10:00:00+01:00"}, Due(NOW + HOUR)),
        ("a job without the tag", Deadline(tag="finish-by"), {}, None),
        ("a tag without its zone", Deadline(tag="t"), {"t": "2027-01-15T09:00"}, Due(None, "2027-01-15T09:00")),
        ("a tag that is no time", Deadline(tag="t"), {"t": ""}, Due(None, "")),
    ],
)
def test_a_job_has_a_deadline(case: str, deadline: Deadline | None, tags: dict[str, str], wanted: Due | None) -> None:
    assert due_of(deadline, NOW, tags) == wanted, case


def test_until_when_a_persons_own_priority_stands_is_said() -> None:
    job = replace(OLD, foreign=True, priority=9, foreign_until=NOW + 2 * HOUR)
    standing = explain(view(job), UNLIMITED, decide(view(job), UNLIMITED), "old")
    assert standing is not None
    assert standing.holds == "Someone else set its priority to 9; Pointsman leaves it as it is for another 2.0 h."
