"""The account's budget of Batch calls, as a command spends it."""

from collections.abc import Callable
from time import sleep

from pointsman_cli.access import Deployment

PAUSE = 1.0  # seconds between two calls once the budget is used up: passes need it too


class Budget:
    """The account's API calls, and a person's patience once those are used up."""

    def __init__(self, found: Deployment, patience: float, pause: Callable[[float], None] = sleep) -> None:
        """Wait so many seconds in all."""
        self._found, self._patience, self._pause = found, patience, pause

    def take(self) -> bool:
        """Whether one more call may be made now, after a wait if there is patience left for it."""
        while not self._found.jobs.take_budget(1, self._found.clock.now()):
            if self._patience <= 0:
                return False
            self._pause(PAUSE)
            self._patience -= PAUSE
        return True
