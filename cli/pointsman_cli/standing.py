"""Finding the job that a person means, by id or by name, wherever it is by now."""

from collections.abc import Iterator
from dataclasses import dataclass

from pointsman.errors import Gone, UserMistake
from pointsman.loops.inspect import Look
from pointsman.ports import BatchQueues, JobTable
from pointsman.queues.explain import Standing, explain
from pointsman.queues.jobs import JobRecord, Sighting, Stage, Status
from pointsman_cli.printing import counted, when

PAGES = 5  # of each listing of ended jobs, when a name is looked for
NAMED = 5  # jobs of one name that are told apart in a message


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits, and where it stands."""

    status: str
    standing: Standing
    batch_says: str = ""

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.standing.job.job_id


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A job that has no standing: `state` is waiting (but not ranked), busy, ended or unknown."""

    job_id: str | None
    name: str | None
    state: str
    status: str | None
    sentence: str


def find(look: Look, jobs: JobTable, batch: BatchQueues, wanted: str) -> Waiting | Elsewhere:
    """What is known of the job; raises `UserMistake` when several have this name."""
    row = _active(look, wanted) or jobs.load([wanted]).get(wanted)
    if row is None:
        seen = _seen(batch, look.policy.queue, wanted)
        return _elsewhere(look, seen) if seen else _unknown(look, wanted)
    standing = explain(look.seen.view, look.policy, look.decision, row.job_id)
    if standing is None:
        return _elsewhere(look, row)
    return Waiting(row.status.value, standing, row.reason)


def _active(look: Look, wanted: str) -> JobRecord | None:
    """The job of this id, else the only one of this name: the waiting ones first."""
    rows = look.seen.records
    if wanted in rows:
        return rows[wanted]
    named = [row for row in rows.values() if row.name == wanted]
    waiting = [row for row in named if row.stage is Stage.WAITING]
    return _only(waiting or named, wanted)


def _only(rows: "list[JobRecord]", wanted: str) -> JobRecord | None:
    if len(rows) > 1:
        rows.sort(key=lambda row: row.created)
        ids = ", ".join(row.job_id for row in rows[:NAMED]) + (", ..." if len(rows) > NAMED else "")
        raise UserMistake(f"{counted(len(rows), 'job')} have this name", place=wanted, remedy=f"give an id: {ids}")
    return rows[0] if rows else None


def _seen(batch: BatchQueues, queue: str, wanted: str) -> Sighting | None:
    """The job as Batch knows it; of several that have ended under one name, the one submitted last."""
    try:
        return batch.describe_job(wanted)
    except Gone:
        named = [job for job in _ended(batch, queue) if job.name == wanted]
        return max(named, key=lambda job: job.created, default=None)


def _ended(batch: BatchQueues, queue: str) -> Iterator[Sighting]:
    for status in (Status.SUCCEEDED, Status.FAILED):
        token: str | None = None
        for _ in range(PAGES):
            page = batch.list_jobs(queue, status, token)
            yield from page.jobs
            token = page.next_token
            if token is None:
                break


def _elsewhere(look: Look, row: JobRecord | Sighting) -> Elsewhere:
    return Elsewhere(row.job_id, row.name, row.status.stage.value, row.status.value, _sentence(look, row))


def _sentence(look: Look, row: JobRecord | Sighting) -> str:
    queue = look.policy.queue
    if row.queue != queue:
        return f"It is in queue {row.queue}, not in {queue}; there it is {row.status.value}."
    if row.status.stage is Stage.ENDED:
        ended = f" at {when(row.stopped)}" if row.stopped else ""
        return f"It has ended{ended}: {row.status.value}."
    if row.status.stage is Stage.BUSY:
        since = f" since {when(row.started)}" if row.started else ""
        return f"It is {row.status.value}{since}: it holds its instances, nothing is ahead of it."
    if row.detail is None or (isinstance(row, JobRecord) and row.doubtful):
        return "It waits, and Pointsman has not described it yet: the next passes do."
    return f"It waits in share {row.detail.share}, which the policy does not rule (share: {look.policy.share})."


def _unknown(look: Look, wanted: str) -> Elsewhere:
    return Elsewhere(
        None, None, "unknown", None, f"Neither Pointsman nor Batch knows a job {wanted} in {look.policy.queue}."
    )
