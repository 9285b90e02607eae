"""Rollouts in a table."""

from typing import Any

from pointsman.rollout_ports import RolloutTable, StoredRollout
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decide import freeze
from pointsman.rollouts.request import Request
from tests.unit.rollouts.build import NOW, component, endpoint, request, seen

ANA = By("ana", NOW)


def asked(table: RolloutTable, rollout: str = "r1", **changes: Any) -> StoredRollout:
    """A rollout that was asked for, and nothing more."""
    wanted: Request = request(rollout=rollout, **changes)
    table.create(wanted, start(wanted, ANA))
    return table.load(rollout)


def frozen(table: RolloutTable, rollout: str = "r1", count: int = 3) -> StoredRollout:
    """A rollout after its first pass: planned, with the locks of two endpoints."""
    stored = asked(table, rollout)
    views = [component(f"m{n}", endpoint=f"e{n % 2}") for n in range(count)]
    roomy = {name: endpoint(name, views, count=40) for name in ("e0", "e1")}
    known = seen(*views, locks=table.locks(["e0", "e1"]), endpoints=roomy)
    decision = freeze(stored.record, stored.request, known, NOW + 1)
    return table.commit(stored, decision, NOW + 1, 1)
