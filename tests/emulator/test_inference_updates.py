"""Updates of inference components: batches, bakes, and the ways back. One fact a test, or one setting at its ends."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman_emulator.models.inference import InferenceRefusedError
from tests.emulator.components import Fleet, component_request, rolling


def test_an_update_ends_in_service_with_the_new_model_and_as_many_copies() -> None:
    fleet = Fleet()
    fleet.update("new", rolling())
    assert fleet.llm.status == "Updating"
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 3)


def test_an_update_that_fails_ends_in_service_with_the_old_model() -> None:
    fleet = Fleet()
    fleet.update("crashing", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "old", 3)
    assert "ping health check" in fleet.described()["FailureReason"]


def test_copies_overshoot_by_a_batch_and_never_fall_below_the_wish() -> None:
    fleet = Fleet(copies=4, initial=4, most=8)
    fleet.update("new", rolling(2))
    counts = set()
    for _ in range(300):
        fleet.run(10)
        counts.add(fleet.described()["RuntimeConfig"]["CurrentCopyCount"])
    assert (min(counts), max(counts)) == (4, 6)
    assert fleet.llm.lowest_serving == 4


def test_an_instance_is_launched_where_no_room_is_free_and_released_later() -> None:
    fleet = Fleet()
    endpoint = fleet.model.endpoints["chat"]
    fleet.update("new", rolling())
    fleet.run(1)
    assert (endpoint.status, endpoint.variants["all"].current, endpoint.variants["all"].desired) == ("Updating", 3, 4)
    fleet.run(301)
    assert (endpoint.status, endpoint.variants["all"].current) == ("InService", 4)
    fleet.run(7200)
    assert (endpoint.status, endpoint.variants["all"].current) == ("InService", 3)


def test_an_alarm_in_the_bake_takes_the_update_back() -> None:
    fleet = Fleet()
    fleet.alarms["bad"] = "OK"
    fleet.update("new", rolling(1, 300, "bad"))
    fleet.run(700)
    fleet.alarms["bad"] = "ALARM"
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "old", 3)
    assert "bad" in fleet.described()["FailureReason"]


@pytest.mark.parametrize("setting,kept", [("sticky", True), ("cleared", False)])
def test_a_reason_stays_after_a_later_success_or_goes(setting: str, *, kept: bool) -> None:
    fleet = Fleet(reason_after_success=setting)
    fleet.update("crashing", rolling())
    fleet.run(7200)
    fleet.update("new", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 3)
    assert ("FailureReason" in fleet.described()) is kept


@pytest.mark.parametrize("setting,told", [("text", True), ("blank", False)])
def test_a_rollback_leaves_a_reason_or_none(setting: str, *, told: bool) -> None:
    fleet = Fleet(reason_on_rollback=setting)
    fleet.update("crashing", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "old", 3)
    assert ("FailureReason" in fleet.described()) is told


def test_a_second_write_is_refused_and_the_internal_state_is_named() -> None:
    fleet = Fleet()
    fleet.update("new", rolling())
    with pytest.raises(InferenceRefusedError, match="UPDATE_IN_PROGRESS"):
        fleet.model.update_runtime("llm", 2)
    with pytest.raises(InferenceRefusedError, match="UPDATE_IN_PROGRESS"):
        fleet.model.delete_component("llm")


@pytest.mark.parametrize(
    "copies,batch,kind",
    [(3, 2, "COPY_COUNT"), (4, 60, "CAPACITY_PERCENT"), (4, 4, "CAPACITY_PERCENT"), (1, 1, "COPY_COUNT")],
)
def test_a_batch_outside_of_5_to_50_percent_is_refused(copies: int, batch: int, kind: str) -> None:
    fleet = Fleet(copies=copies, most=8)
    with pytest.raises(InferenceRefusedError, match="between 5% and 50%"):
        fleet.update("new", rolling(batch, kind=kind))
    fleet.run(60)
    assert fleet.outcome() == ("InService", "old", copies)


def test_without_a_deployment_config_all_new_copies_come_beside_the_old_ones() -> None:
    fleet = Fleet(most=6)
    fleet.update("new")
    fleet.run(400)
    assert len(fleet.model.instances_of("chat")) == 6
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 3)


def draining(order: Any) -> tuple[int, int]:
    fleet = Fleet(order=order, most=4)
    fleet.model.start_traffic("llm", 18.0)
    fleet.update("new", rolling())
    fleet.run(7200)
    counts = fleet.model.counts("llm")
    return counts.requests, counts.lost


def test_a_model_that_drains_first_loses_requests_of_the_very_stream_that_sagemaker_serves_whole() -> None:
    requests, lost = draining("surge")
    same, more_lost = draining("drain-first")
    assert requests == same
    assert lost == 0
    assert more_lost > 100


@pytest.mark.parametrize(
    "config,named",
    [
        (rolling(wait=3601), "WaitIntervalInSeconds"),
        (rolling(timeout=599), "MaximumExecutionTimeoutInSeconds"),
        (rolling(timeout=28801), "MaximumExecutionTimeoutInSeconds"),
        (rolling(1, 60, *(f"alarm-{number}" for number in range(11))), "Alarms"),
    ],
)
def test_a_config_beyond_the_bounds_of_the_api_is_refused_by_the_name_of_the_member(
    config: dict[str, Any], named: str
) -> None:
    fleet = Fleet()
    with pytest.raises(InferenceRefusedError, match=named):
        fleet.update("new", config)
    assert fleet.llm.settled


def test_names_and_environments_are_held_to_the_api() -> None:
    fleet = Fleet()
    with pytest.raises(InferenceRefusedError, match="pattern"):
        fleet.model.create_component(component_request("a_b", 1))
    request = component_request("many", 1)
    request["Specification"]["Container"] = {"Image": "i", "Environment": {f"V{number}": "" for number in range(17)}}
    with pytest.raises(InferenceRefusedError, match="at most 16"):
        fleet.model.create_component(request)


def test_an_update_can_change_the_number_of_copies_with_the_spec_and_its_rollback_takes_both_back() -> None:
    fleet = Fleet(most=8)
    fleet.update("new", rolling(), RuntimeConfig={"CopyCount": 5})
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 5)
    fleet.update("crashing", rolling(), RuntimeConfig={"CopyCount": 2})
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 5)
    assert fleet.described()["RuntimeConfig"]["DesiredCopyCount"] == 5


def test_an_update_without_a_copy_count_keeps_the_one_that_there_is() -> None:
    fleet = Fleet(most=8)
    fleet.model.update_runtime("llm", 4)
    fleet.run(3600)
    fleet.update("new", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 4)


def test_a_runtime_config_alone_is_a_scaling() -> None:
    fleet = Fleet()
    fleet.model.update_component({"InferenceComponentName": "llm", "RuntimeConfig": {"CopyCount": 2}})
    assert fleet.llm.internal == "UPDATE_RC_IN_PROGRESS"
    fleet.run(600)
    assert fleet.outcome() == ("InService", "old", 2)


def test_the_time_of_change_is_the_moment_of_completion() -> None:
    fleet = Fleet(copies=2, initial=3)
    fleet.update("new", rolling())
    begun = fleet.model.now
    fleet.run(7200)
    # twice: a copy's start, the bake, the drain
    assert fleet.described()["LastModifiedTime"] == begun + 2 * (240 + 120 + 30)
