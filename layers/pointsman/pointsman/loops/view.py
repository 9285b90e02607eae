"""The frozen values that a decision is made on, built from the job table's records."""

from collections.abc import Iterable, Mapping

from pointsman.ports import QueueDescription, QueueKind, QueueRecord
from pointsman.queues.estimates import Finished
from pointsman.queues.jobs import BusyJob, Detail, JobRecord, Stage, Status, WaitingJob, kind_of
from pointsman.queues.policy import Policy

UNDESCRIBED = Detail(size=1, gpus=0, share=None, priority=0)


def finished(row: JobRecord, policy: Policy) -> Finished | None:
    """What an ended job teaches of run times; None unless it ran to its end and is wholly known."""
    if row.status is not Status.SUCCEEDED or row.detail is None or row.started is None or row.stopped is None:
        return None
    job_class = policy.classify(row.name, row.detail.tags)
    return Finished(kind_of(row, row.detail, job_class.name), max(0.0, row.stopped - row.started))


def table_use(known: Mapping[str, JobRecord]) -> int:
    """Instances in use as the table adds them up; a job never described counts one."""
    return sum(row.detail.size if row.detail else 1 for row in known.values() if row.stage is Stage.BUSY)


def jobs_of(
    record: QueueRecord, description: QueueDescription, policy: Policy, known: Mapping[str, JobRecord]
) -> tuple[tuple[WaitingJob, ...], tuple[BusyJob, ...], Mapping[str, int]]:
    """The jobs that wait, those that hold capacity, and how many wait in each share that the policy does not rule.

    A record that may not be used yet is left out; a container job counts one, by its events alone.
    """
    ours = dict(record.priorities)
    waiting: list[WaitingJob] = []
    busy: list[BusyJob] = []
    strangers: dict[str, int] = {}
    for row in known.values():
        detail = row.detail
        if description.kind is QueueKind.CONTAINER:
            detail = UNDESCRIBED  # there is no Describe of a service job for it: events are all that is known
        elif detail is None or row.doubtful:
            continue
        kind = kind_of(row, detail, policy.classify(row.name, detail.tags).name)
        if row.stage is Stage.BUSY:
            busy.append(BusyJob(row.job_id, row.name, kind, detail.gpus, row.started))
        elif description.kind is QueueKind.FAIR_SHARE and not policy.rules(detail.share):
            strangers[detail.share or ""] = strangers.get(detail.share or "", 0) + 1
        else:
            submitted = row.submitted_priority or 0
            priority = detail.priority if row.foreign else ours.get(row.job_id, detail.priority)
            waiting.append(
                WaitingJob(row.job_id, row.name, kind, detail.gpus, row.created, priority, submitted, row.foreign)
            )
    return tuple(waiting), tuple(busy), strangers


def problems_of(description: QueueDescription, policy: Policy, strangers: Mapping[str, int]) -> Iterable[str]:
    """What people should be told about the queue, each with the remedy."""
    if description.kind in (QueueKind.FIFO, QueueKind.CONTAINER):
        yield (
            f"{description.name} is a {description.kind} queue: nothing in it can be moved, it is measured only; "
            "submit to a SageMaker queue with a fair-share scheduling policy"
        )
    if description.kind is QueueKind.QUOTA_SHARE:
        yield f"{description.name} has quota shares: this version measures it and moves nothing in it"
    if not description.enabled:
        yield f"{description.name} is disabled: enable it, or nothing in it starts"
    for share, count in sorted(strangers.items()):
        yield f"{count} waiting jobs are in share {share!r}, which the policy does not rule (share: {policy.share})"
