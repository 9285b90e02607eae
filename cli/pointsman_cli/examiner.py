"""What `pointsman doctor` looks at: reads only, and what may not be read is said and left out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Any

from pointsman.aws.alarms import TYPES, pages
from pointsman.aws.faults import Translated
from pointsman.documents import InvalidDocument
from pointsman.errors import Gone, Misconfigured, PointsmanError, Transient
from pointsman.loops.share_keeper import ShareKeeper
from pointsman.policy_documents import stored_policy
from pointsman.ports import QueueDescription, Standstill, StoredPolicy
from pointsman.queues.jobs import Stage
from pointsman.queues.policy import Policy
from pointsman.queues.share_drift import share_drift
from pointsman.rollouts.observations import Answer
from pointsman.rollouts.phase import is_switch
from pointsman.wiring import Wiring
from pointsman_cli.examined import Facts, QueueSeen, RolloutSeen, Submission
from pointsman_cli.policy_queue import live

HOUR = 3600.0
KINDS = ("MetricAlarms", "CompositeAlarms")
RULE, ALARM, FUNCTION = "AWS::Events::Rule", "AWS::CloudWatch::Alarm", "AWS::Lambda::Function"

# What each verb takes, and of which output of the stack (empty: of no resource that we could name).
VERBS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "look at queues (`queue show|plan|explain|history`)": (
        ("dynamodb:GetItem", "ControlTable"),
        ("dynamodb:Query", "ControlTable"),
        ("dynamodb:GetItem", "JobsTable"),
        ("batch:DescribeJobQueues", ""),
        ("batch:DescribeServiceJob", ""),
    ),
    "change policies, pins and stops (`policy apply`, `queue pin`, `stop`)": (
        ("dynamodb:PutItem", "ControlTable"),
        ("dynamodb:DeleteItem", "ControlTable"),
        ("dynamodb:PutItem", "JobsTable"),
    ),
    "command rollouts (`rollout start|pause|approve`)": (("lambda:InvokeFunction", "CommandRolloutFunction"),),
    "send dead letters back (`dlq redrive`)": (
        ("sqs:ReceiveMessage", "DeadLettersUrl"),
        ("sqs:DeleteMessage", "DeadLettersUrl"),
        ("sqs:SendMessage", "JobEventsUrl"),
        ("sqs:SendMessage", "QueueWakesUrl"),
        ("lambda:InvokeFunction", "RelayAlarmFunction"),
    ),
}


@dataclass(frozen=True, slots=True)
class Clients:
    """Clients that only the doctor uses."""

    cloudformation: Any
    cloudwatch: Any
    events: Any
    sqs: Any


@dataclass(frozen=True, slots=True)
class _MayFail:
    """A block whose reads may be refused: then the check is left out, with the reason, and the rest is looked at."""

    check: str
    left_out: dict[str, str]

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """End it where a read was refused."""
        refused = isinstance(error, Misconfigured | Transient)
        if refused:
            self.left_out[self.check] = str(error)
        return refused


@dataclass(slots=True)
class Examiner:
    """Looks at one deployment; `may` says whether the caller may do something to a resource."""

    stack: str
    wiring: Wiring
    clients: Clients
    outputs: Mapping[str, str]
    may: Callable[[str, str], Answer]
    left_out: dict[str, str] = field(default_factory=dict)

    def examine(self, queue: str | None = None) -> Facts:
        """Everything there is to see, of all queues or of this one."""
        now = self.wiring.clock.now()
        skew: float | None = None
        resources: dict[str, tuple[str, str]] = {}
        with self._may_fail("stack"):
            resources, skew = self._resources()
        names = self._alarms()
        return Facts(
            now=now,
            skew=skew,
            queues=tuple(self._queues(queue, names, now)),
            rollouts=tuple(self._rollouts(names)),
            rules=self._rules(resources),
            fired=self._fired(resources, names),
            errors=self._errors(resources, now),
            letters=self._letters(),
            denied=self._denied(),
            still=self._still(),
            left_out=self.left_out,
        )

    def _may_fail(self, check: str) -> "_MayFail":
        return _MayFail(check, self.left_out)

    def _resources(self) -> tuple[dict[str, tuple[str, str]], float | None]:
        """Type and physical id of each resource; and by how much our clock is ahead of the one that answers."""
        found: dict[str, tuple[str, str]] = {}
        skew: float | None = None
        more: dict[str, str] = {}
        while True:
            began = self.wiring.clock.now()
            with Translated():
                answer = self.clients.cloudformation.list_stack_resources(StackName=self.stack, **more)
            if stamp := answer["ResponseMetadata"].get("HTTPHeaders", {}).get("date"):
                skew = began - parsedate_to_datetime(stamp).timestamp()
            for one in answer["StackResourceSummaries"]:
                if "LogicalResourceId" in one:
                    found[one["LogicalResourceId"]] = one["ResourceType"], one.get("PhysicalResourceId", "")
            if not answer.get("NextToken"):
                return found, skew
            more = {"NextToken": answer["NextToken"]}

    def _alarms(self) -> dict[str, str] | None:
        """The state of every alarm, by name; None where that may not be read."""
        with self._may_fail("alarms"):
            read = pages(self.clients.cloudwatch.describe_alarms, {"AlarmTypes": TYPES, "MaxRecords": 100})
            both = [alarm for page in read for kind in KINDS for alarm in page.get(kind, ())]
            return {alarm["AlarmName"]: alarm["StateValue"] for alarm in both}
        return None

    def _queues(self, only: str | None, names: Mapping[str, str] | None, now: float) -> Iterator[QueueSeen]:
        queues: tuple[str, ...] = ()
        with self._may_fail("policies"):
            queues = (only,) if only else self.wiring.control.queues()
        for queue in queues:
            with self._may_fail(queue):
                stored = self.wiring.control.policy(queue)
                if stored is not None:
                    yield self._queue(stored, names, now)
                elif only:
                    self.left_out[queue] = "it has no policy"

    def _queue(self, stored: StoredPolicy, names: Mapping[str, str] | None, now: float) -> QueueSeen:
        queue = stored.queue
        record = self.wiring.jobs.queue(queue)
        try:
            policy = stored_policy(stored.document)
        except InvalidDocument as error:
            return QueueSeen(queue, record, unreadable=str(error))
        patterns = dict.fromkeys([rule.alarm for rule in policy.on_alarm] + [r.alarm for r in policy.on_alarm_shares])
        absent = tuple(p for p in patterns if names is not None and not any(fnmatchcase(n, p) for n in names))
        description: QueueDescription | None = None
        outstanding: tuple[str, ...] = ()
        unread = True
        with self._may_fail(f"queue {queue}"):
            try:
                description = live(self.wiring, queue)
                outstanding = self._outstanding(description, policy, now)
            except Gone:
                description = None
            unread = False
        return QueueSeen(
            queue, record, policy, "", description, unread, outstanding, absent, tuple(self._submitted(queue))
        )

    def _outstanding(self, description: QueueDescription, policy: Policy, now: float) -> tuple[str, ...]:
        observer = self.wiring.observer(keep=False)
        if description.quota_shares:
            return tuple(share_drift(description.quota_shares, observer.shares.records.share_changes(description.name)))
        keeper = ShareKeeper(observer.shares, observer.alarms, self.wiring.jobs)
        return keeper.keep(description, policy.at(now), (), now, act=False).problems

    def _submitted(self, queue: str) -> Iterator[Submission]:
        for row in self.wiring.jobs.active(queue):
            if row.stage is not Stage.ENDED and row.detail is not None and row.submitted_priority is not None:
                yield Submission(row.name, row.detail.share or "", row.submitted_priority)

    def _rollouts(self, names: Mapping[str, str] | None) -> Iterator[RolloutSeen]:
        with self._may_fail("rollouts"):
            for line in self.wiring.rollouts.open():
                if line.phase.terminal:
                    continue
                mine = (a for a in line.alarms if not is_switch(a, line.rollout))
                absent = tuple(a for a in mine if names is not None and a not in names)
                yield RolloutSeen(line.rollout, line.next_wake_at, absent)

    def _rules(self, resources: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        """The state of each rule of the stack; of one on a bus of its own, the id is the bus and the name."""
        found: dict[str, str] = {}
        for logical, (kind, physical) in resources.items():
            if kind != RULE:
                continue
            bus = {"EventBusName": self.outputs["Bus"]} if logical == "CommandRule" else {}
            with self._may_fail(logical):
                try:
                    with Translated("ResourceNotFoundException"):
                        rule = self.clients.events.describe_rule(Name=physical.rpartition("|")[2], **bus)
                    found[logical] = rule["State"]
                except Gone:
                    found[logical] = ""
        return found

    @staticmethod
    def _fired(resources: Mapping[str, tuple[str, str]], names: Mapping[str, str] | None) -> tuple[str, ...]:
        ours = {logical: physical for logical, (kind, physical) in resources.items() if kind == ALARM}
        return tuple(logical for logical, physical in ours.items() if (names or {}).get(physical) == "ALARM")

    def _errors(self, resources: Mapping[str, tuple[str, str]], now: float) -> dict[str, int]:
        functions = {logical: physical for logical, (kind, physical) in resources.items() if kind == FUNCTION}
        if not functions:
            return {}
        queries = [
            {
                "Id": f"m{n}",
                "MetricStat": {
                    "Metric": {
                        "Namespace": "AWS/Lambda",
                        "MetricName": "Errors",
                        "Dimensions": [{"Name": "FunctionName", "Value": physical}],
                    },
                    "Period": int(HOUR),
                    "Stat": "Sum",
                },
            }
            for n, physical in enumerate(functions.values())
        ]
        start, end = datetime.fromtimestamp(now - HOUR, UTC), datetime.fromtimestamp(now, UTC)
        request = {"MetricDataQueries": queries, "StartTime": start, "EndTime": end}
        totals = dict.fromkeys(functions, 0)
        with self._may_fail("errors of functions"):
            for page in pages(self.clients.cloudwatch.get_metric_data, request):
                for told in page["MetricDataResults"]:
                    totals[list(functions)[int(told["Id"][1:])]] += int(sum(told["Values"]))
        return totals

    def _letters(self) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        total = 0
        for output in ("DeadLettersUrl", "DeadWakesUrl"):
            if url := self.outputs.get(output):
                with self._may_fail("dead letters"), Translated():
                    told = self.clients.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
                    total += sum(int(told[name]) for name in names)
        return total

    def _still(self) -> Standstill | None:
        with self._may_fail("stop"):
            return self.wiring.control.standstill()
        return None

    def _denied(self) -> dict[str, tuple[str, ...]]:
        """Verbs that the caller may not use, as far as IAM tells."""
        found: dict[str, tuple[str, ...]] = {}
        unknown = False
        for verbs, wanted in VERBS.items():
            answers = {one: self._asked(*one) for one in wanted}
            unknown |= Answer.UNKNOWN in answers.values()
            missing = tuple(dict.fromkeys(action for (action, _), told in answers.items() if told is Answer.NO))
            if missing:
                found[verbs] = missing
        if unknown:
            self.left_out["permissions"] = "IAM does not tell what you may do (iam:SimulatePrincipalPolicy)"
        return found

    def _asked(self, action: str, output: str) -> Answer:
        try:
            return self.may(action, self.outputs.get(output, "") if output else "")
        except PointsmanError:
            return Answer.UNKNOWN
