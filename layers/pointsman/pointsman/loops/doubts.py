"""What a pass should not believe yet: where the snapshot and the table disagree, and what to describe first."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from pointsman.loops.view import UNDESCRIBED, table_use
from pointsman.ports import QueueRecord, Snapshot
from pointsman.queues.classify import Classifier
from pointsman.queues.jobs import JobRecord, Stage, mark_of
from pointsman.queues.policy import Policy
from pointsman.queues.standby import LOWEST

SNAPSHOT_JOBS = 100  # a snapshot names no more
SETTLED = 60.0  # seconds after which an event is older than any lag of a listing
WRITTEN = 15.0  # seconds after a pass began by which its writes are in a snapshot
ODD_JOBS = 10  # people raise a job or two: where more are out of order, the snapshot is behind


def contradictions(
    known: Mapping[str, JobRecord], snapshot: Snapshot | None, priorities: Mapping[str, int]
) -> set[str]:
    """Jobs on which the snapshot and the table disagree, where the snapshot is the newer of the two."""
    if snapshot is None:
        return set()
    front = set(snapshot.front)
    whole = snapshot.whole and len(front) < SNAPSHOT_JOBS
    doubts = set()
    for row in known.values():
        if row.at >= snapshot.at - 1:
            continue
        waits = row.stage is Stage.WAITING
        expected = whole or (snapshot.whole and priorities.get(row.job_id, 0) >= LOWEST)
        if waits is not (row.job_id in front) and (expected or not waits):
            doubts.add(row.job_id)
    return doubts


def disordered(known: Mapping[str, JobRecord], snapshot: Snapshot | None, record: QueueRecord) -> set[str]:
    """Neighbours of one share whom the snapshot shows in another order than we believe: someone may have set one.

    It is the only cheap sight of a priority that someone else set. A snapshot older than our own writes tells nothing.
    """
    if snapshot is None or snapshot.at < record.passed_at + WRITTEN:
        return set()
    ours = dict(record.priorities)
    last: dict[str | None, tuple[str, int]] = {}
    odd: set[str] = set()
    for job_id in snapshot.front:
        row = known.get(job_id)
        if row is None or row.detail is None or row.doubtful:
            continue
        believed = row.detail.priority if row.foreign else ours.get(job_id, row.detail.priority)
        before = last.get(row.detail.share)
        if before is not None and before[1] < believed:
            odd |= {before[0], job_id}
        last[row.detail.share] = (job_id, believed)
    return odd if len(odd) <= ODD_JOBS else set()


def suspicious(known: Mapping[str, JobRecord], snapshot: Snapshot | None, doubts: set[str]) -> bool:
    """Whether events seem to be missing: the use differs from what the table adds up to, or jobs are in doubt."""
    if snapshot is None:
        return False
    newest = max((row.at for row in known.values()), default=0.0)
    return bool(doubts) or (newest <= snapshot.at - SETTLED / 2 and table_use(known) != snapshot.used)


def to_describe(
    known: Mapping[str, JobRecord], snapshot: Snapshot | None, doubts: set[str], policy: Policy
) -> list[str]:
    """What to describe, the most useful first: doubts, the front, the waiting, the busy, the ended.

    So are jobs of which tags were left out that the policy reads now.
    """
    mark = mark_of(policy.tags_read)
    place = {job_id: n for n, job_id in enumerate(snapshot.front if snapshot else ())}
    stages = {Stage.WAITING: 2, Stage.BUSY: 3, Stage.ENDED: 4}
    wanted: dict[str, tuple[float, ...]] = {job_id: (1, n) for job_id, n in place.items() if job_id not in known}
    line: list[JobRecord] = []
    for row in known.values():
        doubted = row.doubtful or row.job_id in doubts
        if doubted or row.detail is None or row.detail.lacks_tags(mark):
            if doubted or row.job_id in place:
                wanted[row.job_id] = (0 if doubted else 1, place.get(row.job_id, 0), row.created)
            elif row.stage is Stage.WAITING:
                line.append(row)
            else:
                wanted[row.job_id] = (stages[row.stage], row.created)
    wanted |= {job_id: (stages[Stage.WAITING], n) for n, job_id in enumerate(_by_name(line, policy))}
    return sorted(wanted, key=lambda job_id: wanted[job_id])


def _by_name(line: Iterable[JobRecord], policy: Policy) -> list[str]:
    """Waiting jobs, those first whose names alone say that they are of a class, the most urgent class first.

    What the others are only a Describe tells: in turns the oldest and the newest, so that a new one of them waits for
    no long line of old ones, nor the other way round.
    """
    urgency, classifier = {c.name: n for n, c in enumerate(policy.classes)}, Classifier(policy)
    named: list[tuple[int, float, str]] = []
    others: list[tuple[float, str]] = []
    for row in line:
        of = urgency[classifier.job_class(row.name, UNDESCRIBED).name]
        if of == len(urgency) - 1:
            others.append((row.created, row.job_id))
        else:
            named.append((of, row.created, row.job_id))
    rest = [job_id for _, job_id in sorted(others)]
    return [job_id for *_, job_id in sorted(named)] + _in_turns(rest)


def _in_turns(line: Sequence[str]) -> list[str]:
    """The first, the last, the second, the last but one, and so on."""
    half = (len(line) + 1) // 2
    turns = zip_longest(line[:half], line[: half - 1 : -1] if half else ())
    return [job_id for pair in turns for job_id in pair if job_id is not None]
