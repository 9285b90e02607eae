"""Carries out passes without the state machine: a simple clock in its place, on the same ports and the same table."""

from dataclasses import dataclass, field
from typing import Any

from pointsman.aws.clients import Clients
from pointsman.aws.gauges import CloudWatchGauges
from pointsman.aws.instance_shapes import Ec2Shapes
from pointsman.aws.kill_switch import CloudWatchKillSwitch
from pointsman.aws.permissions import IamPermissions
from pointsman.aws.rollout_table import INDEX, DynamoRolloutTable
from pointsman.aws.sagemaker import SageMakerFleet
from pointsman.aws.scaling import ApplicationAutoScaling
from pointsman.errors import Conflict, Transient
from pointsman.loops.rollout import RolloutLoop
from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.rollout_wakers import RolloutWaker
from pointsman.rollout_documents import parse_request
from pointsman.rollout_ports import Life, RolloutPass
from pointsman.rollouts.reasons import Notice
from pointsman_emulator.emulator import Emulator

TABLE = "rollouts"
AGAIN = 5.0  # seconds to the next try of a pass that lost a race


@dataclass
class Direct:
    """The loop on the embedded AWS, woken when its time has come."""

    aws: Emulator
    notices: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        clients = Clients()
        _make_table(clients.dynamodb)
        self.table = DynamoRolloutTable(clients.dynamodb, TABLE)
        fleet = SageMakerFleet(clients.sagemaker, clients.sagemaker_once, Ec2Shapes(clients.ec2))
        scaling = ApplicationAutoScaling(clients.autoscaling)
        gauges, permissions = CloudWatchGauges(clients.cloudwatch), IamPermissions(clients.iam, "us-east-1")
        self.observer = RolloutObserver(
            clock=self,
            fleet=fleet,
            gauges=gauges,
            scaling=scaling,
            permissions=permissions,
            table=self.table,
            stop=self,
        )
        self.commands = RolloutCommands(
            clock=self,
            table=self.table,
            observer=self.observer,
            execution=self,
            waker=RolloutWaker(self.table, self),
            dead_letters=self,
            read_request=parse_request,
            log=self,
        )
        self.loop = RolloutLoop(
            clock=self,
            observer=self.observer,
            table=self.table,
            fleet=fleet,
            switch=CloudWatchKillSwitch(clients.cloudwatch),
            scaling=scaling,
            notices=self,
            log=self,
        )

    def carry(self, rollout: str) -> None:
        """One run, and the next one when it says."""
        try:
            parked = self.loop.run(rollout, 1)
        except (Conflict, Transient):
            self.aws.at(self.aws.now + AGAIN, lambda: self.carry(rollout))
            return
        if not parked.ended:
            self.aws.at(self.aws.now + parked.wait_seconds, lambda: self.carry(rollout))

    # The ports that the loops need besides

    def start(self, rollout: str, generation: int) -> None:  # noqa: ARG002 - the port's
        """The first pass follows at once."""
        self.aws.at(self.aws.now, lambda: self.carry(rollout))

    def answer(self, token: str) -> None:
        """Nobody waits by a token here: the next pass comes when its time has come."""

    def life(self, rollout: str, generation: int) -> Life:  # noqa: ARG002 - the port's
        """It lives as long as the emulator."""
        return Life.RUNNING

    def bury(self, body: str, reason: str, place: str) -> None:
        """Keep what nobody else hears of."""
        self.faults.append(f"{place}: {reason}: {body[:200]}")

    def now(self) -> float:
        """What time it is."""
        return self.aws.now

    def stopped(self) -> bool:
        """Nobody stops the demo."""
        return False

    def send(self, notice: Notice) -> None:
        """Keep what people are told."""
        self.notices.append(notice.sentence)

    def advanced(self, report: RolloutPass) -> None:
        """Nothing is logged: the journal has it."""

    def stumbled(self, rollout: str, why: str, *, known: bool) -> None:  # noqa: ARG002 - the port's
        """Keep what failed."""
        self.faults.append(why)

    def commanded(self, rollout: str, verb: str, actor: str, outcome: str) -> None:
        """Nothing is logged."""


def _make_table(dynamodb: Any) -> None:
    index = [{"AttributeName": "open", "KeyType": "HASH"}, {"AttributeName": "next_wake_at", "KeyType": "RANGE"}]
    dynamodb.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("pk", "S"), ("sk", "S"), ("open", "S"), ("next_wake_at", "N"))
        ],
        GlobalSecondaryIndexes=[{"IndexName": INDEX, "KeySchema": index, "Projection": {"ProjectionType": "ALL"}}],
        BillingMode="PAY_PER_REQUEST",
    )
