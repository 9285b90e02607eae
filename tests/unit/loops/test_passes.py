"""What one pass over a queue does, and leaves alone."""

import json

import pytest

from pointsman.errors import Conflict, Gone, Misconfigured, Transient
from pointsman.inbound import Message
from pointsman.ports import Snapshot
from pointsman.queues.jobs import JobRecord, Status
from pointsman.queues.kinds import QueueKind
from tests.unit.loops.world import POLICY, QUEUE, World


def busy_queue(**policy: object) -> World:
    """Two instances of eight are free; a big job is ahead of a small one of production."""
    world = World()
    world.apply(**policy)
    world.run("running", size=6)
    world.submit("big", size=4, waited=600.0)
    world.submit("small", size=2, name="prod-small")
    world.clock.advance(5)
    return world


def test_in_act_the_wanted_priority_is_set_and_recorded_with_its_reason() -> None:
    world = busy_queue()
    world.pass_()
    assert world.priorities() == {"big": 0, "small": 4999}
    assert world.history() == [("small", 4999, "front", "done")]
    assert world.dispatch() == ["small"]


def test_in_observe_nothing_is_set_and_each_wanted_move_is_recorded_once() -> None:
    world = busy_queue(mode="observe")
    for _ in range(3):
        world.pass_()
    assert world.batch.priorities == []
    assert world.history() == [("small", 4999, "front", "observed")]
    assert world.report.outcomes == ("observed",)


def test_in_observe_a_move_that_is_wanted_anew_is_recorded_anew() -> None:
    world = busy_queue(mode="observe")
    world.pass_()
    world.run("other", size=2)
    world.pass_()
    world.move("other", Status.SUCCEEDED)
    world.pass_()
    assert world.history() == [("small", 4999, "front", "observed")] * 2


def test_the_stop_switch_puts_a_queue_into_observe_and_its_end_back_into_act() -> None:
    world = busy_queue()
    world.control.stop()
    world.pass_()
    assert (world.batch.priorities, world.report.mode) == ([], "observe")
    world.control.resume()
    world.pass_()
    assert (world.batch.priorities, world.report.mode) == ([("small", 4999)], "act")


def test_a_second_pass_over_the_same_queue_sets_nothing_again() -> None:
    world = busy_queue()
    world.pass_()
    world.pass_()
    assert world.batch.priorities == [("small", 4999)]


def test_a_job_is_described_once() -> None:
    world = busy_queue()
    for _ in range(4):
        world.pass_()
    assert sorted(world.batch.described) == ["big", "running", "small"]


def test_what_is_lifted_and_no_longer_fits_goes_back_to_what_it_was_submitted_with() -> None:
    world = busy_queue()
    world.submit("given", size=2, priority=7, name="prod-given", waited=60.0)
    world.pass_()
    assert world.priority("given") == 4999
    world.run("other", size=2)
    world.pass_()
    assert world.priority("given") == 7


@pytest.mark.parametrize(
    "kind, words",
    [
        (QueueKind.FIFO, "is a FIFO queue: nothing in it can be moved, it is measured only"),
        (QueueKind.CONTAINER, "is a container queue: nothing in it can be moved, it is measured only"),
        (QueueKind.QUOTA_SHARE, "search-training has no quota share yet: nothing in it can start; create one"),
    ],
)
def test_a_queue_that_cannot_be_moved_is_measured_and_explained(kind: QueueKind, words: str) -> None:
    world = busy_queue()
    world.batch.add_queue(QUEUE, 8, kind)
    world.pass_()
    assert world.batch.priorities == []
    assert words in world.record.problem
    assert len(world.report.view.waiting) == 2
    assert len(world.report.view.busy) == 1
    assert world.report.decision.moves == ()


def test_a_container_queue_is_measured_from_its_events_without_a_call_for_each_job() -> None:
    world = busy_queue()
    world.batch.add_queue(QUEUE, 0, QueueKind.CONTAINER)
    world.submit("clash")
    world.batch.move_job("clash", Status.RUNNING)
    world.tell("clash")  # two states in one second
    world.pass_()
    assert world.batch.described == []
    assert {job.job_id for job in world.report.view.waiting} >= {"big", "small"}


def test_a_share_that_the_policy_does_not_rule_is_said_and_left_alone() -> None:
    world = busy_queue()
    world.submit("stranger", share="other", size=2, name="prod-stranger", waited=60.0)
    world.submit("stranger2", share="other", size=2, name="prod-stranger", waited=60.0)
    world.pass_()
    assert world.priorities() == {"big": 0, "small": 4999, "stranger": 0, "stranger2": 0}
    assert world.record.problem == "2 waiting jobs are in share 'other', which the policy does not rule (share: all)"


def test_a_disabled_queue_is_left_as_it_is_and_said_to_be_disabled() -> None:
    world = busy_queue()
    world.batch.add_queue(QUEUE, 8, enabled=False)
    world.pass_()
    assert world.batch.priorities == []
    assert "is disabled" in world.record.problem


def test_a_queue_without_a_policy_is_skipped() -> None:
    world = World()
    world.submit("a")
    world.pass_()
    assert world.log.skips == ["it has no policy: its jobs are recorded, nothing is decided"]
    assert world.record.version == 0


def test_a_queue_that_is_gone_is_a_recorded_problem_and_looked_for_again() -> None:
    world = World()
    world.apply()
    world.batch.queues.clear()
    world.pass_()
    assert world.record.problem == f"there is no job queue {QUEUE}"
    assert world.record.next_wake_at == world.clock.now() + 60.0
    assert world.log.failures == [(f"there is no job queue {QUEUE}", True)]


@pytest.mark.parametrize(
    "document, words",
    [
        (json.dumps({"version": 2}), "version"),
        (json.dumps({"version": 1, "queue": QUEUE, "share": "all", "default": {"name": "a"}, "novel": 1}), "novel"),
        ("[]", "a policy is a mapping of keys"),
        ("{not JSON", "not JSON"),
    ],
)
def test_a_policy_that_this_version_cannot_read_is_a_recorded_problem_and_changes_nothing(
    document: str, words: str
) -> None:
    world = busy_queue()
    world.control.put_policy(QUEUE, document, world.clock.now(), "a newer version")
    world.pass_()
    assert words in world.record.problem
    assert world.batch.priorities == []
    assert world.record.next_wake_at == world.clock.now() + 60.0
    ((why, known),) = world.log.failures
    assert known, why


def test_a_fault_of_ours_is_recorded_and_does_not_block_the_queue() -> None:
    world = busy_queue()
    world.batch.fail_next("snapshot", ZeroDivisionError("by nobody"))
    world.pass_()
    assert world.record.problem == "ZeroDivisionError: by nobody"
    assert world.log.failures == [("by nobody", False)]
    world.pass_()
    assert world.priority("small") == 4999
    assert world.record.problem == ""


@pytest.mark.parametrize("port, method", [
    ("batch", "describe_queue"), ("batch", "snapshot"), ("batch", "describe_job"), ("jobs", "active"),
    ("jobs", "history"), ("control", "stopped"), ("control", "put_writes"), ("control", "record"),
    ("alarms", "transitions"), ("control", "effects"),
])  # fmt: skip
@pytest.mark.parametrize("error", [Transient("429"), Conflict("late"), Misconfigured("no right")])
def test_what_fails_in_a_pass_is_recorded_and_the_next_one_ends_the_same(
    port: str, method: str, error: Exception
) -> None:
    world = busy_queue()
    getattr(world, port).fail_next(method, error)
    world.pass_()
    assert str(error) in world.record.problem
    assert world.record.next_wake_at <= world.clock.now() + 60.0
    world.pass_(after=60.0)
    assert world.priorities() == {"big": 0, "small": 4999}
    assert world.record.problem == ""


def test_an_exhausted_budget_defers_and_the_rest_is_done_when_it_has_refilled() -> None:
    world = World(capacity=20, budget=8)
    world.apply()
    for n in range(10):
        world.submit(f"job{n}", size=2)
    calls = 0
    for _ in range(6):
        world.pass_()
        calls = max(calls, len(world.batch.priorities))
    assert set(world.priorities().values()) == {4999}
    assert len(world.batch.priorities) == 10


def test_what_the_budget_leaves_undone_asks_for_another_pass_at_once() -> None:
    world = World(capacity=20, budget=8)
    world.apply()
    for n in range(10):
        world.submit(f"job{n}", size=2)
    world.wakes.sent.clear()
    world.pass_()
    assert world.wakes.queues == [QUEUE]
    assert world.record.next_wake_at == world.clock.now() + 30.0


def three_to_lift() -> World:
    world = World()
    world.apply()
    for name in ("a", "b", "c"):
        world.submit(name, size=2)
    world.clock.advance(5)
    return world


def test_a_throttled_write_defers_the_rest_and_asks_for_another_pass() -> None:
    world = three_to_lift()
    world.wakes.sent.clear()
    world.batch.fail_next("set_priority", Transient("429"))
    world.pass_()
    assert world.batch.priorities == []
    assert world.report.outcomes == ("deferred",) * 3
    assert world.wakes.queues == [QUEUE]
    assert world.history() == []
    world.pass_()
    assert world.priorities() == {"a": 4999, "b": 4999, "c": 4999}
    assert len(world.batch.priorities) == 3


def test_a_job_that_ends_between_read_and_write_is_gone_and_not_written_again() -> None:
    world = three_to_lift()
    world.batch.fail_next("set_priority", Gone("a has ended"))
    world.batch.move_job("a", Status.FAILED)
    world.batch.move_job("a", Status.RUNNABLE)  # the snapshot and the describe still show it waiting
    world.pass_()
    assert world.history() == [("a", 4999, "front", "gone"), ("b", 4999, "front", "done"), ("c", 4999, "front", "done")]
    world.batch.move_job("a", Status.FAILED)
    world.pass_()
    assert [job_id for job_id, _ in world.batch.priorities] == ["b", "c"]
    assert world.jobs.jobs["a"].status is Status.FAILED


@pytest.mark.parametrize("error", [Transient("throttled"), Conflict("someone else was faster")])
def test_a_job_that_could_not_be_let_go_at_once_is_learned_from_once(error: Exception) -> None:
    world = World()
    world.apply()
    world.run("failing", name="train-1")
    world.pass_(after=10)
    world.clock.advance(60)
    world.move("failing", Status.FAILED)
    world.submit("next", name="train-2")
    real, refused = world.jobs.save, list[str]()

    def save(row: JobRecord) -> JobRecord:
        if row.folded and len(refused) < 3:
            refused.append(row.job_id)
            raise error
        return real(row)

    world.jobs.save = save  # type: ignore[method-assign]
    for _ in range(5):
        world.pass_(after=90)
    assert refused == ["failing"] * 3
    assert list(world.jobs.history(QUEUE).crashes.values()) == [1]
    assert world.notices.kinds == []
    world.clock.advance(60)
    world.run("next-failing", name="train-3")
    world.clock.advance(60)
    world.move("next-failing", Status.FAILED)
    world.pass_(after=90)
    assert list(world.jobs.history(QUEUE).crashes.values()) == [2]


def test_a_job_that_batch_has_forgotten_is_let_go() -> None:
    world = three_to_lift()
    world.pass_()
    del world.batch.jobs["a"]
    world.clock.advance(60)
    for _ in range(3):
        world.pass_()
    assert {job.job_id for job in world.report.view.waiting} == {"b", "c"}
    assert world.jobs.jobs["a"].folded
    assert world.batch.described.count("a") == 3, "once to know it, and twice to let it go"


def test_wakes_run_one_pass_for_each_queue_and_a_message_that_is_no_wake_is_buried() -> None:
    world = busy_queue()
    world.clock.advance(30)
    wake = json.dumps({"queue": QUEUE})
    again = world.passes().run([Message("1", wake), Message("2", "{}"), Message("3", wake)])
    assert again == ()
    assert len(world.log.reports) == 1
    assert [(b.body, b.place) for b in world.dead_letters.buried] == [("{}", "wake.queue")]


def test_a_pass_that_cannot_even_be_recorded_is_asked_for_anew_so_that_its_message_blocks_nobody() -> None:
    world = busy_queue()
    world.clock.advance(30)
    world.jobs.fail_next("queue", Transient("500"))
    sent = len(world.wakes.sent)
    assert world.passes().run([Message("1", json.dumps({"queue": QUEUE}))]) == ()
    assert world.wakes.queues[sent:] == [QUEUE]
    assert world.log.failures == [("500", True)]


def test_a_wake_that_can_neither_be_recorded_nor_sent_anew_is_delivered_again_and_the_others_are_not() -> None:
    world = busy_queue()
    world.clock.advance(30)
    world.jobs.fail_next("queue", Transient("500"))
    world.wakes.fail_next("wake", Transient("500"))
    wakes = [Message("1", json.dumps({"queue": QUEUE})), Message("2", json.dumps({"queue": "other"}))]
    assert world.passes().run(wakes) == ("1",)
    world.dead_letters.fail_next("bury", Transient("500"))
    assert world.passes().run([Message("3", "x")]) == ("3",)


@pytest.mark.parametrize("call", ["snapshot", "list_jobs"])
def test_a_queue_that_is_deleted_between_two_calls_is_said_and_no_fault_of_ours(call: str) -> None:
    world = busy_queue()
    world.batch.fail_next(call, Gone("there is no such queue"))
    world.pass_()
    assert world.log.failures == [("there is no such queue", True)]
    assert world.record.problem == "there is no such queue"


def test_queues_whose_turn_comes_late_are_asked_for_anew_before_the_function_runs_out_of_time() -> None:
    world = busy_queue()
    queues = [f"queue-{n}" for n in range(4)]
    for queue in queues:
        world.batch.add_queue(queue, 8, shares=("all",))
        world.control.put_policy(queue, json.dumps({**POLICY, "queue": queue}), world.clock.now(), "someone")
    real = world.batch.snapshot

    def slow(name: str) -> Snapshot:
        world.clock.advance(40)
        return real(name)

    world.batch.snapshot = slow  # type: ignore[method-assign]
    assert world.passes().run([Message(queue, json.dumps({"queue": queue})) for queue in queues]) == ()
    assert [report.view.queue for report in world.log.reports] == queues[:2]
    assert world.wakes.queues[-2:] == queues[2:]
