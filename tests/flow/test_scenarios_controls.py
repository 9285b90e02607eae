"""The negative controls: the same requests against a model that drains first must be lost."""

from typing import Any

import pytest

from pointsman_cli.demo.rollout.play import play
from tests.flow.scenes import TRY, scenario


@pytest.mark.parametrize(
    "name,keys", [("single-gpu", {}), ("bad-api", {}), ("full-endpoint", TRY), ("make-room", {}), ("fleet", {})]
)
def test_the_same_requests_are_lost_where_a_copy_goes_before_the_next_one_serves(
    name: str, keys: dict[str, Any]
) -> None:
    result = play(scenario(name, bake="4m", final_bake="4m", **keys).drained_first(), lambda _: None)
    assert result.lost > 100
    assert result.lowest_serving < result.wanted_copies
