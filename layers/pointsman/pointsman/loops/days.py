"""A pass adds what it sees to the sums of the day, before it acts and before it lets go of jobs that have ended.

So nothing that a killed pass has counted is counted again, and nothing that it has not is lost: the next one sees it.
Moves are counted one pass later, from the lines of the history.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pointsman.day_ports import DayTable
from pointsman.errors import Unreadable
from pointsman.loops.ended import known_enough
from pointsman.loops.observe import Observation
from pointsman.loops.view import UNDESCRIBED
from pointsman.ports import Control
from pointsman.queues.classify import Classifier
from pointsman.queues.day_sums import Use
from pointsman.queues.days import Ledger, Look, SeenJob, count
from pointsman.queues.jobs import JobRecord, Stage, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView

MOST_MOVES = 1000  # between two passes; more would be 30 calls of Batch a second
DONE = "done"


@dataclass(frozen=True, slots=True)
class DayBook:
    """Counts what passes see; `control` has the history of moves."""

    days: DayTable
    control: Control

    def count(self, seen: Observation, policy: Policy) -> tuple[str, ...]:
        """Add what is new to the day. Raises `Conflict` where another pass has counted since.

        Where the day or a move of it cannot be read, nothing is counted, and what people should know is the answer.
        """
        try:
            self._count(seen, policy)
        except Unreadable as error:  # figures are worth less than the queue
            return (f"the day is not counted: {error}",)
        return ()

    def _count(self, seen: Observation, policy: Policy) -> None:
        view, newest = seen.view, self.days.newest(seen.view.queue)
        ledger = newest.ledger if newest and newest.ledger else Ledger(view.now)
        moves = self.control.moves(view.queue, ledger.at, MOST_MOVES) if newest else ()
        look = Look(
            now=view.now,
            use=_use(view),
            jobs=tuple(_jobs(seen, policy, ledger)),
            reasons={move.job_id: move.reason.value for move in seen.preempted},
            moves=[line.move.job_class for line in moves if line.outcome == DONE and line.at < view.now],
        )
        if days := count(view.queue, newest, look):
            self.days.save(days)


def _use(view: QueueView) -> Use:
    running = [job for job in view.busy if job.started is not None]
    working = min(view.used, sum(job.size for job in running))
    return Use(view.capacity, view.used, working, sum(job.gpus for job in running), len(view.waiting))


def _jobs(seen: Observation, policy: Policy, ledger: Ledger) -> Iterator[SeenJob]:
    """The jobs that may add to the day; most of a long queue wait, and never ran."""
    classifier, saved = Classifier(policy), {job.job_id: job.saved for job in seen.view.busy}
    events_only = seen.description.kind is QueueKind.CONTAINER
    for row in _started(seen, ledger):
        detail = row.detail or UNDESCRIBED
        yield SeenJob(
            job_id=row.job_id,
            job_class=classifier.job_class(row.name, detail).name,
            created=row.created,
            moment=row.at,
            started=row.started,
            running=row.status is Status.RUNNING,
            preemptions=row.preemptions,
            gpus=detail.gpus,
            saved=saved.get(row.job_id),
            ended=row.stage is Stage.ENDED,
            sure=events_only or _sure(row, seen.view),
        )


def _started(seen: Observation, ledger: Ledger) -> Iterable[JobRecord]:
    yield from seen.ended
    for job_id, row in seen.records.items():
        if row.started is not None or row.preemptions or job_id in ledger.jobs:
            yield row


def _sure(row: JobRecord, view: QueueView) -> bool:
    if row.stage is Stage.ENDED:
        return known_enough(row, view.now)
    return not row.needs_describe and row.job_id not in view.unsure
