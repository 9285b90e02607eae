"""moto's Step Functions engine in virtual time.

The engine (it is LocalStack's) reads a state machine and carries it out as AWS does; here it only learns to wait. Each
execution is one strand. Where the engine would block, for a task token or before a retry, the strand parks, and the
clock resumes it: at the deadline, or at once when the token is answered. Everything else is the engine's own.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

from moto.moto_api._internal import mock_random
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.common.timeouts.timeout import TimeoutSecondsPath
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.component.state.exec import execute_state
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_aws_sdk,
    state_task_service_sfn,
)
from moto.stepfunctions.parser.asl.eval import states
from moto.stepfunctions.parser.asl.eval.callback.callback import CallbackConsumerTimeout, CallbackEndpoint
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventManager
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils import json_path
from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

from pointsman_emulator.clock import Clock
from pointsman_emulator.strands import Strand, running

NO_TIMEOUT = 99_999_999
"""The longest time-out of a task, which stands for none (Step Functions Developer Guide, "Task state")."""

_parse = functools.lru_cache(maxsize=8)(AmazonStateLanguageParser.parse)
"""Reading a state machine takes a tenth of a second, and the engine reads it for each execution."""
_path = functools.lru_cache(maxsize=256)(json_path.parse)  # type: ignore[attr-defined] # moto's import
"""The engine reads a path each time that it follows it, by an LALR parser that it makes anew."""


class HistoryFullError(Exception):
    """An execution has as many events as AWS keeps (Step Functions Developer Guide, "Service quotas")."""


@dataclass(slots=True)
class Engine:
    """Runs executions on the emulator's clock."""

    clock: Clock
    acting_as: Callable[[str], AbstractContextManager[None]]
    """Names, for a while, who makes the calls that are counted."""
    history_limit: int = 25_000
    late_answer: str = "TaskTimedOut"
    """What the answer to a task that is over meets; undocumented, `TaskDoesNotExist` being the other end."""
    named: dict[str, str] = field(default_factory=dict)
    """ARN of a state machine to its logical id."""
    _strands: dict[ExecutionWorker, Strand] = field(default_factory=dict)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Inside, moto's engine waits in virtual time; at the end, whatever still waits is ended."""
        engine = self
        clients = functools.lru_cache(maxsize=None)(boto_client_for)

        def client_for(region: str, service: str, **_: Any) -> Any:
            return clients(region=region, service=service)

        def start(worker: ExecutionWorker) -> None:
            engine._start(worker)

        def wait(endpoint: CallbackEndpoint, timeout: float | None = None) -> Any:
            return engine._wait(endpoint, timeout)

        def add_event(manager: EventManager, *args: Any, **kwargs: Any) -> int:
            if manager._event_id_gen._next_id >= engine.history_limit and not _is_last(args, kwargs):
                raise HistoryFullError(
                    f"The execution reached the maximum number of history events ({engine.history_limit})."
                )
            return _add_event(manager, *args, **kwargs)

        patch = mock.patch.object
        with ExitStack() as stack:
            enter = stack.enter_context
            enter(patch(AmazonStateLanguageParser, "parse", staticmethod(_parse)))
            enter(patch(json_path, "parse", _path))
            enter(patch(ExecutionWorker, "start", start))
            enter(patch(Program, "eval", _evaluate))
            enter(patch(execute_state, "Thread", _AtOnce))
            enter(patch(execute_state, "TMP_THREADS", SimpleNamespace(append=lambda _: None)))
            enter(patch(CallbackEndpoint, "wait", wait))
            enter(patch(EventManager, "add_event", add_event))
            enter(patch(retrier_decl, "time", SimpleNamespace(sleep=self._sleep)))
            enter(patch(states, "long_uid", lambda: f"{mock_random.getrandbits(512):0128x}"))
            for module in (lambda_eval_utils, state_task_service_aws_sdk, state_task_service_sfn):
                enter(patch(module, "boto_client_for", client_for))
            enter(patch(state_task_service_sfn.StateTaskServiceSfn, "_normalise_parameters", _spelled))
            enter(patch(TimeoutSecondsPath, "_eval_seconds", _whole_seconds))
            enter(_silent())
            try:
                yield
            finally:
                for strand in list(self._strands.values()):
                    strand.abandon()
                self._strands.clear()

    def answered(self, worker: ExecutionWorker, endpoint: CallbackEndpoint) -> None:
        """A task token was answered: its execution goes on, now, but after whoever answered it."""
        strand = self._strands.get(worker)
        if strand is not None:
            self.clock.at(self.clock.now, lambda: self._resume(worker, endpoint))

    def stop(self, worker: ExecutionWorker) -> None:
        """End an execution where it stands."""
        strand = self._strands.pop(worker, None)
        if strand is not None:
            strand.abandon()

    def _start(self, worker: ExecutionWorker) -> None:
        environment = worker._get_evaluation_environment()
        worker.env = environment
        worker._get_evaluation_environment = lambda: environment  # type: ignore[method-assign] # it would make another
        strand = self._strands[worker] = Strand(worker._execution_logic)
        strand.awaits = worker
        self.clock.at(self.clock.now, lambda: self._resume(worker, worker))

    def _resume(self, worker: ExecutionWorker, awaited: object) -> None:
        strand = self._strands.get(worker)
        if strand is None or strand.awaits is not awaited:
            return
        machine = worker._evaluation_details.state_machine_details
        try:
            with self.acting_as(self.named.get(machine.arn, machine.name)):
                strand.resume()
        except BaseException as error:
            _fail(worker, error)
            raise
        finally:
            if strand.ended:
                self._strands.pop(worker, None)

    def _worker(self) -> ExecutionWorker:
        strand = running()
        return next(worker for worker, known in self._strands.items() if known is strand)

    def _wait(self, endpoint: CallbackEndpoint, timeout: float | None) -> Any:
        """In place of blocking on a task token."""
        if not endpoint._notify_event.is_set():
            worker = self._worker()

            def expire() -> None:
                if not endpoint._notify_event.is_set():
                    endpoint.report(CallbackConsumerTimeout())
                    self._resume(worker, endpoint)

            if timeout is not None and timeout < NO_TIMEOUT:
                self.clock.at(self.clock.now + timeout, expire)
            running().park(endpoint)
        return endpoint.get_outcome()

    def _sleep(self, seconds: float) -> None:
        """In place of sleeping before a retry: the world goes on meanwhile."""
        worker, pause = self._worker(), object()
        self.clock.at(self.clock.now + seconds, lambda: self._resume(worker, pause))
        running().park(pause)


def _fail(worker: ExecutionWorker, error: BaseException) -> None:
    """A function was killed: its state machine is told what Lambda says of a process that exited, and ends with it."""
    environment: Any = worker.env
    details: Any = {"error": "Runtime.ExitError", "cause": f"The function's process ended: {type(error).__name__}"}
    environment.set_error(details)
    environment.event_manager.add_event(
        context=environment.event_history_context,
        event_type=HistoryEventType.ExecutionFailed,
        event_details={"executionFailedEventDetails": details},
    )
    worker._execution_communication.terminated()


class _AtOnce:
    """In place of a thread that is started and then waited for."""

    def __init__(self, target: Callable[[], object], daemon: bool) -> None:  # noqa: FBT001 - as threads are made
        self._target = target

    def start(self) -> None:
        """Do it."""
        self._target()


@contextmanager
def _silent() -> Iterator[None]:
    """Inside, the engine logs nothing: how an execution fails is in its history."""
    logger = logging.getLogger("moto.stepfunctions")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _evaluate(program: Program, env: Any) -> None:
    """In place of a thread for the states of an execution, which is on a strand already."""
    env.next_state_name = program.start_at.start_at_name
    EvalComponent.eval(program, env)


_add_event = EventManager.add_event
_eval_seconds = TimeoutSecondsPath._eval_seconds
_normalise_parameters = state_task_service_sfn.StateTaskServiceSfn._normalise_parameters


def _whole_seconds(path: TimeoutSecondsPath, env: Any) -> int:
    """A path of a time-out leads to a positive integer, in AWS; moto takes any number."""
    seconds = _eval_seconds(path, env)
    if type(seconds) is not int or seconds <= 0:
        raise ValueError(f"the time-out must be a positive integer, not {seconds!r}")
    return seconds


def _spelled(task: Any, parameters: dict[str, Any], *args: Any, **kwargs: Any) -> None:
    """Parameters of `states:startExecution` begin with capitals, those of the API do not: moto forgot to tell them."""
    _normalise_parameters(task, parameters, *args, **kwargs)
    for name in list(parameters):
        parameters[name[:1].lower() + name[1:]] = parameters.pop(name)


def _is_last(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    kind = kwargs.get("event_type", args[1] if len(args) > 1 else "")
    return str(getattr(kind, "value", kind)).startswith("Execution")
