"""Two rollouts at once on one deployment, each on its own endpoint; one more that asks for an endpoint that is taken.

Both watch the alarm of the whole fleet besides; it fires once, while both update.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pointsman.rollout_ports import StoredRollout
from tests.flow.fleet import MINUTE, SAMPLE, Fleet, deployed

FLEET_ALARM = "fleet-pages"
PAIR = {"chat-v2": "llm", "notes-v2": "drafts"}
LATE = "chat-again"


def add_endpoint(fleet: Fleet) -> None:
    """Endpoint `notes`, with two copies of `drafts`, like the example's."""
    sagemaker = fleet.aws.client("sagemaker")
    scaling = {"Status": "ENABLED", "MinInstanceCount": 2, "MaxInstanceCount": 3}
    variant = {"VariantName": "all", "InstanceType": "ml.g5.2xlarge", "InitialInstanceCount": 2}
    role = sagemaker.describe_endpoint_config(EndpointConfigName="chat-1")["ExecutionRoleArn"]
    sagemaker.create_endpoint_config(
        EndpointConfigName="notes-1",
        ExecutionRoleArn=role,
        ProductionVariants=[{**variant, "ManagedInstanceScaling": scaling}],
    )
    sagemaker.create_endpoint(EndpointName="notes", EndpointConfigName="notes-1")
    fleet.aws.run_for(15 * MINUTE)
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 16384}
    sagemaker.create_inference_component(
        InferenceComponentName="drafts",
        EndpointName="notes",
        VariantName="all",
        Specification={"ModelName": "chat-v1", "ComputeResourceRequirements": needs},
        RuntimeConfig={"CopyCount": 2},
    )
    fleet.aws.run_for(15 * MINUTE)


def add_alarm(fleet: Fleet) -> None:
    cloudwatch = fleet.aws.client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName=FLEET_ALARM, Namespace="Search", MetricName="Pages", Statistic="Sum", Period=60, EvaluationPeriods=1,
        Threshold=0, ComparisonOperator="GreaterThanThreshold", TreatMissingData="ignore",
    )  # fmt: skip
    cloudwatch.set_alarm_state(AlarmName=FLEET_ALARM, StateValue="OK", StateReason="a test")


def ask(fleet: Fleet, rollout: str, component: str) -> None:
    guards = [{"alarm": FLEET_ALARM, "min_samples": 0}]
    request = {**SAMPLE["detail"], "rollout": rollout, "targets": [{"component": component}], "guards": guards}
    fleet.put_event(request)


@dataclass(frozen=True)
class Pair:
    fleet: Fleet
    ended: dict[str, StoredRollout]
    fired: float
    woken: list[set[str]]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with deployed() as fleet:
        add_endpoint(fleet)
        add_alarm(fleet)
        for rollout, component in PAIR.items():
            ask(fleet, rollout, component)
        fleet.aws.run_for(5 * MINUTE)
        ask(fleet, LATE, "llm")
        fleet.aws.run_for(2 * MINUTE)
        fired = fleet.aws.now
        fleet.aws.client("cloudwatch").set_alarm_state(AlarmName=FLEET_ALARM, StateValue="ALARM", StateReason="a test")
        ended = {rollout: fleet.until_ended(rollout) for rollout in (*PAIR, LATE)}
        woken = [set(line.get("rollouts", ())) for line in fleet.log("RelayAlarmFunction", "woken")]
        yield Pair(fleet, ended, fired, woken)


def test_both_were_under_way_when_the_alarm_fired_and_both_are_taken_back(pair: Pair) -> None:
    assert {rollout: pair.ended[rollout].record.phase.value for rollout in PAIR} == dict.fromkeys(PAIR, "ROLLED_BACK")
    for rollout, component in PAIR.items():
        record = pair.ended[rollout].record
        assert FLEET_ALARM in record.cause
        assert record.component(component).touched
    assert pair.fleet.models("llm") == ["chat-v1"] * 3
    assert pair.fleet.models("drafts") == ["chat-v1"] * 2


def test_one_event_wakes_both_and_each_turns_at_once(pair: Pair) -> None:
    assert set(PAIR) in pair.woken
    for rollout in PAIR:
        lines = pair.fleet.wiring.rollouts.journal(rollout)
        turned = [line.at for line in lines if any(said.reason.value == "rolling_back" for said in line.said)]
        assert len(turned) == 1
        assert 0 <= turned[0] - pair.fired < 15


def test_the_one_that_asked_for_a_taken_endpoint_is_refused_in_one_message(pair: Pair) -> None:
    record = pair.ended[LATE].record
    assert record.phase.value == "REJECTED"
    assert record.cause.count("chat-v2") == 2
    assert record.cause.startswith("endpoint chat: rollout chat-v2 is under way on it")
    assert [key for key in pair.fleet.notices() if LATE in key] == [f"{LATE}/started", f"{LATE}/ended"]
    assert pair.fleet.executions()[f"{LATE}-1"] == "FAILED"


def test_nothing_is_left_and_nothing_failed(pair: Pair) -> None:
    locks = pair.fleet.wiring.rollouts.locks(["chat", "notes"])
    assert {lock.owner for lock in locks.values()} == {""}
    assert not pair.fleet.aws.failures
    assert not pair.fleet.stumbles()
