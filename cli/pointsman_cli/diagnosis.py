"""What is wrong with a deployment, the worst first; each finding is one sentence and its remedy."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from pointsman.loops.fit import misfits, unlisted
from pointsman.queues.kinds import QueueKind
from pointsman.queues.moves import RESERVED
from pointsman.queues.policy import Mode
from pointsman_cli.examined import Facts, QueueSeen
from pointsman_cli.printing import counted, when
from pointsman_cli.standstill import standing_still

OVERDUE = 600.0  # seconds, as the alarms have it
LONGEST_LEASE = 300.0  # seconds: no honest clock gives a longer one
SKEW, WRONG_CLOCK = 30.0, 300.0  # seconds; AWS refuses what is signed with a clock that is five minutes wrong
TICK = "MinuteRule"
NAMED = 5  # jobs that a sentence names


class Weight(IntEnum):
    """How much a finding weighs; only an error makes `doctor` exit with 1."""

    ERROR = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with `place`, or worth knowing, and what to do."""

    weight: Weight
    place: str
    what: str
    remedy: str


def diagnose(facts: Facts) -> tuple[Finding, ...]:
    """Every finding, the heaviest first; those of one weight in the order in which they are looked for."""
    found = [
        *_platform(facts),
        *(finding for queue in facts.queues for finding in _queue(queue, facts.now)),
        *_rollouts(facts),
        *_people(facts),
    ]
    return tuple(sorted(found, key=lambda finding: finding.weight))


def _platform(facts: Facts) -> Iterator[Finding]:
    for rule, state in facts.rules.items():
        if state != "ENABLED":
            weight = Weight.ERROR if rule == TICK else Weight.WARNING
            how = "is not there" if not state else "is switched off"
            lost = "nothing makes good what events lose" if rule == TICK else "what it brings comes only with the clock"
            remedy = "`aws events enable-rule`, or deploy the stack again"
            yield Finding(weight, rule, f"this rule {how}: {lost}", remedy)
    if facts.skew is not None and abs(facts.skew) > SKEW:
        weight = Weight.ERROR if abs(facts.skew) > WRONG_CLOCK else Weight.WARNING
        side = "ahead of" if facts.skew > 0 else "behind"
        text = f"the clock of this machine is {abs(facts.skew):.0f} s {side} that of AWS"
        yield Finding(weight, "clock", text, "set it by NTP: pins and stops are stamped with it")
    if facts.letters:
        text = f"{counted(facts.letters, 'message')} could not be handled"
        yield Finding(
            Weight.WARNING, "dead letters", text, "`pointsman dlq show` says why, `dlq redrive` sends them back"
        )
    for alarm in facts.fired:
        text, remedy = "this alarm of the stack stands in ALARM", "docs/operations.md has a part on each alarm"
        yield Finding(Weight.WARNING, alarm, text, remedy)
    for function, count in facts.errors.items():
        if count:
            text = f"it failed {'once' if count == 1 else f'{count} times'} in the last hour"
            yield Finding(Weight.WARNING, function, text, "its log group has the lines with the traceback")


def _queue(queue: QueueSeen, now: float) -> Iterator[Finding]:
    name = queue.name
    if queue.policy is None:
        remedy = "mend it and `pointsman policy apply` it again, or `policy rollback`"
        yield Finding(Weight.ERROR, name, f"its stored policy cannot be read: {queue.unreadable}", remedy)
    elif queue.description is None and not queue.unread:
        remedy = "create the queue, or mend the name in its policy"
        yield Finding(Weight.ERROR, name, "Batch has no job queue of this name", remedy)
    elif queue.description is not None:
        yield from _fit(queue)
    yield from _wakes(queue, now)
    if queue.policy is not None:
        for pattern in queue.no_alarms:
            text = f"its policy waits for the alarm {pattern}, and there is none of such a name"
            yield Finding(Weight.WARNING, name, text, "create the alarm, or mend the name in the policy")
        yield from _submissions(queue)
        if queue.policy.mode is Mode.OBSERVE:
            text = "its mode is observe: it decides, explains and records, and changes nothing"
            yield Finding(Weight.NOTE, name, text, "`mode: act` in its policy, once its decisions are trusted")


def _fit(queue: QueueSeen) -> Iterator[Finding]:
    """Whether the queue is one that can obey, and what else has written to what it states."""
    policy, description = queue.policy, queue.description
    if policy is None or description is None:
        return
    for unfit in misfits(description, policy):
        yield Finding(Weight.ERROR, queue.name, f"{unfit.message}; nothing is moved", unfit.remedy)
    if not description.enabled:
        yield Finding(Weight.WARNING, queue.name, "it is disabled: nothing in it starts", "enable the queue")
    if description.kind is QueueKind.QUOTA_SHARE and not description.quota_shares:
        yield Finding(Weight.WARNING, queue.name, "it has no quota share: nothing in it can start", "create one")
    if warned := unlisted(description, policy.share):
        yield Finding(Weight.WARNING, queue.name, warned, "list the share in the scheduling policy, or mend its name")
    for text in queue.outstanding:
        remedy = (
            "the next pass of a queue that acts sets it; let the template that made the queue state the same, or each "
            "of its deployments writes it over"
        )
        yield Finding(Weight.WARNING, queue.name, text, remedy)
    if description.kind in (QueueKind.FIFO, QueueKind.CONTAINER) and policy.mode is not Mode.ACT:
        text = f"it is a {description.kind} queue: nothing in it can be moved, it is measured only"
        yield Finding(Weight.NOTE, queue.name, text, "submit to a SageMaker queue with fair share or quota shares")


def _wakes(queue: QueueSeen, now: float) -> Iterator[Finding]:
    record = queue.record
    if record.version == 0:
        yield Finding(
            Weight.WARNING, queue.name, "it never had a pass", "wait a minute; else look at the minute's rule"
        )
        return
    if record.lease_until > now + LONGEST_LEASE:
        text = f"a pass holds it until {when(record.lease_until)}: a clock was wrong when it began"
        yield Finding(
            Weight.WARNING, queue.name, text, "nothing: such a lease is not believed, and the next pass ends it"
        )
    late = now - record.next_wake_at
    if record.next_wake_at and late > OVERDUE:
        held = " by a pass that never gave it back" if record.owner else ""
        last = f"since {when(record.next_wake_at)} it is due for a pass{', held' + held if held else ''}"
        remedy = "look for errors, throttles and dead letters: docs/operations.md#a-queue-or-a-rollout-is-overdue"
        yield Finding(Weight.ERROR, queue.name, last, remedy)
    if record.problem:
        text = f"its last pass said: {record.problem}"
        yield Finding(Weight.WARNING, queue.name, text, "`pointsman queue show` says it with what to do")


def _submissions(queue: QueueSeen) -> Iterator[Finding]:
    """With in-share preemption on, a waiting job evicts whoever is lower: people's own priorities do it by accident."""
    if queue.description is None:
        return
    for share in (share.name for share in queue.description.quota_shares if share.preempts):
        jobs = [job for job in queue.submissions if job.share == share]
        remedy = (
            "let all submit with one priority below 4000: examples/people.yaml is an IAM policy that holds them to it"
        )
        if above := [job.name for job in jobs if job.priority >= RESERVED]:
            where = f"above {RESERVED - 1}, where only evictions that are asked for may be"
            text = f"in share {share} {_jobs(above)} submitted {where}"
            yield Finding(Weight.ERROR, queue.name, text, remedy)
        priorities = sorted({job.priority for job in jobs})
        if len(priorities) > 1:
            text = (
                f"in share {share} jobs are submitted with priorities from {priorities[0]} to {priorities[-1]} while "
                "in-share preemption is on: the higher ones evict by themselves"
            )
            yield Finding(Weight.WARNING, queue.name, text, remedy)


def _jobs(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more} {'was' if len(names) == 1 else 'were'}"


def _rollouts(facts: Facts) -> Iterator[Finding]:
    for rollout in facts.rollouts:
        if facts.now - rollout.due > OVERDUE:
            remedy = "`pointsman rollout show`; docs/operations.md#a-queue-or-a-rollout-is-overdue"
            yield Finding(Weight.ERROR, rollout.name, f"since {when(rollout.due)} it is due for a pass", remedy)
        for alarm in rollout.no_alarms:
            text = f"it watches the alarm {alarm}, and there is none of this name"
            yield Finding(Weight.WARNING, rollout.name, text, "create the alarm: a wave is not passed without it")


def _people(facts: Facts) -> Iterator[Finding]:
    if facts.still is not None:
        text = standing_still(facts.still).removesuffix(" (`pointsman start` ends it)")
        yield Finding(Weight.WARNING, "stop", text, "`pointsman start` ends it")
    for verbs, missing in facts.denied.items():
        yield Finding(Weight.WARNING, "permissions", f"you may not {verbs}", f"allow yourself {', '.join(missing)}")
    for check, why in facts.left_out.items():
        yield Finding(Weight.NOTE, check, f"this was not looked at: {why}", "allow yourself to read it, and ask again")
    if not facts.queues and "policies" not in facts.left_out:
        text = "no queue has a policy: jobs are recorded, and nothing is decided"
        yield Finding(Weight.NOTE, "policies", text, "`pointsman policy apply`")
