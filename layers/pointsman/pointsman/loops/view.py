"""The frozen values that a decision is made on, built from the job table's records."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pointsman.loops.fit import misfits
from pointsman.ports import QueueDescription, QueueRecord, Snapshot
from pointsman.queues.classify import Classifier
from pointsman.queues.estimates import Finished
from pointsman.queues.jobs import SOON, BusyJob, Detail, JobRecord, Stage, Status, WaitingJob
from pointsman.queues.kinds import QueueKind
from pointsman.queues.pins import Pin, foreign_until
from pointsman.queues.policy import Policy, due_of
from pointsman.queues.view import Share
from pointsman.queues.waiting import Waiting

UNDESCRIBED = Detail(size=1, gpus=0, share=None, priority=0)


def finished(row: JobRecord, policy: Policy) -> Finished | None:
    """What an ended job teaches: how long it ran, or that it failed soon; None unless it ran and is wholly known."""
    if row.detail is None or row.started is None or row.stopped is None:
        return None
    ran = max(0.0, row.stopped - row.started)
    crashed = row.status is Status.FAILED and ran < SOON
    if row.status is not Status.SUCCEEDED and not crashed:
        return None
    classifier = Classifier(policy)
    job_class = classifier.job_class(row.name, row.detail)
    return Finished(classifier.kind(row.name, row.detail, job_class), ran, crashed)


def table_use(known: Mapping[str, JobRecord]) -> int:
    """Instances in use as the table adds them up; a job never described counts one."""
    return sum(row.detail.size if row.detail else 1 for row in known.values() if row.stage is Stage.BUSY)


def jobs_of(
    record: QueueRecord,
    description: QueueDescription,
    policy: Policy,
    known: Mapping[str, JobRecord],
    pins: Mapping[str, Pin],
    now: float,
) -> tuple[Waiting, tuple[BusyJob, ...], tuple[WaitingJob, ...]]:
    """The jobs that wait, those that hold capacity, and those that wait in shares that the policy does not rule.

    A record that may not be used yet is left out; a container job counts one, by its events alone.
    """
    ours, classifier = dict(record.priorities), Classifier(policy)
    shared = description.kind in (QueueKind.FAIR_SHARE, QueueKind.QUOTA_SHARE)
    ruled: dict[str | None, bool] = {}
    waiting: list[WaitingJob] = []
    busy: list[BusyJob] = []
    strangers: list[WaitingJob] = []
    for row in known.values():
        detail = row.detail
        if description.kind is QueueKind.CONTAINER:
            detail = UNDESCRIBED  # there is no Describe of a service job for it: events are all that is known
        elif detail is None or row.doubtful:
            continue
        job_class = classifier.job_class(row.name, detail)
        kind = classifier.kind(row.name, detail, job_class)
        if row.stage is Stage.BUSY:
            busy.append(
                BusyJob(
                    job_id=row.job_id,
                    name=row.name,
                    kind=kind,
                    gpus=detail.gpus,
                    started=row.started,
                    share=detail.share or "",
                    submitted=row.created,
                    priority=ours.get(row.job_id, detail.priority),
                    submitted_priority=row.submitted_priority or 0,
                    preempted=row.preemptions,
                    outlives=detail.outlives,
                    crashes=0 if row.foreign else row.crashes,
                )
            )
            continue
        submitted = row.submitted_priority or 0
        until = float("inf")
        if row.foreign:
            until = foreign_until(pins.get(row.job_id), row.foreign_since or row.at, policy.respect_human, now)
        foreign = row.foreign and now < until
        job = WaitingJob(
            job_id=row.job_id,
            name=row.name,
            kind=kind,
            gpus=detail.gpus,
            submitted=row.created,
            priority=detail.priority if foreign else ours.get(row.job_id, detail.priority),
            submitted_priority=submitted,
            foreign=foreign,
            share=detail.share or "",
            due=due_of(job_class.deadline, row.created, detail.tags) if job_class.deadline else None,
            crashes=row.crashes,
            foreign_until=until,
            again=row.at if row.preemptions or row.attempts else None,
        )
        if detail.share not in ruled:
            ruled[detail.share] = not shared or policy.rules(detail.share)
        (waiting if ruled[detail.share] else strangers).append(job)
    return Waiting(waiting), tuple(busy), tuple(strangers)


def shares_of(
    description: QueueDescription, snapshot: Snapshot | None, known: Mapping[str, JobRecord]
) -> tuple[Share, ...]:
    """The shares of a fair-share queue's jobs, first the one whose turn the snapshot shows.

    Use is that of the snapshot where it has it, else what the table adds up to.
    """
    used: dict[str, int] = {}
    for row in known.values():
        if row.detail is not None and row.detail.share is not None:
            used[row.detail.share] = used.get(row.detail.share, 0) + (row.detail.size if row.stage is Stage.BUSY else 0)
    if snapshot is not None:
        used |= {share: count for share, count in snapshot.shares if share in used}
    first: dict[str, None] = {}
    for job_id in snapshot.front if snapshot else ():
        detail = known[job_id].detail if job_id in known else None
        if detail is not None and detail.share is not None:
            first.setdefault(detail.share)
    names = [*first, *(name for name in sorted(used) if name not in first)]
    return tuple(Share(name, _weight(description, name, used), used[name]) for name in names)


def _weight(description: QueueDescription, share: str, active: Iterable[str]) -> float:
    """The share's weight, 1 where none is set; shares that match one prefix split its weight: each is weaker."""
    weights = dict(description.weights)
    if share in weights:
        return weights[share]
    for pattern, weight in description.weights:
        if pattern.endswith("*") and share.startswith(pattern[:-1]):
            return weight * sum(1 for other in active if other.startswith(pattern[:-1]))
    return 1.0


def _steps(description: QueueDescription) -> str:
    """What to do about a FIFO queue: its kind is for life."""
    if description.kind is not QueueKind.FIFO:
        return ""
    return (
        " (its kind is for life: create a scheduling policy with a fairsharePolicy and a second queue with it on the "
        "same service environment, let submitters name that queue and a shareIdentifier, and delete "
        f"{description.name} once it has run empty)"
    )


def problems_of(
    description: QueueDescription, policy: Policy, strangers: Iterable[WaitingJob], used: int = 0
) -> Iterable[str]:
    """What people should be told about the queue, each with the remedy."""
    if description.kind in (QueueKind.FIFO, QueueKind.CONTAINER):
        yield (
            f"{description.name} is a {description.kind} queue: nothing in it can be moved, it is measured only; "
            f"submit to a SageMaker queue with a fair-share scheduling policy{_steps(description)}"
        )
    else:
        yield from (f"{unfit.message}; nothing is moved: {unfit.remedy}" for unfit in misfits(description, policy))
    if description.kind is QueueKind.QUOTA_SHARE and not description.quota_shares:
        yield f"{description.name} has no quota share yet: nothing in it can start; create one"
    if not description.enabled:
        yield f"{description.name} is disabled: enable it, or nothing in it starts"
    if used > description.capacity and description.kind is not QueueKind.CONTAINER:
        yield (
            f"{used} instances are in use and its service environment allows {description.capacity}: it was made "
            "smaller; nothing is stopped, and nothing starts until enough has ended or its limit is raised"
        )
    for share, count in sorted(Counter(job.share for job in strangers).items()):
        jobs = "1 waiting job is" if count == 1 else f"{count} waiting jobs are"
        yield f"{jobs} in share {share!r}, which the policy does not rule (share: {policy.share})"
