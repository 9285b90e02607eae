"""From a look at a queue to a decision; what is irreversible in it is decided on parties described in the same pass."""

from pointsman.loops.observe import Observation, Observer
from pointsman.ports import QueueRecord
from pointsman.queues.decide import Decision, decide
from pointsman.queues.policy import Policy


def look_and_decide(
    observer: Observer, record: QueueRecord, policy: Policy, *, died: bool = False
) -> tuple[Observation, Decision]:
    """What is seen, and what is wanted; raises what `Observer.observe` raises.

    A decision may ask for jobs to be described first. They are, once, and it is decided again.
    """
    seen = observer.observe(record, policy, died=died)
    decision = decide(seen.view, policy)
    if decision.describe:
        seen = observer.look_again(seen, policy, decision.describe)
        decision = decide(seen.view, policy)
    return seen, decision
