"""What is told of quota shares that are no longer as they were set."""

from dataclasses import replace

import pytest

from pointsman.queues.quota import QuotaShare, Strategy
from pointsman.queues.share_changes import Setting, ShareChange
from pointsman.queues.share_drift import share_drift

SHARE = QuotaShare("team", "arn", (("ml.g5.xlarge", 2),), Strategy.LEND_AND_BORROW, borrow_limit=200, preempts=True)
LENT = ShareChange("team", Setting.BORROW_LIMIT, 100, 200, 0.0, "alarm drift", seen=True)
SWITCHED = ShareChange("team", Setting.PREEMPTION, 0, 1, 0.0, "a job takes the place of others", seen=True)


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
    assert list(share_drift([share], [LENT, SWITCHED])) == told


def test_a_change_that_has_not_been_seen_in_force_is_still_under_way() -> None:
    assert list(share_drift([replace(SHARE, borrow_limit=100)], [replace(LENT, seen=False)])) == []
