"""Builders with defaults for the rollouts' tests."""

from collections.abc import Iterable
from typing import Any

from pointsman.rollouts.batches import Batch, BatchReason
from pointsman.rollouts.observations import (
    AlarmState,
    AlarmView,
    Answer,
    ComponentView,
    EndpointView,
    Observations,
    Occupant,
    Pool,
    Seen,
    Status,
)
from pointsman.rollouts.record import Attempt, Direction
from pointsman.rollouts.request import Guard, Request, Target
from pointsman.rollouts.specs import Change, Compute, Spec

NOW = 1_000_000.0
ONE_GPU = Compute(accelerators=1, cores=4, memory_mb=16_000)
SMALL_BOX = Compute(accelerators=1, cores=8, memory_mb=32_000)
BIG_BOX = Compute(accelerators=8, cores=96, memory_mb=700_000)
OLD = Spec(model="ranker-v1", image="repo/ranker:1", compute=ONE_GPU)
NEW = Spec(model="ranker-v2", image="repo/ranker:1", compute=ONE_GPU)
OTHER = Spec(model="hotfix", image="repo/ranker:1", compute=ONE_GPU)


def request(**changes: Any) -> Request:
    values: dict[str, Any] = {
        "rollout": "r1",
        "targets": (Target(prefix="m"),),
        "change": Change(model="ranker-v2"),
        "guards": (Guard("fleet-errors"),),
    }
    return Request(**{**values, **changes})


def component(name: str = "m1", **changes: Any) -> ComponentView:
    copies = changes.pop("copies", 4)
    values: dict[str, Any] = {
        "name": name,
        "endpoint": "e1",
        "status": Status.IN_SERVICE,
        "spec": OLD,
        "desired": copies,
        "current": copies,
        "modified": 10.0,
    }
    return ComponentView(**{**values, **changes})


def endpoint(name: str = "e1", views: Iterable[ComponentView] = (), **changes: Any) -> EndpointView:
    count, shape = changes.pop("count", 2), changes.pop("shape", BIG_BOX)
    values: dict[str, Any] = {
        "name": name,
        "in_service": True,
        "pools": (Pool("ml.p4d.24xlarge", count, shape),),
        "most": count + 1,
        "occupants": tuple(Occupant(v.name, v.desired, v.spec.compute) for v in views if v.endpoint == name),
    }
    return EndpointView(**{**values, **changes})


def alarm(name: str = "fleet-errors", **changes: Any) -> AlarmView:
    return AlarmView(**{"name": name, "state": AlarmState.OK, **changes})


def seen(*views: ComponentView, **changes: Any) -> Observations:
    names = sorted({view.endpoint for view in views})
    components: dict[str, Seen] = {view.name: view for view in views}
    values: dict[str, Any] = {
        "began": NOW,
        "components": components,
        "endpoints": {name: endpoint(name, views) for name in names},
        "alarms": {"fleet-errors": alarm()},
        "models": {"ranker-v1": Answer.YES, "ranker-v2": Answer.YES},
    }
    return Observations(**{**values, **changes})


def attempt(**changes: Any) -> Attempt:
    batch = Batch(1, BatchReason.LARGE, "one at a time")
    values: dict[str, Any] = {
        "number": 1,
        "direction": Direction.FORWARD,
        "target": NEW.digest,
        "mark": 3601,
        "batch": batch,
        "rollback_batch": batch,
        "modified": 10.0,
        "failure": "",
        "prepared_at": NOW - 100,
    }
    return Attempt(**{**values, **changes})
