"""The queue that a policy is for, as it is now, and whether it can obey."""

from pointsman.errors import Gone, UserMistake
from pointsman.loops.fit import unlisted
from pointsman.loops.view import problems_of
from pointsman.ports import QueueDescription, StoredPolicy
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman_cli.access import Deployment

NO_QUEUE = "create it, or name another"


def live(found: Deployment, queue: str) -> QueueDescription:
    """The queue as it is now, with its quota shares; raises `Gone`."""
    description = found.batch.describe_queue(queue)
    if description.kind is not QueueKind.QUOTA_SHARE:
        return description
    return found.inspector().observer.shares.described(description)


def described(found: Deployment, queue: str, place: str) -> QueueDescription:
    """The same; raises `UserMistake` where there is no such queue."""
    try:
        return live(found, queue)
    except Gone:
        raise UserMistake(f"there is no job queue {queue}", place=place, remedy=NO_QUEUE) from None


def warnings_of(description: QueueDescription, policy: Policy) -> list[str]:
    """What people should know of the queue under this policy."""
    doubt = unlisted(description, policy.share)
    return [*problems_of(description, policy, ()), *([doubt] if doubt else [])]


def ruling(found: Deployment, queue: str) -> StoredPolicy:
    """The version that rules; raises `UserMistake` when the queue has no policy."""
    stored = found.control.policy(queue)
    if stored is None:
        known = ", ".join(found.control.queues()) or "none"
        raise UserMistake("this queue has no policy", place=queue, remedy=f"queues with one: {known}")
    return stored


def version_of(found: Deployment, queue: str, number: int, newest: int) -> StoredPolicy:
    """One version, ruling or not; raises `UserMistake` where there is none of this number."""
    stored = found.control.policy_version(queue, number)
    if stored is None:
        raise UserMistake(f"there is no version {number}", place=queue, remedy=f"the newest is {newest}")
    return stored
