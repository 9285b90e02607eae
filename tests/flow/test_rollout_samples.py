"""The sample events of rollouts through their handlers, as `sam local invoke` sends them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.flow.fleet import ROOT, Fleet, deployed


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """After the sample's request."""
    with deployed() as made:
        begun = invoked(made, "CommandRolloutFunction", "command_rollout.requested")
        assert (begun["rollout"], begun["phase"]) == ("chat-v2", "PLANNED")
        yield made


def invoked(fleet: Fleet, function: str, sample: str) -> Any:
    event = json.loads((ROOT / f"events/{sample}.json").read_text())
    return fleet.stack.function(function).invoke(event)


def test_the_bad_samples_of_commands_are_refused_in_words(fleet: Fleet) -> None:
    assert invoked(fleet, "CommandRolloutFunction", "command_rollout.unknown-key") == {}
    ((_, reason),) = fleet.dead_letters()
    assert "unknown key `chnage` (did you mean `change`?)" in reason
    assert invoked(fleet, "CommandRolloutFunction", "command_rollout.nobody") == {
        "refused": {"problem": "Field required (1 faults)", "place": "command.caller", "remedy": "correct the command"}
    }


def test_the_samples_of_passes_are_carried_out_or_named(fleet: Fleet) -> None:
    told = invoked(fleet, "AdvanceRolloutFunction", "advance_rollout.pass")
    assert {"rollout_id": "chat-v2", "generation": 1, "successor": None}.items() <= told.items()
    assert told["wait_seconds"] >= 1
    assert invoked(fleet, "CommandRolloutFunction", "command_rollout.approve")["refused"]["problem"] == (
        "wave 2 needs no approval"
    )
    with pytest.raises(Exception, match=r"event\.generation: not a generation"):
        invoked(fleet, "AdvanceRolloutFunction", "advance_rollout.no-generation")
    fleet.aws.failures.clear()
