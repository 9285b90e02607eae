"""What goes wrong at the outside calls of a pass: it dies, waits, loses a reply, or others go on meanwhile."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pointsman.errors import Misconfigured, Transient
from pointsman.rollouts.observations import Observations
from tests.proof.rollouts.truth import TIMEOUT, WIRE

if TYPE_CHECKING:
    from tests.proof.rollouts.world import World

ACTS = frozenset(
    {"fleet.update", "fleet.set_copies", "scaling.suspend", "scaling.restore",
     "signals.make", "signals.fire", "signals.delete", "table.commit", "table.create"}
)  # fmt: skip
STALLS = (1.0, 8.0, 30.0, 70.0, 118.0, 165.0)


class Killed(BaseException):
    """The function was killed: no handler of ours catches this."""


@dataclass
class Frame:
    """One run of a function, and how far its clock is off."""

    began: float
    skew: float = 0.0
    seen: Observations | None = None  # what it looked at last


class Port:
    """A port whose calls go wrong."""

    def __init__(self, port: Any, name: str, faults: "Faults") -> None:
        self._port, self._name, self._faults = port, name, faults

    def __getattr__(self, name: str) -> Any:
        call = partial(self._faults.call, f"{self._name}.{name}", getattr(self._port, name))
        self.__dict__[name] = call
        return call


class Faults:
    """Draws what happens at each call."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.frames: list[Frame] = []

    def wrap(self, port: Any, name: str) -> Port:
        """The port, as a pass has it."""
        return Port(port, name, self)

    def call(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """One call: as it is, or as luck has it."""
        world = self.world
        world.steps += 1
        if not self.frames or not world.troubled:
            return method(*args, **kwargs)
        luck, trouble = world.luck.random(), world.drawn.trouble
        if luck < trouble.kill:
            self._count("killed before a call")
            raise Killed
        luck -= trouble.kill
        if luck < trouble.kill:
            self._count("killed after a call")
            method(*args, **kwargs)
            raise Killed
        luck -= trouble.kill
        if name in ACTS and world.chance(trouble.wire, "killed with a call on the wire"):
            self._on_the_wire(method, *args, **kwargs)
            raise Killed
        if luck < trouble.fault:
            return self._fault(name, method, *args, **kwargs)
        luck -= trouble.fault
        if luck < trouble.slow:
            self._count("a call that takes long")
            world.pass_time(world.luck.choice(STALLS[:5]))
        elif luck < trouble.slow + trouble.meanwhile and len(self.frames) < 3:
            self._count("others go on within a pass")
            world.live(world.now() + world.luck.choice(STALLS))
        answer = self._landed(name, method, *args, **kwargs)
        if name == "table.commit" and self._dated(args) and world.chance(trouble.thawed, "a function thaws late"):
            world.live(world.now() + 400.0)
            self.frames[-1].began = world.true_now()
        return answer

    @staticmethod
    def _dated(args: tuple[Any, ...]) -> bool:
        """Whether a commit is followed by acts that all have their time: the switch trusts the function's time-out."""
        acts = args[1].acts
        return bool(acts) and all(hasattr(act, "not_after") for act in acts)

    def _fault(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        kind = self.world.luck.random()
        if kind < 0.4:
            self._count("throttled or 5xx")
            raise Transient(f"{name}: ThrottlingException")
        if kind < 0.9:
            self._count("reply lost")
            self._landed(name, method, *args, **kwargs)
            raise Transient(f"{name}: the connection was closed")
        self._count("denied")
        raise Misconfigured(f"{name}: AccessDeniedException")

    def _landed(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The call, unless its function has run out of time; one that is on the wire already lands all the same."""
        age = self.world.true_now() - self.frames[-1].began
        if age <= TIMEOUT:
            return method(*args, **kwargs)
        self._count("out of time")
        if name in ACTS and age <= TIMEOUT + WIRE:
            self._on_the_wire(method, *args, **kwargs)
        raise Killed

    def _on_the_wire(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """A call that lands when its sender is gone, while others go on already."""
        world, sender = self.world, self.frames[-1]
        latest = sender.began + TIMEOUT + WIRE
        last = latest - world.true_now()

        def lands() -> None:
            if world.true_now() > latest:
                return  # time has gone by in one piece: it is lost, since no call lands later than so
            self._count("lands after its sender's end")
            self.frames = [sender]  # it is decided from what its own sender saw; `live` puts back whoever runs now
            with suppress(Exception):  # nobody hears of it any more
                method(*args, **kwargs)

        self.world.later(self.world.luck.uniform(0.0, max(0.0, min(WIRE, last))), lands)

    def _count(self, what: str) -> None:
        self.world.faults[what] += 1
