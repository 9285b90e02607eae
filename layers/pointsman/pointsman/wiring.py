"""From settings to ports to loops: the one place where adapters meet the loops that need them."""

from dataclasses import dataclass
from functools import cached_property
from time import time
from uuid import uuid4

from pointsman.aws.alarms import CloudWatchAlarms
from pointsman.aws.batch import AwsBatchQueues
from pointsman.aws.clients import Clients
from pointsman.aws.control_table import DynamoControl
from pointsman.aws.instance_types import Ec2InstanceTypes
from pointsman.aws.job_table import DynamoJobTable
from pointsman.aws.messages import SqsDeadLetters, SqsWakes
from pointsman.decision_log import PowertoolsLog
from pointsman.loops.inspect import Inspector
from pointsman.loops.observe import Observer
from pointsman.loops.passes import Passes
from pointsman.loops.queue import QueueLoop
from pointsman.loops.recorder import Recorder
from pointsman.loops.wakers import AlarmRelay, DueQueues
from pointsman.settings import Settings


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Epoch seconds."""
        return time()


@dataclass(frozen=True)
class Wiring:
    """Everything of one deployment, each part made when it is first asked for."""

    settings: Settings

    @cached_property
    def _clients(self) -> Clients:
        return Clients(self.settings.endpoint_url)

    @cached_property
    def clock(self) -> SystemClock:
        """What time it is."""
        return SystemClock()

    @cached_property
    def control(self) -> DynamoControl:
        """The table of what must not be lost."""
        return DynamoControl(self._clients.dynamodb, self.settings.control_table)

    @cached_property
    def jobs(self) -> DynamoJobTable:
        """The table of what Batch can rebuild."""
        return DynamoJobTable(self._clients.dynamodb, self.settings.jobs_table)

    @cached_property
    def batch(self) -> AwsBatchQueues:
        """AWS Batch."""
        return AwsBatchQueues(self._clients.batch, Ec2InstanceTypes(self._clients.ec2), self.clock)

    @cached_property
    def _wakes(self) -> SqsWakes:
        return SqsWakes(self._clients.sqs, self.settings.queue_wakes_url)

    @cached_property
    def dead_letters(self) -> SqsDeadLetters:
        """Where poison ends."""
        return SqsDeadLetters(self._clients.sqs, self.settings.dead_letters_url)

    def observer(self, *, keep: bool = True) -> Observer:
        """What looks at a queue; with `keep` unset it stores nothing."""
        return Observer(
            self.clock, self.batch, CloudWatchAlarms(self._clients.cloudwatch), self.jobs, self.control, keep
        )

    def inspector(self) -> Inspector:
        """Looks at queues that change nothing."""
        return Inspector(self.observer(keep=False), self.jobs, self.control)

    def passes(self) -> Passes:
        """Wakes into passes."""
        loop = QueueLoop(
            clock=self.clock,
            observer=self.observer(),
            batch=self.batch,
            jobs=self.jobs,
            control=self.control,
            wakes=self._wakes,
            log=PowertoolsLog(),
            new_owner=lambda: uuid4().hex,
        )
        return Passes(loop, self.dead_letters)

    def recorder(self) -> Recorder:
        """Job events into the job table."""
        return Recorder(self.clock, self.jobs, self._wakes, self.dead_letters, PowertoolsLog())

    def alarm_relay(self) -> AlarmRelay:
        """Alarm events to wakes."""
        return AlarmRelay(self.clock, self.control, self._wakes, self.dead_letters, PowertoolsLog())

    def due_queues(self) -> DueQueues:
        """The clock to wakes."""
        return DueQueues(self.clock, self.control, self.jobs, self._wakes, PowertoolsLog())
