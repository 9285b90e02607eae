"""How many copies are replaced at a time, and which rule chose the number."""

import math
from dataclasses import dataclass
from enum import StrEnum

from pointsman.rollouts.request import Amount
from pointsman.rollouts.specs import Compute

LEAST_SHARE, GREATEST_SHARE = 0.05, 0.5  # of a component's copies: what SageMaker takes


class BatchReason(StrEnum):
    """What chose a batch's size."""

    LARGE = "large"
    SMALL = "small"
    ASKED = "asked"
    RAISED = "raised"
    LOWERED = "lowered"
    ROOM = "room"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class Batch:
    """Copies replaced at a time, with the rule that chose them and the sentence for people."""

    copies: int
    reason: BatchReason
    sentence: str


def copies_of(number: int) -> str:
    """So many copies, as people say it."""
    return f"{number} cop{'y' if number == 1 else 'ies'}"


def copies_per_instance(shape: Compute, one: Compute) -> int:
    """How many copies an empty instance holds; what a copy does not ask for is no limit.

    >>> copies_per_instance(Compute(8, 96, 700_000), Compute(1, 4, 40_000))
    8
    """
    ratios = [
        there / asked
        for there, asked in (
            (shape.accelerators, one.accelerators),
            (shape.cores, one.cores),
            (shape.memory_mb, one.memory_mb),
        )
        if asked > 0
    ]
    return math.floor(min(ratios, default=1.0) + 1e-9)


def bounds(copies: int) -> tuple[int, int]:
    """The least and the greatest batch that SageMaker takes for so many copies.

    >>> bounds(40), bounds(3), bounds(2)
    ((2, 20), (1, 1), (1, 1))
    """
    return max(1, math.ceil(copies * LEAST_SHARE - 1e-9)), math.floor(copies * GREATEST_SHARE + 1e-9)


def asked_copies(copies: int, asked: Amount) -> int:
    """The batch that the request names, in copies (a percentage is rounded down, to at least one)."""
    return max(1, math.floor(copies * asked.value / 100 + 1e-9)) if asked.percent else int(asked.value)


def batch_for(copies: int, per_instance: int, asked: Amount | None = None) -> Batch:
    """The batch for a component of at least two copies.

    >>> batch_for(12, 4).copies, batch_for(12, 1).copies, batch_for(40, 1).copies, batch_for(4, 8).copies
    (4, 1, 2, 2)
    """
    least, greatest = bounds(copies)
    if asked is not None:
        wanted, reason, why = asked_copies(copies, asked), BatchReason.ASKED, f"the request asks for {asked}"
    elif per_instance <= 1:
        wanted, reason, why = 1, BatchReason.LARGE, "a copy fills more than half an instance, so one at a time"
    else:
        wanted, reason, why = per_instance, BatchReason.SMALL, f"{per_instance} copies fit on one instance"
    if wanted < least:
        return Batch(least, BatchReason.RAISED, f"{why}, raised to {least}: 5 % of {copies} copies is the least")
    if wanted > greatest:
        return Batch(greatest, BatchReason.LOWERED, f"{why}, lowered to {greatest}: half of {copies} is the most")
    return Batch(wanted, reason, why)


def single() -> Batch:
    """The batch of a component of one copy, which goes to two first."""
    return Batch(1, BatchReason.SINGLE, "one copy: two while it is rolled, then back to one")
