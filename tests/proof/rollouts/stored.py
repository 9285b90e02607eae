"""What is stored of a rollout, damaged at random: read whole, or refused by name; never half, and never acted on."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

from pointsman.aws import rollout_items as items
from pointsman.aws.rollout_index import item_key
from pointsman.aws.table import Item, number, text
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.record import SCHEMA

ODD: tuple[Any, ...] = (None, True, -1, 10**30, 1e308, float("nan"), "", "x" * 300, "\x00", [], {}, [[]], {"": 0})


def stored(kept: StoredRollout) -> dict[str, Item]:
    """The items of a planned rollout, as the table writes them."""
    assert kept.plan is not None
    record = kept.record
    plan, specs = items.plan_items(kept.plan, record.components)
    mine = {
        **item_key(record.rollout),
        "request": text(items.written(kept.request)),
        "schema": number(SCHEMA),
        "rev": number(record.rev),
        "phase": text(record.phase.value),
        "state": text(items.state_of(record)),
        "refusals": text(items.written_refusals(kept.refusals)),
        "wake_seq": number(kept.wake_seq),
        "generation": number(kept.generation),
        "passes": number(kept.passes),
        "next_wake_at": number(kept.next_wake_at),
    }
    parts = {f"component {part.name}": items.component_item(record.rollout, part) for part in record.components}
    return {"record": mine, "plan": plan, **{f"spec {n}": spec for n, spec in enumerate(specs)}, **parts}


def read(found: dict[str, Item]) -> StoredRollout:
    """What the table makes of these items."""
    specs = [item for name, item in found.items() if name.startswith("spec")]
    parts = [item for name, item in found.items() if name.startswith("component")]
    return items.read_rollout(found["record"], (found["plan"], specs), parts)


def damaged(found: dict[str, Item], luck: Random) -> dict[str, Item]:
    """One of the items with something of it gone, of another kind, cut off, or odd deep inside."""
    made = deepcopy(found)
    item = made[luck.choice(sorted(made))]
    name = luck.choice(sorted(set(item) - {"pk", "sk"}))
    kind = luck.choice(("gone", "kind", "cut", "bytes", "inside", "inside", "inside"))
    value = item[name]
    if kind == "gone":
        del item[name]
    elif kind == "kind":
        item[name] = luck.choice(({"S": "x"}, {"N": "NaN"}, {"N": "1e400"}, {"B": b"\x00"}, {"NULL": True}, {"L": []}))
    elif "N" in value:
        item[name] = {"N": luck.choice(("-1", "Infinity", "0.5", "1" * 40, "", "x"))}
    elif kind == "cut" and "S" in value:
        item[name] = text(value["S"][: luck.randrange(len(value["S"]) + 1)])
    elif kind == "bytes" or ("B" in value and kind == "cut"):
        raw = bytearray(value.get("B") or value["S"].encode())
        raw[luck.randrange(len(raw))] ^= 1 << luck.randrange(8)
        item[name] = {"B": bytes(raw)} if "B" in value else text(raw.decode("utf-8", "replace"))
    else:
        data = items.unsqueezed(value) if "B" in value else _json(value["S"])
        places = list(_places(data))
        odd = luck.choice(ODD)
        changed = _put(data, luck.choice(places), odd) if places else odd
        item[name] = items.squeezed(changed) if "B" in value else text(json.dumps(changed))
    return made


def _json(said: str) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        return said


def _places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from _places(value, (*at, key))


def _put(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    inside = data
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return data
