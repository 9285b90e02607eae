"""Two SageMakers to hold the ports' contracts to: the fakes, and the adapters on the emulator."""

import json
from typing import Any, Protocol

from pointsman.aws.clients import Clients
from pointsman.aws.gauges import CloudWatchGauges
from pointsman.aws.instance_shapes import Ec2Shapes
from pointsman.aws.kill_switch import CloudWatchKillSwitch
from pointsman.aws.permissions import IamPermissions
from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.aws.scaling import DIMENSION, ApplicationAutoScaling
from pointsman.aws.sources import EcrS3Sources
from pointsman.rollout_ports import Gauges, InferenceFleet, KillSwitch, Permissions, Scaling, Sources
from pointsman.rollouts.batches import Batch, BatchReason
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.observations import AlarmState, Answer, ScalingView
from pointsman.rollouts.record import Attempt, Direction
from pointsman.rollouts.request import Metric
from pointsman.rollouts.specs import Compute, Spec
from pointsman_emulator import Emulator
from tests.emulator.components import ROLE, component_request, config_request, model_request
from tests.fakes.clock import FakeClock
from tests.fakes.rollout_fleet import FakeFleet, FakePermissions, FakeScaling, FakeSources
from tests.fakes.rollout_signals import FakeSignals

NEEDS = Compute(1.0, 0.0, 1024.0)
OLD, NEW = Spec("old", compute=NEEDS), Spec("new", compute=NEEDS)


def act(spec: Spec = NEW, *alarms: str, mark: int = 3601, component: str = "llm", now: float = 0.0) -> SubmitUpdate:
    """One update."""
    batch = Batch(1, BatchReason.LARGE, "one at a time")
    attempt = Attempt(1, Direction.FORWARD, spec.digest, mark, batch, batch, now, "", now)
    return SubmitUpdate(component, attempt, spec, 60.0, alarms, now + 180)


class RolloutPorts(Protocol):
    """Endpoint `chat` of three instances, four at most, with `llm` (three copies, team=chat); models old and new."""

    fleet: InferenceFleet
    gauges: Gauges
    switch: KillSwitch
    scaling: Scaling
    permissions: Permissions
    sources: Sources
    role: str

    def now(self) -> float: ...
    def pass_time(self, seconds: float) -> None: ...
    def add_component(self, name: str) -> None: ...
    def add_alarm(self, name: str) -> None: ...
    def set_alarm(self, name: str, state: AlarmState) -> None: ...
    def publish(self, metric: Metric, value: float) -> None: ...
    def add_target(self, component: str, least: int, most: int) -> None: ...
    def let_read_alarms(self, answer: Answer) -> None: ...
    def let_update(self, answer: Answer) -> None: ...


class FakePorts:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.signals = FakeSignals(self.clock)
        self.gauges: Gauges = self.signals
        self.switch: KillSwitch = self.signals
        self._scaling, self._permissions = FakeScaling(), FakePermissions()
        self._permissions.gone = {"arn:aws:iam::123456789012:role/nobody"}
        self.sources: Sources = FakeSources()
        self.scaling: Scaling = self._scaling
        self.permissions: Permissions = self._permissions
        self._fleet = FakeFleet(self.clock)
        self._fleet.firing = self.signals.firing
        self._fleet.models = {"old", "new"}
        self._fleet.add_endpoint("chat", 3, 4, role="arn:aws:iam::123456789012:role/endpoints")
        self._fleet.add("llm", "chat", OLD, 3, {"team": "chat"})
        self.fleet: InferenceFleet = self._fleet
        self.role = "arn:aws:iam::123456789012:role/endpoints"
        self.clock.advance(3600)

    def now(self) -> float:
        return self.clock.now()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self._fleet.catch_up()

    def add_component(self, name: str) -> None:
        self._fleet.add(name, "chat", OLD, 1)

    def add_alarm(self, name: str) -> None:
        self.signals.add(name)

    def set_alarm(self, name: str, state: AlarmState) -> None:
        self.signals.set_state(name, state)

    def publish(self, metric: Metric, value: float) -> None:
        self.signals.publish(metric, value)

    def add_target(self, component: str, least: int, most: int) -> None:
        self._scaling.targets[component] = ScalingView(least, most)

    def let_read_alarms(self, answer: Answer) -> None:
        self._permissions.answers[self.role] = answer

    def let_update(self, answer: Answer) -> None:
        self._permissions.answers[self.role] = answer


class EmulatedPorts:
    def __init__(self, emulator: Emulator, clients: Clients) -> None:
        self.emulator, self.clients = emulator, clients
        self.fleet: InferenceFleet = SageMakerFleet(clients.sagemaker, clients.sagemaker_once, Ec2Shapes(clients.ec2))
        self.gauges: Gauges = CloudWatchGauges(clients.cloudwatch)
        self.switch: KillSwitch = CloudWatchKillSwitch(clients.cloudwatch)
        self.scaling: Scaling = ApplicationAutoScaling(clients.autoscaling)
        self.permissions: Permissions = IamPermissions(clients.iam, "us-east-1")
        self.sources: Sources = EcrS3Sources(clients)
        self.role = ROLE
        for name in ("old", "new"):
            clients.sagemaker.create_model(**model_request(name))
        clients.sagemaker.create_endpoint_config(**config_request(3, 4))
        clients.sagemaker.create_endpoint(EndpointName="chat", EndpointConfigName="config")
        emulator.run_for(600)
        tags = [{"Key": "team", "Value": "chat"}]
        clients.sagemaker.create_inference_component(**component_request(copies=3, Tags=tags))
        clients.iam.create_role(RoleName="endpoints", AssumeRolePolicyDocument="{}")
        self.let_read_alarms(Answer.YES)
        emulator.run_for(600)

    def now(self) -> float:
        return self.emulator.now

    def pass_time(self, seconds: float) -> None:
        self.emulator.run_for(seconds)

    def add_component(self, name: str) -> None:
        self.clients.sagemaker.create_inference_component(**component_request(name, copies=1))
        self.emulator.run_for(600)

    def add_alarm(self, name: str) -> None:
        self.clients.cloudwatch.put_metric_alarm(
            AlarmName=name,
            Namespace="Search",
            MetricName="Errors",
            Statistic="Sum",
            Period=60,
            EvaluationPeriods=1,
            Threshold=5,
            ComparisonOperator="GreaterThanThreshold",
            TreatMissingData="ignore",
        )
        self.set_alarm(name, AlarmState.OK)

    def set_alarm(self, name: str, state: AlarmState) -> None:
        self.clients.cloudwatch.set_alarm_state(AlarmName=name, StateValue=state.value, StateReason="a test")

    def publish(self, metric: Metric, value: float) -> None:
        dimensions = [{"Name": name, "Value": of} for name, of in metric.dimensions]
        data = [{"MetricName": metric.name, "Dimensions": dimensions, "Value": value}]
        self.clients.cloudwatch.put_metric_data(Namespace=metric.namespace, MetricData=data)

    def add_target(self, component: str, least: int, most: int) -> None:
        self.clients.autoscaling.register_scalable_target(
            ServiceNamespace="sagemaker",
            ResourceId=f"inference-component/{component}",
            ScalableDimension=DIMENSION,
            MinCapacity=least,
            MaxCapacity=most,
        )

    def let_read_alarms(self, answer: Answer) -> None:
        self._let("cloudwatch:DescribeAlarms", "*", answer)

    def let_update(self, answer: Answer) -> None:
        self._let("sagemaker:UpdateInferenceComponent", "arn:aws:sagemaker:*:*:inference-component/llm", answer)

    def _let(self, action: str, resource: str, answer: Answer) -> None:
        effect = "Allow" if answer is Answer.YES else "Deny"
        statement: dict[str, Any] = {"Effect": effect, "Action": action, "Resource": resource}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.clients.iam.put_role_policy(RoleName="endpoints", PolicyName="a-policy", PolicyDocument=document)
