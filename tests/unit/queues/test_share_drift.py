"""What is told of shares that are no longer as they were set."""

from dataclasses import replace

import pytest

from pointsman.queues.policy import AlarmShare
from pointsman.queues.quota import QuotaShare, Strategy
from pointsman.queues.share_changes import Setting, ShareChange
from pointsman.queues.share_drift import share_drift
from tests.unit.queues import build

POLICY = replace(build.POLICY, weights=(("team-a", 0.3333333), ("team-b", 2.0)))
SHARE = QuotaShare("team", "arn", (("ml.g5.xlarge", 2),), Strategy.LEND_AND_BORROW, borrow_limit=200, preempts=True)
LENT = ShareChange("team", Setting.BORROW_LIMIT, 100, 200, 0.0, "alarm drift", seen=True)
SWITCHED = ShareChange("team", Setting.PREEMPTION, 0, 1, 0.0, "a job takes the place of others", seen=True)


@pytest.mark.parametrize(
    "weights, told",
    [
        ((("team-a", 0.3333), ("team-b", 2.0)), []),
        ((("team-a", 0.3333), ("team-b", 1.0)), ["team-b is 1"]),
        ((), ["team-a is 1", "team-b is 1"]),
    ],
    ids=["as Batch keeps them", "as the template has one", "none is listed"],
)
def test_of_weights(weights: tuple[tuple[str, float], ...], told: list[str]) -> None:
    said = share_drift(POLICY, weights, (), ())
    assert [sentence.split(",")[0].removeprefix("the weight of share ") for sentence in said] == told


def test_a_weight_that_an_alarm_sets_is_the_policy_s_too() -> None:
    rule = AlarmShare("gpu-underused", "team-b", weight=0.5)
    weights = (("team-a", 0.3333), ("team-b", 0.5))
    assert share_drift(replace(POLICY, on_alarm_shares=(rule,)), weights, (), ()) == ()
    assert len(share_drift(POLICY, weights, (), ())) == 1


@pytest.mark.parametrize(
    "share, told",
    [
        (SHARE, []),
        (replace(SHARE, borrow_limit=100), ["the borrow limit of share team is 100, and was set to 200 (alarm drift)"]),
        (
            replace(SHARE, preempts=False),
            ["the in-share preemption of share team is 0, and was set to 1 (a job takes the place of others)"],
        ),
        (replace(SHARE, name="another"), []),
    ],
    ids=["as we set it", "set back", "turned off", "gone"],
)
def test_of_settings_that_we_changed(share: QuotaShare, told: list[str]) -> None:
    assert list(share_drift(POLICY, POLICY.weights, [share], [LENT, SWITCHED])) == told


def test_a_change_that_has_not_been_seen_in_force_is_still_under_way() -> None:
    assert share_drift(POLICY, POLICY.weights, [replace(SHARE, borrow_limit=100)], [replace(LENT, seen=False)]) == ()
