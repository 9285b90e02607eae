"""When to look again.

Alarms and endpoints wake a rollout, components do not, and any event may be lost. So the next look is chosen by what
may have happened by then, and is never further off than one poll interval.
"""

import math

from pointsman.rollouts.draft import Draft, in_flight
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import ComponentRecord, Direction, Intent, Step

LEAST = 30.0  # seconds between two looks at what moves by itself
SHARE = 0.1  # of the time for which nothing was seen to move: so late may a look see that something has


def next_look(draft: Draft) -> float:
    """When to look at this rollout again, if nothing wakes it and nothing else is due before."""
    record, now = draft.record, draft.now
    latest = now + draft.plan.request.poll
    flying = [component for component in record.components if in_flight(component)]
    at_rest = record.step is Step.BAKING or bool(record.holds)
    if record.phase in {Phase.RUNNING, Phase.FINAL_BAKE} and at_rest and not flying:
        return latest
    ends = [end for component in flying if (end := _earliest_end(draft, component)) is not None]
    if ends and len(ends) == len(flying) and now < min(ends):
        return min(latest, *ends)
    return min(latest, now + max(LEAST, SHARE * (now - draft.progressed_at())))


def _earliest_end(draft: Draft, component: ComponentRecord) -> float | None:
    """When an update on the way forward can have gone through: SageMaker watches each of its batches."""
    attempt, sent_at = component.attempt, component.sent_at
    forward = draft.record.intent is Intent.FORWARD and attempt is not None and attempt.direction is Direction.FORWARD
    if not forward or attempt is None or sent_at is None:
        return None
    member = draft.member(component.name)
    copies = 2 if member.single else member.copies
    return sent_at + math.ceil(copies / attempt.batch.copies) * draft.plan.request.wait
