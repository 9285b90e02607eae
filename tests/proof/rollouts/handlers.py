"""Worlds of what is deployed: the real template and handlers on the emulated AWS, drawn from one integer.

Events are lost, doubled and late; functions are killed with their executions before and after their writes; calls are
throttled and their answers lost; the alarm flips, people command and scale. In the end somebody sees to every hold.
What must be true then is what SageMaker has, and what the tables say of it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.decision import replay
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, RolloutRecord
from pointsman_emulator import Faults
from pointsman_emulator.gateway import Call
from tests.flow.fleet import HOUR, MINUTE, SAMPLE, Fleet, deployed
from tests.proof.frame import Outcome, Violation
from tests.proof.rollouts.draw import inference_settings

ROLLOUT = SAMPLE["detail"]["rollout"]
OLD, NEW, BAD = "chat-v1", "chat-v2", "chat-bad"
COPIES = 3
SHORT = {"bake": "5m", "final_bake": "5m", "wait": "1m", "guards": [{"alarm": "{component}-errors", "native": True}]}
WRITES = (
    ("dynamodb", "TransactWriteItems"),
    ("dynamodb", "UpdateItem"),
    ("sagemaker", "UpdateInferenceComponent"),
    ("cloudwatch", "PutMetricAlarm"),
    ("cloudwatch", "DeleteAlarms"),
    ("sns", "Publish"),
    ("lambda", "Invoke"),
)
READS = (
    ("sagemaker", "DescribeInferenceComponent"),
    ("sagemaker", "DescribeEndpoint"),
    ("cloudwatch", "GetMetricData"),
    ("cloudwatch", "DescribeAlarmHistory"),
)
OURS = frozenset({"AdvanceRolloutFunction", "RolloutStateMachine"})
TROUBLED = 3 * HOUR  # for which things go wrong
LONGEST = 30 * HOUR
VERBS = ("pause", "resume", "abort", "rollback", "retry")


class Killed(BaseException):
    """Not an error: the process is gone."""


@dataclass
class Day:
    """One world, as it goes on."""

    fleet: Fleet
    luck: Random
    kill: float
    faults: Counter[str] = field(default_factory=Counter)
    scaled: bool = False
    until: float = 0.0

    def maybe_killed(self, call: Call) -> None:
        """A function dies at this call of its, with the execution that ran it."""
        if call.caller in OURS and self.fleet.aws.now < self.until and self.luck.random() < self.kill:
            self.faults["killed"] += 1
            raise Killed

    def throttle(self) -> None:
        """A call or three are refused, or their answers lost."""
        service, operation = self.luck.choice((*READS, *WRITES[:4]))
        after, times = self.luck.random() < 0.5, self.luck.choice((1, 3))
        self.faults["an answer is lost" if after else "throttled"] += times
        self.fleet.aws.fail_next(service, operation, "ThrottlingException", times, after=after)

    def flip(self) -> None:
        """The alarm fires for a reason of its own."""
        self.faults["the alarm flips"] += 1
        cloudwatch = self.fleet.aws.client("cloudwatch")
        cloudwatch.set_alarm_state(AlarmName="llm-errors", StateValue="ALARM", StateReason="a test")

    def command(self, verb: str, **more: Any) -> None:
        """A person's command, obeyed or refused; once it has ended, none begins a new one."""
        if not self.fleet.ended():
            self.faults[verb] += 1
            with suppress(Exception):  # it was throttled: the person sees that
                self.fleet.command(verb, ROLLOUT, reason="a test", **more)

    def scale(self) -> None:
        """Somebody asks for more copies, or is refused."""
        component = self.fleet.aws.inference_model.components["llm"]
        if component.status == "InService":
            self.scaled = True
            self.faults["scale"] += 1
            wanted = {"CopyCount": self.luck.choice((2, 4))}
            self.fleet.aws.client("sagemaker").update_inference_component_runtime_config(
                InferenceComponentName="llm", DesiredRuntimeConfig=wanted
            )


def run(seed: int) -> Outcome:
    """The world of this integer."""
    luck = Random(f"{seed} handlers")
    lost = luck.choice((0.0, 0.0, 0.3, 1.0))
    delays = luck.choice((10.0, 120.0, 1200.0))
    faults = Faults(delay=(1.0, delays), duplicate=0.2, lose=lost, schedules=lost < 1.0 and luck.random() < 0.3)
    settings = replace(inference_settings(luck), launch_failures=0.0)
    with deployed(faults=faults, inference=settings) as fleet:
        day = Day(fleet, luck, luck.choice((0.0, 0.02, 0.1)))
        target = luck.choice((NEW, NEW, BAD))
        _plays(day, target)
        wrong = tuple(_wrong(day, target))
        steps = fleet.aws.count("lambda", "Invoke")
    return Outcome(steps, day.faults, wrong)


def _plays(day: Day, target: str) -> None:
    fleet, luck, aws = day.fleet, day.luck, day.fleet.aws
    container = {"Image": "images/chat:2", "Environment": {"EMULATED_BEHAVIOUR": "4xx"}}
    role = "arn:aws:iam::123456789012:role/anybody"
    aws.client("sagemaker").create_model(ModelName=BAD, ExecutionRoleArn=role, PrimaryContainer=container)
    day.until = aws.now + TROUBLED
    for service, operation in WRITES:
        hook: Callable[..., None] = luck.choice((aws.before, aws.after))
        hook(service, operation, day.maybe_killed, None)
    deeds: list[Callable[[], None]] = [day.throttle] * luck.choice((0, 4, 20))
    deeds += [day.flip] * luck.choice((0, 0, 1)) + [day.scale] * luck.choice((0, 0, 1))
    deeds += [partial(day.command, luck.choice(VERBS)) for _ in range(luck.choice((0, 1, 3)))]
    for deed in deeds:
        aws.at(aws.now + luck.uniform(60, TROUBLED / 2), deed)
    request = {**SAMPLE["detail"], **SHORT, "change": {"model": target}}
    fleet.command("request", "", request=request)
    began, held = aws.now, 0.0
    while not fleet.ended() and aws.now < began + LONGEST:
        _lives(day)
        holds = fleet.record().record.holds
        held = held + 5 * MINUTE if holds else 0.0
        if held >= 30 * MINUTE and aws.now > day.until:
            held = 0.0
            _sees_to(day, {hold.kind for hold in holds})
    _lives(day)
    _lives(day)


def _lives(day: Day) -> None:
    """Five minutes, whoever dies in them."""
    last = day.fleet.aws.now + 5 * MINUTE
    while day.fleet.aws.now < last:
        try:
            day.fleet.aws.run(last)
        except Killed:
            continue


def _sees_to(day: Day, kinds: set[HoldKind]) -> None:
    if HoldKind.OPERATOR in kinds:
        day.command("resume")
    elif kinds & {HoldKind.STUCK, HoldKind.DRIFT}:
        day.command(day.luck.choice(("retry", "rollback")))


def _wrong(day: Day, target: str) -> Iterator[Violation]:
    """What is not as it must be, in SageMaker and in the tables."""
    fleet = day.fleet
    stored = fleet.record()
    record, there = stored.record, fleet.aws.inference_model.components["llm"]
    models = {str(copy.spec.model) for copy in there.serving}
    if not record.phase.terminal:
        yield Violation("L1", f"it does not end: {record.phase.value}, {[hold.sentence for hold in record.holds]}")
        return
    if record.phase is Phase.SUCCEEDED and (models != {NEW} or target == BAD):
        yield Violation("S10", f"SUCCEEDED, and its copies run {sorted(models)}")
    if record.phase in {Phase.ROLLED_BACK, Phase.REJECTED} and models != {OLD}:
        yield Violation("S11", f"{record.phase.value}, and its copies run {sorted(models)}")
    human = "llm" in record.needs_human
    if not day.scaled and not human and there.desired != COPIES:
        yield Violation("S22", f"{there.desired} copies are asked for, and there were {COPIES}")
    owners = {lock.owner for lock in fleet.wiring.rollouts.locks(["chat"]).values()} - {""}
    if owners and not human:
        yield Violation("L5", f"chat is locked by {owners} after the end")
    switches = fleet.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="pointsman-kill/")["MetricAlarms"]
    if switches and not human:
        yield Violation("S15", "the kill switch is left after the end")
    yield from _told(fleet, stored)
    if lost := fleet.aws.inference_model.traffic["llm"].counts.lost:
        yield Violation("lost", f"{lost} requests found no copy")
    for function, error in fleet.aws.failures:
        if not isinstance(error, Killed) and type(error).__name__ not in {"Transient", "Conflict"}:
            yield Violation("crash", f"{function}: {error!r}")


def _told(fleet: Fleet, stored: StoredRollout) -> Iterator[Violation]:
    record = stored.record
    if replay(RolloutRecord(ROLLOUT), fleet.wiring.rollouts.journal(ROLLOUT)) != record:
        yield Violation("S16", "the journal does not rebuild the record")
    if fleet.wiring.rollouts.notices(ROLLOUT) or f"{ROLLOUT}/ended" not in fleet.notices():
        yield Violation("S18", "not all that should be told was told")
