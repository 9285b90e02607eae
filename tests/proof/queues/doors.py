"""The door between the functions and the world: calls fail, their answers are lost, functions die or stand still."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pointsman.errors import Transient, Unreadable

if TYPE_CHECKING:
    from tests.proof.queues.world import QueueWorld

WRITES = ("set_priority", "set_borrow_limit", "set_preemption", "set_weights")
COSTS = {"describe_queue": 3, "snapshot": 1, "list_jobs": 1, "describe_job": 1, "set_priority": 1, "quota_shares": 1,
         "weights": 1, "set_weights": 2, "set_borrow_limit": 1, "set_preemption": 1}  # fmt: skip
DAMAGED = "item NOTICE#search-training blocked/x cannot be read"
IN_FLIGHT = 15.0  # seconds that a call may take before its client gives it up


class Killed(BaseException):
    """The function was killed: no handler of ours catches this."""


class Door:
    """A port whose every call may go wrong; `owner` is the pass that calls."""

    def __init__(self, port: Any, name: str, owner: str, world: "QueueWorld") -> None:
        self._port, self._name, self._owner, self._world = port, name, owner, world

    def __getattr__(self, method: str) -> Callable[..., Any]:
        real = getattr(self._port, method)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(method, real, args, kwargs)

        setattr(self, method, call)
        return call

    def _call(self, method: str, real: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        world = self._world
        trouble, luck, faults = world.trouble, world.luck, world.faults
        where = self._name in ("batch", "shares")
        if trouble.calls and luck.random() < trouble.calls:
            faults["calls refused"] += 1
            if method == "record":  # the pass fails, and cannot say what it set
                world.truth.told_of.answered.pop(self._owner, None)
            if luck.random() < 0.5:
                self._carry_out(method, real, args, kwargs, where=where)
            raise Transient("503")
        if trouble.answers and where and method in WRITES and luck.random() < trouble.answers:
            faults["answers to writes lost"] += 1
            self._carry_out(method, real, args, kwargs, where=where)
            raise Transient("503")
        if trouble.damaged and method == "notices" and luck.random() < trouble.damaged:
            faults["notices that cannot be read"] += 1
            raise Unreadable(DAMAGED)
        if self._owner:
            if trouble.deaths and luck.random() < trouble.deaths:
                raise Killed
            if trouble.pauses and luck.random() < trouble.pauses:
                faults["passes that stood still"] += 1
                began, most = world.model.now, IN_FLIGHT if method in WRITES else 400.0
                world.go_on(luck.uniform(1.0, most))
                if method in WRITES and world.model.now - began > IN_FLIGHT:  # other passes stood still meanwhile
                    raise Transient("the client gave it up")
        answer = self._carry_out(method, real, args, kwargs, where=where)
        if method == "set_priority":
            world.truth.told_of.answered[self._owner].append(args)
        return answer

    def _carry_out(self, method: str, real: Callable[..., Any], args: Any, kwargs: Any, *, where: bool) -> Any:
        truth = self._world.truth
        if where and method in COSTS:
            truth.called(method, COSTS[method])
            if method in WRITES:
                truth.wrote(self._owner, method, args, kwargs)
        answer = real(*args, **kwargs)
        if self._owner and method == "save_queue" and args[0].lease_until:
            truth.leased(self._owner)
        if method == "put_writes":
            truth.meant(self._owner, [write.job_id for write in args[0]])
        return answer
