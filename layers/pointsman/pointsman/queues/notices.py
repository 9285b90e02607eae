"""What people are told of a queue, once for each time that it begins: what stands, and what happened."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pointsman.queues.jobs import JobRecord, Stage, Status
from pointsman.queues.policy import Policy
from pointsman.queues.reasons import Move, Reason, Told

NEW_AT_MOST = 25  # of what stands, notices that one pass begins; the next pass goes on
EACH = 5  # new ones of a kind that are told one by one; more are told as one
NAMED = 10  # jobs that such a one names
LOOK = 3600.0  # seconds that a look may be old; a notice that began further ahead has its time from a wrong clock
HAPPENED = ("failed", "unplanned")  # kinds that never end, and so are told once for good
_CAPACITY, _TOO_BIG, _QUOTA = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)
_REMEDIES = {
    _CAPACITY: "wait, take another instance type or a training plan, or end the job so that the next is looked at",
    _TOO_BIG: "raise the service environment's limit, or end the job: until then nothing behind it is looked at",
    _QUOTA: "raise the share's limit or what it may borrow, or end the job: nothing behind it in its share starts",
}
_CODES = ("CAPACITY:", "MISCONFIGURATION:")  # what Batch's words begin with when a job at the front is stuck


@dataclass(frozen=True, slots=True)
class QueueNotice:
    """What people are told of a queue: `key` says of what, `since` when it began.

    `sent` says that they were told, `over` that it has ended, so that it is told anew when it begins again.
    """

    key: str
    sentence: str
    since: float
    sent: bool = False
    over: bool = False

    def id(self, queue: str) -> str:
        """One for each time that it began, the same whenever it is sent."""
        return f"{queue}/{self.key}/{self.since:.0f}"

    @property
    def happened(self) -> bool:
        """Whether it is something that happened, and not a state that ends."""
        return self.key.partition("/")[0] in HAPPENED


Change = tuple[QueueNotice, QueueNotice | None]
"""A notice as it should be stored, and as it is stored now (None: not at all)."""


def standing(told: Iterable[Told], rows: Iterable[JobRecord], queue: str) -> dict[str, str]:
    """What stands now: by key, the sentence. A blocked queue first, with Batch's reason and the remedy."""
    found: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.created, row.job_id)):
        if row.stage is Stage.WAITING and row.reason.startswith(_CODES):
            code = row.reason.partition(" - ")[0].strip()
            remedy = _REMEDIES.get(code, "look at the job at its front")
            found[f"blocked/{row.job_id}"] = f"Queue {queue} is blocked by {row.name}: {row.reason} ({remedy})."
    return found | {f"{one.what.value}/{one.job_id}": one.sentence for one in told}


def failures(rows: Iterable[JobRecord], policy: Policy) -> dict[str, str]:
    """The jobs among these that failed and are of the policy's first class, if it has more than one."""
    first, found = policy.classes[0], dict[str, str]()
    for row in rows if len(policy.classes) > 1 else ():
        if row.status is not Status.FAILED or row.detail is None:
            continue
        if policy.classify(row.name, row.detail.tags, row.detail.share) == first:
            team = row.detail.tags.get("team")
            owner = f" Its owner is {team}." if team else ""
            why = (row.reason or "Batch gives no reason").rstrip(".")
            found[f"failed/{row.job_id}"] = f"{row.name} ({first.name}) has failed: {why}.{owner}"
    return found


def unplanned(moves: Iterable[Move], rows: Mapping[str, JobRecord]) -> dict[str, str]:
    """The evictions among these that nobody had asked for; each of a job's has a key of its own."""
    return {
        f"unplanned/{move.job_id}/{rows[move.job_id].preemptions}": move.sentence
        for move in moves
        if move.reason is Reason.UNPLANNED and move.job_id in rows
    }


def transitions(
    stored: Iterable[QueueNotice],
    stands: Mapping[str, str],
    happened: Mapping[str, str],
    now: float,
    unsure: Collection[str] = (),
) -> list[Change]:
    """What to store so that what begins is told, once, and what has ended can begin again.

    Of jobs that are `unsure` nothing ends: the next look may see them as they were. Nor does what began after `now`,
    when a pass looked that stood still since.
    """
    kept = {notice.key: notice for notice in stored}
    changes: list[Change] = [
        (replace(notice, over=True), notice)
        for notice in kept.values()
        if not (notice.over or notice.happened or notice.key in stands or notice.key.split("/")[1] in unsure)
        and not now < notice.since < now + LOOK
    ]
    begin = [(key, text) for key, text in happened.items() if key not in kept]
    begin += [(key, text) for key, text in stands.items() if key not in kept or kept[key].over][:NEW_AT_MOST]
    kinds: dict[str, list[QueueNotice]] = {}
    for key, text in begin:
        kinds.setdefault(key.partition("/")[0], []).append(QueueNotice(key, text, now))
    for notices in kinds.values():
        changes += [(notice, kept.get(notice.key)) for notice in _as_few(notices)]
    return changes


def _as_few(notices: list[QueueNotice]) -> list[QueueNotice]:
    """Where many of a kind begin at once, the first tells of all; it is stored before those that are told by it."""
    if len(notices) <= EACH:
        return notices
    first, *rest = notices
    ids = ", ".join(notice.key.split("/")[1] for notice in rest[:NAMED]) + (", ..." if len(rest) > NAMED else "")
    whole = replace(first, sentence=f"{first.sentence} And {len(rest)} more jobs are so: {ids}.")
    return [whole, *(replace(notice, sent=True) for notice in rest)]
