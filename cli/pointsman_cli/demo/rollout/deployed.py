"""Pointsman in a scenario's world: the template's own functions, rules, table and state machine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pointsman.errors import UserMistake
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.rollout_inbound import REQUEST
from pointsman.rollout_ports import RolloutTable
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_cli.checkout import shipped
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.stacks import Stack

SOURCE = "search.releases"
OUTPUTS = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")


@dataclass
class Deployed:
    """The deployed template: what asks it for rollouts, and what is seen of them."""

    aws: Emulator
    stack: Stack
    wiring: Wiring

    @property
    def table(self) -> RolloutTable:
        """The truth of all rollouts."""
        return self.wiring.rollouts

    @property
    def observer(self) -> RolloutObserver:
        """What looks at a fleet."""
        return self.wiring.rollout_observer

    def ask(self, document: Mapping[str, Any]) -> None:
        """Ask for a rollout by an event on the bus, as a release pipeline does."""
        entry = {"EventBusName": self.stack.outputs["Bus"], "Source": SOURCE, "DetailType": REQUEST}
        self.aws.client("events").put_events(Entries=[{**entry, "Detail": json.dumps(document)}])

    def command(self, **command: Any) -> Mapping[str, Any]:
        """Command something by invoking the function, as `pointsman rollout` does."""
        answer: Mapping[str, Any] = self.stack.function("CommandRolloutFunction").invoke(command)
        if refused := answer.get("refused"):
            raise UserMistake(**refused)
        return answer

    def faults(self) -> tuple[str, ...]:
        """What failed: functions, passes, and events that reached no target."""
        lines = self.aws.logs.get("AdvanceRolloutFunction", [])
        return (
            *(f"{name}: {error!r}" for name, error in self.aws.failures),
            *(f"pass: {line['why']}" for line in lines if line.get("message") == "stumbled"),
            *self.aws.wiring.check().faults,
        )


def deploy(aws: Emulator) -> Deployed:
    """Deploy the template beside the scenario's world."""
    stack = aws.deploy(shipped("template.yaml"), "pointsman", {})
    jobs, control, wakes, dead_letters = (stack.outputs[name] for name in OUTPUTS)
    settings = Settings(
        jobs,
        control,
        wakes,
        dead_letters,
        state_machine=stack.outputs["RolloutStateMachine"],
        notices_topic=stack.outputs["NoticesTopic"],
        rollout_role=stack.outputs["RolloutRole"],
    )
    return Deployed(aws, stack, Wiring(settings))
