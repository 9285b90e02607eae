"""The job table in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pointsman.errors import Conflict
from pointsman.ports import QueueRecord
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord, Stage
from tests.fakes.faults import Faulty, can_fail


class FakeJobTable(Faulty):
    """The same conditions and errors as the real one; its index is never behind."""

    def __init__(self, *, calls_a_second: float = 2.0, saved_calls: int = 120) -> None:
        super().__init__()
        self.jobs: dict[str, JobRecord] = {}
        self.queues: dict[str, QueueRecord] = {}
        self.histories: dict[str, History] = {}
        self._rate, self._most = calls_a_second, saved_calls
        self._tokens, self._filled = float(saved_calls), float("-inf")

    @can_fail
    def load(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        return {job_id: self.jobs[job_id] for job_id in job_ids if job_id in self.jobs}

    @can_fail
    def save(self, record: JobRecord) -> JobRecord:
        stored = self.jobs.get(record.job_id)
        if record.version != (stored.version if stored else 0):
            raise Conflict(f"job {record.job_id} was stored by someone else")
        self.jobs[record.job_id] = replace(record, version=record.version + 1)
        return self.jobs[record.job_id]

    @can_fail
    def active(self, queue: str) -> tuple[JobRecord, ...]:
        return tuple(j for j in self.jobs.values() if j.queue == queue and not (j.stage is Stage.ENDED and j.folded))

    @can_fail
    def queue(self, name: str) -> QueueRecord:
        return self.queues.get(name, QueueRecord(name))

    @can_fail
    def save_queue(self, record: QueueRecord) -> QueueRecord:
        if record.version != self.queues.get(record.queue, QueueRecord(record.queue)).version:
            raise Conflict(f"queue {record.queue} was stored by someone else")
        self.queues[record.queue] = replace(record, version=record.version + 1)
        return self.queues[record.queue]

    @can_fail
    def history(self, queue: str) -> History:
        return self.histories.get(queue, History())

    @can_fail
    def save_history(self, queue: str, history: History) -> None:
        if history.version != self.histories.get(queue, History()).version:
            raise Conflict(f"the history of {queue} was stored by someone else")
        self.histories[queue] = replace(history, version=history.version + 1)

    @can_fail
    def take_budget(self, wanted: int, now: float) -> int:
        at = now if self._filled > now + 300 else max(now, self._filled)
        self._tokens = min(float(self._most), self._tokens + self._rate * max(0.0, at - self._filled))
        self._filled = at
        granted = max(0, min(wanted, int(self._tokens)))
        self._tokens -= granted
        return granted
