"""Worlds through what is deployed: one of those that `make prove LOOP=queues PROFILE=handlers` plays."""

import pytest

from tests.proof.frame import Outcome
from tests.proof.queues.handlers import run


@pytest.fixture(scope="module")
def world() -> Outcome:
    return run(3)


def test_a_world_through_the_deployed_handlers_ends_as_it_should(world: Outcome) -> None:
    assert world.violations == ()


def test_much_went_wrong_in_it(world: Outcome) -> None:
    assert world.steps > 50
    assert {"calls refused", "poison", "alarms", "priorities set by hand"} <= world.faults.keys()
