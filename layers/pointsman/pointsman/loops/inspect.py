"""A look at a queue that changes nothing: what a pass would see and decide now."""

from dataclasses import dataclass

from pointsman.errors import UserMistake
from pointsman.loops.decision import look_and_decide
from pointsman.loops.observe import Observation, Observer
from pointsman.policy_documents import stored_policy
from pointsman.ports import Control, JobTable, QueueRecord, StoredPolicy
from pointsman.queues.decide import Decision
from pointsman.queues.policy import Policy


@dataclass(frozen=True, slots=True)
class Look:
    """One queue as a pass would see it, and what it would decide."""

    record: QueueRecord
    stored: StoredPolicy
    policy: Policy
    seen: Observation
    decision: Decision


@dataclass(frozen=True, slots=True)
class Inspector:
    """Looks at queues; its observer keeps nothing."""

    observer: Observer
    jobs: JobTable
    control: Control

    def look(self, queue: str) -> Look:
        """What a pass would see and decide now; raises `UserMistake` when the queue has no policy."""
        stored = self.control.policy(queue)
        if stored is None:
            known = ", ".join(self.control.queues()) or "none"
            raise UserMistake(
                "this queue has no policy", place=queue, remedy=f"`pointsman policy apply`; queues with one: {known}"
            )
        policy = stored_policy(stored.document)
        record = self.jobs.queue(queue)
        seen, decision = look_and_decide(self.observer, record, policy)
        return Look(record, stored, policy, seen, decision)
