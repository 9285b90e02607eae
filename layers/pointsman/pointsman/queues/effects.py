"""What an alarm does to a queue for a while: an effect, kept as an item so that it can be shown and ends by itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pointsman.queues.policy import Policy


@dataclass(frozen=True, slots=True)
class AlarmTransition:
    """One move of an alarm into ALARM, from its history; `left` is when it went on to another state, if it has."""

    alarm: str
    at: float
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A longer head start for one class, from `since` until `until` or until `ended`, whichever is first."""

    alarm: str
    since: float
    boost: str
    by: float
    until: float | None = None
    ended: float | None = None

    @property
    def end(self) -> float:
        """When the effect stops counting (infinity while it lasts as long as its alarm)."""
        return min(x for x in (self.until, self.ended, float("inf")) if x is not None)

    def active(self, now: float) -> bool:
        """Whether the effect counts at `now`."""
        return self.since <= now < self.end


def effects_of(policy: Policy, transitions: Iterable[AlarmTransition]) -> tuple[Effect, ...]:
    """Every effect that these transitions have under the policy; the same transitions give the same effects."""
    return tuple(
        Effect(t.alarm, t.at, rule.boost, rule.by, None if rule.lasts is None else t.at + rule.lasts, t.left)
        for t in transitions
        for rule in policy.on_alarm
        if fnmatchcase(t.alarm, rule.alarm)
    )
