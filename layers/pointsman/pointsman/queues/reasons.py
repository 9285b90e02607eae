"""Why a job was moved, or left: a closed list, each with the one sentence an operator reads. The codes are API."""

from dataclasses import dataclass
from enum import StrEnum

from pointsman.queues.jobs import BusyJob, WaitingJob


class Reason(StrEnum):
    """Why a job's priority is what the decision wants it to be.

    Of the last two nothing is written, they tell what Batch did by itself: it took back what an owner had lent, or
    evicted a job that nobody had meant it to.
    """

    FRONT = "front"
    OVERDUE = "overdue"
    DEADLINE = "deadline"
    PINNED = "pinned"
    BOOSTED = "boosted"
    BACKFILL = "backfill"
    RESERVED = "reserved"
    STANDBY = "standby"
    RETURNED = "returned"
    PROTECTED = "protected"
    PREEMPTOR = "preemptor"
    EVICTED = "evicted"
    RECLAIMED = "reclaimed"
    UNPLANNED = "unplanned"


class Idle(StrEnum):
    """Why an instance stands idle after a decision."""

    RESERVATION = "reservation"
    CEILING = "ceiling"
    NOTHING_FITS = "nothing_fits"
    NO_WORK = "no_work"
    NOT_RULED = "not_ruled"
    OTHER_SHARE = "other_share"


class Tell(StrEnum):
    """What people should know of a waiting job."""

    AT_RISK = "at_risk"
    MISSED = "deadline_missed"
    UNREADABLE = "deadline_unreadable"
    CANNOT_FIT = "cannot_fit"
    CRASH_LOOP = "crash_loop"


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that people should know of one job, in a sentence."""

    what: Tell
    job_id: str
    job_name: str
    job_class: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Move:
    """One wanted change of a job's priority, with its reason."""

    job_id: str
    job_name: str
    job_class: str
    before: int
    after: int
    reason: Reason
    sentence: str


def hours(seconds: float) -> str:
    """A duration as people say it.

    >>> hours(5400.0), hours(90.0), hours(30.0)
    ('1.5 h', '2 min', '30 s')
    """
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def named(job: WaitingJob | BusyJob) -> str:
    """A job as a sentence names it: its name, class and size."""
    return f"{job.name} ({job.kind.job_class}, {job.size} instance{'' if job.size == 1 else 's'})"
