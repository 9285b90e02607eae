"""What became of an attempt: the table of verdicts. The status alone never decides."""

from dataclasses import dataclass
from enum import StrEnum

from pointsman.rollouts.observations import Absent, ComponentView, Seen, Status
from pointsman.rollouts.record import Attempt


class Accepted(StrEnum):
    """Whether SageMaker took our attempt: proven by its mark, likely by weaker signs, or without any sign."""

    PROVEN = "proven"
    LIKELY = "likely"
    NO_SIGN = "no sign"


class Verdict(StrEnum):
    """What became of an attempt."""

    IN_FLIGHT = "in flight"
    APPLIED = "applied"
    ROLLED_BACK = "natively rolled back"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"
    DRIFT = "drift"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Expected:
    """The specifications that a component may have while it is ours: where it comes from and where it goes."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Sent:
    """An attempt that was sent, and until when its sender may live."""

    attempt: Attempt
    lease_until: float


def accepted(seen: ComponentView, attempt: Attempt) -> Accepted:
    """What shows that SageMaker took this attempt.

    The mark is proof. A changed FailureReason or a moved LastModifiedTime is a likelihood: the attempt counts as taken,
    because to send again what SageMaker has just rolled back is worse than to give up a sound version.
    """
    if seen.mark == attempt.mark:
        return Accepted.PROVEN
    if seen.failure != attempt.failure or seen.modified > attempt.modified:
        return Accepted.LIKELY
    return Accepted.NO_SIGN


def classify(seen: Seen, expected: Expected, sent: Sent, began: float) -> Verdict:
    """The verdict on an attempt that was sent, from a read that began then; towards either version alike."""
    if seen is Absent.UNREADABLE:
        return Verdict.UNKNOWN
    if not isinstance(seen, ComponentView) or seen.status is Status.DELETING:
        return Verdict.DRIFT
    if seen.status in {Status.UPDATING, Status.CREATING}:
        return Verdict.IN_FLIGHT
    if seen.status is Status.FAILED:
        return Verdict.FAILED
    digest = seen.spec.digest
    if digest == expected.target:
        return Verdict.APPLIED
    if digest != expected.source:
        return Verdict.DRIFT
    sign = accepted(seen, sent.attempt)
    if sign is Accepted.PROVEN:
        return Verdict.ROLLED_BACK
    if began <= sent.lease_until:
        return Verdict.UNKNOWN  # the call may still be on its way, and another's change may have left a weaker sign
    return Verdict.NOT_APPLIED if sign is Accepted.NO_SIGN else Verdict.ROLLED_BACK
