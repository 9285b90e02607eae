"""The state machine's executions: pass, wait, pass again; they repeat what fails, die, and run twice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman.errors import Conflict, Misconfigured, Transient
from pointsman.rollout_wake_ports import Life
from tests.fakes.rollout_signals import FakeExecution
from tests.proof.rollouts.faults import Killed

if TYPE_CHECKING:
    from tests.proof.rollouts.world import World


@dataclass(eq=False)
class Course:
    """One execution; `token` is of the wait that it is in. A ghost is a second one under the same name."""

    rollout: str
    generation: int
    ghost: bool = False
    token: str = ""
    tries: int = 0


class Executions(FakeExecution):
    """The state machine: pass, wait, pass again; it repeats what fails, and gives up in the end."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self.world = world
        self.waiting: dict[str, Course] = {}

    def start(self, rollout: str, generation: int) -> None:
        if (rollout, generation) not in self.lives:
            super().start(rollout, generation)
            self.world.later(1.0, lambda: self.advance(Course(rollout, generation)))

    def answer(self, token: str) -> None:
        one = self.waiting.pop(token, None)
        if one is not None:
            one.token = ""
            self.world.later(1.0, lambda: self.advance(one))

    def advance(self, one: Course) -> None:
        """One run of the function, and what follows."""
        world = self.world
        try:
            said = world.run_function(lambda: world.loop.run(one.rollout, one.generation))
        except (Transient, Conflict, Killed):
            one.tries += 1
            if one.tries > 4:
                self._end(one)
            else:
                world.later(world.luck.uniform(2, 5 * 2.0**one.tries), lambda: self.advance(one))
            return
        except Misconfigured:  # nothing repeats that: the execution fails
            self._end(one)
            return
        one.tries = 0
        if said.successor is not None:
            self.start(one.rollout, said.successor)
        if said.ended or said.successor is not None or world.chance(world.drawn.trouble.dies, "an execution dies"):
            self._end(one)
        else:
            self._park(one, said.wake_seq, said.wait_seconds)

    def _end(self, one: Course) -> None:
        if not one.ghost:
            self.lives[one.rollout, one.generation] = Life.ENDED

    def _park(self, one: Course, wake_seq: int, wait: int) -> None:
        token = f"{one.rollout}/{next(self.world.numbers)}"
        if not self.world.table.park(one.rollout, wake_seq, token):
            self.world.later(1.0, lambda: self.advance(one))
            return
        one.token = token
        self.waiting[token] = one
        self.world.later(wait, lambda: self._time_out(one, token))

    def _time_out(self, one: Course, token: str) -> None:
        if self.waiting.pop(token, None) is one:
            one.token = ""
            self.advance(one)
