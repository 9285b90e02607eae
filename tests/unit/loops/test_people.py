"""What people say of jobs, and what a policy says of deadlines, windows and crash loops, as passes see it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pointsman.queues.jobs import Status
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.reasons import Tell
from tests.unit.loops.world import QUEUE, World

HOUR = 3600.0


def set_by_someone(**policy: Any) -> World:
    """Someone gives a sweep a priority of their own, and a pass has seen it."""
    world = World()
    world.apply(**policy)
    world.run("running", size=8)
    world.submit("old", waited=9 * HOUR)
    world.submit("mine", waited=HOUR)
    world.clock.advance(5)
    world.pass_()
    world.set_by_hand("mine", 77)
    doubt(world)
    world.pass_()
    assert [job.foreign for job in world.report.view.waiting] == [False, True]
    return world


def doubt(world: World, job_id: str = "mine") -> None:
    """Let the next pass describe the job."""
    world.jobs.save(replace(world.jobs.jobs[job_id], doubtful=True))


def test_a_priority_that_someone_else_set_stands_for_ever_where_the_policy_says_nothing() -> None:
    world = set_by_someone()
    world.pass_(after=90 * 24 * HOUR)
    assert world.priority("mine") == 77


def test_it_stands_for_as_long_as_the_policy_says_and_then_the_job_is_ours_again() -> None:
    world = set_by_someone(respect_human="4h")
    world.pass_(after=4 * HOUR - 60)
    assert world.priority("mine") == 77
    world.pass_(after=60)
    assert world.priority("mine") < 4998, "it stands by, behind the older one"
    assert world.priority("mine") != 77
    ours = world.priority("mine")
    for _ in range(3):
        world.pass_()
    assert world.priority("mine") == ours, "it is not written again and again"


def test_the_time_runs_from_the_first_sight_however_often_it_is_seen_again() -> None:
    world = set_by_someone(respect_human="4h")
    for _ in range(3):
        doubt(world)
        world.pass_(after=HOUR)
    assert world.priority("mine") == 77
    world.pass_(after=HOUR)
    assert world.priority("mine") != 77


def test_another_priority_that_someone_sets_begins_the_time_anew() -> None:
    world = set_by_someone(respect_human="4h")
    world.clock.advance(3 * HOUR)
    world.set_by_hand("mine", 78)
    doubt(world)
    world.pass_()
    world.pass_(after=3 * HOUR)
    assert world.priority("mine") == 78
    world.pass_(after=HOUR)
    assert world.priority("mine") != 78


def test_the_same_priority_set_once_more_after_its_time_was_over_stands_once_more() -> None:
    world = set_by_someone(respect_human="4h")
    world.pass_(after=4 * HOUR)
    assert world.priority("mine") != 77
    world.set_by_hand("mine", 77)
    doubt(world)
    world.pass_()
    for _ in range(3):
        doubt(world)
        world.pass_(after=HOUR)
    assert world.priority("mine") == 77
    world.pass_(after=HOUR)
    assert world.priority("mine") != 77


@pytest.mark.parametrize("respect, most", [("2m", 1), ("4h", 0)], ids=["for two minutes", "for four hours"])
def test_a_person_and_pointsman_who_move_one_job_in_turn_do_not_fight(respect: str, most: int) -> None:
    world = set_by_someone(respect_human=respect)
    for turn in range(6):
        world.set_by_hand("mine", 50 + turn)
        doubt(world)
        written = len(world.batch.priorities)
        for _ in range(8):
            world.pass_()
        set_again = [each for each in world.batch.priorities[written:] if each[0] == "mine"]
        assert len(set_again) == most, f"turn {turn}"
    assert world.log.failures == []


def test_the_newer_of_a_pin_and_a_persons_own_priority_counts() -> None:
    world = set_by_someone()
    now = world.clock.now()
    world.control.put_pin(QUEUE, Pin("mine", now + 9 * HOUR, PinKind.FIRST, "ana", now))
    world.pass_()
    assert world.priority("mine") > world.priority("old") >= 4000
    world.set_by_hand("mine", 12)
    doubt(world)
    world.pass_()
    assert world.priority("mine") == 12


def test_a_pinned_job_goes_first_until_the_pin_ends_or_is_taken_away() -> None:
    world = World()
    world.apply()
    world.run("running", size=6)
    world.submit("old", size=2, waited=9 * HOUR)
    world.submit("new", size=2)
    world.clock.advance(5)
    now = world.clock.now()
    world.control.put_pin(QUEUE, Pin("new", now + HOUR, PinKind.FIRST, "ana", now))
    world.pass_()
    assert world.priority("new") == 4999
    assert ("new", 4999, "pinned", "done") in world.history()
    world.pass_(after=HOUR)
    assert world.priority("old") == 4999
    world.control.put_pin(QUEUE, Pin("new", world.clock.now() + HOUR, PinKind.FIRST, "ana", world.clock.now()))
    world.pass_()
    world.control.remove_pin(QUEUE, "new")
    world.pass_()
    assert world.priority("old") == 4999


def test_a_tag_names_a_deadline_and_one_that_cannot_be_read_is_told() -> None:
    world = World()
    world.apply(default={"name": "sweep", "deadline": {"tag": "finish-by"}})
    world.run("running", size=7)
    soon = datetime.fromtimestamp(world.clock.now() + 1.5 * HOUR, UTC).isoformat()
    world.submit("old", waited=9 * HOUR, tags={"finish-by": "noon"})
    world.submit("new", tags={"finish-by": soon})
    world.clock.advance(5)
    world.pass_()
    assert world.priority("new") == 4999
    assert {(t.what, t.job_id) for t in world.report.decision.told} == {
        (Tell.AT_RISK, "new"),
        (Tell.UNREADABLE, "old"),
    }


def test_jobs_of_a_kind_that_fail_soon_one_after_the_other_put_the_next_behind_others() -> None:
    world = World()
    world.apply()
    world.run("running", size=7)
    for n in range(3):
        world.run(f"bad-{n}", size=1, name=f"train-{n}")
        world.clock.advance(20)
        world.move(f"bad-{n}", Status.FAILED)
        world.pass_()
    world.submit("bad-3", waited=9 * HOUR, name="train-3")
    world.submit("good", waited=HOUR, name="other")
    world.clock.advance(5)
    world.pass_()
    world.pass_()
    assert world.priority("good") == 4999
    assert [t.what for t in world.report.decision.told] == [Tell.CRASH_LOOP]


def test_a_window_that_opens_changes_the_order_at_once() -> None:
    world = World()  # it is 08:00 in UTC
    window = {"when": "daily 09:00-10:00 UTC", "set": {"sweep": {"head_start": "7d"}}}
    world.apply(windows=[window])
    world.run("running", size=6)
    world.submit("old", size=2, waited=9 * HOUR)
    world.submit("prod-1", size=2, name="prod-1")
    world.clock.advance(5)
    world.pass_()
    assert world.priority("prod-1") == 4999
    world.clock.advance(HOUR - 100)
    world.pass_()
    assert world.record.next_wake_at <= 1_800_000_000.0 + HOUR + 60
    world.pass_(after=120)
    assert world.priority("old") == 4999


def test_a_policy_that_its_queue_cannot_obey_moves_nothing_and_says_why() -> None:
    world = World()
    world.apply(default={"name": "sweep", "preemptible": True}, preemption={})
    world.submit("a")
    world.clock.advance(5)
    world.pass_()
    assert world.history() == []
    assert world.priority("a") == 0
    assert "nothing in it can be evicted; nothing is moved: take it out" in world.record.problem


def test_classes_may_be_told_apart_by_share() -> None:
    world = World()
    world.batch.add_queue(QUEUE, 8, shares=("team*",))
    classes = [{"name": "a", "match": {"share": "teama"}, "head_start": "1h"}]
    world.apply(share="team*", classes=classes, on_alarm=[])
    world.submit("one", share="teama")
    world.submit("two", share="teamb")
    world.clock.advance(5)
    world.pass_()
    assert [job.kind.job_class for job in world.report.view.waiting] == ["a", "sweep"]
