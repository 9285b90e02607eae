"""What may not be rolled is refused by the plan, with the remedy; read through the ports from the emulator."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pointsman.rollout_documents import parse_request
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman_cli.demo.rollout.deployed import Deployed, deploy
from pointsman_cli.demo.rollout.scenario import Alarm, Component, Endpoint, Scenario
from pointsman_cli.demo.rollout.scenarios import NEW, OLD, PACE
from pointsman_cli.demo.rollout.world import ROLE, START, build
from pointsman_emulator.emulator import Emulator

WIDE = "ml.g5.48xlarge"  # eight GPUs
WORLD = Scenario(
    name="refused",
    about="all that may be asked wrongly",
    endpoints=(Endpoint("chat", 4, 6), Endpoint("wide", 5, 6, WIDE), Endpoint("full", 2, 2)),
    models={OLD: {}, NEW: {}, "gone-1": {}},
    components=(
        Component("llm", "chat", 2, OLD, rate=1.0),
        Component("solo", "chat", 1, OLD),
        Component("orphan", "chat", 1, "gone-1"),
        Component("many", "wide", 40, OLD),
        Component("packed", "full", 2, OLD),
    ),
    alarms=(Alarm("llm-errors", "llm"), Alarm("calm", "llm"), *(Alarm(f"own-{n}", "llm") for n in range(10))),
    request={},
    settings=PACE,
)
ASKED: dict[str, Any] = {
    "version": 1,
    "rollout": "r1",
    "targets": [{"component": "llm"}],
    "change": {"model": NEW},
    "guards": ["calm"],
}


@dataclass
class World:
    aws: Emulator
    deployed: Deployed

    def plan(self, **keys: Any) -> Plan:
        request = parse_request({**ASKED, **keys})
        return make_plan(request, self.deployed.observer.survey(request), self.aws.now)

    def refused(self, **keys: Any) -> dict[str, str]:
        return {finding.check.value: str(finding) for finding in self.plan(**keys).refused}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Emulator(7, START, inference=WORLD.settings) as aws:
        deployed = deploy(aws)
        build(aws, WORLD)
        sagemaker = aws.client("sagemaker")
        sagemaker.create_inference_component(
            InferenceComponentName="dialect",
            EndpointName="chat",
            Specification={"BaseInferenceComponentName": "llm", "Container": {"ArtifactUrl": "s3://a/b.tar.gz"}},
        )
        sagemaker.create_inference_component(
            InferenceComponentName="idle",
            EndpointName="wide",
            VariantName="all",
            Specification={
                "ModelName": OLD,
                "ComputeResourceRequirements": {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024},
            },
            RuntimeConfig={"CopyCount": 1},
        )
        _mixed(sagemaker)
        aws.run_for(1200)
        sagemaker.update_inference_component_runtime_config(
            InferenceComponentName="idle", DesiredRuntimeConfig={"CopyCount": 0}
        )
        sagemaker.delete_model(ModelName="gone-1")
        aws.run_for(600)
        yield World(aws, deployed)


def _mixed(sagemaker: Any) -> None:
    """An endpoint of two instance types, and a component with a specification for each."""
    types = ("ml.g5.2xlarge", WIDE)
    pools = [{"InstanceType": name, "Priority": n} for n, name in enumerate(types, 1)]
    variant = {"VariantName": "all", "InitialInstanceCount": 1, "InstancePools": pools}
    sagemaker.create_endpoint_config(
        EndpointConfigName="mixed",
        ExecutionRoleArn=f"arn:aws:iam::123456789012:role/{ROLE}",
        ProductionVariants=[variant],
    )
    sagemaker.create_endpoint(EndpointName="mixed", EndpointConfigName="mixed")
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
    sagemaker.create_inference_component(
        InferenceComponentName="mixed",
        EndpointName="mixed",
        VariantName="all",
        Specifications=[
            {"ModelName": OLD, "InstanceType": name, "ComputeResourceRequirements": needs} for name in types
        ],
        RuntimeConfig={"CopyCount": 1},
    )


def target(name: str) -> list[dict[str, str]]:
    return [{"component": name}]


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown component", {"targets": target("nobody")}, "unknown_component", "there is no such"),
    ("an unknown endpoint", {"targets": [{"endpoint": "nowhere"}]}, "unknown_endpoint", "there is no such endpoint"),
    ("a prefix of nothing", {"targets": [{"prefix": "zzz"}]}, "no_target", "it names no inference component"),
    ("the specification that it has", {"change": {"model": OLD}}, "same_spec", "is the one it has"),
    ("a new model that is not there", {"change": {"model": "llm-9"}}, "no_such_model", "create it, or correct"),
    ("no way back", {"targets": target("orphan")}, "no_way_back", "create model gone-1 again"),
    ("a bake that is too short", {"bake": "2m"}, "bake_too_short", "set `bake` to 240s at least"),
    ("an alarm that is missing", {"guards": ["nobody"]}, "alarm_missing", "create it, or take it out"),
    ("an adapter", {"targets": target("dialect")}, "adapter", "name llm"),
    ("a specification for each of several types", {"targets": target("mixed")}, "several_specifications", "by hand"),
    ("one copy that may not surge", {"targets": target("solo"), "single_copy": "refuse"}, "single_copy", "scale it"),
    ("no copies", {"targets": target("idle")}, "no_copies", "scale it up first"),
    ("a batch under 5 %", {"targets": target("many"), "batch": 1}, "batch_too_small", "ask for 2 at least"),
    ("a batch over half", {"targets": target("many"), "batch": 30}, "batch_too_large", "ask for 20 at most"),
    ("ten native alarms", {"guards": [{"alarm": f"own-{n}", "native": True} for n in range(10)]}, "too_many_alarms",
     "leave some to the fleet's gate"),
    ("no room", {"targets": target("packed")}, "no_capacity", "raise its maximum to 3"),
    ("what yields and is moved too", {"yielding": [{"component": "llm"}]}, "yielding", "outside of this rollout"),
]  # fmt: skip


@pytest.mark.parametrize("keys,check,said", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_is_refused_with_the_remedy(world: World, keys: dict[str, Any], check: str, said: str) -> None:
    refused = world.refused(**keys)
    assert list(refused) == [check]
    assert said in refused[check]


def test_a_request_that_is_fine_is_not_refused(world: World) -> None:
    assert world.refused() == {}


def test_an_alarm_that_fires_is_refused_unless_it_is_waived_by_name(world: World) -> None:
    client = world.aws.client("cloudwatch")
    client.set_alarm_state(AlarmName="llm-errors", StateValue="ALARM", StateReason="a test")
    refused = world.refused(guards=["llm-errors"])
    assert "mend that first, or waive the alarm by name" in refused["alarm_firing"]
    waiver = {"alarm": "llm-errors", "reason": "known", "person": "maria", "until": "2026-03-02T23:00:00Z"}
    assert world.refused(guards=["llm-errors"], waive_alarms=[waiver]) == {}
    client.set_alarm_state(AlarmName="llm-errors", StateValue="OK", StateReason="a test")


def test_an_endpoint_of_another_rollout_is_refused_with_its_name(world: World) -> None:
    world.deployed.ask({**ASKED, "rollout": "first"})
    world.aws.run_for(60)
    assert "rollout first is under way on it" in world.refused()["locked"]


def test_alarms_that_the_endpoints_role_may_not_read_are_refused(world: World) -> None:
    iam = world.aws.client("iam")
    kept = iam.get_role_policy(RoleName=ROLE, PolicyName="alarms")["PolicyDocument"]
    iam.delete_role_policy(RoleName=ROLE, PolicyName="alarms")
    refused = world.refused(targets=target("many"), guards=[{"alarm": "calm", "native": True}])
    assert "allow it cloudwatch:DescribeAlarms" in refused["alarm_unreadable"]
    iam.put_role_policy(RoleName=ROLE, PolicyName="alarms", PolicyDocument=json.dumps(kept))
    assert world.refused(targets=target("many"), guards=[{"alarm": "calm", "native": True}]) == {}
