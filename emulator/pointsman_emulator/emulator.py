"""The door: one emulator, one virtual time, and everything that a test or a demo does with it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self
from unittest import mock

import boto3
from moto import mock_aws
from moto.events.models import events_backends
from moto.moto_api._internal import mock_random
from moto.sqs.models import Message, sqs_backends

from pointsman_emulator.backends.awslambda.models import EmulatorLambdaBackend, Functions
from pointsman_emulator.backends.batch.models import EmulatorBatchBackend, Training
from pointsman_emulator.backends.cloudwatch.models import Alarms, EmulatorCloudWatchBackend
from pointsman_emulator.backends.events.models import EmulatorEventsBackend
from pointsman_emulator.backends.iam.models import EmulatorIAMBackend
from pointsman_emulator.backends.registry import registered
from pointsman_emulator.backends.sagemaker.models import EmulatorSageMakerBackend, Inference
from pointsman_emulator.backends.sqs.models import EmulatorQueue
from pointsman_emulator.backends.stepfunctions.models import EmulatorStepFunctionsBackend
from pointsman_emulator.bus import Bus
from pointsman_emulator.clock import Clock, moment
from pointsman_emulator.environment import ABSENT, ACCOUNT, FIXED, REGION, replaced
from pointsman_emulator.faults import Faults
from pointsman_emulator.functions import FunctionRuntime
from pointsman_emulator.gateway import Call, Gateway
from pointsman_emulator.invocations import AsyncInvoker
from pointsman_emulator.metrics import put_embedded
from pointsman_emulator.models.batch import BatchModel, BatchSettings
from pointsman_emulator.models.inference import InferenceModel, InferenceSettings
from pointsman_emulator.service_metrics import EachMinute, measure
from pointsman_emulator.short_path import opened
from pointsman_emulator.shortcuts import taken
from pointsman_emulator.stacks import Deployer, Stack
from pointsman_emulator.state_machines import Engine
from pointsman_emulator.wiring import Ledger, WiringReport

START = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday."""


class Emulator:
    """AWS in this process. Use it as a context; everything in it happens in virtual time.

    with Emulator(seed=7) as aws:
        stack = aws.deploy("template.yaml", "pointsman", {"EndpointUrl": ""})
        aws.run(until=datetime(2026, 3, 3, tzinfo=UTC))
    """

    def __init__(
        self,
        seed: int = 0,
        start: datetime = START,
        batch: BatchSettings | None = None,
        faults: Faults | None = None,
        inference: InferenceSettings | None = None,
    ) -> None:
        self.seed = seed
        self.clock = Clock(start)
        self.settings = batch or BatchSettings()
        self.inference = inference or InferenceSettings()
        self.faults = faults or Faults()
        self.gateway = Gateway(now=lambda: self.clock.now, rate_of=self._rate_of)
        self.ledger = Ledger()
        self.runtime = FunctionRuntime(self.clock, self.gateway, Random(f"{seed} requests"), put_embedded, measure)
        self.deployer = Deployer(self.clock, self.runtime, self.ledger)
        self.engine = Engine(self.clock, self.gateway.acting_as, named=self.deployer.state_machines)
        self.invoker = AsyncInvoker(self.clock, self.runtime, self._send_to)
        self.bus = Bus(
            self.clock,
            Random(f"{seed} faults"),
            self.faults,
            self.ledger,
            self._send_to,
            measure,
            Random(f"{seed} events"),
        )
        self._clients: dict[str, Any] = {}
        self._context = ExitStack()

    def __enter__(self) -> Self:
        """Take over time, the environment and boto3."""
        enter = self._context.enter_context
        try:
            enter(replaced(FIXED, ABSENT))
            enter(mock.patch("boto3.DEFAULT_SESSION", None))
            enter(registered())
            self.clock.start()
            self._context.callback(self.clock.stop)
            enter(mock.patch("time.sleep", self.clock.sleep))
            enter(mock_aws(config={"lambda": {"use_docker": False}, "core": {"mock_credentials": False}}))
            enter(self.gateway.installed())
            enter(taken())
            enter(opened(self.gateway))
            enter(mock.patch.object(EmulatorQueue, "arrived", self._arrived))
            mock_random.seed(self.seed)
            self._context.callback(random.setstate, random.getstate())
            random.seed(self.seed)  # botocore's waits between two tries
            enter(EmulatorLambdaBackend.bound(Functions(self.deployer.functions.get, self.invoker)))
            enter(EmulatorEventsBackend.bound(self.bus))
            enter(EmulatorBatchBackend.bound(Training(self.settings, self.seed, self.clock, self.bus)))
            enter(EmulatorCloudWatchBackend.bound(Alarms(self.clock, self.bus)))
            enter(self.engine.installed())
            enter(EmulatorStepFunctionsBackend.bound(self.engine))
            enter(EmulatorIAMBackend.bound(self.inference))
            # after CloudWatch, so that a minute's metrics come before its alarms
            enter(EmulatorSageMakerBackend.bound(Inference(self.inference, self.seed, self.clock, self.bus)))
            EachMinute(self.clock).start()
        except BaseException:
            self._context.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give everything back."""
        self._context.close()

    # Deploying and calling

    def deploy(self, template: str | Path, name: str, parameters: Mapping[str, str] | None = None) -> Stack:
        """Deploy a template, SAM or plain, as a stack of this name."""
        return self.deployer.deploy(Path(template), name, dict(parameters or {}))

    def client(self, service: str) -> Any:
        """A boto3 client; one for each service, as clients are slow to build."""
        if service not in self._clients:
            self._clients[service] = boto3.client(service, region_name=REGION)
        return self._clients[service]

    # Time

    @property
    def now(self) -> float:
        """Virtual time, in epoch seconds."""
        return self.clock.now

    def at(self, when: datetime | float, action: Callable[[], object]) -> None:
        """Call something at a virtual time."""
        self.clock.at(moment(when), action)

    def run(self, until: datetime | float) -> None:
        """Let everything happen that happens by then, and be there."""
        self.clock.run(moment(until))

    def run_for(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self.clock.run(self.clock.now + seconds)

    def run_until(self, predicate: Callable[[], bool], limit: datetime | float) -> bool:
        """Go on until something is true, step by step; False if it was not by the limit."""
        last = moment(limit)
        while not predicate():
            if not self.clock.step(last):
                self.clock.run(last)
                return predicate()
        return True

    # Looking and interfering

    @property
    def batch_model(self) -> BatchModel:
        """The model behind the Batch API, for tests that look past it."""
        return EmulatorBatchBackend.here().model

    @property
    def inference_model(self) -> InferenceModel:
        """The model behind SageMaker's inference API: the truth that the API hides, and the stream of requests."""
        backend = EmulatorSageMakerBackend.here()
        backend.catch_up()
        return backend.model

    @property
    def logs(self) -> dict[str, list[dict[str, Any]]]:
        """What each function printed, by logical id; metric lines went to CloudWatch."""
        return self.runtime.logs

    @property
    def failures(self) -> list[tuple[str, BaseException]]:
        """What handlers raised."""
        return self.runtime.failures

    @property
    def calls(self) -> Mapping[Call, int]:
        """How often each API operation was called, and by whom."""
        return self.gateway.calls

    def count(self, service: str, operation: str, caller: str | None = None) -> int:
        """How often one operation was called."""
        return self.gateway.count(service, operation, caller)

    def fail_next(
        self, service: str, operation: str, code: str, times: int = 1, *, status: int | None = None, after: bool = False
    ) -> None:
        """Answer the next calls of an operation with an error; with `after`, they are carried out all the same."""
        self.gateway.fail_next(service, operation, code, times, status=status, after=after)

    def before(self, service: str, operation: str, action: Callable[[Call], object], times: int | None = 1) -> None:
        """Do something just before the next calls of an operation; for ever with `times=None`."""
        self.gateway.on_call(service, operation, action, times=times)

    def after(self, service: str, operation: str, action: Callable[[Call], object], times: int | None = 1) -> None:
        """Do something just after the next calls of an operation."""
        self.gateway.on_call(service, operation, action, times=times, after=True)

    def watch(self, action: Callable[[Mapping[str, Any]], object]) -> None:
        """Call this with every event that is put on a bus, whatever becomes of it."""
        self.bus.watchers.append(action)

    def put_metric(self, namespace: str, name: str, value: float, **dimensions: str) -> None:
        """Put one data point, now."""
        datum = {
            "MetricName": name,
            "Value": value,
            "Timestamp": datetime.fromtimestamp(self.now, UTC),
            "Dimensions": [{"Name": key, "Value": text} for key, text in dimensions.items()],
        }
        self.client("cloudwatch").put_metric_data(Namespace=namespace, MetricData=[datum])

    @property
    def wiring(self) -> Wiring:
        """The check that every event found its way."""
        return Wiring(self.ledger)

    # Deliveries

    def _arrived(self, queue: EmulatorQueue, message: Message) -> None:
        for source in self.deployer.sources.get(queue.queue_arn, ()):
            source.arrived(message)

    def _send_to(self, arn: str, body: str, how: Mapping[str, Any]) -> None:
        service = arn.split(":")[2]
        rule = how.get("rule")
        if rule is not None:
            opened = self.deployer.permitted.get(arn, set())
            if not opened & {"*", rule}:
                raise PermissionError("the target's policy does not let this rule in")
        if service == "sqs":
            queue = arn.rsplit(":", 1)[-1]
            backend = sqs_backends[ACCOUNT][REGION]
            if queue not in backend.queues:
                raise LookupError("there is no such queue")
            said = {
                name: {"DataType": "String", "StringValue": text} for name, text in how.get("attributes", {}).items()
            }
            backend.send_message(queue, body, message_attributes=said, group_id=how.get("MessageGroupId"))
        elif service == "lambda":
            function = self.deployer.functions.get(arn)
            if function is None:
                raise LookupError("there is no such function")
            self.invoker.invoke(function, json.loads(body))
        else:
            raise LookupError(f"the emulator delivers to queues and functions only, not to {service}")

    def _rate_of(self, service: str, operation: str) -> float | None:
        if service == "sagemaker":
            return self.inference.calls_per_second
        if service != "batch":
            return None
        settings = self.settings
        rate = settings.submits_per_second if operation == "SubmitServiceJob" else settings.calls_per_second
        return settings.rates.get(operation, rate)


class Wiring:
    """Checks the wiring of what is deployed now."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def check(self) -> WiringReport:
        """Compare the events of the run with the rules and targets."""
        targeted: set[str] = set()
        for bus in events_backends[ACCOUNT][REGION].event_buses.values():
            for rule in bus.rules.values():
                for target in rule.targets:
                    targeted |= {target["Arn"], (target.get("DeadLetterConfig") or {}).get("Arn", target["Arn"])}
        return self._ledger.check(targeted)
