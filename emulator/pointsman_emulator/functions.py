"""Lambda functions: the product's own handlers, loaded from their folders and run in this process."""

from __future__ import annotations

import importlib.util
import json
import os
import traceback
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from pointsman_emulator.clock import Clock
from pointsman_emulator.environment import ACCOUNT, FIXED, REGION
from pointsman_emulator.gateway import Gateway
from pointsman_emulator.sandbox import STDOUT, Sandbox

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONHASHSEED")
"""Of this machine's environment, what a function sees too."""


THROTTLED = "TooManyRequestsException"


class LambdaContext:
    """The context object of an invocation (Lambda Developer Guide, "Using the Lambda context object")."""

    function_version = "$LATEST"
    identity = None
    client_context = None
    tenant_id = None

    def __init__(self, function: Function, request_id: str, deadline: float, now: Callable[[], float]) -> None:
        self.function_name = function.name
        self.invoked_function_arn = function.arn
        self.memory_limit_in_mb = str(function.memory)
        self.aws_request_id = request_id
        self.log_group_name = f"/aws/lambda/{function.name}"
        self.log_stream_name = f"emulator/[$LATEST]{uuid.UUID(int=0).hex}"
        self._deadline = deadline
        self._now = now

    def get_remaining_time_in_millis(self) -> int:
        """What is left of the function's timeout, in virtual time."""
        return max(0, int((self._deadline - self._now()) * 1000))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one invocation: a payload, or an error as Lambda words it."""

    payload: Any = None
    error: dict[str, Any] | None = None
    exception: BaseException | None = None
    request_id: str = ""


@dataclass(slots=True, eq=False)
class Function:
    """One function of a template."""

    logical_id: str
    name: str
    arn: str
    folder: Path
    handler: str
    environment: dict[str, str]
    timeout: float
    memory: int
    runtime: FunctionRuntime
    sandbox: Sandbox
    invoke_config: Mapping[str, Any] = field(default_factory=dict)
    _call: Callable[[Any, LambdaContext], Any] | None = None
    _environ: dict[Any, Any] | None = None

    def invoke(self, event: Any) -> Any:
        """Invoke it and wait: the payload it returns, or the exception it raised."""
        outcome = self.runtime.run(self, event)
        if outcome.exception is not None:
            raise outcome.exception
        if outcome.error is not None:
            raise TimeoutError(outcome.error["errorMessage"])
        return outcome.payload

    def load(self) -> Callable[[Any, LambdaContext], Any]:
        """The handler, imported at the first invocation under a module name of its own."""
        if self._call is None:
            stem, attribute = self.handler.rsplit(".", 1)
            path = self.folder / f"{stem.replace('.', '/')}.py"
            spec = importlib.util.spec_from_file_location(f"emulated_{self.name.replace('-', '_')}_{stem}", path)
            if spec is None or spec.loader is None or not path.is_file():
                raise FileNotFoundError(f"{self.logical_id}: there is no handler {self.handler} in {self.folder}")
            module: ModuleType = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._call = getattr(module, attribute)
        return self._call


@dataclass(slots=True)
class FunctionRuntime:
    """Runs functions: their environment, their output, their errors."""

    clock: Clock
    gateway: Gateway
    random: Random
    emit_metrics: Callable[[dict[str, Any]], None]
    measure: Callable[[str, str, float, dict[str, str]], None]
    """Puts a datum of a metric of Lambda's own: namespace, name, value, dimensions."""
    logs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failures: list[tuple[str, BaseException]] = field(default_factory=list)
    invocations: dict[str, int] = field(default_factory=dict)
    throttled: dict[str, int] = field(default_factory=dict)

    def run(self, function: Function, event: Any) -> Outcome:
        """One invocation. What the handler raises comes back as an error, never as an exception."""
        clock = self.clock
        began = clock.now
        if self.throttled.get(function.logical_id, 0) > 0:
            self.throttled[function.logical_id] -= 1
            self.measure("AWS/Lambda", "Throttles", 1, {"FunctionName": function.name})
            return Outcome(error={"errorMessage": "Rate Exceeded.", "errorType": THROTTLED})
        request_id = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        context = LambdaContext(function, request_id, clock.now + function.timeout, lambda: clock.now)
        self.invocations[function.logical_id] = self.invocations.get(function.logical_id, 0) + 1
        outside = _swap_environment(self._environment(function))
        lines: list[str] = []
        try:
            with function.sandbox.entered(), STDOUT.into(lines), self.gateway.acting_as(function.logical_id):
                payload = function.load()(json.loads(json.dumps(event)), context)
            payload = json.loads(json.dumps(payload))
        except Exception as error:  # noqa: BLE001 - Lambda reports whatever a handler raises
            self.failures.append((function.logical_id, error))
            self.measure("AWS/Lambda", "Errors", 1, {"FunctionName": function.name})
            return Outcome(error=_wording(error), exception=error, request_id=request_id)
        finally:
            os.environ._data = outside  # type: ignore[attr-defined]
            self._keep(function, lines)
            took = min(clock.now - began, function.timeout) * 1000
            self.measure("AWS/Lambda", "Duration", took, {"FunctionName": function.name})
        if clock.now > context._deadline:
            message = f"{request_id} Task timed out after {function.timeout:.2f} seconds"
            self.measure("AWS/Lambda", "Errors", 1, {"FunctionName": function.name})
            return Outcome(error={"errorMessage": message, "errorType": "Sandbox.Timedout"}, request_id=request_id)
        return Outcome(payload=payload, request_id=request_id)

    @staticmethod
    def _environment(function: Function) -> dict[Any, Any]:
        """The function's environment, in the form that `os.environ` keeps."""
        if function._environ is None:
            function._environ = {
                os.environ.encodekey(key): os.environ.encodevalue(value)
                for key, value in {
                    **{name: os.environ[name] for name in KEPT if name in os.environ},
                    **FIXED,
                    "AWS_LAMBDA_FUNCTION_NAME": function.name,
                    "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
                    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
                    "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
                    "_HANDLER": function.handler,
                    "TZ": ":UTC",
                    **function.environment,
                }.items()
            }
        return dict(function._environ)

    def _keep(self, function: Function, lines: list[str]) -> None:
        kept = self.logs.setdefault(function.logical_id, [])
        for line in lines:
            try:
                parsed = json.loads(line)
            except ValueError:
                parsed = None
            if not isinstance(parsed, dict):
                kept.append({"message": line})
            elif "_aws" in parsed:
                self.emit_metrics(parsed)
            else:
                kept.append(parsed)

    def throttle(self, function: Function, times: int) -> None:
        """Refuse its next invocations, as Lambda does where there is no concurrency left."""
        self.throttled[function.logical_id] = times


def _swap_environment(data: dict[Any, Any]) -> dict[Any, Any]:
    """Exchange the whole of `os.environ`, at once; returns what was there. No C library of ours reads it."""
    before: dict[Any, Any] = os.environ._data  # type: ignore[attr-defined]
    os.environ._data = data  # type: ignore[attr-defined]
    return before


def function_arn(name: str) -> str:
    """The ARN of a function of this account."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def _wording(error: BaseException) -> dict[str, Any]:
    return {
        "errorMessage": str(error),
        "errorType": type(error).__name__,
        "stackTrace": traceback.format_tb(error.__traceback__),
    }
