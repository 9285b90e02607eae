"""Which methods of the ports to AWS a function can come to, read from its loops, and which it came to in a scenario.

The reading follows annotations: of fields, parameters and results. What is named counts as called.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import pointsman
import pointsman.aws
from pointsman.loops.due import Due
from pointsman.loops.passes import Passes
from pointsman.loops.recorder import Recorder
from pointsman.loops.relay import AlarmRelay
from pointsman.loops.rollout import RolloutLoop
from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.loops.rollout_notices import Teller
from pointsman.ports import Clock

# What each function calls, and what its loop is handed as a mere callable.
ENTRIES: dict[str, tuple[Callable[..., Any], ...]] = {
    "RecordJobsFunction": (Recorder.record,),
    "PrioritizeQueueFunction": (Passes.run,),
    "RelayAlarmFunction": (AlarmRelay.relay, Teller.late_alarm),
    "WakeDueFunction": (Due.wake, Teller.tell_of),
    "CommandRolloutFunction": (RolloutCommands.respond,),
    "AdvanceRolloutFunction": (RolloutLoop.run,),
}
# The fields that hold a mere callable: what comes to a port by one is among the entries, or is the holder's own method.
HANDED = {"fence", "late", "new_owner", "read_request", "tell"}
LOOPS = "pointsman.loops."
Method = str
"""A method of a port, as its adapter on AWS has it: `Class.method`."""


def adapted(port: type, name: str) -> Method:
    """The adapter's method that stands for one of the port."""
    owner = next(base for base in ADAPTERS[port].__mro__ if name in vars(base))
    return f"{owner.__qualname__}.{name}"


def reached(function: str) -> set[Method]:
    """What the function can come to."""
    walk = _Walk()
    for entry in ENTRIES[function]:
        walk.enter(entry)
    assert walk.handed <= HANDED
    return walk.found


def calling() -> Method | None:
    """The adapter's method that makes the call of AWS which is being made: the first of the stack."""
    frame, found = inspect.currentframe(), None
    while frame is not None:
        if frame.f_code.co_qualname in OFFERED:
            found = frame.f_code.co_qualname
        frame = frame.f_back
    return found


class _Walk:
    """One reading, from the entries of a function to the ports."""

    def __init__(self) -> None:
        self.found: set[Method] = set()
        self.handed: set[str] = set()
        self._read: set[Any] = set()

    def enter(self, function: Callable[..., Any]) -> None:
        """Read a function or method of the loops, once."""
        function = inspect.unwrap(function)
        if function in self._read:
            return
        self._read.add(function)
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        known = {**function.__globals__, **{name: _Of(hint) for name, hint in get_type_hints(function).items()}}
        owner = function.__qualname__.rpartition(".")[0]
        if owner:
            known["self"] = _Of(function.__globals__[owner])
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                self._assign(node.targets[0], node.value, known)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                self._touch(_kind(node.value, known), node.attr)
            elif isinstance(node, ast.Name):
                named = known.get(node.id)
                if isinstance(named, FunctionType) and named.__module__.startswith(LOOPS):
                    self.enter(named)

    def _assign(self, to: ast.expr, value: ast.expr, known: dict[str, Any]) -> None:
        if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, of in zip(to.elts, value.elts, strict=True):
                self._assign(one, of, known)
        elif isinstance(to, ast.Name) and (kind := _kind(value, known)):
            known[to.id] = _Of(kind)

    def _touch(self, owner: type | None, name: str) -> None:
        if owner is None or not hasattr(owner, "__mro__"):
            return
        if owner in ADAPTERS and name in _methods(owner):
            self.found.add(adapted(owner, name))
        elif owner.__module__.startswith(LOOPS):
            member = inspect.getattr_static(owner, name, None)
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if isinstance(member, FunctionType):
                self.enter(member)
            elif get_origin(get_type_hints(owner).get(name)) is get_origin(Callable[..., Any]):
                self.handed.add(name)


class _Of:
    """Something of a kind, as annotated; of what may be None, it is the rest."""

    def __init__(self, hint: Any) -> None:
        kinds = [each for each in get_args(hint) if each is not type(None)]
        self.kind = kinds[0] if type(None) in get_args(hint) and len(kinds) == 1 else hint


def _kind(node: ast.expr, known: dict[str, Any]) -> Any:
    """The class of what an expression gives; None where that is no one of ours."""
    if isinstance(node, ast.Name):
        named = known.get(node.id)
        return named.kind if isinstance(named, _Of) else None
    if isinstance(node, ast.Attribute):
        owner = _kind(node.value, known)
        if not isinstance(owner, type) or not owner.__module__.startswith(LOOPS):
            return None
        member = inspect.getattr_static(owner, node.attr, None)
        hints = get_type_hints(member.fget) if isinstance(member, property) else get_type_hints(owner)
        return _Of(hints.get("return" if isinstance(member, property) else node.attr)).kind
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            owner = _kind(node.func.value, known)
            called = getattr(owner, node.func.attr, None) if isinstance(owner, type) else None
        else:
            called = known.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(called, type):
            return called
        ours = isinstance(called, FunctionType) and called.__module__.startswith(LOOPS)
        return _Of(get_type_hints(called).get("return")).kind if ours else None
    return None


def _classes(package: ModuleType) -> list[type]:
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    return [
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and found.__module__ == module.__name__
    ]


def _methods(owner: type) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name))]


def _adapters() -> dict[type, type]:
    made = _classes(pointsman.aws)
    found = {}
    for port in _classes(pointsman):
        if getattr(port, "_is_protocol", False) and port is not Clock:
            fits = [each for each in made if set(_methods(port)) <= set(_methods(each))]
            found |= {port: min(fits, key=lambda each: len(_methods(each)))} if fits else {}
    return found


# Made here and not when first asked for: inside a function, the modules are others.
ADAPTERS = _adapters()
"""The ports to AWS, each with the adapter that has all of its methods."""
OFFERED = frozenset(adapted(port, name) for port in ADAPTERS for name in _methods(port))
"""All that the ports to AWS offer."""
