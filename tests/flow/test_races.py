"""Others act while a pass is at work, or a pass is killed in the middle: nothing is written twice, all is made good."""

import json
from collections.abc import Callable, Iterator

import pytest

from pointsman.inbound import Message
from pointsman_emulator.gateway import Call
from tests.flow.day import MINUTE, QUEUE, Day, opened

PASS = "PrioritizeQueueFunction"
AFTER_VISIBILITY = 14 * MINUTE  # a message whose function was killed is seen again twelve minutes later


class Killed(BaseException):
    """The end of a process: nothing catches it."""


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with opened() as day:
        day.apply()
        day.submit("prod-hold", 4, minutes=100_000)
        day.pass_minutes(2)
        yield day


@pytest.fixture
def empty(day: Day) -> Day:
    """Nothing waits, and no call has a hook left."""
    day.aws.gateway._hooks.clear()
    for name in day.line():
        day.terminate(name)
    day.ids = {"prod-hold": day.ids["prod-hold"]}
    day.pass_minutes(2)
    return day


def fill(day: Day) -> None:
    for name in ("sweep-a", "sweep-b", "prod-a", "prod-b"):
        day.submit(name)


@pytest.fixture(scope="module")
def undisturbed(day: Day) -> dict[str, int]:
    """The line as it comes to stand when nobody disturbs."""
    fill(day)
    day.pass_minutes(3)
    return day.line()


def once(action: Callable[[], object]) -> Callable[[Call], None]:
    """Do it at the first call that a pass makes."""
    done: list[Call] = []

    def hook(call: Call) -> None:
        if call.caller == PASS and not done:
            done.append(call)
            action()

    return hook


def written(day: Day, since: float) -> list[tuple[str, int]]:
    """What the history says was set, in order."""
    return [(m.move.job_name, m.move.after) for m in day.moves() if m.at >= since and m.outcome == "done"]


def pass_beside(day: Day) -> Callable[[], object]:
    """A second pass over the queue, by another process."""
    return lambda: day.wiring.passes().run([Message("beside", json.dumps({"queue": QUEUE}))])


@pytest.mark.parametrize(
    "service, operation",
    [
        ("dynamodb", "GetItem"),
        ("dynamodb", "PutItem"),
        ("dynamodb", "Query"),
        ("batch", "GetJobQueueSnapshot"),
        ("batch", "DescribeServiceJob"),
        ("batch", "UpdateServiceJob"),
        ("dynamodb", "TransactWriteItems"),
        ("dynamodb", "BatchWriteItem"),
    ],
)
def test_two_passes_of_one_queue_at_the_same_moment_set_each_priority_once(
    undisturbed: dict[str, int], empty: Day, service: str, operation: str
) -> None:
    before, since = empty.writes, empty.aws.now
    fill(empty)
    ran: list[str] = []
    beside = pass_beside(empty)
    empty.aws.before(service, operation, once(lambda: ran.append(str(beside()))), times=None)
    empty.pass_minutes(4)
    assert ran == ["()"]
    assert empty.line() == undisturbed
    assert empty.writes - before == len(undisturbed)
    assert sorted(written(empty, since)) == sorted(undisturbed.items())


def test_a_pass_that_finds_the_lease_taken_leaves_and_asks_to_come_again(empty: Day) -> None:
    fill(empty)
    empty.aws.before("batch", "GetJobQueueSnapshot", once(pass_beside(empty)), times=None)
    skipped = len(empty.log(PASS, "skipped"))
    empty.pass_minutes(2)
    told = [line["why"] for line in empty.log(PASS, "skipped")[skipped:]]
    assert "another pass holds the lease" in told


def test_a_job_that_ends_between_read_and_write_is_left_out_and_the_others_are_set(empty: Day) -> None:
    since = empty.aws.now
    fill(empty)
    empty.aws.before("batch", "UpdateServiceJob", once(lambda: empty.terminate("prod-a")), times=None)
    empty.pass_minutes(4)
    assert [*empty.line()] == ["prod-b", "sweep-a", "sweep-b"]
    assert all(priority > 0 for priority in empty.line().values())
    told = {m.move.job_name: m.outcome for m in empty.moves() if m.at >= since}
    assert told["prod-a"] == "gone"
    assert told["prod-b"] == "done"
    assert empty.rows()["prod-a"].status == "FAILED"
    assert empty.record().problem == ""


def test_a_job_that_starts_between_read_and_write_runs_on_and_the_others_stand_in_order(empty: Day) -> None:
    fill(empty)
    empty.aws.before("batch", "UpdateServiceJob", once(lambda: grow(empty, 5)), times=None)
    empty.pass_minutes(4)
    running = [name for name in ("prod-a", "prod-b", "sweep-a", "sweep-b") if empty.job(name).status == "RUNNING"]
    assert len(running) == 1
    assert [*empty.line()] == [name for name in ("prod-a", "prod-b", "sweep-a", "sweep-b") if name not in running]
    assert not empty.aws.failures
    empty.terminate(running[0])
    grow(empty, 4)


def grow(day: Day, capacity: int) -> None:
    """Give the pool so many instances."""
    [environment] = day.aws.client("batch").describe_service_environments()["serviceEnvironments"]
    day.aws.client("batch").update_service_environment(
        serviceEnvironment=environment["serviceEnvironmentArn"],
        capacityLimits=[{"maxCapacity": capacity, "capacityUnit": "NUM_INSTANCES"}],
    )


def test_a_priority_that_a_person_sets_is_left_alone(empty: Day) -> None:
    fill(empty)
    empty.pass_minutes(3)
    empty.aws.client("batch").update_service_job(jobId=empty.ids["sweep-b"], schedulingPriority=9000)
    writes = empty.writes
    empty.pass_minutes(4)
    assert empty.priority("sweep-b") == 9000
    assert empty.writes == writes


@pytest.mark.parametrize(
    "service, operation, after",
    [
        ("dynamodb", "PutItem", True),
        ("batch", "GetJobQueueSnapshot", False),
        ("dynamodb", "TransactWriteItems", True),
        ("batch", "UpdateServiceJob", False),
        ("batch", "UpdateServiceJob", True),
    ],
)
def test_a_pass_that_is_killed_is_made_good(
    undisturbed: dict[str, int], empty: Day, service: str, operation: str, after: bool
) -> None:
    def kill() -> None:
        raise Killed

    fill(empty)
    (empty.aws.after if after else empty.aws.before)(service, operation, once(kill), times=None)
    with pytest.raises(Killed):
        empty.pass_minutes(10)
    assert empty.line() != undisturbed
    empty.aws.run_for(AFTER_VISIBILITY)
    assert empty.line() == undisturbed
    assert {name: row.foreign for name, row in empty.rows().items() if row.foreign} == {}
    assert empty.record().owner == ""
    assert empty.dead_letters() == []


def test_what_a_killed_pass_had_lifted_is_returned_when_it_no_longer_fits(empty: Day) -> None:
    """Nothing but the stored intent says that the job was lifted: the pass died before it could record it."""

    def kill() -> None:
        raise Killed

    empty.submit("sweep-big", 3)
    empty.submit("prod-wide", 2)
    grow(empty, 6)
    empty.aws.before("batch", "UpdateServiceJob", once(lambda: grow(empty, 4)), times=None)
    empty.aws.after("batch", "UpdateServiceJob", once(kill), times=None)
    with pytest.raises(Killed):
        empty.pass_minutes(10)
    assert [*empty.line()] == ["prod-wide", "sweep-big"]
    empty.aws.run_for(AFTER_VISIBILITY)
    assert empty.line() == {"sweep-big": 0, "prod-wide": 0}
    assert [*empty.line()] == ["sweep-big", "prod-wide"]


def test_a_lift_whose_answer_was_lost_is_returned_when_it_no_longer_fits(empty: Day) -> None:
    """In mid-pass a person starts another job in the room that the lifted one was to take."""

    def start_another() -> None:
        empty.aws.batch_model.set_priority(empty.ids["sweep-two"], 9000)

    for name, instances in (("sweep-big", 3), ("prod-wide", 2), ("sweep-two", 2)):
        empty.submit(name, instances, minutes=600)
    grow(empty, 6)
    empty.aws.before("batch", "UpdateServiceJob", once(start_another), times=None)
    empty.aws.fail_next("batch", "UpdateServiceJob", "ServerException", 3, after=True)
    lifted = empty.aws.run_until(lambda: [*empty.line()] == ["prod-wide", "sweep-big"], empty.aws.now + 10 * MINUTE)
    assert lifted
    empty.pass_minutes(3)
    assert empty.job("sweep-two").status == "RUNNING"
    assert empty.line() == {"sweep-big": 0, "prod-wide": 0}
    empty.terminate("sweep-two")
    grow(empty, 4)
