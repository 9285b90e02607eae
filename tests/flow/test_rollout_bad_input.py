"""Requests and commands on the bus that cannot be obeyed: each is buried with its reason, and nothing begins."""

from collections.abc import Iterator

import pytest

from tests.flow.fleet import SAMPLE, Fleet, deployed

LARGE = {**SAMPLE["detail"], "targets": [{"component": f"c{number:059d}"} for number in range(4000)]}
WRONG = [
    (LARGE, "Rollout Requested", "at most 100000 are taken (name targets by endpoint, prefix or tag"),
    ({**SAMPLE["detail"], "chnage": {}}, "Rollout Requested", "unknown key `chnage` (did you mean `change`?)"),
    ({"verb": "pause", "rollout": "r9"}, "Rollout Command", "there is no such rollout (the last ones: none)"),
    ({"verb": "dance"}, "Rollout Command", "Input should be 'request', 'pause'"),
]


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with deployed() as made:
        yield made


def test_each_is_buried_with_its_reason_and_begins_nothing(fleet: Fleet) -> None:
    for detail, detail_type, _ in WRONG:
        fleet.put_event(detail, detail_type)
    fleet.aws.run_for(60)
    reasons = [reason for _, reason in fleet.dead_letters()]
    assert len(reasons) == len(WRONG)
    for *_, told in WRONG:
        assert sum(told in reason for reason in reasons) == 1, (told, reasons)
    assert (fleet.wiring.rollouts.rollouts(5), fleet.executions()) == ((), {})
    assert not fleet.aws.failures


def test_one_of_300_kb_that_a_person_asks_for_is_answered_with_what_to_do(fleet: Fleet) -> None:
    answer = fleet.command("request", request=LARGE)
    assert "at most 100000 are taken (name targets by endpoint" in answer["refused"]["problem"]
    assert fleet.executions() == {}
