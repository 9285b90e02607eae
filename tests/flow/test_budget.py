"""The account's API budget: two calls of Batch a second, and what was saved up."""

from pointsman.aws.job_table import CALLS_A_SECOND, SAVED_CALLS
from pointsman_emulator.gateway import Call
from tests.flow.day import MINUTE, Day, opened

PASS = "PrioritizeQueueFunction"
OPERATIONS = [
    "DescribeJobQueues",
    "DescribeServiceEnvironments",
    "DescribeSchedulingPolicies",
    "GetJobQueueSnapshot",
    "ListServiceJobs",
    "DescribeServiceJob",
    "UpdateServiceJob",
]
NEEDED_TO_SEE_THE_QUEUE = 3  # it is described whatever the budget says, once in five minutes


def calls_of_passes(day: Day) -> list[float]:
    """When the passes call Batch, as they do it."""
    made: list[float] = []

    def note(call: Call) -> None:
        if call.caller == PASS:
            made.append(day.aws.now)

    for operation in OPERATIONS:
        day.aws.before("batch", operation, note, times=None)
    return made


def take_all(day: Day) -> int:
    """Others of the account take whatever is in the bucket."""
    return day.wiring.jobs.take_budget(SAVED_CALLS, day.aws.now)


def test_with_the_budget_drained_a_pass_defers_and_makes_it_good_later() -> None:
    with opened() as day:
        day.apply()
        day.submit("prod-hold", 4, minutes=600)
        day.pass_minutes(3)
        made = calls_of_passes(day)
        began = day.aws.now
        for second in range(200):
            day.aws.at(began + second, lambda: take_all(day))
        for name in ("sweep-a", "sweep-b", "prod-a", "prod-b"):
            day.submit(name)
        day.aws.run(began + 190)
        assert len(made) <= CALLS_A_SECOND * NEEDED_TO_SEE_THE_QUEUE
        assert set(day.line().values()) == {0}
        assert day.record().next_wake_at <= day.aws.now + MINUTE

        day.pass_minutes(5)
        assert [*day.line()] == ["prod-a", "prod-b", "sweep-a", "sweep-b"]
        assert all(priority > 0 for priority in day.line().values())
        assert {move.outcome for move in day.moves()} == {"done"}
        assert not day.aws.failures


def test_over_a_busy_hour_passes_make_two_calls_a_second_at_most_and_what_was_saved_up() -> None:
    with opened() as day:
        began, made = day.aws.now, calls_of_passes(day)
        day.apply()
        day.submit("prod-hold", 4, minutes=12)
        for number in range(150):
            day.submit(f"sweep-{number}", 1 + number % 2, minutes=2)
        day.submit("prod-last", minutes=2)
        day.aws.run(began + 10 * MINUTE)
        assert len(made) > SAVED_CALLS + 50  # the bucket was emptied
        assert next(iter(day.line())) == "prod-last"
        assert all(row.detail for row in day.rows().values())

        day.aws.run(began + 60 * MINUTE)
        for n, first in enumerate(made):
            for m in range(n, len(made), 10):
                most = SAVED_CALLS + CALLS_A_SECOND * (made[m] - first) + NEEDED_TO_SEE_THE_QUEUE
                assert m - n + 1 <= most
        assert not day.failed_passes()
