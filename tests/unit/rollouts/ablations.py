"""Guards, each taken away at the edge where it acts: what the core is told, or what is done of what it says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pointsman.rollouts.decision import Act, SubmitUpdate
from pointsman.rollouts.observations import ComponentView, Observations, Seen, Status
from pointsman.rollouts.record import Direction, Intent, RolloutRecord, State, Step
from tests.unit.rollouts.build import NEW
from tests.unit.rollouts.world import Edges


def _views(seen: Observations, change: Mapping[str, Seen]) -> Observations:
    return replace(seen, components=change)


def alarms_on_the_way_back(act: Act) -> Act:
    if isinstance(act, SubmitUpdate) and act.attempt.direction is Direction.BACK:
        return replace(act, alarms=("fleet-errors",))
    return act


def no_history(seen: Observations) -> Observations:
    return replace(seen, alarms={name: replace(view, entered=()) for name, view in seen.alarms.items()})


def status_alone(seen: Observations) -> Observations:
    """InService is taken for success: whatever was modified since the start counts as new."""
    return _views(
        seen,
        {
            name: replace(view, spec=NEW)
            if isinstance(view, ComponentView) and view.status is Status.IN_SERVICE and view.mark is not None
            else view
            for name, view in seen.components.items()
        },
    )


def no_evidence(seen: Observations) -> Observations:
    """Nothing shows whether SageMaker took an attempt."""
    return _views(
        seen,
        {
            name: replace(view, mark=None, failure="", modified=0.0) if isinstance(view, ComponentView) else view
            for name, view in seen.components.items()
        },
    )


def no_scaling(seen: Observations) -> Observations:
    return replace(seen, scaling={})


def no_lease(record: RolloutRecord) -> RolloutRecord:
    components = tuple(replace(c, lease_until=0.0) if c.outstanding else c for c in record.components)
    return replace(record, components=components)


def doubt_is_untouched(record: RolloutRecord) -> RolloutRecord:
    """On the way out, a component whose call may still be on its way counts as never begun."""
    if record.intent is Intent.FORWARD:
        return record
    components = tuple(
        replace(c, state=State.PENDING, sent_at=None, touched=False) if c.state is State.SUBMITTING else c
        for c in record.components
    )
    return replace(record, components=components)


def window_from_the_commit(record: RolloutRecord, now: float) -> RolloutRecord:
    """The next window begins when the verdict is stored, not where its read began."""
    return replace(record, window_from=now) if record.step is Step.GATED else record


IN_DOUBT = "what is in doubt is not untouched"
GUARDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a way back lists no alarms": ({"carry": alarms_on_the_way_back}, ("S12",)),
    "an act is committed before it is done": ({"write_ahead": False}, ("S2", "S4", "S11")),
    "a commit is on condition of the revision": ({"condition_on_rev": False}, ("S7", "S15")),
    "an excursion counts though it is over": ({"see": no_history}, ("S9",)),
    "a status alone is no success": ({"see": status_alone}, ("S5", "S10")),
    "evidence that SageMaker took an attempt": ({"see": no_evidence}, ("S4",)),
    IN_DOUBT: ({"believe": doubt_is_untouched}, ("S3", "S11")),
    "a call may be on its way until its lease ends": ({"believe": no_lease}, ("S3", "S4", "S11")),
    "windows tile": ({"commit": window_from_the_commit}, ("S9",)),
    "auto scaling is suspended": ({"see": no_scaling}, ("scaling:",)),
}


def without(guard: str) -> Edges:
    """The edges without this guard."""
    return Edges(**GUARDS[guard][0])
