"""Worlds through what is deployed: the template's functions, tables, rules and queues, on the emulator.

A seed draws Batch's choices and a policy, jobs of one queue, what people and alarms do by the command's own verbs, and
what goes wrong: events lost, doubled, late and poisonous, functions killed at any call, calls refused and answers lost.
Then nothing more goes wrong but events, the pool is held while jobs wait, and at the end every job has run to its end.
What must hold is looked up in Batch's own model, in the dead letters, and in the tables.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from botocore.exceptions import ClientError
from click.testing import CliRunner

from pointsman.errors import Transient
from pointsman.queues.jobs import Status
from pointsman.wiring import Wiring
from pointsman_cli.access import Target
from pointsman_cli.failures import FAULT
from pointsman_cli.main import cli
from pointsman_cli.rollout_deployment import DeployedRollouts
from pointsman_emulator import BatchSettings, Faults
from pointsman_emulator.gateway import Call
from tests.flow.day import MINUTE, POLICY, QUEUE, Day, opened
from tests.proof.frame import Outcome, Violation

TROUBLE, QUIET, AFTER_DEATH = 45 * MINUTE, 20 * MINUTE, 14 * MINUTE
HEAD_STARTS = {"prod": "production", "research": "research", "score": "batch-inference", "sweep": "sweep"}
POISON = (
    '{"source": "aws.batch", "detail-type": "Batch Service Job State Change", "time": "soon", "detail": {}}',
    '{"source": "someone", "detail-type": "x", "time": "2027-01-01T00:00:00Z", "detail": {}}',
    "{",
    "null",
)
REFUSED = [
    *[("batch", name) for name in ("DescribeJobQueues", "GetJobQueueSnapshot", "ListServiceJobs")],
    *[("batch", name) for name in ("DescribeServiceJob", "UpdateServiceJob")],
    *[("sqs", "SendMessage"), ("cloudwatch", "DescribeAlarms")],
    *[("dynamodb", name) for name in ("PutItem", "Query", "BatchGetItem", "BatchWriteItem", "GetItem")],
]  # fmt: skip
FUNCTIONS = ("PrioritizeQueueFunction", "RecordJobsFunction", "WakeDueFunction", "RelayAlarmFunction")
CODES = {"dynamodb": "ProvisionedThroughputExceededException"}


class Killed(BaseException):
    """The end of a process: nothing catches it."""


@dataclass(frozen=True)
class Access:
    """The command on this deployment."""

    wiring: Wiring

    @contextmanager
    def open(self, target: Target) -> Iterator[Wiring]:  # noqa: ARG002 - there is one
        yield self.wiring

    @contextmanager
    def rollouts(self, target: Target) -> Iterator[DeployedRollouts]:  # noqa: ARG002
        yield DeployedRollouts(self.wiring, "", None)

    def caller(self, target: Target) -> str:  # noqa: ARG002
        return "arn:aws:iam::123456789012:user/ada"


@dataclass
class World:
    """One deployment, what is done to it, and what was found wrong."""

    luck: Random
    day: Day
    policy: dict[str, Any]
    folder: Path
    faults: Counter[str] = field(default_factory=Counter)
    found: list[Violation] = field(default_factory=list)
    poison: Counter[str] = field(default_factory=Counter)
    ended: set[str] = field(default_factory=set)

    def wrong(self, invariant: str, sentence: str) -> None:
        self.found.append(Violation(invariant, sentence))

    def go(self, seconds: float) -> None:
        """Let time pass, whoever dies in it."""
        until = self.day.aws.now + seconds
        while self.day.aws.now < until:
            try:
                self.day.aws.run(until)
            except Killed:
                self.faults["functions killed"] += 1

    def verb(self, *words: str) -> None:
        """Somebody types this; the command may refuse it, and has no fault of its own."""
        self.faults[f"verb {' '.join(words[:1] if words[0] in ('stop', 'start') else words[:2])}"] += 1
        result = CliRunner().invoke(cli, list(words), obj=Access(self.day.wiring))
        if result.exit_code == FAULT or (result.exception and not isinstance(result.exception, SystemExit)):
            self.wrong("verbs", f"`{' '.join(words)}` ended with {result.exit_code}: {result.output[-200:]}")

    def submit(self, kind: str, *, size: int = 1, minutes: float | None = None) -> str:
        name = f"{kind}-{len(self.day.ids)}"
        tags = {"purpose": "explore"} if kind == "research" else None
        self.day.submit(name, size, minutes=minutes or self.luck.uniform(2, 12), tags=tags)
        return name

    def a_job(self) -> None:
        self.submit(self.luck.choice([*HEAD_STARTS]), size=self.luck.choice((1, 1, 2, 3)))

    # What people do

    def somebody(self) -> None:
        """Somebody does something to a job or to all."""
        luck, jobs = self.luck, [name for name in self.day.ids if self.day.job(name).status == "RUNNABLE"]
        job = luck.choice(jobs) if jobs else "nobody"
        acts: list[Callable[[], None]] = [
            lambda: self.verb("queue", luck.choice(("pin", "demote")), QUEUE, job, "--for", "10m"),
            lambda: self.verb("queue", "unpin", QUEUE, job),
            lambda: self.verb("queue", luck.choice(("show", "plan", "history")), QUEUE, "--json"),
            lambda: self.verb("queue", "explain", QUEUE, job),
            lambda: self.verb("policy", "rollback", QUEUE),
            self.stop_for_a_while,
            self.apply_another,
            partial(self.end, jobs),
            partial(self.by_hand, jobs),
        ]
        luck.choice(acts)()

    def stop_for_a_while(self) -> None:
        self.verb("stop", "--reason", "lunch")
        self.go(self.luck.uniform(30, 300))
        self.verb("start", "--reason", "back")

    def apply_another(self) -> None:
        file = self.folder / "policy.yaml"
        file.write_text(json.dumps({**self.policy, "queue": QUEUE, "spread": self.luck.choice(("1s", "1h", "6h"))}))
        self.verb("policy", "apply", str(file))

    def end(self, jobs: list[str]) -> None:
        if jobs:
            self.faults["jobs ended by a person"] += 1
            name = self.luck.choice(jobs)
            self.ended.add(name)
            self.day.terminate(name)

    def by_hand(self, jobs: list[str]) -> None:
        if jobs:
            self.faults["priorities set by hand"] += 1
            self.day.aws.batch_model.set_priority(self.day.ids[self.luck.choice(jobs)], self.luck.randint(0, 9999))

    # What goes wrong

    def bury_me(self) -> None:
        """A message that no release can read, to the recorder or to the passes."""
        body = self.luck.choice(POISON)
        with suppress(ClientError):  # the call that is refused next was this one
            self.day.send(self.luck.choice(("JobEventsUrl", "QueueWakesUrl")), body)
            self.faults["poison"] += 1
            self.poison[body] += 1

    def kill(self) -> None:
        """The next time that this function makes this call it dies, before or after."""
        function, (service, operation) = self.luck.choice(FUNCTIONS), self.luck.choice(REFUSED)
        done: list[Call] = []

        def hook(call: Call) -> None:
            if call.caller == function and not done:
                done.append(call)
                raise Killed

        self.luck.choice((self.day.aws.before, self.day.aws.after))(service, operation, hook, times=None)

    def refuse(self) -> None:
        """A call is refused a few times, or its answer is lost."""
        service, operation = self.luck.choice(REFUSED)
        self.faults["calls refused"] += 1
        code, times = CODES.get(service, "ServiceUnavailable"), self.luck.choice((1, 2, 4))
        after = self.luck.random() < 0.4
        self.day.aws.fail_next(service, operation, code, times, status=503, after=after)


def run(seed: int) -> Outcome:
    """The world of this seed, and what was wrong in it."""
    luck = Random(f"handlers {seed}")
    faults = Faults(
        delay=(0.0, luck.choice((5.0, 60.0, 400.0))),
        duplicate=luck.choice((0.0, 0.2)),
        lose=luck.choice((0.0, 0.1, 0.4)),
        deliver=luck.choice((0.0, 1.0, 1.0, 1.0, 3.0)),
    )
    batch = BatchSettings(
        head_of_line=luck.choice(("strict", "share", "skip")),
        tie_break=luck.choice(("created", "newest", "random")),
        optional_event_fields=luck.random() < 0.5,
        snapshot_lag=luck.choice((0.0, 0.0, 5.0)),
        list_lag=luck.choice((0.0, 0.0, 10.0)),
        scheduled_dwell=luck.choice((0.0, 5.0, 30.0)),
        starting_dwell=luck.choice((0.0, 10.0)),
        dispatch_delay=luck.choice((0.0, 2.0)),
        bounce_rate=luck.choice((0.0, 0.0, 0.1)),
        bounce_pause=10.0,
        started_at_of_waiting=luck.choice(("absent", "zero")),
    )
    capacity = luck.randint(3, 6)
    with TemporaryDirectory() as folder, opened(capacity=capacity, faults=faults, batch=batch) as day:
        policy = {**POLICY, "spread": luck.choice(("1s", "2h"))}
        world = World(luck, day, policy, Path(folder))
        _play(world, capacity)
        passes = len(day.passes())
    if faults.deliver != 1 or faults.lose or faults.duplicate:
        world.faults["worlds whose events are lost, doubled or all late"] += 1
    return Outcome(passes, world.faults, tuple(world.found))


def _play(world: World, capacity: int) -> None:
    luck, day = world.luck, world.day
    day.apply(**world.policy)
    if luck.random() < 0.5:
        begins = luck.uniform(0, 15)
        world.faults["alarms"] += 1
        day.drift(begins, begins + luck.uniform(5, 15))
    acts: list[Callable[[], None]] = [world.a_job] * luck.randint(10, 22) + [world.somebody] * luck.randint(2, 7)
    acts += [world.bury_me] * luck.randint(0, 4) + [world.kill] * luck.choice((0, 0, 1, 2, 3))
    acts += [world.refuse] * luck.choice((0, 2, 6))
    luck.shuffle(acts)
    for act in acts:
        act()
        world.go(luck.expovariate(len(acts) / TROUBLE))
    world.verb("start", "--reason", "nobody may leave it stopped")
    _drain(world)
    _at_rest(world, capacity)
    _drain(world)
    world.go(15 * MINUTE)
    _judge(world)


def _drain(world: World) -> None:
    """Until every job has ended; a person's wish may last ten minutes, and a killed message hides for twelve."""
    jobs = world.day.aws.batch_model.jobs
    for _ in range(24 * 6):
        if all(jobs[i].finished for i in world.day.ids.values()):
            return
        world.go(10 * MINUTE)
    left = [name for name in world.day.ids if not world.day.job(name).finished]
    world.wrong("Q1", f"after a day {', '.join(left)} have not ended")


def _at_rest(world: World, capacity: int) -> None:
    """One job holds the pool, others wait behind it; once all is quiet they stand as the policy wants."""
    luck, day = world.luck, world.day
    day.aws.gateway._hooks.clear()  # nobody is killed any more, and no call refused
    day.apply(**{**world.policy, "spread": "1s"})
    world.submit("prod", size=capacity, minutes=(QUIET + AFTER_DEATH) / MINUTE + 20)
    world.go(AFTER_DEATH + 2 * MINUTE)
    names = [world.submit(kind) for kind in luck.choices([*HEAD_STARTS], k=luck.randint(4, 7))]
    world.go(QUIET)
    heads = {"prod": 6 * 3600.0, "research": 2 * 3600.0}
    waiting = [name for name in names if day.job(name).status == "RUNNABLE"]
    if waiting != names:
        world.wrong("Q3", f"{sorted(set(names) - set(waiting))} run while the pool is held")
        return
    due = {name: day.job(name).created_at - heads.get(name.partition("-")[0], 0.0) for name in names}
    wanted, line = sorted(names, key=lambda name: due[name]), [*day.line()]
    if line[:2] != wanted[:2]:
        world.wrong("Q3", f"the front is {line}, and should be {wanted}")
    if day.record().problem:
        world.wrong("Q3", f"at rest there is a problem: {day.record().problem}")
    moves = day.wiring.inspector().look(QUEUE).decision.moves
    if moves:
        world.wrong("Q8", f"at rest the next pass would set {[(move.job_name, move.after) for move in moves]}")
    _agree(world)


def _agree(world: World) -> None:
    """Whether the table tells of each job what Batch does, and of those that wait the same priority."""
    day, ours, rows = world.day, dict(world.day.record().priorities), world.day.rows()
    for name in day.ids:
        job, row = day.job(name), rows.get(name)
        if row is None:
            if not job.finished:
                world.wrong("Q3", f"{name} is {job.status}, and the table knows nothing of it")
            continue
        if row.status is not Status(job.status):
            world.wrong("Q3", f"{name} is {job.status}, and {row.status} in the table")
        believed = ours.get(row.job_id, row.detail.priority if row.detail else None)
        if job.status == "RUNNABLE" and believed != job.priority:
            world.wrong("Q3", f"{name} has the priority {job.priority}, and {believed} in the table")


def _judge(world: World) -> None:
    day = world.day
    for name in day.ids:
        job = day.job(name)
        states = [status for _, status in job.history]
        ended = [status for status in states if status in ("SUCCEEDED", "FAILED")]
        if len(ended) != 1 or len(job.attempts) > 1:
            world.wrong("Q1", f"{name} ended {len(ended)} times, after {len(job.attempts)} attempts")
        if ended == ["FAILED"] and name not in world.ended:
            world.wrong("Q1", f"{name} failed")
    _agree(world)
    letters = day.dead_letters()
    for body, reason, place in letters:
        if body not in POISON or not reason.strip() or not place.strip():
            world.wrong("Q10", f"a dead letter of {body[:200]!r}, for {reason!r} at {place!r}")
    buried = Counter(body for body, _, _ in letters)
    if missing := {body for body in world.poison if buried[body] < world.poison[body]}:
        world.wrong("Q10", f"poison that is in no dead letter: {missing}")
    for output in ("JobEventsUrl", "QueueWakesUrl"):
        if day.left_in(output) > 1:
            world.wrong("Q10", f"{day.left_in(output)} messages are left in {output}")
    for function, error in day.aws.failures:
        # The wakers leave such a fault to the platform, which repeats; what is deployed has classes of its own.
        if not isinstance(error, Killed) and type(error).__name__ != Transient.__name__:
            world.wrong("handlers", f"{function}: {type(error).__name__}: {error}")
