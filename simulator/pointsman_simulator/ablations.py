"""Each mechanism of Pointsman taken away, one at a time, to see what it is worth."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from pointsman.queues.policy import JobClass, Policy

Ablation = Callable[[Policy], Policy]


def _classes(change: Callable[[JobClass], JobClass]) -> Ablation:
    return lambda policy: replace(policy, classes=tuple(change(one) for one in policy.classes))


ABLATIONS: Mapping[str, Ablation] = MappingProxyType(
    {
        "entitlement": _classes(lambda one: replace(one, entitlement=None)),
        "eviction": lambda policy: replace(policy, preemption=None),
        "head_start": _classes(lambda one: replace(one, head_start=0.0)),
        "max_wait": _classes(lambda one: replace(one, max_wait=None)),
        "reservation": lambda policy: replace(policy, reservation=None),
        "spread": lambda policy: replace(policy, spread=0.0),
    }
)


def without(policy: Policy, mechanism: str) -> Policy:
    """The policy without one of `ABLATIONS`."""
    return ABLATIONS[mechanism](policy)
