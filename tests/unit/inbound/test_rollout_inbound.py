"""Commands on rollouts, as values; what cannot be one names the part that is wrong."""

from typing import Any

import pytest

from pointsman.errors import Poison
from pointsman.rollout_inbound import Command, Verb, command

ENVELOPE = {"version": "0", "id": "1", "time": "2026-03-02T00:00:00Z", "region": "us-east-1", "resources": []}


def test_an_invocation_is_by_the_caller_as_claimed() -> None:
    asked = command({"verb": "approve", "rollout": "r1", "wave": 2, "caller": "arn:aws:sts::1:x/ana", "else": 1})

    assert asked == Command(Verb.APPROVE, "claimed:arn:aws:sts::1:x/ana", "r1", wave=2)


def test_an_event_is_by_its_source_whoever_it_says_it_is() -> None:
    detail = {"verb": "abort", "rollout": "r1", "caller": "arn:aws:sts::1:x/ana"}
    told = command({**ENVELOPE, "source": "ci", "detail-type": "Rollout Command", "detail": detail})

    assert (told.verb, told.actor) == (Verb.ABORT, "event:ci")
    body = {"version": 1, "verb": "abort"}
    requested = command({**ENVELOPE, "source": "ci", "detail-type": "Rollout Requested", "detail": body})
    assert (requested.verb, requested.actor, requested.body) == (Verb.REQUEST, "event:ci", body)


@pytest.mark.parametrize(
    "payload, place",
    [
        ({"verb": "pause", "rollout": "r1"}, "command.caller"),
        ({"verb": "pause", "rollout": "r1", "caller": ""}, "command.caller"),
        ({"caller": "ana"}, "command.verb"),
        ({"verb": "approve", "wave": -1, "caller": "ana"}, "command.wave"),
        ({"verb": "pause", "rollout": "x" * 200, "caller": "ana"}, "command.rollout"),
        ({"detail-type": "Rollout Command", "source": "", "detail": {}}, "command.source"),
    ],
)
def test_a_payload_that_is_no_command_names_the_part_that_is_wrong(payload: dict[str, Any], place: str) -> None:
    with pytest.raises(Poison) as refused:
        command(payload)
    assert refused.value.place == place
