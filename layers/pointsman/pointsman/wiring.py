"""From settings to ports to loops: the one place where adapters meet the loops that need them.

What not every function needs is imported where it is made: the others do not pay for it when they start cold.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import time
from typing import TYPE_CHECKING
from uuid import uuid4

from pointsman.aws.clients import Clients
from pointsman.aws.job_table import DynamoJobTable
from pointsman.aws.messages import SqsDeadLetters, SqsWakes
from pointsman.decision_log import PowertoolsLog
from pointsman.ports import Clock
from pointsman.settings import Settings

if TYPE_CHECKING:
    from pointsman.aws.batch import AwsBatchQueues
    from pointsman.aws.control_table import DynamoControl
    from pointsman.aws.day_table import DynamoDayTable
    from pointsman.aws.kill_switch import CloudWatchKillSwitch
    from pointsman.aws.notices import SnsNotices
    from pointsman.aws.rollout_index import DynamoRolloutIndex
    from pointsman.aws.rollout_table import DynamoRolloutTable
    from pointsman.aws.sagemaker import SageMakerFleet
    from pointsman.aws.scaling import ApplicationAutoScaling
    from pointsman.aws.state_machine import StepFunctionsExecution
    from pointsman.loops.due import Due
    from pointsman.loops.inspect import Inspector
    from pointsman.loops.notices import QueueTeller
    from pointsman.loops.observe import Observer
    from pointsman.loops.passes import Passes
    from pointsman.loops.quota import Shares
    from pointsman.loops.recorder import Recorder
    from pointsman.loops.relay import AlarmRelay
    from pointsman.loops.rollout import RolloutLoop
    from pointsman.loops.rollout_commands import RolloutCommands
    from pointsman.loops.rollout_notices import Teller
    from pointsman.loops.rollout_observe import RolloutObserver
    from pointsman.loops.rollout_wakers import RolloutWaker


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Epoch seconds."""
        return time()


@dataclass(frozen=True)
class Wiring:
    """Everything of one deployment, each part made when it is first asked for."""

    settings: Settings
    unreadable: Callable[[str], None] | None = None
    """Who is told of an item of the job table that cannot be read; the log is, if nobody else."""

    @cached_property
    def _clients(self) -> Clients:
        return Clients(self.settings.endpoint_url)

    @cached_property
    def clock(self) -> Clock:
        """What time it is: this machine's, or what the address says that stands in for AWS."""
        if self.settings.endpoint_url is None:
            return SystemClock()
        from pointsman.aws.clock import EndpointClock

        return EndpointClock(self.settings.endpoint_url)

    @cached_property
    def control(self) -> "DynamoControl":
        """The table of what must not be lost."""
        from pointsman.aws.control_table import DynamoControl

        return DynamoControl(self._clients.dynamodb, self.settings.control_table)

    @cached_property
    def jobs(self) -> DynamoJobTable:
        """The table of what Batch can rebuild."""
        told = self.unreadable or PowertoolsLog().unreadable
        return DynamoJobTable(self._clients.dynamodb, self.settings.jobs_table, told=told)

    @cached_property
    def days(self) -> "DynamoDayTable":
        """The sums of days."""
        from pointsman.aws.day_table import DynamoDayTable

        return DynamoDayTable(self._clients.dynamodb, self.settings.control_table)

    @cached_property
    def batch(self) -> "AwsBatchQueues":
        """AWS Batch."""
        from pointsman.aws.batch import AwsBatchQueues
        from pointsman.aws.instance_types import Ec2InstanceTypes

        return AwsBatchQueues(self._clients.batch, Ec2InstanceTypes(self._clients.ec2), self.clock)

    @cached_property
    def _wakes(self) -> SqsWakes:
        return SqsWakes(self._clients.sqs, self.settings.queue_wakes_url)

    def _dead_letters(self, edge: str) -> SqsDeadLetters:
        """Where poison ends that came by this edge."""
        return SqsDeadLetters(self._clients.sqs, self.settings.dead_letters_url, edge)

    @cached_property
    def _shares(self) -> "Shares":
        from pointsman.aws.checkpoints import S3Checkpoints
        from pointsman.aws.share_records import DynamoShareRecords
        from pointsman.aws.share_settings import AwsShareSettings
        from pointsman.loops.quota import Shares

        return Shares(
            AwsShareSettings(self._clients.batch),
            DynamoShareRecords(self._clients.dynamodb, self.settings.control_table),
            S3Checkpoints(lambda: self._clients.s3),
        )

    @cached_property
    def _teller(self) -> "QueueTeller":
        from pointsman.loops.notices import QueueTeller

        return QueueTeller(self.control, self._notices, PowertoolsLog())

    def observer(self, *, keep: bool = True) -> "Observer":
        """What looks at a queue; with `keep` unset it stores nothing."""
        from pointsman.aws.alarms import CloudWatchAlarms
        from pointsman.loops.observe import Observer

        alarms = CloudWatchAlarms(self._clients.cloudwatch)
        return Observer(self.clock, self.batch, alarms, self.jobs, self.control, self._shares, keep)

    def inspector(self) -> "Inspector":
        """Looks at queues that change nothing."""
        from pointsman.loops.inspect import Inspector

        return Inspector(self.observer(keep=False), self.jobs, self.control)

    def passes(self) -> "Passes":
        """Wakes into passes."""
        from pointsman.aws.gpu_series import CloudWatchGpuSeries
        from pointsman.loops.days import DayBook
        from pointsman.loops.gpus import GpuGauge
        from pointsman.loops.passes import Passes
        from pointsman.loops.queue import QueueLoop

        loop = QueueLoop(
            clock=self.clock,
            observer=self.observer(),
            batch=self.batch,
            jobs=self.jobs,
            control=self.control,
            wakes=self._wakes,
            log=PowertoolsLog(),
            teller=self._teller,
            days=DayBook(self.days, self.control),
            gpus=GpuGauge(CloudWatchGpuSeries(self._clients.cloudwatch)),
            new_owner=lambda: uuid4().hex,
        )
        return Passes(loop, self._dead_letters("queue-wakes"))

    def recorder(self) -> "Recorder":
        """Job events into the job table."""
        from pointsman.loops.recorder import Recorder

        dead_letters = self._dead_letters("job-events")
        return Recorder(self.clock, self.jobs, self._wakes, dead_letters, PowertoolsLog())

    def alarm_relay(self) -> "AlarmRelay":
        """Alarm and endpoint events to wakes."""
        from pointsman.loops.relay import AlarmRelay
        from pointsman.loops.rollout_wakers import RolloutRelay

        rollouts = RolloutRelay(self._index, self.rollout_waker, self._late_alarm)
        dead_letters = self._dead_letters("alarms")
        return AlarmRelay(self.clock, self.control, self._wakes, rollouts, dead_letters, PowertoolsLog())

    def due(self) -> "Due":
        """The clock to wakes."""
        from pointsman.loops.due import Due, DueQueues
        from pointsman.loops.rollout_wakers import DueRollouts
        from pointsman.rollout_log import PowertoolsRolloutLog

        log = PowertoolsRolloutLog()
        rollouts = DueRollouts(self.clock, self._index, self._execution, self.rollout_waker, self._tell, log)
        return Due(rollouts, DueQueues(self.clock, self.control, self.jobs, self._wakes, PowertoolsLog(), self._teller))

    # ------------------------------------------------------------------------------------------------------ rollouts

    @cached_property
    def _index(self) -> "DynamoRolloutIndex":
        from pointsman.aws.rollout_index import DynamoRolloutIndex

        return DynamoRolloutIndex(self._clients.dynamodb, self.settings.control_table)

    def _rollout_teller(self) -> "Teller":
        from pointsman.loops.rollout_notices import Teller
        from pointsman.rollout_log import PowertoolsRolloutLog

        return Teller(self.rollouts, self._notices, PowertoolsRolloutLog())

    def _tell(self, rollout: str) -> None:
        self._rollout_teller().tell_of(rollout)

    def _late_alarm(self, rollout: str, alarm: str) -> None:
        self._rollout_teller().late_alarm(rollout, alarm)

    @cached_property
    def rollouts(self) -> "DynamoRolloutTable":
        """The truth of all rollouts."""
        from pointsman.aws.rollout_table import DynamoRolloutTable

        return DynamoRolloutTable(self._clients.dynamodb, self.settings.control_table)

    @cached_property
    def _execution(self) -> "StepFunctionsExecution":
        from pointsman.aws.state_machine import StepFunctionsExecution

        return StepFunctionsExecution(self._clients.stepfunctions, self.settings.state_machine)

    @cached_property
    def rollout_waker(self) -> "RolloutWaker":
        """Wakes single rollouts."""
        from pointsman.loops.rollout_wakers import RolloutWaker

        return RolloutWaker(self._index, self._execution)

    @cached_property
    def _notices(self) -> "SnsNotices":
        from pointsman.aws.notices import SnsNotices

        return SnsNotices(self._clients.sns, self.settings.notices_topic)

    @cached_property
    def _fleet(self) -> "SageMakerFleet":
        from pointsman.aws.instance_shapes import Ec2Shapes
        from pointsman.aws.sagemaker import SageMakerFleet

        return SageMakerFleet(self._clients.sagemaker, self._clients.sagemaker_once, Ec2Shapes(self._clients.ec2))

    @cached_property
    def _scaling(self) -> "ApplicationAutoScaling":
        from pointsman.aws.scaling import ApplicationAutoScaling

        return ApplicationAutoScaling(self._clients.autoscaling)

    @cached_property
    def rollout_observer(self) -> "RolloutObserver":
        """What looks at a fleet; it changes nothing."""
        from pointsman.aws.gauges import CloudWatchGauges
        from pointsman.aws.permissions import IamPermissions
        from pointsman.aws.sources import EcrS3Sources
        from pointsman.loops.rollout_observe import RolloutObserver
        from pointsman.loops.way_back import WayBack

        cloudwatch = self._clients.cloudwatch
        permissions = IamPermissions(self._clients.iam, cloudwatch.meta.region_name)
        gauges = CloudWatchGauges(cloudwatch)
        sources = EcrS3Sources(self._clients)
        grounds = WayBack(permissions, sources, self.settings.rollout_role)
        return RolloutObserver(
            self.clock, self._fleet, gauges, self._scaling, permissions, self.rollouts, self.control, grounds
        )

    @cached_property
    def kill_switch(self) -> "CloudWatchKillSwitch":
        """The alarms by which rollouts take back what is in flight."""
        from pointsman.aws.kill_switch import CloudWatchKillSwitch

        return CloudWatchKillSwitch(self._clients.cloudwatch)

    def rollout_loop(self) -> "RolloutLoop":
        """Passes over rollouts."""
        from pointsman.loops.rollout import RolloutLoop
        from pointsman.rollout_log import PowertoolsRolloutLog

        return RolloutLoop(
            clock=self.clock,
            observer=self.rollout_observer,
            table=self.rollouts,
            fleet=self._fleet,
            switch=self.kill_switch,
            scaling=self._scaling,
            notices=self._notices,
            log=PowertoolsRolloutLog(),
        )

    def rollout_commands(self) -> "RolloutCommands":
        """Requests and commands of rollouts."""
        from pointsman.loops.rollout_commands import RolloutCommands
        from pointsman.rollout_documents import parse_request
        from pointsman.rollout_log import PowertoolsRolloutLog

        return RolloutCommands(
            clock=self.clock,
            table=self.rollouts,
            observer=self.rollout_observer,
            execution=self._execution,
            waker=self.rollout_waker,
            dead_letters=self._dead_letters("commands"),
            read_request=parse_request,
            log=PowertoolsRolloutLog(),
            stack=self.settings.stack,
        )
