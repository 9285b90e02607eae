"""Two weeks of a queue, day by day."""

from collections.abc import Iterator

from pointsman.queues.day_sums import ClassSums, DaySums, Use
from pointsman.queues.days import DAY, Day, day_of
from pointsman_cli.report.weeks import Ended, Weeks, weeks_of

QUEUE = "search <training>"
NOW = 20_000 * DAY + DAY / 2  # Friday 2024-10-04, at noon
CLASSES = ("production", "research", "sweep")


def days(queue: str = QUEUE, now: float = NOW) -> Iterator[Day]:
    """This week production waits half an hour and 12 of 16 instances work; the week before an hour, and 8 do."""
    for back in range(14):
        late = back >= 7
        if back == 3:  # nobody looked
            continue
        use = Use(capacity=16, held=14, working=8 if late else 12, gpus=8, waiting=5 + back)
        sums = DaySums(evictions={"evicted": 2} if late else {}, deepest=9).over(use, DAY)
        waited = ClassSums(evictions=2 if late else 0, lost=7200.0 if late else 0.0, moves=20)
        for _ in range(10):
            waited = waited.with_start(3600.0 if late else 1800.0)
        sums = sums.of_class("production", waited).of_class("sweep", ClassSums().with_start(7200.0))
        yield Day(queue, day_of(now - back * DAY), sums)


def report() -> Weeks:
    """The report of them, with three rollouts."""
    ended = [
        Ended("chat-v2", "SUCCEEDED", day_of(NOW), 3600.0),
        Ended("chat-v3", "ROLLED_BACK", day_of(NOW), 600.0),
        Ended("chat-v1", "SUCCEEDED", day_of(NOW - 8 * DAY), 600.0),
    ]
    return weeks_of(QUEUE, NOW, 2, CLASSES, list(days()), ended)
