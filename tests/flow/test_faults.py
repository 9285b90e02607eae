"""A service refuses, fails, or loses its answer: the call is made or decided again, and the line ends the same.

One deployment serves all cases. In each, four jobs come to a queue whose pool is taken, and wait in the same order.
"""

from collections.abc import Iterator

import pytest

from tests.flow.day import HOUR, MINUTE, Day, opened

NEEDED = ["DescribeJobQueues", "DescribeServiceEnvironments", "DescribeSchedulingPolicies", "GetJobQueueSnapshot"]
OF_MANY = ["ListServiceJobs", "DescribeServiceJob"]  # a pass goes on with what it has seen until then
THROTTLED, BROKEN = "TooManyRequestsException", "ServerException"
ONCE, TOO_OFTEN = 1, 5  # a client tries a call three times


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with opened() as day:
        day.apply()
        day.submit("prod-hold", 4, minutes=100_000)
        day.pass_minutes(2)
        yield day


@pytest.fixture
def empty(day: Day) -> Day:
    """Nothing waits, and nothing has gone wrong."""
    for name in day.line():
        day.terminate(name)
    day.pass_minutes(1)
    return day


def fill(day: Day) -> None:
    for name in ("sweep-a", "sweep-b", "prod-a", "prod-b"):
        day.submit(name)


@pytest.fixture(scope="module")
def undisturbed(day: Day) -> dict[str, int]:
    """The line as it comes to stand when nothing goes wrong."""
    fill(day)
    day.pass_minutes(3)
    return day.line()


def settle(day: Day, operation: str, calls: int) -> None:
    """Until the operation has been called so often, and then a little longer."""
    before = day.aws.count("batch", operation)
    assert day.aws.run_until(lambda: day.aws.count("batch", operation) >= before + calls, day.aws.now + HOUR)
    day.pass_minutes(3)


def test_undisturbed_production_stands_first(undisturbed: dict[str, int]) -> None:
    assert [*undisturbed] == ["prod-a", "prod-b", "sweep-a", "sweep-b"]
    assert len(set(undisturbed.values())) == len(undisturbed)


@pytest.mark.parametrize("code", [THROTTLED, BROKEN])
@pytest.mark.parametrize("times", [ONCE, TOO_OFTEN])
@pytest.mark.parametrize("operation", [*NEEDED, *OF_MANY, "UpdateServiceJob"])
def test_a_call_that_is_refused_is_made_again_and_the_line_comes_to_stand_the_same(
    undisturbed: dict[str, int], empty: Day, operation: str, times: int, code: str
) -> None:
    failed = len(empty.failed_passes())
    empty.aws.fail_next("batch", operation, code, times)
    fill(empty)
    settle(empty, operation, times + 1)
    assert empty.line() == undisturbed
    assert empty.record().problem == ""
    assert not empty.aws.failures
    assert len(empty.failed_passes()) - failed == (1 if times == TOO_OFTEN and operation in NEEDED else 0)


@pytest.mark.parametrize("times", [ONCE, TOO_OFTEN])
def test_a_write_whose_answer_is_lost_is_not_believed_to_have_failed(
    undisturbed: dict[str, int], empty: Day, times: int
) -> None:
    empty.aws.fail_next("batch", "UpdateServiceJob", BROKEN, times, after=True)
    fill(empty)
    settle(empty, "UpdateServiceJob", times + 1)
    assert empty.line() == undisturbed
    assert {row.foreign for name, row in empty.rows().items() if name in undisturbed} == {False}


@pytest.mark.parametrize("times", [ONCE, TOO_OFTEN])
@pytest.mark.parametrize("operation", ["PutItem", "Query", "BatchGetItem", "BatchWriteItem", "GetItem"])
def test_tables_that_refuse_for_a_while_are_asked_again(
    undisturbed: dict[str, int], empty: Day, operation: str, times: int
) -> None:
    fill(empty)
    empty.aws.fail_next("dynamodb", operation, "ProvisionedThroughputExceededException", times)
    empty.pass_minutes(6)
    assert empty.line() == undisturbed


def test_a_wake_that_cannot_be_sent_is_made_good_by_the_minute(undisturbed: dict[str, int], empty: Day) -> None:
    empty.aws.fail_next("sqs", "SendMessage", "ServiceUnavailable", TOO_OFTEN, status=503)
    fill(empty)
    empty.pass_minutes(7)  # an idle queue is looked at every five
    assert empty.line() == undisturbed


def test_what_went_wrong_is_told_until_a_pass_comes_to_its_end(undisturbed: dict[str, int], empty: Day) -> None:
    empty.aws.fail_next("batch", "GetJobQueueSnapshot", THROTTLED, 6)
    fill(empty)
    assert empty.aws.run_until(lambda: empty.record().problem != "", empty.aws.now + 10 * MINUTE)
    assert THROTTLED in empty.record().problem
    assert empty.record().next_wake_at - empty.aws.now == pytest.approx(MINUTE, abs=5)
    empty.pass_minutes(5)
    assert empty.record().problem == ""
    assert empty.line() == undisturbed
