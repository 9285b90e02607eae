"""Deliberate evictions: the record of one, and how it goes on.

The record is stored before the first priority is set, so that whatever dies, a later pass carries it on. Both parties
are named by what was known of them when it was asked for.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import How

AT_MOST = 900.0  # seconds until an eviction that did not come about is given up: a stop takes up to 120, a start more


class Progress(StrEnum):
    """How far an eviction has come: asked for, the victims are out, the evictor runs, or it came to nothing."""

    ASKED = "asked"
    SEEN = "seen"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed out"

    @property
    def over(self) -> bool:
        """Whether nothing more is done about it."""
        return self in (Progress.DONE, Progress.FAILED, Progress.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Party:
    """A job of an eviction, and how often it had been preempted when that was asked for."""

    job_id: str
    name: str
    job_class: str
    size: int
    preempted: int = 0


@dataclass(frozen=True, slots=True)
class Eviction:
    """A waiting job takes the place of running ones of its share, which are to lose `lost` instance-seconds of work."""

    share: str
    asked: float
    evictor: Party
    victims: tuple[Party, ...]
    how: How = How.LEVELS
    lost: float = 0.0
    progress: Progress = Progress.ASKED
    ended: float | None = None

    @property
    def parties(self) -> tuple[str, ...]:
        """The ids of all its jobs."""
        return (self.evictor.job_id, *(victim.job_id for victim in self.victims))

    @property
    def open(self) -> bool:
        """Whether there is still something to be done about it."""
        return not self.progress.over


def follow(
    eviction: Eviction,
    waiting: Mapping[str, WaitingJob],
    busy: Mapping[str, BusyJob],
    unsure: Collection[str],
    now: float,
) -> Eviction:
    """The eviction as it stands now.

    It is done when the evictor holds capacity; it has failed when the evictor is gone, someone else set its priority,
    or a victim runs again before it; it is given up after `AT_MOST` seconds.
    """
    if not eviction.open:
        return eviction
    evictor = eviction.evictor.job_id
    if evictor in busy:
        return replace(eviction, progress=Progress.DONE, ended=now)
    if evictor not in waiting:
        gone = evictor not in unsure
        return replace(eviction, progress=Progress.FAILED, ended=now) if gone else _late(eviction, now)
    sure = [(v, busy[v.job_id]) for v in eviction.victims if v.job_id in busy and v.job_id not in unsure]
    again = any(_out(v, job) and (job.started is None or job.started > eviction.asked) for v, job in sure)
    if again or waiting[evictor].foreign:
        return replace(eviction, progress=Progress.FAILED, ended=now)
    if late(eviction, now):
        return _late(eviction, now)
    left = any(v.job_id in unsure for v in eviction.victims) or any(not _out(v, job) for v, job in sure)
    return eviction if left else replace(eviction, progress=Progress.SEEN)


def late(eviction: Eviction, now: float) -> bool:
    """Whether the eviction has taken too long."""
    return now - eviction.asked > AT_MOST


def _late(eviction: Eviction, now: float) -> Eviction:
    return replace(eviction, progress=Progress.TIMED_OUT, ended=now) if late(eviction, now) else eviction


def _out(victim: Party, job: BusyJob) -> bool:
    return job.preempted > victim.preempted
