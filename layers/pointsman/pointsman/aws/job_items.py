"""One job as one small item, small because a queue of 100,000 waiting jobs is read through an index of such items.

The state is one attribute, a JSON list whose trailing defaults are left off: botocore spends five times as long on
an attribute for each field, and DynamoDB charges for each name. Times are kept to the millisecond, as Batch gives
them: the job's creation (which the index sorts by) in full, `at` as milliseconds after that, the others after `at`.
"""

import json
from dataclasses import replace
from typing import Any

from pointsman.aws.table import Item, number, text
from pointsman.queues.jobs import Detail, JobRecord, Stage, Status

DAY = 86_400
ENDED_DAYS, KEPT_DAYS = 7, 90  # until an item expires: a job that has ended, any other

_TAGS_OF, _TYPES, _CHECKPOINTS = "", "#", "!"  # no tag can have these names
_NAME, _S3 = "\n", "\t"  # stand for the job's name and for `s3://` in the prefix of its checkpoints
READ = "pk, s, st, v"  # of an item in the index; its queue is known, and each attribute takes time

_STATUSES = (
    Status.SUBMITTED,
    Status.PENDING,
    Status.RUNNABLE,
    Status.SCHEDULED,
    Status.STARTING,
    Status.RUNNING,
    Status.SUCCEEDED,
    Status.FAILED,
)  # by their number in an item
_NUMBERS = {status: number_ for number_, status in enumerate(_STATUSES)}
_SECTIONS = {Stage.WAITING: "W", Stage.BUSY: "R", Stage.ENDED: "F"}
_DOUBTFUL, _FOLDED, _FOREIGN, _REFUSED = 1, 2, 4, 8
# The list is: name, status, at, share, size, gpus, priority, tags, submitted priority, attempts, started, stopped,
# preemptions, flags, since when its priority is someone else's (after its creation), crashes; two places that are no
# longer written; preemptions that it outlives; what Batch says of its status; its training job.
# A later release only adds to the list's end.
# Among the tags stand the mark by which others were left out, and in a quota share instance types and checkpoints.
_DEFAULTS: list[Any] = ["", 0, 0, None, None, 0, 0, None, 0, 0, None, None, 0, 0, None, 0, None, None, None, "", ""]
_FIELDS = len(_DEFAULTS)
_NONE, _TEXT = type(None), {str}
_KINDS: list[set[type]] = [
    {str}, {int}, {int}, {str, _NONE}, {int, _NONE}, {int}, {int}, {dict, _NONE}, {int, _NONE}, {int}, {int, _NONE},
    {int, _NONE}, {int}, {int}, {int, _NONE}, {int}, {str, list, _NONE}, {str, _NONE}, {int, _NONE}, {str}, {str},
]  # fmt: skip
_sound: set[tuple[type, ...]] = set()
_LAST = 10**14  # milliseconds: the year 5138


def key(job_id: str) -> Item:
    """The key of a job's item."""
    return {"pk": text(f"JOB#{job_id}")}


def encode(record: JobRecord) -> Item:
    """The item of a record; it is in the index unless the job has ended and been learned from."""
    created, at = round(record.created * 1000), round(record.at * 1000)
    detail = record.detail
    state = [
        record.name,
        _NUMBERS[record.status],
        at - created,
        detail.share if detail else None,
        detail.size if detail else None,
        detail.gpus if detail else 0,
        detail.priority if detail else 0,
        _beside(record, detail) if detail else None,
        record.submitted_priority,
        record.attempts,
        _after(at, record.started),
        _after(at, record.stopped),
        record.preemptions,
        _DOUBTFUL * record.doubtful + _FOLDED * record.folded + _FOREIGN * record.foreign + _REFUSED * record.refused,
        _after(created, record.foreign_since or None),
        record.crashes,
        None,
        None,
        detail.outlives if detail else None,
        record.reason,
        record.training,
    ]
    while state and state[-1] == _DEFAULTS[len(state) - 1]:
        state.pop()
    ended = record.stage is Stage.ENDED
    indexed = record.queue != "" and not (ended and record.folded)
    place = ("q", "s") if indexed else ("queue", "sort")
    last = record.stopped if ended and record.stopped is not None else record.at
    return {
        **key(record.job_id),
        place[0]: text(record.queue),
        place[1]: text(f"{_SECTIONS[record.stage]}#{created:013d}"),
        "st": text(json.dumps(state, ensure_ascii=False, separators=(",", ":"))),
        "v": number(record.version),
        "expires_at": number(int(last) + DAY * (ENDED_DAYS if ended else KEPT_DAYS)),
    }


def decode(item: Item, queue: str | None = None) -> JobRecord:
    """The record of an item; `queue` is the one that the index was asked for, when the item came without.

    Raises one of `unreadable.BROKEN` for an item that is none.
    """
    state = json.loads(item["st"]["S"])
    state += _DEFAULTS[len(state) :]
    if (kinds := tuple(map(type, state[:_FIELDS]))) not in _sound:  # of many jobs there are few kinds
        _check(kinds)
    (name, number_, after, share, size, gpus, priority, tags,
     submitted, attempts, started, stopped, preemptions, flags, since, crashes,
     types, checkpoints, outlives, reason, training) = state[:_FIELDS]  # fmt: skip
    tags = tags or {}
    tags_of, types = tags.pop(_TAGS_OF, ""), _types(tags.pop(_TYPES, types), size)
    checkpoints = _checkpoints(tags.pop(_CHECKPOINTS, checkpoints), name)
    created = int((item.get("s") or item["sort"])["S"][2:])
    at = created + after
    farthest = max(created, abs(at), abs(started or 0), abs(stopped or 0), abs(since or 0))
    if farthest >= _LAST or created < 0 or number_ < 0 or (size is not None and size <= 0):
        raise ValueError("no job has these times, or this status or size")
    if tags and {*map(type, tags.values())} != _TEXT:
        raise TypeError("a tag is no text")
    return JobRecord(
        item["pk"]["S"][4:],
        (item.get("q") or item["queue"])["S"] if queue is None else queue,
        name,
        _STATUSES[number_],
        at / 1000,
        created / 1000,
        attempts,
        preemptions,
        None if started is None else (at + started) / 1000,
        None if stopped is None else (at + stopped) / 1000,
        None if size is None else Detail(size, gpus, share, priority, tags, types, checkpoints, outlives, tags_of),
        submitted,
        doubtful=bool(flags & _DOUBTFUL),
        folded=bool(flags & _FOLDED),
        foreign=bool(flags & _FOREIGN),
        refused=bool(flags & _REFUSED),
        version=int(item["v"]["N"]),
        foreign_since=0.0 if since is None else (created + since) / 1000,
        crashes=crashes,
        reason=reason,
        training=training,
    )


def rounded(record: JobRecord) -> JobRecord:
    """The record as it will be read again: its times to the millisecond."""
    return replace(
        record,
        at=round(record.at * 1000) / 1000,
        created=round(record.created * 1000) / 1000,
        started=None if record.started is None else round(record.started * 1000) / 1000,
        stopped=None if record.stopped is None else round(record.stopped * 1000) / 1000,
        foreign_since=round(record.foreign_since * 1000) / 1000,
    )


def _beside(record: JobRecord, detail: Detail) -> dict[str, Any] | None:
    """The job's tags, and beside them what few jobs have, under names that no tag can have."""
    beside: dict[str, Any] = {**detail.tags}
    if detail.tags_of:
        beside[_TAGS_OF] = detail.tags_of
    if detail.types:
        ((name, count), *more) = detail.types
        beside[_TYPES] = name if not more and count == detail.size else detail.types
    if detail.checkpoints is not None:
        short = detail.checkpoints.replace("s3://", _S3)
        beside[_CHECKPOINTS] = short.replace(record.name, _NAME) if record.name else short
    return beside or None


def _check(kinds: tuple[type, ...]) -> None:
    """Raise TypeError unless each field is of its kind; what is sound is remembered."""
    for kind, wanted in zip(kinds, _KINDS, strict=True):
        if kind not in wanted:
            raise TypeError(f"a field is {kind.__name__}")
    _sound.add(kinds)


def _types(stored: str | list[list[Any]] | None, size: int) -> tuple[tuple[str, int], ...]:
    if isinstance(stored, str):
        return ((stored, size),)
    return tuple((name, count) for name, count in stored or ())


def _checkpoints(stored: str | None, name: str) -> str | None:
    return stored and stored.replace(_NAME, name).replace(_S3, "s3://")


def _after(at: int, moment: float | None) -> int | None:
    return None if moment is None else round(moment * 1000) - at
