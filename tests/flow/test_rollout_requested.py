"""A rollout that an event on the bus asks for: through the real state machine, to the new model on every copy."""

from collections.abc import Iterator

import pytest

from tests.flow.fleet import SAMPLE, Fleet, deployed


@pytest.fixture(scope="module")
def moved() -> Iterator[Fleet]:
    """The sample's request put on the bus, and all that came of it."""
    with deployed() as fleet:
        fleet.ask()
        fleet.until_ended()
        yield fleet


def test_an_event_on_the_bus_moves_a_component_to_the_new_model(moved: Fleet) -> None:
    assert moved.models() == ["chat-v2"] * 3
    assert moved.record().record.phase.value == "SUCCEEDED"


def test_the_execution_tells_an_operator_where_the_rollout_was(moved: Fleet) -> None:
    assert moved.executions() == {"chat-v2-1": "SUCCEEDED"}
    assert moved.phases("chat-v2-1") == ["Await update", "Bake", "Succeeded"]


def test_the_event_s_source_is_who_asked(moved: Fleet) -> None:
    assert moved.record().record.started_by == f"event:{SAMPLE['source']}"


def test_no_function_failed_and_every_event_found_its_way(moved: Fleet) -> None:
    assert not moved.aws.failures
    assert not moved.stumbles()
    assert moved.aws.wiring.check().faults == ()
