"""Which components a rollout moves, and in which waves."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pointsman.rollouts.observations import ComponentView, Observations
from pointsman.rollouts.request import Amount, Target


@dataclass(frozen=True, slots=True)
class Resolved:
    """What targets name: components in the targets' order, targets that name none, targets given twice."""

    components: tuple[ComponentView, ...]
    empty: tuple[Target, ...]
    twice: tuple[Target, ...]


def resolve(targets: Iterable[Target], seen: Observations) -> Resolved:
    """The components that the targets name; one that two targets name is in the place of the first."""
    views = sorted((v for v in seen.components.values() if isinstance(v, ComponentView)), key=lambda v: v.name)
    chosen: dict[str, ComponentView] = {}
    empty: list[Target] = []
    known: set[Target] = set()
    twice: list[Target] = []
    for target in targets:
        if target in known:
            twice.append(target)
        known.add(target)
        found = [view for view in views if names(target, view)]
        if not found:
            empty.append(target)
        for view in found:
            chosen.setdefault(view.name, view)
    return Resolved(tuple(chosen.values()), tuple(empty), tuple(twice))


def names(target: Target, view: ComponentView) -> bool:
    """Whether the target names this component."""
    if target.component is not None:
        return view.name == target.component
    if target.endpoint is not None:
        return view.endpoint == target.endpoint
    if target.prefix is not None:
        return view.name.startswith(target.prefix)
    return target.tag in view.tags


def may_name(target: Target, name: str) -> bool:
    """Whether the target may name a component of which only the name is known."""
    if target.prefix is not None:
        return name.startswith(target.prefix)
    return target.tag is not None or name == target.component


def wave_sizes(total: int, amounts: Sequence[Amount]) -> tuple[int, ...]:
    """How many components each wave adds; amounts are totals reached, a percentage is of all and rounded up.

    A wave that would add none is left out, and what the last amount leaves is added to the last wave.

    >>> wave_sizes(12, (Amount(1), Amount(25, percent=True), Amount(100, percent=True)))
    (1, 2, 9)
    >>> wave_sizes(1, (Amount(1), Amount(25, percent=True), Amount(100, percent=True)))
    (1,)
    """
    sizes = [size for size in _added(total, amounts) if size]
    if (left := total - sum(sizes)) > 0:
        sizes[-1:] = [sizes[-1] + left] if sizes else [left]
    return tuple(sizes)


def approved_waves(total: int, amounts: Sequence[Amount], asked: Collection[int]) -> tuple[int, ...]:
    """The waves (from 1) that begin only after an approval, where approvals were asked for of these amounts (from 1).

    An amount that adds no component is no wave: what was to be approved before it is approved before the next that is.

    >>> thirds = (Amount(1), Amount(25, percent=True), Amount(100, percent=True))
    >>> approved_waves(12, thirds, (3,)), approved_waves(2, thirds, (3,)), approved_waves(2, thirds, (2,))
    ((3,), (2,), (2,))
    """
    found: list[int] = []
    wave, pending = 0, False
    for number, size in enumerate(_added(total, amounts), 1):
        pending = pending or number in asked
        if size:
            wave += 1
            if pending:
                found.append(wave)
            pending = False
    return tuple(found)


def _added(total: int, amounts: Sequence[Amount]) -> list[int]:
    """How many components each amount adds to the ones before it."""
    sizes: list[int] = []
    reached = 0
    for amount in amounts:
        goal = min(total, math.ceil(total * amount.value / 100 - 1e-9) if amount.percent else int(amount.value))
        sizes.append(max(0, goal - reached))
        reached = max(reached, goal)
    return sizes
