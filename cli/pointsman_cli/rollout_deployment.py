"""A deployment as its rollouts see it: table and fleet are read, the function that obeys commands is invoked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.kill_switch import CloudWatchKillSwitch
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Misconfigured, UserMistake
from pointsman.ports import Clock, Standstill
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman.rollouts.request import Request
from pointsman.wiring import Wiring

OUTPUT = "CommandRolloutFunction"


@dataclass(frozen=True, slots=True)
class DeployedRollouts:
    """Rollouts of one stack; `function` is the name of its function that obeys commands."""

    wiring: Wiring
    function: str
    invoker: Any  # a client of Lambda

    @property
    def clock(self) -> Clock:
        """What time it is."""
        return self.wiring.clock

    @property
    def rollout_table(self) -> DynamoRolloutTable:
        """The truth of all rollouts."""
        return self.wiring.rollouts

    @property
    def kill_switches(self) -> CloudWatchKillSwitch:
        """The alarms by which rollouts take back what is in flight."""
        return self.wiring.kill_switch

    @property
    def stack(self) -> str:
        """The stack's name."""
        return self.wiring.settings.stack

    @property
    def control_table(self) -> str:
        """The name of the table that outlives the stack."""
        return self.wiring.settings.control_table

    def standstill(self) -> Standstill | None:
        """What is in force, if everything is stopped."""
        return self.wiring.control.standstill()

    def wake_rollout(self, rollout: str) -> None:
        """Make a pass over the rollout happen soon. Raises `Gone` when there is none."""
        self.wiring.rollout_waker.wake(rollout)

    def rollout_plan(self, request: Request) -> Plan:
        """What a rollout would do; changes nothing."""
        switch = switch_name(request.rollout, self.wiring.settings.stack)
        return make_plan(request, self.wiring.rollout_observer.survey(request, switch), self.clock.now())

    def command_rollout(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        """Let the function obey. Raises `UserMistake` with the remedy for what it refuses."""
        payload = json.dumps(command, default=str).encode()
        with Translated():
            answer = self.invoker.invoke(FunctionName=self.function, Payload=payload)
        told: Any = json.loads(answer["Payload"].read() or b"null")
        if "FunctionError" in answer or not isinstance(told, Mapping):
            why = told.get("errorMessage") if isinstance(told, Mapping) else told
            raise Misconfigured(f"{self.function} failed, and its log says more: {why}")
        if refused := told.get("refused"):
            raise UserMistake(refused["problem"], place=refused["place"], remedy=refused["remedy"])
        return told
