"""Job events into the job table, and wakes for the queues that they touch. Calls no Batch API."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pointsman.errors import Conflict, Poison, Transient
from pointsman.inbound import JobPreempted, Message, job_event
from pointsman.log_ports import RecorderLog
from pointsman.ports import Clock, DeadLetters, JobTable, Wakes
from pointsman.queues.jobs import NO_QUEUE, JobRecord, Sighting, Status, merge

_ByJob = dict[str, list[tuple[Message, Sighting | JobPreempted]]]

TRIES = 3  # re-reads after someone else wrote the same job first


@dataclass(frozen=True, slots=True)
class Recorder:
    """Folds batches of job events into the table; every fault of one message leaves the others alone."""

    clock: Clock
    jobs: JobTable
    wakes: Wakes
    dead_letters: DeadLetters
    log: RecorderLog

    def record(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Ids of the messages to deliver again: those that met a transient fault. Poison is dead-lettered here.

        Records are written before wakes are sent, so that a pass that a wake starts sees what woke it.
        """
        by_job, again = self._read(messages)
        try:
            known = self.jobs.load(by_job)
        except Transient:
            again += [message.message_id for news in by_job.values() for message, _ in news]
        else:
            again += self._wake(self._fold_all(by_job, known, again))
        self.log.recorded(messages=len(messages), jobs=len(by_job), again=len(again))
        return tuple(again)

    def _read(self, messages: Sequence[Message]) -> tuple[_ByJob, list[str]]:
        """The news of each job, and the messages that could not even be buried."""
        by_job: _ByJob = {}
        again: list[str] = []
        for message in messages:
            try:
                news = job_event(message.body)
            except Poison as poison:
                if not self._bury(message, poison):
                    again.append(message.message_id)
                continue
            by_job.setdefault(news.job_id, []).append((message, news))
        return by_job, again

    def _fold_all(self, by_job: _ByJob, known: Mapping[str, JobRecord], again: list[str]) -> dict[str, list[str]]:
        """The messages that touched each queue; those that met a fault are added to `again`."""
        touched: dict[str, list[str]] = {}
        for job_id, told in by_job.items():
            ids = [message.message_id for message, _ in told]
            try:
                queue = self._fold(job_id, known.get(job_id), [news for _, news in told])
            except (Transient, Conflict):
                again += ids
                continue
            if queue and queue != NO_QUEUE:
                touched.setdefault(queue, []).extend(ids)
        return touched

    def _fold(self, job_id: str, stored: JobRecord | None, news: Iterable[Sighting | JobPreempted]) -> str:
        """Merge what is new; returns the queue to wake, or nothing when the job's queue is not known.

        News that change nothing wake as well: their message may be back because its wake could not be sent.
        """
        ordered = sorted(news, key=lambda item: item.at)
        for _ in range(TRIES):
            record = stored
            for item in ordered:
                record = _apply(record, item)
            if record is None:
                return ""
            if record is stored:
                return record.queue
            try:
                return self.jobs.save(record).queue
            except Conflict:
                stored = self.jobs.load([job_id]).get(job_id)
        raise Conflict(f"job {job_id} is written by others all the time")

    def _wake(self, touched: Mapping[str, Sequence[str]]) -> list[str]:
        now = self.clock.now()
        again: list[str] = []
        for queue, ids in touched.items():
            try:
                self.wakes.wake(queue, now)
            except Transient:
                again += ids
        return again

    def _bury(self, message: Message, poison: Poison) -> bool:
        try:
            self.dead_letters.bury(message.body, poison.reason, poison.place)
        except Transient:
            return False
        self.log.poisoned(poison.reason, poison.place)
        return True


def _apply(record: JobRecord | None, news: Sighting | JobPreempted) -> JobRecord | None:
    if isinstance(news, Sighting):
        return merge(record, news) or record
    if record is None:  # a preemption event names no queue: the next pass over quota shares describes the job
        return JobRecord(news.job_id, NO_QUEUE, "", Status.RUNNING, news.at, news.at, doubtful=True)
    return replace(record, doubtful=True)
