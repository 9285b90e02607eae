"""Why a pass changed something: a closed list. The codes are API; the sentence beside each is what people read."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why the record is not what it was."""

    STARTED = "started"
    REFUSED = "refused"
    FROZEN_PLAN = "frozen_plan"
    PREFLIGHT_PASSED = "preflight_passed"
    WAVE_RESERVED = "wave_reserved"
    ROOM_MADE = "room_made"
    INTENT_RECORDED = "intent_recorded"
    SENT = "sent"
    ACCEPTED = "accepted"
    APPLIED = "applied"
    SETTLED = "settled"
    WAVE_BAKES = "wave_bakes"
    WAVE_PASSED = "wave_passed"
    NATIVE_ROLLBACK = "native_rollback"
    NOT_APPLIED = "not_applied"
    FAILED = "failed"
    STUCK = "stuck"
    DRIFT = "drift"
    DRIFT_OVER = "drift_over"
    EXCLUDED = "excluded"
    ALARM = "alarm"
    HELD = "held"
    RELEASED = "released"
    GAVE_UP = "gave_up"
    STOPPING = "stopping"
    ROLLING_BACK = "rolling_back"
    SWITCH = "switch"
    WITHDRAWN = "withdrawn"
    REVERT_WAITS = "revert_waits"
    REVERTED = "reverted"
    NEEDS_HUMAN = "needs_human"
    GAVE_WAY = "gave_way"
    RESTORED = "restored"
    ENDED = "ended"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a pass did or found, about a component or the whole."""

    reason: Reason
    sentence: str
    component: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """What people are told once: `key` is one per rollout and transition."""

    key: str
    sentence: str
