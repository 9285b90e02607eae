"""Room on instances: placement, launches, releases, shortages. One fact a test, or one setting at its ends."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from pointsman_emulator.models.inference import InferenceRefusedError, InferenceSettings
from tests.emulator.components import Fleet, component_request, config_request, rolling

LARGE = "ml.g5.12xlarge"


def four_gpus(copies: int = 0, initial: int = 2, most: int | None = None, **settings: Any) -> Fleet:
    return Fleet(copies=copies, initial=initial, most=most, kind=LARGE, **settings)


def create(fleet: Fleet, name: str, copies: int, accelerators: int = 1, **specification: Any) -> Any:
    request = component_request(name, copies, accelerators=accelerators)
    request["Specification"] |= specification
    made = fleet.model.create_component(request)
    fleet.run(600)
    return made


def per_instance(fleet: Fleet) -> list[int]:
    return [len(instance.copies) for instance in fleet.model.instances_of("chat")]


@pytest.mark.parametrize(
    "needs,count",
    [
        ({"NumberOfAcceleratorDevicesRequired": 2, "MinMemoryRequiredInMb": 128}, 2),
        ({"NumberOfAcceleratorDevicesRequired": 3, "MinMemoryRequiredInMb": 128}, 1),
        ({"NumberOfCpuCoresRequired": 16, "MinMemoryRequiredInMb": 128}, 3),
        ({"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 100_000}, 1),
    ],
)
def test_copies_on_an_instance_are_as_many_as_its_scarcest_resource_allows(needs: dict[str, Any], count: int) -> None:
    fleet = four_gpus(initial=1)
    create(fleet, "probe", 1, ComputeResourceRequirements=needs)
    fleet.model.update_runtime("probe", 9)
    fleet.run(600)
    assert per_instance(fleet) == [count]


def test_copies_spread_over_the_instances_unless_they_are_packed() -> None:
    fleet = four_gpus()
    create(fleet, "spread", 2)
    assert per_instance(fleet) == [1, 1]
    fleet = four_gpus()
    create(fleet, "packed", 2, SchedulingConfig={"PlacementStrategy": "BINPACK"})
    assert sorted(per_instance(fleet)) == [0, 2]


def test_fragments_on_two_instances_hold_no_copy_of_their_sum() -> None:
    fleet = four_gpus()
    create(fleet, "small", 4)
    instances = fleet.model.instances_of("chat")
    assert sum(instance.free.accelerators for instance in instances) == 4
    large = create(fleet, "large", 1, accelerators=4)
    assert large.status == "Failed"
    assert "Not enough hardware resources" in large.failure_reason


def test_a_copy_that_fits_on_no_instance_fails_at_once_whatever_patience_there_is() -> None:
    fleet = four_gpus(most=9, shortage_patience=inf)
    fleet.model.create_component(component_request("huge", 1, accelerators=5))
    fleet.run(0)
    assert fleet.model.components["huge"].status == "Failed"
    assert len(fleet.model.instances_of("chat")) == 2


@pytest.mark.parametrize("share,status", [(0.2, "Failed"), (1.0, "InService")])
def test_copies_can_reserve_a_part_of_the_memory_only(share: float, status: str) -> None:
    fleet = Fleet(copies=0, initial=1, most=None, schedulable_memory=share)
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 8192}
    assert create(fleet, "wide", 1, ComputeResourceRequirements=needs).status == status


def test_an_endpoint_without_managed_scaling_launches_nothing() -> None:
    fleet = Fleet(copies=3, initial=3, most=None)
    fleet.update("new", rolling())
    fleet.run(600)
    assert fleet.outcome() == ("InService", "old", 3)
    assert "Not enough hardware resources" in fleet.described()["FailureReason"]
    assert len(fleet.model.instances_of("chat")) == 3


def test_the_maximum_of_managed_scaling_is_never_exceeded() -> None:
    fleet = Fleet(copies=3, most=4)
    fleet.model.update_runtime("llm", 6)
    fleet.run(3600)
    assert len(fleet.model.instances_of("chat")) == 4
    assert fleet.described()["RuntimeConfig"] == {"DesiredCopyCount": 6, "CurrentCopyCount": 4}


@pytest.mark.parametrize("setting,desired", [("keep", 6), ("revert", 4)])
def test_a_scaling_that_finds_no_room_keeps_its_wish_or_gives_it_up(setting: str, desired: int) -> None:
    fleet = Fleet(copies=3, most=4, short_scaling=setting)
    fleet.model.update_runtime("llm", 6)
    fleet.run(3600)
    assert (fleet.llm.status, fleet.llm.current, fleet.llm.desired) == ("InService", 4, desired)
    assert "Not enough hardware resources" in fleet.described()["FailureReason"]


@pytest.mark.parametrize("patience,outcome", [(0.0, ("InService", "old", 3)), (inf, ("InService", "new", 3))])
def test_an_update_without_room_fails_at_once_or_waits_for_it(patience: float, outcome: tuple[str, str, int]) -> None:
    fleet = Fleet(copies=3, initial=4, most=None, shortage_patience=patience)
    create(fleet, "embed", 1)
    fleet.update("new", rolling())
    fleet.run(900)
    fleet.model.delete_component("embed")
    fleet.run(7200)
    assert fleet.outcome() == outcome


def test_an_update_that_waits_for_room_is_taken_back_by_its_timeout() -> None:
    fleet = Fleet(copies=3, initial=3, most=None, shortage_patience=inf)
    fleet.update("new", rolling(timeout=1800))
    fleet.run(1799)
    assert fleet.llm.status == "Updating"
    fleet.run(600)
    assert fleet.outcome() == ("InService", "old", 3)


@pytest.mark.parametrize("there,outcome", [(3, "old"), (4, "new")])
def test_instances_may_run_out_in_all_of_aws(there: int, outcome: str) -> None:
    fleet = Fleet(copies=3, most=9, instances={"ml.g5.2xlarge": there})
    fleet.update("new", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", outcome, 3)


def test_an_endpoint_beyond_the_limit_is_refused_as_the_quota_refuses_it() -> None:
    fleet = Fleet(copies=3, instances={"ml.g5.2xlarge": 4})
    fleet.model.create_config(config_request(2, None, name="more"))
    with pytest.raises(InferenceRefusedError, match="request delta of 2") as error:
        fleet.model.create_endpoint({"EndpointName": "more", "EndpointConfigName": "more"})
    assert error.value.code == "ResourceLimitExceeded"


def test_a_reserved_endpoint_takes_instances_of_its_reservation_only_and_tells_how_many_are_left() -> None:
    arn = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/gpus"
    fleet = Fleet(copies=0, reservations={arn: 3})
    request = config_request(2, 9, name="reserved")
    reserved = {"MlReservationArn": arn, "CapacityReservationPreference": "capacity-reservations-only"}
    request["ProductionVariants"][0]["CapacityReservationConfig"] = reserved
    fleet.model.create_config(request)
    fleet.model.create_endpoint({"EndpointName": "reserved", "EndpointConfigName": "reserved"})
    fleet.run(400)
    fleet.model.create_component(component_request("llm", 4, endpoint="reserved"))
    fleet.run(600)
    assert fleet.llm.status == "Failed"
    fleet.run(3600)
    (variant,) = fleet.model.describe_endpoint("reserved")["ProductionVariants"]
    told = {"TotalInstanceCount": 3, "AvailableInstanceCount": 1, "UsedByCurrentEndpoint": 2}
    assert variant["CapacityReservationConfig"] == reserved | told


@pytest.mark.parametrize("chance,outcome", [(0.0, "new"), (1.0, "old")])
def test_a_launch_may_end_in_insufficient_capacity(chance: float, outcome: str) -> None:
    fleet = Fleet(copies=2, initial=4, most=6)
    fleet.model.settings = InferenceSettings(launch_failures=chance)
    create(fleet, "embed", 2)
    fleet.update("new", rolling())
    fleet.run(7200)
    assert fleet.outcome() == ("InService", outcome, 2)
    assert ("CapacityError" in fleet.described().get("FailureReason", "")) is (outcome == "old")


@pytest.mark.parametrize("dwell", [300.0, 720.0])
def test_an_idle_instance_is_released_after_its_dwell_and_the_endpoint_says_so(dwell: float) -> None:
    fleet = Fleet(most=4, instance_release=dwell)
    fleet.update("new", rolling())
    while not fleet.llm.settled:
        fleet.run(1)
    endpoint = fleet.model.endpoints["chat"]
    fleet.run(dwell - 35)  # a drain of half a minute lies between
    assert (endpoint.status, len(endpoint.variants["all"].instances)) == ("InService", 4)
    fleet.run(70)
    assert (endpoint.status, len(endpoint.variants["all"].instances)) == ("Updating", 3)
    told = fleet.model.describe_endpoint("chat")["ProductionVariants"][0]
    assert told["CurrentInstanceCount"] == told["DesiredInstanceCount"] == 3
    fleet.run(60)
    assert endpoint.status == "InService"


@pytest.mark.parametrize("launch", [10.0, (100.0, 200.0)])
def test_a_dwell_is_a_number_or_drawn_between_two(launch: Any) -> None:
    fleet = Fleet(instance_launch=launch)
    fleet.update("new", rolling())
    least, most = launch if isinstance(launch, tuple) else (launch, launch)
    fleet.run(least - 1)
    assert fleet.model.endpoints["chat"].status == "Updating"
    fleet.run(most - least + 2)
    assert fleet.model.endpoints["chat"].status == "InService"


def test_while_there_is_room_the_endpoint_stays_in_service() -> None:
    fleet = Fleet(copies=2, initial=3)
    fleet.update("new", rolling())
    for _ in range(200):
        assert fleet.model.endpoints["chat"].status == "InService"
        fleet.run(10)
    assert fleet.outcome() == ("InService", "new", 2)


# Pools of instance types


def pooled(most: int = 4, instances: dict[str, int] | None = None) -> Fleet:
    fleet = Fleet(copies=0, instances=instances or {})
    request = config_request(1, most, name="pooled")
    variant = request["ProductionVariants"][0]
    del variant["InstanceType"]
    pools = ({"InstanceType": LARGE, "Priority": 2}, {"InstanceType": "ml.g5.2xlarge", "Priority": 1})
    variant["InstancePools"] = list(pools)
    fleet.model.create_config(request)
    fleet.model.create_endpoint({"EndpointName": "pooled", "EndpointConfigName": "pooled"})
    fleet.run(400)
    return fleet


def counts(fleet: Fleet) -> dict[str, int]:
    (variant,) = fleet.model.describe_endpoint("pooled")["ProductionVariants"]
    return {pool["InstanceType"]: pool["CurrentInstanceCount"] for pool in variant["InstancePools"]}


def test_pools_grow_by_priority_and_the_next_one_when_the_first_is_short() -> None:
    fleet = pooled(instances={"ml.g5.2xlarge": 5})
    assert counts(fleet) == {"ml.g5.2xlarge": 1, LARGE: 0}
    fleet.model.create_component(component_request("llm", 4, endpoint="pooled"))
    fleet.run(900)
    # three of the five are another endpoint's
    assert counts(fleet) == {"ml.g5.2xlarge": 2, LARGE: 1}
    assert fleet.described()["RuntimeConfig"]["PlacementStatus"] == [
        {"InstanceType": "ml.g5.2xlarge", "CurrentCopyCount": 2},
        {"InstanceType": LARGE, "CurrentCopyCount": 2},
    ]


def test_a_copy_too_large_for_the_first_pool_goes_to_one_that_holds_it() -> None:
    fleet = pooled()
    fleet.model.create_component(component_request("llm", 1, endpoint="pooled", accelerators=4))
    fleet.run(900)
    assert fleet.llm.status == "InService"
    assert counts(fleet)[LARGE] == 1


def test_a_component_may_have_a_specification_for_each_type_and_is_described_so() -> None:
    fleet = pooled(instances={"ml.g5.2xlarge": 4})
    request = component_request("llm", 2, endpoint="pooled")
    one = request.pop("Specification")
    two = {
        **one,
        "ComputeResourceRequirements": {"NumberOfAcceleratorDevicesRequired": 3, "MinMemoryRequiredInMb": 128},
    }
    request["Specifications"] = [{**one, "InstanceType": "ml.g5.2xlarge"}, {**two, "InstanceType": LARGE}]
    fleet.model.create_component(request)
    fleet.run(900)
    assert counts(fleet) == {"ml.g5.2xlarge": 1, LARGE: 1}
    assert fleet.model.instances_of("pooled")[1].free.accelerators == 1
    told = fleet.described()
    assert "Specification" not in told
    assert [it["InstanceType"] for it in told["Specifications"]] == ["ml.g5.2xlarge", LARGE]
    specifications = [{**it, "ModelName": "new"} for it in request["Specifications"]]
    fleet.model.update_component({"InferenceComponentName": "llm", "Specifications": specifications})
    fleet.run(7200)
    assert fleet.outcome() == ("InService", "new", 2)


@pytest.mark.parametrize("number", [1, 2])
def test_several_specifications_are_at_least_two_each_with_its_type(number: int) -> None:
    fleet = pooled()
    request = component_request("llm", 1, endpoint="pooled")
    request["Specifications"] = [request.pop("Specification")] * number
    with pytest.raises(InferenceRefusedError, match="Specifications"):
        fleet.model.create_component(request)


# Creation and endpoints


def test_a_component_of_no_copies_is_refused_but_may_be_scaled_to_none() -> None:
    fleet = Fleet()
    with pytest.raises(InferenceRefusedError, match="greater than 0"):
        fleet.model.create_component(component_request("none", 0))
    fleet.model.update_runtime("llm", 0)
    fleet.run(600)
    assert fleet.described()["RuntimeConfig"] == {"DesiredCopyCount": 0, "CurrentCopyCount": 0}


def test_a_container_that_crashes_stays_in_creation_until_the_startup_timeout() -> None:
    fleet = Fleet(copies=0, startup_timeout=900.0)
    fleet.model.create_component(component_request(model="crashing"))
    fleet.run(899)
    assert fleet.described()["InferenceComponentStatus"] == "Creating"
    with pytest.raises(InferenceRefusedError, match="CREATE_IN_PROGRESS"):
        fleet.model.delete_component("llm")
    fleet.run(2)
    assert fleet.described()["InferenceComponentStatus"] == "Failed"
    assert fleet.llm.copies == []


def test_a_startup_timeout_of_the_spec_goes_before_the_default() -> None:
    fleet = Fleet(copies=0)
    request = component_request(model="crashing")
    request["Specification"]["StartupParameters"] = {"ContainerStartupHealthCheckTimeoutInSeconds": 60}
    fleet.model.create_component(request)
    fleet.run(61)
    assert fleet.llm.status == "Failed"


def test_a_deleted_component_frees_its_room_and_its_name() -> None:
    fleet = Fleet(most=None)
    fleet.model.delete_component("llm")
    assert fleet.described()["InferenceComponentStatus"] == "Deleting"
    fleet.run(120)
    with pytest.raises(InferenceRefusedError, match="Could not find"):
        fleet.described()
    fleet.model.create_component(component_request())
    fleet.run(600)
    assert fleet.outcome() == ("InService", "old", 3)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(InferenceRefusedError, match="already existing"):
        Fleet().model.create_component(component_request())


def test_the_instance_type_of_an_endpoint_cannot_change_and_its_bounds_can() -> None:
    fleet = Fleet()
    fleet.model.create_config(config_request(kind=LARGE, name="larger"))
    with pytest.raises(InferenceRefusedError, match="instance type"):
        fleet.model.update_endpoint({"EndpointName": "chat", "EndpointConfigName": "larger"})
    fleet.model.create_config(config_request(initial=3, most=8, name="wider"))
    fleet.model.update_endpoint({"EndpointName": "chat", "EndpointConfigName": "wider"})
    with pytest.raises(InferenceRefusedError, match="in-progress"):
        fleet.model.update_endpoint({"EndpointName": "chat", "EndpointConfigName": "wider"})
    fleet.run(120)
    fleet.model.update_runtime("llm", 7)
    fleet.run(3600)
    assert fleet.llm.current == 7


def test_instances_can_be_added_and_idle_ones_taken_out_by_hand() -> None:
    fleet = Fleet(most=None)

    def wish(count: int) -> None:
        wanted = {"VariantName": "all", "DesiredInstanceCount": count}
        fleet.model.set_instances({"EndpointName": "chat", "DesiredWeightsAndCapacities": [wanted]})

    wish(5)
    fleet.run(301)
    assert len(fleet.model.instances_of("chat")) == 5
    wish(3)
    fleet.run(100)
    assert per_instance(fleet) == [1, 1, 1]
    with pytest.raises(NotImplementedError, match="idle"):
        wish(2)


def test_a_variant_of_a_component_endpoint_needs_a_role_and_names_no_model() -> None:
    fleet = Fleet()
    request = config_request(name="a")
    del request["ExecutionRoleArn"]
    with pytest.raises(InferenceRefusedError, match="ExecutionRoleArn"):
        fleet.model.create_config(request)
    request = config_request(name="b")
    request["ProductionVariants"][0]["ModelName"] = "old"
    with pytest.raises(InferenceRefusedError, match="ManagedInstanceScaling"):
        fleet.model.create_config(request)


@pytest.mark.parametrize("setting", ["accept", "refuse"])
def test_an_endpoint_that_is_patched_says_so_and_takes_writes_or_none(setting: str) -> None:
    fleet = Fleet(writes_while_endpoint_updates=setting)
    fleet.model.system_update("chat", 1800)
    assert fleet.model.describe_endpoint("chat")["EndpointStatus"] == "SystemUpdating"
    if setting == "refuse":
        with pytest.raises(InferenceRefusedError, match="being updated"):
            fleet.update("new", rolling())
    else:
        fleet.update("new", rolling())
    fleet.run(1801)
    fleet.run(7200)
    assert fleet.model.describe_endpoint("chat")["EndpointStatus"] == "InService"
