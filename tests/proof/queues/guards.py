"""What each guard of the queue loop is worth: a function, a constant or a port is replaced, here and only here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from pointsman.loops import alarms, listing, observe, queue, recorder, rows, share_keeper
from pointsman.ports import QueueRecord
from pointsman.queues import decide, levels, victims
from pointsman.queues.effects import Effect
from pointsman.queues.jobs import BusyJob, JobRecord, Sighting
from pointsman.queues.policy import Mode, Policy
from pointsman.queues.quota import Rooms
from pointsman.queues.ranking import Ranks
from pointsman.queues.view import QueueView
from pointsman.queues.waiting import Waiting
from tests.fakes.control import FakeControl
from tests.fakes.job_table import FakeJobTable
from tests.proof.frame import INTACT, Guard
from tests.proof.queues import world

Choose = Callable[[QueueView, Policy, Ranks, Rooms, Waiting, Sequence[BusyJob]], Any]


@dataclass(frozen=True, slots=True)
class Off:
    """A guard, and what stands in its place when it is taken away."""

    guard: Guard
    place: Any
    name: str
    instead: Any


def _off(name: str, profile: str, invariants: str, place: Any, attribute: str, instead: Any) -> Off:
    return Off(Guard(name, profile, frozenset(invariants.split())), place, attribute, instead)


def _never_leased(table: FakeJobTable, name: str) -> QueueRecord:
    """Nobody holds a lease."""
    return replace(table.queues.get(name, QueueRecord(name)), lease_until=0.0)


def _last_come(record: JobRecord | None, seen: Sighting) -> JobRecord | None:
    """What comes last counts."""
    if record is None or seen.detail is not None:
        return merge(record, seen)
    started = seen.started if seen.status.stage.value == "busy" else None
    return replace(record, status=seen.status, at=seen.at, started=started, stopped=seen.stopped)


merge = recorder.merge


def _choosing(changes: Mapping[str, Any]) -> Choose:
    def choose(view: Any, policy: Any, ranks: Any, rooms: Any, waiting: Any, runs: Any) -> Any:
        lax = replace(policy, preemption=replace(policy.preemption, **changes)) if policy.preemption else policy
        return victims.choose(view, lax, ranks, rooms, waiting, runs)

    return choose


def _all_resume(view: Any, policy: Any, ranks: Any, rooms: Any, waiting: Any, runs: Sequence[BusyJob]) -> Any:
    """What is not known to resume counts as if it did."""
    resumed = [job if job.saved is not None else replace(job, saved=view.now) for job in runs]
    return victims.choose(view, policy, ranks, rooms, waiting, resumed)


def _any_class(view: Any, _: Policy, rule: Any, __: Any, running: Sequence[BusyJob]) -> list[BusyJob]:
    """Jobs of the evictor's own class and above are victims too."""
    old = [other for other in running if other.started is not None and view.now - other.started >= rule.protect]
    return [other for other in old if other.saved is not None and other.preempted < rule.at_most_per_job]


def _judged_ours(row: JobRecord, before: JobRecord | None, write: Any, ours: int | None) -> JobRecord:
    """No priority is ever someone else's."""
    return replace(judge(row, before, write, ours), foreign=False)


judge = rows.judge_priority


def _forever(*args: Any, **kwargs: Any) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """An effect is not confirmed from its alarm's history: it lasts as long as it was first said to."""
    effects, told = effects_now(*args, **kwargs)
    return tuple(replace(effect, ended=None) for effect in effects), told


effects_now = alarms.effects_now


def _never_overdue(*args: Any, **kwargs: Any) -> Ranks:
    """Nobody goes first because it has waited too long."""
    ranks = ranks_at(*args, **kwargs)
    return replace(ranks, limits=dict.fromkeys(ranks.limits, float("inf")))


ranks_at = decide.ranks_at


def _all_alike(*args: Any, **kwargs: Any) -> Ranks:
    """No class goes before another."""
    ranks = ranks_at(*args, **kwargs)
    return replace(ranks, head_starts=dict.fromkeys(ranks.head_starts, 0.0))


def _acting(document: str) -> Policy:
    """Every policy acts."""
    return replace(world.checked(document), mode=Mode.ACT)


def _no_restart(share: Any, setting: Any, current: int, note: Any, wish: Any, now: float) -> Any:
    """What was changed of a share is not given back."""
    return settle(share, setting, current, note, wish, now) if wish is not None else share_keeper.Step()


settle = share_keeper.settle


def _gone_for_good(row: JobRecord | None, seen: Sighting) -> JobRecord | None:
    """A job that was let go since Batch did not know it never comes back."""
    return None if row is not None and row.folded else merge(row, seen)


def _gone_when_refused(row: JobRecord, now: float, **_: bool) -> JobRecord:
    """Who holds capacity is gone when Batch has said twice that it does not know him."""
    return refuse(row, now, unlisted=True)


refuse = rows.refuse

_OFF = (
    _off("lease", "overlap", "Q5", FakeJobTable, "queue", _never_leased),
    _off("fence before a write", "overlap", "Q5", queue.QueueLoop, "_fence", lambda *_: None),
    _off("budget of calls", "one-share", "Q4", FakeJobTable, "take_budget", lambda _, wanted, __: wanted),
    _off("observe mode", "observe", "Q2", world, "read", _acting),
    _off("stop switch", "observe", "Q2", FakeControl, "stopped", lambda _: False),
    _off("intent before the write", "deaths", "Q3", FakeControl, "put_writes", lambda *_: None),
    _off("intent in the place of the one read", "overlap", "Q5", FakeControl, "_at", lambda *_: None),
    _off("doubt after a death", "deaths", "Q3", observe.Observer, "_doubt_unrecorded", lambda _, record, *__: record),
    _off("doubt after a lost answer", "answers", "Q3", queue, "doubted", lambda *_: None),
    _off("order of events", "one-share", "Q3", recorder, "merge", _last_come),
    _off("contradictions with the snapshot", "one-share", "Q3", observe, "contradictions", lambda *_: set()),
    _off("people's priorities", "people", "Q3", rows, "judge_priority", _judged_ours),
    _off("the alarm's own history", "alarms", "Q9", observe, "effects_now", _forever),
    _off("giving a share back", "lending", "Q9", share_keeper, "settle", _no_restart),
    _off("check of a policy", "people", "Q10", world, "parse_policy", lambda _: world.checked(world.GOOD)),
    _off("the longest wait", "one-share", "Q7", decide, "ranks_at", _never_overdue),
    _off("head starts of classes", "one-share", "Q3", decide, "ranks_at", _all_alike),
    _off("describing both parties", "levels", "Q6", levels, "_sure", lambda *_: True),
    _off("shields", "levels", "Q6", levels, "SHIELD", 0),
    _off("protecting what runs", "levels", "Q6", levels, "protecting", lambda *_: []),
    _off("protect", "levels", "Q6", levels, "choose", _choosing({"protect": 0.0})),
    _off("at most so often", "levels", "Q6", levels, "choose", _choosing({"at_most_per_job": 10**6})),
    _off("resuming is known", "switch", "Q6", levels, "choose", _all_resume),
    _off("lower classes only", "switch", "Q6", victims, "_lawful", _any_class),
    _off("who evicts stands first", "levels", "Q6", levels, "_stands_first", lambda *_: True),
    _off("whom Batch starts by itself", "levels", "Q6", levels, "starting", lambda *_: []),
    _off("being sure of what runs", "levels", "Q6", observe, "settled", lambda *_: True),
    _off("a look that is fresh", "stalls", "Q6", queue, "FRESH", float("inf")),
    _off("what no listing has", "lending", "Q3", listing.Listing, "missing", lambda *_: set()),
    _off("a listing beside what is refused", "levels", "Q6", rows, "refuse", _gone_when_refused),
    _off("coming back though it was let go", "one-share", "Q3", rows, "merge", _gone_for_good),
    _off("no time ahead of the clock", "clocks", "Q3", observe, "no_later_than", lambda _, row: row),
)
GUARDS = tuple(off.guard for off in _OFF)


@contextmanager
def without(name: str) -> Iterator[None]:
    """Take this guard away."""
    if name == INTACT:
        yield
        return
    off = next(off for off in _OFF if off.guard.name == name)
    with mock.patch.object(off.place, off.name, off.instead):
        yield
