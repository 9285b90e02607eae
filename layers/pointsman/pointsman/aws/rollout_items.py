"""What the control table's items of a rollout look like.

Each carries `schema`. What can be large (a plan, a journal line) is compressed; a plan's specifications are items of
their own, named by their content, so that they are written before the commit that needs them, and twice harmlessly.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from pointsman.aws.rollout_index import LEFT_ALONE, item_key
from pointsman.aws.stored_values import hints, pack, unpack
from pointsman.aws.table import Item, number, text
from pointsman.aws.unreadable import BROKEN, read
from pointsman.errors import Misconfigured, Unreadable
from pointsman.rollout_ports import Refusal, StoredRollout
from pointsman.rollouts.decision import JournalEntry
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.reasons import Said
from pointsman.rollouts.record import SCHEMA, ComponentRecord, RolloutRecord
from pointsman.rollouts.request import Request

LATER = frozenset({"components", "rollout", "rev", "schema"})  # kept elsewhere than in the record's own JSON


def lock_key(endpoint: str) -> Item:
    """The key of an endpoint's lock."""
    return {"pk": text(f"LOCK#{endpoint}"), "sk": text("LOCK")}


def written(value: object) -> str:
    """A value as JSON."""
    return json.dumps(pack(value), separators=(",", ":"))


def squeezed(data: object) -> dict[str, Any]:
    """JSON as a compressed attribute."""
    return {"B": zlib.compress(json.dumps(data, separators=(",", ":")).encode())}


def unsqueezed(attribute: Mapping[str, Any]) -> Any:
    """What was compressed."""
    return json.loads(zlib.decompress(attribute["B"]))


def state_of(record: RolloutRecord) -> str:
    """The record as JSON, without its components and what is an attribute of its own."""
    return json.dumps({k: v for k, v in pack(replace(record, components=())).items() if k not in LATER})


def component_item(rollout: str, component: ComponentRecord) -> Item:
    """A component's record as an item."""
    return {
        **item_key(rollout, f"COMPONENT#{component.name}"),
        "schema": number(SCHEMA),
        "state": text(component.state.value),
        "body": text(written(component)),
    }


def plan_items(plan: Plan, components: Iterable[ComponentRecord]) -> tuple[Item, list[Item]]:
    """The plan as an item, with the components' first records, and the specifications that it names."""
    packed, specs = pack(plan), {}
    for member in packed["members"]:
        for name in ("old", "new"):
            body = json.dumps(member[name], separators=(",", ":"))
            digest = sha256(body.encode()).hexdigest()[:40]
            specs[digest] = {**item_key(plan.rollout, f"SPEC#{digest}"), "schema": number(SCHEMA), "body": text(body)}
            member[name] = digest
    return {
        **item_key(plan.rollout, "PLAN"),
        "schema": number(SCHEMA),
        "body": squeezed(packed),
        "components": squeezed([pack(component) for component in components]),
    }, list(specs.values())


def journal_item(rollout: str, line: JournalEntry) -> Item:
    """A journal line as an item."""
    return {
        **item_key(rollout, f"JOURNAL#{line.rev:08d}"),
        "schema": number(SCHEMA),
        "at": number(line.at),
        "actor": text(line.actor),
        "body": squeezed({**pack(replace(line, fields=())), "fields": [[n, pack(v)] for n, v in line.fields]}),
    }


def read_journal(item: Item) -> JournalEntry:
    """The journal line that an item holds."""
    body, known = unsqueezed(item["body"]), hints(RolloutRecord)
    return JournalEntry(
        rev=body["rev"],
        at=body["at"],
        actor=body["actor"],
        said=unpack(tuple[Said, ...], body["said"]),
        fields=tuple((name, unpack(known[name], value)) for name, value in body["fields"] if name in known),
        components=unpack(tuple[ComponentRecord, ...], body["components"]),
    )


def read_plan(item: Item, specs: Iterable[Item]) -> Plan:
    """The plan that an item and the specifications beside it hold."""
    bodies = {spec["sk"]["S"].removeprefix("SPEC#"): json.loads(spec["body"]["S"]) for spec in specs}
    packed = unsqueezed(item["body"])
    for member in packed["members"]:
        member["old"], member["new"] = bodies[member["old"]], bodies[member["new"]]
    plan: Plan = unpack(Plan, packed)
    return plan


def read_rollout(item: Item, planned: tuple[Item, Iterable[Item]] | None, components: Iterable[Item]) -> StoredRollout:
    """The rollout that its items hold (the plan with its specifications), of whichever schema up to ours.

    What was added since takes its default.

    A component that never changed since the plan was made has no item of its own. Raises `Misconfigured` when a later
    release of ours wrote them.
    """
    rollout = item["pk"]["S"].removeprefix("ROLLOUT#")
    schema = read(lambda found: int(found["schema"]["N"]), item, LEFT_ALONE)
    if schema > SCHEMA:
        raise Misconfigured(
            f"rollout {rollout} was written by a later release of Pointsman (schema {schema}, not {SCHEMA}): "
            "nothing of it is changed, install that release here"
        )
    try:
        state = json.loads(item["state"]["S"])
        changed = {c.name: c for c in (unpack(ComponentRecord, json.loads(each["body"]["S"])) for each in components)}
        record: RolloutRecord = unpack(RolloutRecord, {**state, "rollout": rollout, "rev": int(item["rev"]["N"])})
        request: Request = unpack(Request, json.loads(item["request"]["S"]))
        refusals = {name: unpack(Refusal, each) for name, each in json.loads(item["refusals"]["S"]).items()}
        plan = read_plan(*planned) if planned is not None else None
        first = unpack(tuple[ComponentRecord, ...], unsqueezed(planned[0]["components"]) if planned is not None else [])
        return StoredRollout(
            record=replace(record, components=tuple(changed.get(part.name, part) for part in first)),
            request=request,
            plan=plan,
            wake_seq=int(item["wake_seq"]["N"]),
            generation=int(item["generation"]["N"]),
            passes=int(item["passes"]["N"]),
            next_wake_at=float(item["next_wake_at"]["N"]) if "next_wake_at" in item else 0.0,
            unsent=int(item["unsent"]["N"]) if "unsent" in item else 0,
            refusals=refusals,
        )
    except BROKEN as error:
        raise Unreadable(f"rollout {rollout} cannot be read, and was written by another release: {error}") from error


def written_refusals(refusals: Mapping[str, Refusal]) -> str:
    """Refusals by component as JSON."""
    return json.dumps({name: pack(refusal) for name, refusal in refusals.items()})
