"""What the verbs of rollouts need of a deployment."""

from collections.abc import Mapping
from typing import Any, Protocol

from pointsman.ports import Clock, Standstill
from pointsman.rollout_ports import RolloutTable
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.request import Request


class KillSwitches(Protocol):
    """The alarms by which rollouts take back what is in flight. No template has them."""

    def standing(self) -> tuple[str, ...]:
        """The names of all that there are in the account and region, whosever they are."""
        ...

    def delete(self, alarm: str) -> None:
        """Delete one; nothing happens where there is none."""
        ...


class RolloutDeployment(Protocol):
    """Where rollouts are looked at directly, and commanded by the function whose permission is the authority."""

    @property
    def clock(self) -> Clock:
        """What time it is there."""
        ...

    @property
    def rollout_table(self) -> RolloutTable:
        """The truth of all rollouts."""
        ...

    @property
    def kill_switches(self) -> KillSwitches:
        """The alarms by which rollouts take back what is in flight."""
        ...

    @property
    def stack(self) -> str:
        """The stack's name, which its kill switches bear."""
        ...

    @property
    def control_table(self) -> str:
        """The name of the table that outlives the stack."""
        ...

    def standstill(self) -> Standstill | None:
        """What is in force, if everything is stopped."""
        ...

    def wake_rollout(self, rollout: str) -> None:
        """Make a pass over the rollout happen soon. Raises `Gone` when there is none."""
        ...

    def rollout_plan(self, request: Request) -> Plan:
        """What a rollout would do; changes nothing."""
        ...

    def command_rollout(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        """Let `command_rollout` obey this; its answer. Raises `UserMistake` for what it refuses."""
        ...
