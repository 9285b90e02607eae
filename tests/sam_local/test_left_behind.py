"""What two runs of one event may differ in, and what they may not."""

from decimal import Decimal
from itertools import count

import pytest

from tests.sam_local import left_behind, world
from tests.sam_local.left_behind import at_rest, without_nature
from tests.sam_local.world import wait_until

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


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes between two looks, and there is little of it."""
    for module in (left_behind, world):
        monkeypatch.setattr(module, "LOOK", 0.0)
        monkeypatch.setattr(module, "PATIENCE", 0.01)


@pytest.mark.usefixtures("hurried")
def test_a_world_is_looked_at_until_two_looks_find_the_same() -> None:
    looks = iter([1, 2, 3, 3, 4])
    assert at_rest(lambda: {"JobsTable": next(looks)}) == {"JobsTable": 3}
    assert next(looks) == 4


@pytest.mark.usefixtures("hurried")
def test_what_never_rests_is_named() -> None:
    looks = count()
    with pytest.raises(TimeoutError, match=r"it still changes: JobsTable$"):
        at_rest(lambda: {"JobsTable": next(looks), "ControlTable": []})


@pytest.mark.usefixtures("hurried")
def test_what_is_waited_for_is_named_when_it_does_not_come() -> None:
    wait_until(iter([False, True]).__next__, "it comes")
    with pytest.raises(TimeoutError, match="until the rollout is held"):
        wait_until(lambda: False, "the rollout is held")
