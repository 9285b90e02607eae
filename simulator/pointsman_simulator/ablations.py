"""Each mechanism of Pointsman taken away, one at a time, to see what it is worth."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from pointsman.queues.policy import JobClass, Policy
from pointsman_simulator.replay import Unaided, World

Ablation = Callable[[Policy, World], tuple[Policy, World]]


def _policy(change: Callable[[Policy], Policy]) -> Ablation:
    return lambda policy, world: (change(policy), world)


def _classes(change: Callable[[JobClass], JobClass]) -> Ablation:
    return _policy(lambda policy: replace(policy, classes=tuple(change(one) for one in policy.classes)))


def _world(aid: Unaided) -> Ablation:
    return lambda policy, world: (policy, replace(world, without=aid))


ABLATIONS: Mapping[str, Ablation] = MappingProxyType(
    {
        "entitlement": _classes(lambda one: replace(one, entitlement=None)),
        "estimates": _world("estimates"),
        "eviction": _policy(lambda policy: replace(policy, preemption=None)),
        "head_start": _classes(lambda one: replace(one, head_start=0.0)),
        "making_way": _classes(lambda one: replace(one, preemptible=False)),
        "max_wait": _classes(lambda one: replace(one, max_wait=None)),
        "moment": _world("moment"),
        "reservation": _policy(lambda policy: replace(policy, reservation=None)),
        "spread": _policy(lambda policy: replace(policy, spread=0.0)),
        "standby": _world("standby"),
    }
)


def without(mechanism: str, policy: Policy, world: World) -> tuple[Policy, World]:
    """The policy and the world without one of `ABLATIONS`."""
    return ABLATIONS[mechanism](policy, world)
