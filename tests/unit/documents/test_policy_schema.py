"""The published JSON Schema of a policy takes what we take, and refuses what we refuse."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pointsman.documents import seconds
from pointsman.policy_documents import parse_policy, policy_schema
from tests.unit.documents.policies import ACROSS, LEAST, WHOLE, changed


def test_the_schema_knows_every_key_and_allows_no_other() -> None:
    schema = policy_schema()
    assert set(schema["properties"]) == {*WHOLE, "across_shares"}
    assert set(schema["required"]) == {"version", "queue", "share", "default"}
    objects = [schema, *schema["$defs"].values()]
    assert all(part["additionalProperties"] is False for part in objects)
    assert set(schema["$defs"]["AlarmDocument"]["properties"]) == {
        "alarm", "boost", "by", "for", "share", "borrow_limit", "weight",
    }  # fmt: skip
    assert schema["$defs"]["PreemptionDocument"]["properties"]["patience"]["default"] == "3600s"
    assert schema["$schema"].startswith("https://json-schema.org/")


@pytest.mark.parametrize("document", [LEAST, WHOLE, ACROSS])
def test_the_schema_takes_what_we_take(document: dict[str, Any]) -> None:
    Draft202012Validator(policy_schema()).validate(document)


@pytest.mark.parametrize(
    "case, document",
    [
        ("a window of no time", changed(WHOLE, "windows", 0, "when", to="Mon")),
        (
            "a boost and a borrow limit",
            changed(WHOLE, "on_alarm", 0, to={"alarm": "a", "boost": "x", "by": "1h", "share": "b", "borrow_limit": 1}),
        ),
        ("a boost by nothing", changed(WHOLE, "on_alarm", 0, to={"alarm": "a", "boost": "sweep"})),
        ("a part as a bare number", changed(WHOLE, "default", "ceiling", to=60)),
        ("a deadline by something unknown", changed(WHOLE, "classes", 0, "deadline", to={"tga": "x"})),
        ("a weight of nothing", changed(ACROSS, "classes", 0, "weight", to=0)),
        ("an unknown key", changed(WHOLE, "preemption", "patients", to="1h")),
    ],
)
def test_the_schema_refuses_what_we_refuse(case: str, document: object) -> None:
    assert not Draft202012Validator(policy_schema()).is_valid(document), case


def durations_in(part: object) -> list[dict[str, Any]]:
    if isinstance(part, dict):
        own = [part] if "pattern" in part and "24h" in part.get("examples", ()) else []
        return own + [found for value in part.values() for found in durations_in(value)]
    return [found for value in part for found in durations_in(value)] if isinstance(part, list) else []


def test_every_example_in_the_schema_is_a_duration_that_we_read() -> None:
    found = durations_in(policy_schema())
    assert len(found) == 15
    for part in found:
        for example in part["examples"]:
            assert parse_policy(changed(WHOLE, "spread", to=example)).spread == seconds(example)
