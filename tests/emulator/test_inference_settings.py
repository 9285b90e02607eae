"""What the documentation leaves open about updates: each setting at its ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from pointsman_emulator.models.inference import InferenceRefusedError, InferenceSettings
from tests.emulator.components import Fleet, rolling

OLD, NEW = ("InService", "old", 3), ("InService", "new", 3)


# Batches


def test_a_batch_too_large_is_cut_where_the_rule_is_a_clamp() -> None:
    fleet = Fleet(copies=4, most=8, batch_rule="clamp")
    fleet.update("new", rolling(4))
    fleet.run(400)
    assert len(fleet.llm.copies) == 6


@pytest.mark.parametrize(
    "setting,outcome,most", [("round-up", ("InService", "new", 1), 2), ("plain", ("InService", "new", 1), 2)]
)
def test_one_copy_may_be_rolled_as_a_batch_of_one_or_as_without_a_config(
    setting: str, outcome: tuple[str, str, int], most: int
) -> None:
    fleet = Fleet(copies=1, initial=1, most=most, single_copy=setting)
    fleet.alarms["bad"] = "ALARM"
    fleet.update("new", rolling(1, 600, "bad"))
    fleet.run(7200)
    # without a config nobody looks at the alarm
    assert fleet.outcome() == (outcome if setting == "plain" else ("InService", "old", 1))


@pytest.mark.parametrize("setting,batch", [("down", 2), ("up", 3)])
def test_a_share_of_the_copies_is_rounded_down_or_up(setting: str, batch: int) -> None:
    fleet = Fleet(copies=10, initial=10, most=20, percent_rounding=setting)
    fleet.update("new", rolling(25, kind="CAPACITY_PERCENT"))
    fleet.run(1)
    assert len(fleet.llm.copies) == 10 + batch


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_no_copies_are_rolled_in_no_time_or_have_no_batch(setting: str) -> None:
    fleet = Fleet(zero_copies=setting)
    fleet.model.update_runtime("llm", 0)
    fleet.run(600)
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="which is 0"):
            fleet.update("new", rolling())
        return
    fleet.update("new", rolling())
    assert fleet.outcome() == ("InService", "new", 0)


@pytest.mark.parametrize("setting,serving", [("blue-green", 3), ("in-place", 0)])
def test_without_a_config_the_old_copies_stay_until_the_new_ones_serve_or_go_before(setting: str, serving: int) -> None:
    fleet = Fleet(most=6, plain_update=setting)
    fleet.update("new")
    fleet.run(7200)
    assert fleet.outcome() == NEW
    assert fleet.llm.lowest_serving == serving


# Alarms


@pytest.mark.parametrize("setting,outcome", [("rollback", OLD), ("ignore", NEW)])
def test_an_alarm_that_is_up_at_the_start_takes_the_update_back_or_is_ignored(
    setting: str, outcome: tuple[str, str, int]
) -> None:
    fleet = Fleet(alarm_at_start=setting)
    fleet.alarms["bad"] = "ALARM"
    fleet.update("new", rolling(1, 60, "bad"))
    fleet.run(7200)
    assert fleet.outcome() == outcome


def test_an_alarm_that_is_up_at_the_start_refuses_the_update() -> None:
    fleet = Fleet(alarm_at_start="refuse")
    fleet.alarms["bad"] = "ALARM"
    with pytest.raises(InferenceRefusedError, match="in ALARM"):
        fleet.update("new", rolling(1, 60, "bad"))
    assert fleet.outcome() == OLD
    assert fleet.llm.settled


def test_an_ignored_alarm_counts_again_once_it_was_ok() -> None:
    fleet = Fleet(alarm_at_start="ignore")
    fleet.alarms["bad"] = "ALARM"
    fleet.update("new", rolling(1, 600, "bad"))
    fleet.run(700)
    fleet.alarms["bad"] = "OK"
    fleet.run(30)
    fleet.alarms["bad"] = "ALARM"
    fleet.run(7200)
    assert fleet.outcome() == OLD


@pytest.mark.parametrize("setting,outcome", [("tolerate", NEW), ("rollback", OLD)])
def test_an_alarm_without_data_is_tolerated_or_takes_the_update_back(
    setting: str, outcome: tuple[str, str, int]
) -> None:
    fleet = Fleet(alarm_insufficient=setting)
    fleet.alarms["bad"] = "INSUFFICIENT_DATA"
    fleet.update("new", rolling(1, 60, "bad"))
    fleet.run(7200)
    assert fleet.outcome() == outcome


def test_an_alarm_that_does_not_exist_guards_nothing() -> None:
    fleet = Fleet(alarm_missing="inert")
    fleet.update("new", rolling(1, 60, "nobody"))
    fleet.run(7200)
    assert fleet.outcome() == NEW


def test_an_alarm_that_does_not_exist_refuses_the_update() -> None:
    fleet = Fleet(alarm_missing="refuse")
    with pytest.raises(InferenceRefusedError, match="Could not find alarm nobody"):
        fleet.update("new", rolling(1, 60, "nobody"))


@pytest.mark.parametrize("setting,outcome", [("bake", NEW), ("always", OLD)])
def test_an_alarm_between_two_bakes_is_not_seen_or_takes_the_update_back(
    setting: str, outcome: tuple[str, str, int]
) -> None:
    fleet = Fleet(alarms_watched=setting)
    fleet.alarms["bad"] = "OK"
    fleet.update("new", rolling(1, 60, "bad"))
    fleet.run(320)  # the instance is there, the copy starts
    fleet.alarms["bad"] = "ALARM"
    fleet.run(60)
    fleet.alarms["bad"] = "OK"
    fleet.run(7200)
    assert fleet.outcome() == outcome


# Timeouts


def test_an_update_that_takes_longer_than_it_may_is_taken_back() -> None:
    fleet = Fleet()
    fleet.update("new", rolling(1, 600, timeout=1200))
    fleet.run(1199)
    assert fleet.llm.status == "Updating"
    fleet.run(7200)
    assert fleet.outcome() == OLD
    assert "longer than 1200 seconds" in fleet.described()["FailureReason"]


@pytest.mark.parametrize("setting,outcome", [(900.0, OLD), (None, NEW)])
def test_an_update_that_names_no_timeout_has_a_default_one_or_none(
    setting: float | None, outcome: tuple[str, str, int]
) -> None:
    fleet = Fleet(default_timeout=setting)
    fleet.update("new", rolling(1, 600))
    fleet.run(7200)
    assert fleet.outcome() == outcome


def test_an_update_that_takes_too_long_may_be_left_where_it_is() -> None:
    fleet = Fleet(after_timeout="failed")
    fleet.update("new", rolling(1, 600, timeout=1800))
    fleet.run(7200)
    assert fleet.outcome() == ("Failed", "old", 4)
    assert Counter(fleet.models()) == {"old": 2, "new": 2}


@pytest.mark.parametrize(
    "setting,text",
    [("alarm_text", "an alarm, {alarm}"), ("timeout_text", "after {seconds:.0f} s"), ("startup_text", "{name}!")],
)
def test_the_words_of_a_failure_are_a_setting(setting: str, text: str) -> None:
    fleet = Fleet(**{setting: text})
    fleet.alarms["bad"] = "ALARM" if setting == "alarm_text" else "OK"
    fleet.update("crashing" if setting == "startup_text" else "new", rolling(1, 900, "bad", timeout=1000))
    fleet.run(7200)
    assert fleet.described()["FailureReason"] == text.format(alarm="bad", seconds=1000, name="llm")


# Ways back


@pytest.mark.parametrize(
    "back,restarts",
    [(None, 1), (1, 2)],
)
def test_old_copies_come_back_all_at_once_or_in_batches(back: int | None, restarts: int) -> None:
    fleet = Fleet(copies=4, initial=8, most=None)
    fleet.alarms["bad"] = "OK"
    fleet.update("new", rolling(1, 300, "bad", back=back))
    fleet.run(1420)
    assert fleet.models() == ["old", "old", "new", "new", "new"]
    fleet.alarms["bad"] = "ALARM"
    begun = fleet.model.now
    while not fleet.llm.settled:
        fleet.run(1)
    assert fleet.outcome() == ("InService", "old", 4)
    assert fleet.llm.lowest_serving == 4
    assert (fleet.model.now - begun) // 240 == restarts


@pytest.mark.parametrize(
    "setting,status,serving", [("replace", "InService", {"old": 4}), ("surge", "Failed", {"old": 3, "new": 2})]
)
def test_a_way_back_without_room_replaces_copies_or_fails(setting: str, status: str, serving: dict[str, int]) -> None:
    fleet = Fleet(copies=4, initial=5, most=None, rollback_room=setting)
    fleet.alarms["bad"] = "OK"
    fleet.update("new", rolling(1, 300, "bad"))
    fleet.run(900)
    assert Counter(fleet.models()) == {"old": 3, "new": 2}
    fleet.alarms["bad"] = "ALARM"
    fleet.run(7200)
    assert (fleet.llm.status, Counter(fleet.models())) == (status, serving)
    assert fleet.llm.lowest_serving == 4


@pytest.mark.parametrize("setting,status", [("failed", "Failed"), ("in-service", "InService")])
def test_a_way_back_that_is_gone_ends_failed_or_in_service_with_fewer_copies(setting: str, status: str) -> None:
    fleet = Fleet(copies=4, initial=8, most=None, failed_rollback=setting)
    fleet.alarms["bad"] = "OK"
    fleet.update("new", rolling(2, 300, "bad"))
    fleet.run(800)
    fleet.model.delete_model("old")
    fleet.alarms["bad"] = "ALARM"
    fleet.run(7200)
    assert fleet.llm.status == status
    assert fleet.llm.spec.model == "old"
    assert "Could not find model" in fleet.described()["FailureReason"]


def test_every_setting_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text()
    assert [field.name for field in fields(InferenceSettings) if f"`{field.name}`" not in text] == []
