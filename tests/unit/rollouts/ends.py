"""What must be true when a rollout ends, by the truth and not by our own record."""

from collections.abc import Iterator, Mapping, Sequence

from pointsman.rollouts.observations import Suspension
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.record import Intent, RolloutRecord, State
from pointsman.rollouts.specs import Spec
from tests.unit.rollouts.build import NEW, OTHER
from tests.unit.rollouts.truth import HISTORY_LAG, Truth

TIMEOUT = 120.0  # of the function: shorter than a lease
SEEN_LATE = HISTORY_LAG + TIMEOUT + 60.0  # an excursion older than this was there to be seen by the pass that acts

Before = Mapping[str, tuple[int, Suspension | None]]  # copies, and what was suspended of its auto scaling, if any


def check_end(
    record: RolloutRecord, plan: Plan | None, truth: Truth, excursions: Sequence[float], before: Before
) -> None:
    """Note all that is wrong."""
    olds = {member.name: member.old for member in plan.members} if plan is not None else {}
    truth.wrong += [
        *_versions(record, olds, truth),
        *_flights(record, truth),
        *_alarms(record, truth, excursions),
        *_given_back(record, truth, before),
        *_left(record, truth),
    ]


def _versions(record: RolloutRecord, olds: Mapping[str, Spec], truth: Truth) -> Iterator[str]:
    for component in record.components:
        spec = truth.parts[component.name].spec
        if record.phase is Phase.SUCCEEDED and component.state is not State.SKIPPED and spec != NEW:
            yield f"S10 SUCCEEDED, and {component.name} has {spec.model}"
        adopted = component.adopted is not None and spec == OTHER
        if record.phase is Phase.ROLLED_BACK and component.touched and spec != olds[component.name] and not adopted:
            yield f"S11 ROLLED_BACK, and {component.name} has {spec.model}"
    if record.phase is Phase.ROLLED_BACK and record.intent is not Intent.REVERT:
        yield "S7 rolled back without the intent"


def _flights(record: RolloutRecord, truth: Truth) -> Iterator[str]:
    human = set(record.needs_human)
    if flying := [p.name for p in truth.parts.values() if p.flight is not None and p.name not in human]:
        yield f"S11 {flying} in flight as it ends"


def _alarms(record: RolloutRecord, truth: Truth, excursions: Sequence[float]) -> Iterator[str]:
    late = [at for at in excursions if at < truth.now - SEEN_LATE]
    if record.phase is Phase.SUCCEEDED and late:
        yield f"S9 SUCCEEDED in spite of an excursion at {late[0]:.0f}"


def _given_back(record: RolloutRecord, truth: Truth, before: Before) -> Iterator[str]:
    for name, (copies, scaling) in before.items():
        part = truth.parts[name]
        if name in record.needs_human or part.gone:
            continue
        if part.scaling != scaling:
            yield f"S22 the auto scaling of {name} is not as it was"
        if scaling is None and part.copies != copies:
            yield f"S22 {name} has {part.copies} copies, and had {copies}"


def _left(record: RolloutRecord, truth: Truth) -> Iterator[str]:
    human = {truth.parts[name].endpoint for name in record.stranded}
    if left := {name for name, lock in truth.locks.items() if lock.owner} - human:
        yield f"L5 locked after the end: {left}"
    if truth.switch is not None and not record.needs_human:
        yield "the kill switch is left"
