"""What the documentation leaves open about descriptions and requests: each setting at its ends."""

from __future__ import annotations

import pytest

from pointsman_emulator.models.inference import InferenceRefusedError
from tests.emulator.components import Fleet, component_request, config_request, rolling

OLD, NEW = ("InService", "old", 3), ("InService", "new", 3)


# What is shown


@pytest.mark.parametrize("setting,shown", [("old", "old"), ("new", "new")])
def test_the_spec_while_updating_is_the_old_one_or_the_new_one(setting: str, shown: str) -> None:
    fleet = Fleet(spec_while_updating=setting)
    fleet.update("new", rolling())
    fleet.run(60)
    assert fleet.described()["Specification"]["ModelName"] == shown
    fleet.run(7200)
    assert fleet.described()["Specification"]["ModelName"] == "new"


@pytest.mark.parametrize("setting,there", [("accepted", True), ("finished", False)])
def test_the_config_is_told_from_the_start_or_at_the_end(setting: str, *, there: bool) -> None:
    fleet = Fleet(config_recorded=setting)
    fleet.update("new", rolling())
    fleet.run(60)
    assert ("LastDeploymentConfig" in fleet.described()) is there
    fleet.run(7200)
    assert fleet.described()["LastDeploymentConfig"] == rolling()


@pytest.mark.parametrize("setting,timeout", [("kept", 700), ("restored", 7000)])
def test_a_taken_back_update_leaves_its_config_or_the_one_before(setting: str, timeout: int) -> None:
    fleet = Fleet(config_after_rollback=setting)
    fleet.update("new", rolling(timeout=7000))
    fleet.run(7200)
    fleet.update("crashing", rolling(timeout=700))
    fleet.run(7200)
    policy = fleet.described()["LastDeploymentConfig"]["RollingUpdatePolicy"]
    assert policy["MaximumExecutionTimeoutInSeconds"] == timeout


@pytest.mark.parametrize("setting,moved", [(True, True), (False, False)])
def test_the_time_of_change_moves_at_the_end_and_perhaps_at_the_start(setting: bool, moved: bool) -> None:
    fleet = Fleet(modified_when_accepted=setting)
    before = fleet.described()["LastModifiedTime"]
    fleet.update("new", rolling())
    fleet.run(60)
    assert (fleet.described()["LastModifiedTime"] > before) is moved
    fleet.run(7200)
    assert fleet.described()["LastModifiedTime"] > before + 600


@pytest.mark.parametrize("lag,status", [(0.0, "Updating"), (30.0, "InService")])
def test_a_description_may_lag(lag: float, status: str) -> None:
    fleet = Fleet(describe_lag=lag)
    fleet.update("new", rolling())
    fleet.run(10)
    assert fleet.described()["InferenceComponentStatus"] == status
    fleet.run(60)
    assert fleet.described()["InferenceComponentStatus"] == "Updating"


@pytest.mark.parametrize("seconds,seen", [(0.0, False), (60.0, True)])
def test_a_missing_artifact_fails_before_anyone_sees_it_or_after_a_while(seconds: float, *, seen: bool) -> None:
    fleet = Fleet(initial=4, failed_artifact=seconds)
    fleet.update("lost-artifact", rolling())
    fleet.run(1)
    assert (fleet.described()["InferenceComponentStatus"] == "Updating") is seen
    fleet.run(600)
    assert fleet.outcome() == OLD
    assert "download" in fleet.described()["FailureReason"]


# Requests


@pytest.mark.parametrize("setting,kept", [("merge", True), ("replace", False)])
def test_what_a_specification_leaves_out_stays_or_goes(setting: str, *, kept: bool) -> None:
    fleet = Fleet(partial_spec=setting)
    request = {"InferenceComponentName": "llm", "Specification": {"ModelName": "new"}}
    if kept:
        fleet.model.update_component(request)
        assert fleet.llm.change.new.needs_on("ml.g5.2xlarge").accelerators == 1
    else:
        with pytest.raises(InferenceRefusedError, match="ComputeResourceRequirements"):
            fleet.model.update_component(request)


@pytest.mark.parametrize("code", ["ValidationException", "ConflictException"])
def test_a_busy_component_refuses_with_the_code_of_the_settings(code: str) -> None:
    fleet = Fleet(busy_code=code)
    fleet.update("new", rolling())
    with pytest.raises(InferenceRefusedError) as error:
        fleet.update("new", rolling())
    assert error.value.code == code


@pytest.mark.parametrize("setting", ["refuse", "accept"])
def test_a_failed_component_takes_an_update_or_none(setting: str) -> None:
    fleet = Fleet(copies=0, update_of_failed=setting)
    fleet.model.create_component(component_request(model="crashing"))
    fleet.run(3600)
    assert fleet.llm.status == "Failed"
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="CREATE_FAILED"):
            fleet.update("new")
    else:
        fleet.update("new")
        fleet.run(3600)
        assert fleet.outcome() == NEW


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_a_write_while_the_endpoint_is_updating_is_taken_or_refused(setting: str) -> None:
    fleet = Fleet(initial=3, most=6, writes_while_endpoint_updates=setting)
    fleet.update("new", rolling())
    fleet.run(10)
    assert fleet.model.endpoints["chat"].status == "Updating"
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="being updated"):
            fleet.model.create_component(component_request("embed", 1))
    else:
        fleet.model.create_component(component_request("embed", 1))


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_two_updates_on_one_endpoint_are_taken_or_refused(setting: str) -> None:
    fleet = Fleet(copies=2, initial=6, most=None, parallel_updates=setting)
    fleet.model.create_component(component_request("embed", 2))
    fleet.run(600)
    fleet.update("new", rolling())
    request = {"InferenceComponentName": "embed", "Specification": {"ModelName": "new"}, "DeploymentConfig": rolling()}
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="llm"):
            fleet.model.update_component(request)
    else:
        fleet.model.update_component(request)
        fleet.run(7200)
        assert fleet.model.components["embed"].spec.model == "new"


@pytest.mark.parametrize("setting", ["refuse", "orphan"])
def test_an_endpoint_with_components_is_not_deleted_or_leaves_them_behind(setting: str) -> None:
    fleet = Fleet(endpoint_delete=setting)
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="llm"):
            fleet.model.delete_endpoint("chat")
        return
    fleet.model.delete_endpoint("chat")
    fleet.run(600)
    assert "chat" not in fleet.model.endpoints
    assert fleet.described()["InferenceComponentStatus"] == "InService"


@pytest.mark.parametrize("setting", ["ignore", "refuse"])
def test_an_adapter_takes_a_deployment_config_and_ignores_it_or_refuses_it(setting: str) -> None:
    fleet = Fleet(adapter_config=setting)
    spec = {"BaseInferenceComponentName": "llm", "Container": {"ArtifactUrl": "s3://adapters/1"}}
    fleet.model.create_component(
        {"InferenceComponentName": "tone", "EndpointName": "chat", "VariantName": "all", "Specification": spec}
    )
    fleet.run(60)
    with pytest.raises(InferenceRefusedError, match="tone"):
        fleet.model.delete_component("llm")
    request = {
        "InferenceComponentName": "tone",
        "Specification": {"Container": {"ArtifactUrl": "s3://adapters/2"}},
        "DeploymentConfig": rolling(),
    }
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="adapter"):
            fleet.model.update_component(request)
        return
    fleet.model.update_component(request)
    fleet.run(600)
    told = fleet.model.describe_component("tone")["Specification"]
    assert told["Container"]["ArtifactUrl"] == "s3://adapters/2"
    assert told["BaseInferenceComponentName"] == "llm"


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_a_minimum_of_no_instances_is_taken_or_refused(setting: str) -> None:
    fleet = Fleet(zero_instances=setting)
    request = config_request(least=0, name="empty")
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="MinInstanceCount"):
            fleet.model.create_config(request)
    else:
        fleet.model.create_config(request)
