"""What two runs of one event may differ in, and what they may not."""

from decimal import Decimal

import pytest

from tests.sam_local.left_behind import without_nature

ITEM = {
    "pk": "MOVE#search-training",
    "sk": "1796107081859#d8745398-f379-4be1-afba-b588f4ff1ce3#boosted",
    "at": Decimal("1796107081.859375"),
    "after": Decimal(4998),
    "sentence": "prod-ranker (production, 2 instances) has waited 17 min; it goes first.",
    "detail": '{"since": 1796107081.5, "state": "READY", "wait_seconds": 118}',
}


def test_times_ids_and_durations_are_no_difference() -> None:
    later = {
        **ITEM,
        "sk": "1796107999123#7a50dd7a-f379-4be1-afba-b588f4ff1ce3#boosted",
        "at": Decimal("1796107999.5"),
        "sentence": "prod-ranker (production, 2 instances) has waited 3.5 s; it goes first.",
        "detail": '{"since": 1796107999.0, "state": "READY", "wait_seconds": 120}',
    }
    assert without_nature(later) == without_nature(ITEM)


def test_the_random_end_of_a_training_jobs_name_is_no_difference_and_the_rest_is() -> None:
    names = ("sweep-alla" + "0" * 32, "sweep-alla" + "7ff549e7" * 4, "sweep-allb" + "0" * 32)
    one, other, third = ({"training": f"AWSBatch{name}"} for name in names)
    assert without_nature(one) == without_nature(other) != without_nature(third)


@pytest.mark.parametrize(
    "other",
    [
        {"after": Decimal(4997)},
        {"pk": "MOVE#other"},
        {"sk": ITEM["sk"].replace("boosted", "lifted")},
        {"sentence": ITEM["sentence"].replace("2 instances", "3 instances")},
        {"detail": ITEM["detail"].replace("READY", "CREATING")},
        {"at": Decimal(0)},
    ],
)
def test_anything_else_is(other: dict[str, object]) -> None:
    assert without_nature({**ITEM, **other}) != without_nature(ITEM)
