"""Deploying a template: expanded, created by moto's CloudFormation, its functions loaded and its queues read."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from moto.cloudformation.models import cloudformation_backends
from moto.cloudformation.parsing import clean_json
from moto.cloudformation.utils import random_suffix
from moto.sqs.models import sqs_backends

from pointsman_emulator.backends.sqs.models import EmulatorQueue
from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.functions import Function, FunctionRuntime, function_arn
from pointsman_emulator.sandbox import Sandbox
from pointsman_emulator.sources import QueueSource
from pointsman_emulator.templates import STATE_MACHINE, Expanded, expand, without_dangling
from pointsman_emulator.wiring import Ledger

FEEDER = "events.amazonaws.com"


@dataclass(slots=True)
class Stack:
    """A deployed template."""

    name: str
    outputs: dict[str, str]
    functions: dict[str, Function]
    resources: dict[str, str]
    """Logical id to physical id."""

    def function(self, logical_id: str) -> Function:
        """A function by its logical id."""
        if logical_id not in self.functions:
            raise KeyError(f"{self.name} has no function {logical_id}: it has {', '.join(sorted(self.functions))}")
        return self.functions[logical_id]


@dataclass(slots=True)
class Deployer:
    """Creates stacks, and keeps what they deploy: functions by ARN, sources by queue."""

    clock: Clock
    runtime: FunctionRuntime
    ledger: Ledger
    functions: dict[str, Function] = field(default_factory=dict)
    sources: dict[str, list[QueueSource]] = field(default_factory=dict)
    permitted: dict[str, set[str]] = field(default_factory=dict)
    """ARN of each queue and function to the rule ARNs that may feed it; `*` for any rule."""
    state_machines: dict[str, str] = field(default_factory=dict)
    """ARN of each state machine to its logical id."""

    def deploy(self, path: Path, name: str, parameters: Mapping[str, str]) -> Stack:
        """Deploy a template under a stack name."""
        expanded = expand(path, parameters)
        template, dangling = without_dangling(_prepared(expanded.template, name))
        self.ledger.dangling.extend(f"{path.name}: {sentence}" for sentence in dangling)
        backend = cloudformation_backends[ACCOUNT][REGION]
        with quiet():
            created = backend.create_stack(name, json.dumps(template), {key: str(v) for key, v in parameters.items()})
        resolved = self._resolved(template, created.resource_map)
        resources = {
            logical_id: str(resource.physical_resource_id)
            for logical_id, resource in created.resource_map._parsed_resources.items()
            if hasattr(resource, "physical_resource_id")
        }
        self.state_machines.update(
            {resources[name]: name for name, resource in resolved.items() if resource["Type"] == STATE_MACHINE}
        )
        functions = self._functions(resolved, expanded, created.resource_map)
        self._read_queues(resolved, functions)
        self._name_targets(resolved, created.resource_map)
        outputs = {output["OutputKey"]: str(output["OutputValue"]) for output in created.outputs or ()}
        return Stack(name, outputs, functions, resources)

    @staticmethod
    def _resolved(template: dict[str, Any], resource_map: Any) -> dict[str, dict[str, Any]]:
        """Each created resource's type and properties, with every reference resolved."""
        found = {}
        for logical_id, resource in template["Resources"].items():
            condition = resource.get("Condition")
            if condition is None or resource_map.lazy_condition_map[condition]:
                properties = clean_json(resource.get("Properties") or {}, resource_map)
                found[logical_id] = {"Type": resource["Type"], "Properties": properties}
        return found

    def _functions(self, resolved: Mapping[str, Any], expanded: Expanded, resource_map: Any) -> dict[str, Function]:
        functions: dict[str, Function] = {}
        invoke_configs = {
            resource["Properties"]["FunctionName"]: resource["Properties"]
            for resource in resolved.values()
            if resource["Type"] == "AWS::Lambda::EventInvokeConfig"
        }
        for logical_id, resource in resolved.items():
            if resource["Type"] != "AWS::Lambda::Function" or logical_id not in expanded.functions:
                continue
            properties = resource["Properties"]
            variables = (properties.get("Environment") or {}).get("Variables") or {}
            environment = {key: str(value) for key, value in variables.items() if value is not None}
            name = resource_map[logical_id].physical_resource_id
            service = environment.get("POWERTOOLS_SERVICE_NAME")
            functions[logical_id] = self.functions[function_arn(name)] = Function(
                logical_id=logical_id,
                name=name,
                arn=function_arn(name),
                folder=expanded.functions[logical_id],
                handler=properties["Handler"],
                environment=environment,
                timeout=float(properties.get("Timeout", 3)),
                memory=int(properties.get("MemorySize", 128)),
                runtime=self.runtime,
                sandbox=Sandbox([path for path in expanded.layers if path.is_dir()], [service] if service else []),
                invoke_config=invoke_configs.get(name, {}),
            )
        return functions

    def _read_queues(self, resolved: Mapping[str, Any], functions: Mapping[str, Function]) -> None:
        by_name = {function.name: function for function in functions.values()}
        queues = {queue.queue_arn: queue for queue in sqs_backends[ACCOUNT][REGION].queues.values()}
        for resource in resolved.values():
            properties = resource["Properties"]
            if resource["Type"] != "AWS::Lambda::EventSourceMapping" or properties.get("Enabled") is False:
                continue
            queue = queues.get(properties["EventSourceArn"])
            function = by_name.get(str(properties["FunctionName"]).rsplit(":", 1)[-1])
            if function is None or not isinstance(queue, EmulatorQueue):
                continue
            source = QueueSource(
                queue=queue,
                function=function,
                batch_size=int(properties.get("BatchSize", 10)),
                window=float(properties.get("MaximumBatchingWindowInSeconds", 0)),
                partial="ReportBatchItemFailures" in (properties.get("FunctionResponseTypes") or []),
                clock=self.clock,
                runtime=self.runtime,
            )
            self.sources.setdefault(queue.queue_arn, []).append(source)

    def _name_targets(self, resolved: Mapping[str, Any], resource_map: Any) -> None:
        """Which targets the template opens to EventBridge: by a queue's policy, or by a function's permission."""
        names = self.ledger.names
        for logical_id, resource in resolved.items():
            if resource["Type"] == "AWS::Lambda::Function":
                names[function_arn(resource_map[logical_id].physical_resource_id)] = logical_id
            elif resource["Type"] == "AWS::SQS::Queue":
                names[resource_map[logical_id].queue_arn] = logical_id
        for logical_id, resource in resolved.items():
            properties = resource["Properties"]
            if resource["Type"] == "AWS::Lambda::Permission" and properties.get("Principal") == FEEDER:
                name = str(properties["FunctionName"]).rsplit(":", 1)[-1]
                self._open(function_arn(name), str(properties.get("SourceArn", "*")), logical_id)
            elif resource["Type"] == "AWS::SQS::QueuePolicy":
                for statement in _listed(properties["PolicyDocument"]["Statement"]):
                    if FEEDER in _listed((statement.get("Principal") or {}).get("Service")):
                        sources = _source_arns(statement.get("Condition") or {})
                        for arn in _listed(statement["Resource"]):
                            for source in sources:
                                self._open(arn, source, logical_id)

    def _open(self, arn: str, source: str, logical_id: str) -> None:
        self.permitted.setdefault(arn, set()).add(source)
        self.ledger.expected[arn] = f"{logical_id} lets EventBridge in"


def _prepared(template: dict[str, Any], stack: str) -> dict[str, Any]:
    """The template with a stand-in for code, which the emulator runs from its folder, and with names for FIFO queues.

    CloudFormation ends the name that it makes for a FIFO queue in `.fifo`; moto's does not.
    """
    template = json.loads(json.dumps(template))
    resources = template["Resources"]
    layers = {name for name, resource in resources.items() if resource["Type"] == "AWS::Lambda::LayerVersion"}
    for logical_id, resource in resources.items():
        if resource["Type"] == "AWS::SQS::Queue" and (resource.get("Properties") or {}).get("FifoQueue"):
            resource["Properties"].setdefault("QueueName", f"{stack}-{logical_id}-{random_suffix()}.fifo")
        elif resource["Type"] == "AWS::Lambda::Function":
            resource["Properties"]["Code"] = {"ZipFile": "# run from its folder"}
            resource["Properties"].pop("Layers", None)
    template["Resources"] = {name: resource for name, resource in resources.items() if name not in layers}
    return template


def _source_arns(condition: Mapping[str, Any]) -> list[str]:
    for test in ("ArnEquals", "ArnLike", "StringEquals"):
        for key, value in (condition.get(test) or {}).items():
            if key.lower() == "aws:sourcearn":
                return _listed(value)
    return ["*"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, moto is silent about what the emulator knows: the types that it has no CloudFormation for."""
    logger = logging.getLogger("moto")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
