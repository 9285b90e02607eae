"""The negative controls: the same requests against a model that drains first must be lost."""

from typing import Any

import pytest

from pointsman_cli.demo.rollout.play import staged
from tests.flow.scenes import TRY, scenario

ENOUGH = 100


@pytest.mark.parametrize(
    "name,keys", [("single-gpu", {}), ("bad-api", {}), ("full-endpoint", TRY), ("make-room", {}), ("fleet", {})]
)
def test_the_same_requests_are_lost_where_a_copy_goes_before_the_next_one_serves(
    name: str, keys: dict[str, Any]
) -> None:
    """A scenario is played until enough are lost: how it ends then proves nothing more."""
    with staged(scenario(name, bake="4m", final_bake="4m", **keys).drained_first()) as stage:
        last = stage.aws.now + stage.scenario.limit
        stage.ask()
        stage.aws.run_for(300)
        while not (lost := stage.result(()).lost > ENOUGH) and not stage.stored.record.phase.terminal:
            assert stage.aws.now < last
            stage.aws.run_for(60)
        result = stage.result(())
    assert lost
    assert result.lowest_serving < result.wanted_copies
