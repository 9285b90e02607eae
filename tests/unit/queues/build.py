"""Jobs, policies and views for the tests of the core, with the defaults that a case does not care about."""

from collections.abc import Sequence
from dataclasses import replace

from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import JobClass, Match, Mode, Policy, Reservation
from pointsman.queues.reasons import Move
from pointsman.queues.view import QueueView

NOW = 1_800_000_000.0
HOUR = 3600.0

PRODUCTION = JobClass("production", Match("prod-*"), head_start=24 * HOUR, max_wait=HOUR)
RESEARCH = JobClass("research", Match(tags=(("purpose", "explore"),)), head_start=6 * HOUR)
SWEEP = JobClass("sweep")
POLICY = Policy(
    queue="search-training",
    classes=(PRODUCTION, RESEARCH, SWEEP),
    mode=Mode.ACT,
    share="all",
    spread=6 * HOUR,
    reservation=Reservation(after=2 * HOUR),
)
UNLIMITED = replace(POLICY, classes=tuple(replace(c, max_wait=None) for c in POLICY.classes))


def waiting(
    job_id: str,
    job_class: str = "sweep",
    *,
    size: int = 1,
    waited: float = 0.0,
    gpus: int | None = None,
    priority: int = 0,
    submitted_priority: int = 0,
    foreign: bool = False,
    team: str = "ranker",
    share: str = "all",
) -> WaitingJob:
    """A job that has waited so many seconds at NOW."""
    kind = Kind(team, f"{job_class}-#", size, job_class)
    return WaitingJob(
        job_id,
        f"{job_class}-{job_id}",
        kind,
        size if gpus is None else gpus,
        NOW - waited,
        priority,
        submitted_priority,
        foreign,
        share,
    )


def busy(job_id: str, size: int, *, ran: float | None = 0.0, job_class: str = "sweep", team: str = "ranker") -> BusyJob:
    """A job that holds capacity and has run so many seconds at NOW (None: it does not run yet)."""
    kind = Kind(team, f"{job_class}-#", size, job_class)
    return BusyJob(job_id, job_id, kind, size, None if ran is None else NOW - ran)


def view(*jobs: WaitingJob, capacity: int = 8, used: int = 0, **more: object) -> QueueView:
    """A fair-share queue at NOW."""
    return QueueView(
        "search-training",
        NOW,
        capacity,
        used,
        **{"movable": True, "waiting": jobs, **more},  # type: ignore[arg-type]
    )


def lasting(seconds: float, *kinds: Kind) -> History:
    """A history in which jobs of these kinds took so long."""
    return History().learn(Finished(kind, seconds) for kind in kinds for _ in range(3))


def after_moves(jobs: Sequence[WaitingJob], moves: Sequence[Move]) -> tuple[WaitingJob, ...]:
    """The waiting jobs as Batch has them once the moves are carried out."""
    to = {move.job_id: move.after for move in moves}
    return tuple(replace(job, priority=to.get(job.job_id, job.priority)) for job in jobs)


def started_by_batch(jobs: Sequence[WaitingJob], free: int) -> set[str]:
    """What Batch starts: the head while it fits, and nothing behind one that does not (strict head of line)."""
    started: set[str] = set()
    for job in sorted(jobs, key=lambda j: (-j.priority, j.submitted, j.job_id)):
        if job.size > free:
            break
        free -= job.size
        started.add(job.job_id)
    return started
