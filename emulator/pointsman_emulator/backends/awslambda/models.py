"""The Lambda backend."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from moto.awslambda.exceptions import UnknownFunctionException
from moto.awslambda_simple.models import LambdaSimpleBackend, lambda_simple_backends

from pointsman_emulator.backends.bound import Bound
from pointsman_emulator.functions import Function, function_arn
from pointsman_emulator.invocations import AsyncInvoker


@dataclass(frozen=True, slots=True)
class Functions:
    """Where functions are found, and what invokes them later."""

    find: Callable[[str], Function | None]
    invoker: AsyncInvoker


class EmulatorLambdaBackend(Bound, LambdaSimpleBackend):
    """moto's backend without Docker, whose functions do what their code says."""

    home = lambda_simple_backends
    world: ClassVar[Functions | None] = None

    def invoke(
        self, function_name: str, qualifier: str | None, body: Any, headers: Any, response_headers: Any
    ) -> bytes | None:
        """Invoke a function, and wait unless it is invoked as an event (API:Invoke)."""
        name = function_name.rsplit(":", 1)[-1]
        world = self.world
        function = world.find(function_arn(name)) if world else None
        if world is None or function is None:
            raise UnknownFunctionException(function_arn(name))
        event = json.loads(body or "{}")
        if headers.get("X-Amz-Invocation-Type") == "Event":
            world.invoker.later(function, event)
            return b""
        outcome = world.invoker.runtime.run(function, event)
        if outcome.error is not None:
            response_headers["x-amz-function-error"] = "Unhandled"
            return json.dumps(outcome.error).encode()
        return json.dumps(outcome.payload).encode()
