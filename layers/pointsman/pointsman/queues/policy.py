"""What a team wants of one queue, as values the core can decide on.

Durations are seconds. `pointsman.policy_documents` turns the YAML that people write into these values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from pointsman.queues.jobs import Due
from pointsman.wall_clock import Weekly, moment

TEAM = "team"
"""The tag that names a job's team."""


class Mode(StrEnum):
    """Whether a queue's decisions are only recorded (`OBSERVE`) or also carried out (`ACT`)."""

    OBSERVE = "observe"
    ACT = "act"


class How(StrEnum):
    """How a deliberate eviction is brought about.

    `LEVELS`: in-share preemption is on all the time, and priorities are such that nothing evicts unless it is meant to.
    `SWITCH`: it is off, turned on for each eviction and off again when that is over.
    """

    LEVELS = "levels"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Match:
    """Which jobs belong to a class: every pattern given must match (shell globs, case counts)."""

    job_name: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    share: str | None = None

    def covers(self, name: str, tags: Mapping[str, str], share: str | None = None) -> bool:
        """Whether a job of this name, these tags and this share matches."""
        if self.job_name is not None and not fnmatchcase(name, self.job_name):
            return False
        if self.share is not None and (share is None or not fnmatchcase(share, self.share)):
            return False
        return all(key in tags and fnmatchcase(tags[key], glob) for key, glob in self.tags)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a job should have finished: `within` seconds of its submission, or the time that its `tag` names."""

    within: float | None = None
    tag: str | None = None


def due_of(deadline: Deadline | None, submitted: float, tags: Mapping[str, str]) -> Due | None:
    """When a job of these tags should have finished; None when it has no deadline.

    >>> due_of(Deadline(tag="finish-by"), 0.0, {"finish-by": "noon"})
    Due(at=None, unread='noon')
    """
    if deadline is None:
        return None
    if deadline.within is not None:
        return Due(submitted + deadline.within)
    said = tags.get(deadline.tag or "")
    if said is None:
        return None
    try:
        return Due(moment(said))
    except (ValueError, OverflowError):
        return Due(None, said)


@dataclass(frozen=True, slots=True)
class JobClass:
    """One class of work; classes are listed from the most to the least urgent.

    `entitlement` and `ceiling` are fractions of the pool (None: all of it). A class that holds its entitlement, now and
    on average of late, has no head start, no place held, and evicts no one; above its ceiling none of its jobs is moved
    forward. A `preemptible` class makes way: its jobs may be evicted, and no place is held for them before they are
    overdue.
    """

    name: str
    match: Match = Match()
    head_start: float = 0.0
    max_wait: float | None = None
    entitlement: float | None = None
    preemptible: bool = False
    ceiling: float | None = None
    deadline: Deadline | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a window changes of a class while it is open; None leaves it."""

    head_start: float | None = None
    max_wait: float | None = None
    entitlement: float | None = None
    ceiling: float | None = None

    def applied(self, to: JobClass) -> JobClass:
        """The class with these settings."""
        return replace(
            to,
            head_start=to.head_start if self.head_start is None else self.head_start,
            max_wait=to.max_wait if self.max_wait is None else self.max_wait,
            entitlement=to.entitlement if self.entitlement is None else self.entitlement,
            ceiling=to.ceiling if self.ceiling is None else self.ceiling,
        )


@dataclass(frozen=True, slots=True)
class Window:
    """A time of the week in which classes have other settings; of two that are open, the later in the list counts."""

    when: Weekly
    settings: tuple[tuple[str, Settings], ...]


@dataclass(frozen=True, slots=True)
class Reservation:
    """Hold freed capacity for a job too big for what is free, once it has waited `after` seconds."""

    after: float = 7200.0
    at_most: int = 1


@dataclass(frozen=True, slots=True)
class Preemption:
    """When a waiting job may evict others of its quota share.

    Once it has waited `patience` seconds; never a job that has run less than `protect` seconds, nor one that was
    evicted `at_most_per_job` times already.
    """

    patience: float = 3600.0
    protect: float = 1200.0
    at_most_per_job: int = 2
    how: How = How.LEVELS


@dataclass(frozen=True, slots=True)
class AlarmBoost:
    """While an alarm whose name matches is in ALARM, one class gets a longer head start.

    The boost ends when the alarm leaves ALARM, or `lasts` seconds after it went there.
    """

    alarm: str
    boost: str
    by: float
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class AlarmShare:
    """While an alarm whose name matches is in ALARM, one share may borrow more, or has another weight.

    `borrow_limit` is a quota share's, in per cent of its own limit (-1: no limit); `weight` is a fair share's, and the
    lower it is the more the share gets. It ends as a boost does.
    """

    alarm: str
    share: str
    borrow_limit: int | None = None
    weight: float | None = None
    lasts: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of one queue; `classes` ends with the default class, which matches everything.

    `weights` are those that a fair-share scheduling policy should have, by its share identifiers; empty leaves them.
    A priority that someone else set stands for `respect_human` seconds (None: for ever).
    """

    queue: str
    classes: tuple[JobClass, ...]
    mode: Mode = Mode.OBSERVE
    share: str = "*"
    spread: float = 0.0
    reservation: Reservation | None = None
    on_alarm: tuple[AlarmBoost, ...] = ()
    preemption: Preemption | None = None
    weights: tuple[tuple[str, float], ...] = ()
    on_alarm_shares: tuple[AlarmShare, ...] = ()
    respect_human: float | None = None
    windows: tuple[Window, ...] = ()

    def at(self, now: float) -> "Policy":
        """The policy as the windows that are open now make it."""
        classes = {c.name: c for c in self.classes}
        for window in self.windows:
            if window.when.open(now):
                classes |= {name: settings.applied(classes[name]) for name, settings in window.settings}
        return replace(self, classes=tuple(classes.values())) if self.windows else self

    @property
    def tags_read(self) -> tuple[str, ...]:
        """The tags on which anything depends: those of its classes and deadlines, and the job's `team`."""
        classes = {key: None for c in self.classes for key, _ in c.match.tags}
        deadlines = {
            c.deadline.tag: None for c in self.classes if c.deadline is not None and c.deadline.tag is not None
        }
        return tuple({TEAM: None, **classes, **deadlines})

    def next_edge(self, now: float) -> float:
        """When the next window opens or closes; infinity when there is none."""
        return min((window.when.next_edge(now) for window in self.windows), default=float("inf"))

    def classify(self, name: str, tags: Mapping[str, str], share: str | None = None) -> JobClass:
        """The first class that covers the job."""
        return next(c for c in self.classes if c.match.covers(name, tags, share))

    def rules(self, share: str | None) -> bool:
        """Whether jobs of this share are this policy's to move."""
        return share is not None and fnmatchcase(share, self.share)
