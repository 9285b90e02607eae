"""Some emulated hours of rollouts: some succeed, some are taken back, one is given up."""

import json
from collections.abc import Mapping
from typing import Any

from pointsman_cli.demo.rollout.scenario import Alarm, Component, Endpoint, Scenario
from pointsman_cli.demo.rollout.world import build
from pointsman_emulator import Emulator, InferenceSettings, Stack
from tests.template.calls import Recorder
from tests.template.stack import ROOT

MINUTE = 60.0
WORLD = Scenario(
    name="busy",
    about="two endpoints, a component of three copies and one of a single copy",
    endpoints=(Endpoint("chat", 3, 4), Endpoint("solo", 1, 3)),
    models={"v1": {}, "v2": {}, "v3": {"EMULATED_BEHAVIOUR": "4xx", "EMULATED_RATE": "0.5"}},
    components=(
        Component("llm", "chat", 3, "v1", rate=4.5, tags={"team": "search"}),
        Component("one", "solo", 1, "v1", rate=0.5),
    ),
    alarms=(Alarm("llm-errors", "llm"),),
    request={},
    settings=InferenceSettings(latency=2.0),
)


class Hours:
    """A deployment with a fleet, and what people do with it."""

    def __init__(self, aws: Emulator) -> None:
        self.aws = aws
        self.stack = aws.deploy(ROOT / "template.yaml", "pointsman")
        build(aws, WORLD)
        aws.client("application-autoscaling").register_scalable_target(
            ServiceNamespace="sagemaker",
            ResourceId="inference-component/llm",
            ScalableDimension="sagemaker:inference-component:DesiredCopyCount",
            MinCapacity=3,
            MaxCapacity=3,
        )

    def ask(self, rollout: str, model: str, target: Mapping[str, Any], **more: Any) -> None:
        guards = [{"alarm": "llm-errors", "native": True}]
        request = {"version": 1, "rollout": rollout, "targets": [target], "change": {"model": model}, "guards": guards}
        detail = json.dumps({**request, "wait": "1m", "bake": "5m", "final_bake": "5m", "waves": ["100%"], **more})
        bus = self.stack.outputs["Bus"]
        entry = {"EventBusName": bus, "Source": "test", "DetailType": "Rollout Requested", "Detail": detail}
        self.aws.client("events").put_events(Entries=[entry])

    def command(self, verb: str, rollout: str, **more: Any) -> None:
        payload = {"verb": verb, "rollout": rollout, "caller": "maria", **more}
        self.stack.function("CommandRolloutFunction").invoke(payload)

    def go_on(self, minutes: float) -> None:
        self.aws.run_for(minutes * MINUTE)

    def stop_executions(self) -> None:
        machine = self.stack.outputs["RolloutStateMachine"]
        states = self.aws.client("stepfunctions")
        for found in states.list_executions(stateMachineArn=machine, statusFilter="RUNNING")["executions"]:
            states.stop_execution(executionArn=found["executionArn"])


def play(aws: Emulator, recorder: Recorder) -> Stack:
    """Everything that a role must allow happens once."""
    recorder.scenario = "succeeds"
    hours = Hours(aws)
    recorder.machine = hours.stack.outputs["RolloutStateMachine"]
    hours.ask("good", "v2", {"tag": {"team": "search"}})
    hours.ask("mistaken", "v2", {"tag": {"team": "search"}}, unknown="key")
    hours.go_on(5)
    hours.stop_executions()
    hours.go_on(60)
    recorder.scenario = "given up"
    hours.ask("given-up", "v2", {"component": "one"})
    hours.go_on(8)
    hours.command("abort", "given-up")
    hours.go_on(60)
    recorder.scenario = "taken back"
    hours.ask("bad", "v3", {"component": "llm"})
    hours.go_on(15)
    hours.command("adopt", "bad", component="llm", reason="it did not drift, and is looked at")
    hours.aws.before("sns", "Publish", lambda _: refuse_once(hours.aws))
    hours.go_on(60)
    return hours.stack


def refuse_once(aws: Emulator) -> None:
    """The last words of a rollout do not get out, so that the clock must send them."""
    aws.fail_next("sns", "Publish", "Throttling", times=3)
