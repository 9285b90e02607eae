"""A queue that Pointsman steers: the production `decide` on the model of Batch, with what it sees late and may call.

What is modelled of the loop: events that come late and in any order, the wake's bucket, the least gap between two
passes, one Describe of each new job, the account's budget of calls, and the snapshot's true use.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import heappop, heappush
from itertools import count
from random import Random
from types import MappingProxyType

from pointsman.queues import quota as core
from pointsman.queues.decide import Decision, decide
from pointsman.queues.estimates import Finished, History, Kind, name_pattern
from pointsman.queues.evictions import Eviction
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import Mode, Policy, due_of
from pointsman.queues.quota import ANY_TYPE
from pointsman.queues.reasons import Reason
from pointsman.queues.usage import Usage
from pointsman.queues.view import QueueView, Share
from pointsman.queues.waiting import Waiting
from pointsman_emulator.models.batch import (
    BatchModel,
    BatchRefusedError,
    BatchSettings,
    JobChange,
    QuotaShare,
    QuotaSharePolicy,
    ServiceJob,
)
from pointsman_simulator.baselines import POOL, QUEUE, runs_of
from pointsman_simulator.clock import since
from pointsman_simulator.measures import Run
from pointsman_simulator.replay import Replay, World
from pointsman_simulator.shares import in_turn, quotas_of, several, share_of, weights_of
from pointsman_simulator.traces import TraceJob

BUCKET = 10.0  # seconds: a wake is visible once its bucket has closed
DESCRIBES = 40  # of jobs, at most, in one pass
EVICTIONS_KEPT = 3600.0  # seconds, at least
YOUNGEST = 1e-6
INSTANCE_TYPE = "ml.g5.xlarge"  # one GPU
_SETTLE = 1e12


def pointsman(replay: Replay, world: World, policy: Policy) -> Run:
    """Pointsman in a fair-share queue: nothing that runs can be evicted."""
    return _Steered("pointsman", replay, world, policy).play()


def pointsman_quota(replay: Replay, world: World, policy: Policy) -> Run:
    """Pointsman in quota shares with in-share preemption: it evicts as its policy says.

    One has the whole pool; several have equal parts, and lend and borrow them.
    """
    return _Evicting("pointsman_quota", replay, world, policy).play()


def pointsman_quota_youngest(replay: Replay, world: World, policy: Policy) -> Run:
    """The same by one who knows no checkpoints, and takes the youngest that may be evicted."""
    return _Youngest("pointsman_quota_youngest", replay, world, policy).play()


def check_playable(runs: Collection[str], replay: Replay, policy: Policy) -> None:
    """Raise `TraceError` where the policy cannot be played on this by one of these runs."""
    since(replay.begins, policy)
    if any(STEERED.get(name) in {pointsman_quota, pointsman_quota_youngest} for name in runs):
        quotas_of(replay, policy)


Watch = Callable[[QueueView, Decision], None]
"""Sees what every pass saw and wanted."""


def watched(replay: Replay, world: World, policy: Policy, watch: Watch) -> dict[str, float]:
    """Pointsman in a fair-share queue, with someone who looks on; when each job started, by its id."""
    return _Watched(replay, world, policy, watch).starts()


@dataclass(slots=True)
class _Belief:
    """What Pointsman knows of the queue."""

    waiting: Waiting = field(default_factory=Waiting)
    busy: dict[str, BusyJob] = field(default_factory=dict)
    new: dict[str, ServiceJob] = field(default_factory=dict)  # seen, and not described yet
    steps: dict[str, int] = field(default_factory=dict)
    history: History = field(default_factory=History)
    lessons: list[Finished] = field(default_factory=list)
    past: Usage = field(default_factory=Usage)


class _Steered:
    def __init__(self, name: str, replay: Replay, world: World, policy: Policy) -> None:
        self._name, self._replay, self._world = name, replay, world
        self._policy = since(replay.begins, replace(policy, mode=Mode.ACT))
        self._weights = weights_of(policy)
        self._deadlines = {one.name: one.deadline for one in policy.classes}
        self._luck = Random(f"{world.seed} events")
        settings = BatchSettings(victim_rule=world.victim, preemption_stop=world.stop)
        self._model = BatchModel(settings, world.seed, listener=self._happened)
        self._open()
        self._jobs: dict[str, tuple[TraceJob, ServiceJob]] = {}
        self._events: list[tuple[float, int, ServiceJob, str, int]] = []
        self._sequence = count()
        self._belief = _Belief()
        self._tokens, self._tokens_at = world.saved, 0.0
        self._passed_at, self._due = float("-inf"), float("inf")
        self._calls = {"describe": 0, "update": 0, "quota": 0}

    def play(self) -> Run:
        """Run every job to its end."""
        for job in self._replay.jobs:
            self._until(job.submit)
            done = self._submit(job)
            self._jobs[done.job_id] = (job, done)
        self._until(_SETTLE)
        runs = runs_of(list(self._jobs.values()))
        return Run(
            self._name, runs, len(self._replay.jobs), self._replay.capacity, self._replay.window, calls=self._calls
        )

    def _open(self) -> None:
        self._model.add_environment(POOL, self._replay.capacity)
        self._model.add_queue(QUEUE, POOL, self._weights)

    def _submit(self, job: TraceJob) -> ServiceJob:
        return self._model.submit(QUEUE, job.name, job.instances, job.seconds, 0, share_of(job, self._policy))

    # Time

    def _until(self, end: float) -> None:
        model = self._model
        while True:
            seen = self._events[0][0] if self._events else float("inf")
            at = min(seen, self._due)
            coming = model.next_event_at
            if coming is not None and coming < min(at, end):
                model.advance(coming)
                continue
            if at > end or at == float("inf") or (coming is None and not self._belief.waiting and not self._events
                                                  and not self._belief.new):  # fmt: skip
                break
            model.advance(at)
            if seen <= self._due:
                self._see()
            else:
                self._pass(at)
        if end < _SETTLE:
            model.advance(end)

    def _happened(self, change: JobChange) -> None:
        if change.kind != "state":
            return
        at = change.at + self._luck.uniform(1.0, max(1.0, self._world.event_delay))
        heappush(self._events, (at, next(self._sequence), change.job, change.job.status, change.job.step))

    def _see(self) -> None:
        at, _, job, status, step = heappop(self._events)
        belief = self._belief
        if step <= belief.steps.get(job.job_id, -1):
            return
        belief.steps[job.job_id] = step
        spec = self._jobs[job.job_id][0]
        waiting = belief.waiting.drop(job.job_id)
        belief.busy.pop(job.job_id, None)
        known = job.job_id not in belief.new
        if status in {"SUBMITTED", "RUNNABLE"}:
            if waiting is None and known and step <= 2:
                belief.new[job.job_id] = job
            else:
                belief.waiting.put(waiting or self._waiting(spec, job))
        elif status in {"SCHEDULED", "STARTING", "RUNNING"}:
            belief.new.pop(job.job_id, None)
            belief.busy[job.job_id] = BusyJob(
                job.job_id, job.name, _kind(spec), spec.gpus, job.started_at, share_of(spec, self._policy),
                job.created_at, job.priority, preempted=job.preempted_count,
            )  # fmt: skip
        else:
            belief.new.pop(job.job_id, None)
            if status == "SUCCEEDED":
                belief.lessons.append(Finished(_kind(spec), job.seconds))
        self._wake(at + BUCKET)

    def _wake(self, at: float) -> None:
        self._due = min(self._due, max(at, self._passed_at + self._world.pass_every))

    # A pass

    def _pass(self, now: float) -> None:
        self._passed_at, self._due = now, float("inf")
        belief = self._belief
        self._take(1, now)
        chosen = list(belief.new.values())[: self._take(min(DESCRIBES, len(belief.new)), now)]
        for job in chosen:
            del belief.new[job.job_id]
            belief.waiting.put(self._waiting(self._jobs[job.job_id][0], job))
        self._calls["describe"] += len(chosen)
        if self._world.without != "estimates":
            belief.history = belief.history.learn(belief.lessons)
        belief.lessons.clear()
        decision = self._decide(now)
        belief.past = decision.usage
        standby = self._world.without != "standby"
        moves = [move for move in decision.moves if standby or move.reason is not Reason.STANDBY]
        granted = self._take(len(moves), now)
        for move in moves[:granted]:
            try:
                self._model.set_priority(move.job_id, move.after)
            except BatchRefusedError:  # it ended, and the event is on its way
                continue
            self._believe(move.job_id, move.after)
        self._calls["update"] += granted
        unfinished = bool(belief.new) or granted < len(moves)
        self._wake(now if unfinished else decision.next_wake)

    def _believe(self, job_id: str, priority: int) -> None:
        waiting, busy = self._belief.waiting.get(job_id), self._belief.busy.get(job_id)
        if waiting is not None:
            self._belief.waiting.put(replace(waiting, priority=priority))
        if busy is not None:
            self._belief.busy[job_id] = replace(busy, priority=priority)

    def _decide(self, now: float) -> Decision:
        return decide(self._view(now), self._policy)

    def _view(self, now: float) -> QueueView:
        belief = self._belief
        return QueueView(
            queue=self._policy.queue,
            now=now,
            capacity=self._replay.capacity,
            used=self._model.capacity_in_use(QUEUE),
            movable=True,
            waiting=belief.waiting,
            busy=tuple(belief.busy.values()),
            shares=self._shares() if several(self._policy) else (),
            history=belief.history,
            past=belief.past,
        )

    def _shares(self) -> tuple[Share, ...]:
        known = {*self._belief.waiting.shares, *(job.share for job in self._belief.busy.values())}
        return in_turn(self._model.snapshot(QUEUE), known, self._weights)

    def _take(self, wanted: int, now: float) -> int:
        self._tokens = min(self._world.saved, self._tokens + self._world.calls * (now - self._tokens_at))
        self._tokens_at = now
        granted = min(wanted, int(self._tokens))
        self._tokens -= granted
        return granted

    def _waiting(self, spec: TraceJob, job: ServiceJob) -> WaitingJob:
        return WaitingJob(
            job.job_id, job.name, _kind(spec), spec.gpus, job.created_at, job.priority, 0,
            share=share_of(spec, self._policy),
            again=job.history[-1][0] if job.preempted_count else None,
            due=due_of(self._deadlines[spec.job_class], job.created_at, {}),
        )  # fmt: skip


class _Watched(_Steered):
    """Shows every pass to someone."""

    def __init__(self, replay: Replay, world: World, policy: Policy, watch: Watch) -> None:
        self._watch = watch
        super().__init__("watched", replay, world, policy)

    def starts(self) -> dict[str, float]:
        self.play()
        return {job_id: done.started_at for job_id, (_, done) in self._jobs.items() if done.started_at is not None}

    def _decide(self, now: float) -> Decision:
        view = self._view(now)
        decision = decide(view, self._policy)
        self._watch(view, decision)
        return decision


class _Evicting(_Steered):
    """In a quota share: evictions are remembered, and both parties are described before one is asked for."""

    def __init__(self, name: str, replay: Replay, world: World, policy: Policy) -> None:
        self._evictions: dict[tuple[str, float], Eviction] = {}
        self._quotas = quotas_of(replay, policy)
        self._strategy = core.Strategy.LEND_AND_BORROW if len(self._quotas) > 1 else core.Strategy.RESERVE
        places = [n for n, one in enumerate(policy.classes) if one.preemptible]
        self._evicts = frozenset(one.name for one in policy.classes[: max(places, default=0)])
        self._preemptible = frozenset(policy.classes[n].name for n in places)
        super().__init__(name, replay, world, policy)

    def _open(self) -> None:
        self._model.add_environment(POOL, {INSTANCE_TYPE: self._replay.capacity})
        self._model.add_queue(QUEUE, POOL, QuotaSharePolicy())
        for name, quota in self._quotas.items():
            share = QuotaShare({INSTANCE_TYPE: quota}, self._strategy.value, in_share_preemption=True)
            self._model.add_share(QUEUE, name, share)

    def _submit(self, job: TraceJob) -> ServiceJob:
        return self._model.submit(
            QUEUE, job.name, job.instances, job.seconds, 0, quota_share=share_of(job, self._policy),
            instance_type=INSTANCE_TYPE, checkpoint_seconds=self._world.checkpoint,
        )  # fmt: skip

    def _happened(self, change: JobChange) -> None:
        if change.kind == "preempted":
            change.job.seconds += self._world.restart
        super()._happened(change)

    def _decide(self, now: float) -> Decision:
        self._note_checkpoints(now)
        view = self._view(now)
        decision = decide(view, self._policy)
        if decision.describe:
            self._calls["describe"] += self._take(len(decision.describe), now)
            decision = decide(replace(view, described=frozenset(decision.describe)), self._policy)
        for eviction in decision.evictions:
            self._evictions[eviction.evictor.job_id, eviction.asked] = eviction
        return decision

    def _view(self, now: float) -> QueueView:
        rule = self._policy.preemption
        kept = now - max(EVICTIONS_KEPT, rule.patience if rule else 0.0)
        self._evictions = {key: one for key, one in self._evictions.items() if one.open or (one.ended or 0.0) > kept}
        return replace(
            super()._view(now),
            quota_shares=tuple(
                core.QuotaShare(name, "", ((ANY_TYPE, quota),), self._strategy, preempts=True)
                for name, quota in self._quotas.items()
            ),
            pool=((ANY_TYPE, self._replay.capacity),),
            evictions=tuple(self._evictions.values()),
        )

    def _shares(self) -> tuple[Share, ...]:
        return ()  # quota shares stand in the view by themselves

    def _note_checkpoints(self, now: float) -> None:
        """Say of the jobs that may be evicted what they have saved, once somebody may want their place."""
        rule, belief = self._policy.preemption, self._belief
        if rule is None or not any(
            job.kind.job_class in self._evicts and now - job.submitted >= rule.patience for job in belief.waiting
        ):
            return
        for job in list(belief.busy.values()):
            if job.kind.job_class in self._preemptible and job.started is not None:
                saved = self._saved(job, job.started, now)
                if saved != job.saved:
                    belief.busy[job.job_id] = replace(job, saved=saved)

    def _saved(self, job: BusyJob, started: float, now: float) -> float:  # noqa: ARG002 - a rule may need the job
        grid = self._world.checkpoint
        return now if self._world.without == "moment" else started + (now - started) // grid * grid


class _Youngest(_Evicting):
    def _saved(self, job: BusyJob, started: float, now: float) -> float:
        """A moment ago, and the sooner the longer it runs: any moment will do, and the youngest seems to lose least."""
        return now - (now - started) * YOUNGEST / job.size


def _kind(spec: TraceJob) -> Kind:
    return _one_kind(spec.team, name_pattern(spec.name), spec.instances, spec.job_class)


@cache
def _one_kind(team: str, pattern: str, size: int, job_class: str) -> Kind:
    """The kind of these, one and the same object each time: to compare it is to look once."""
    return Kind(team, pattern, size, job_class)


STEERED: Mapping[str, Callable[[Replay, World, Policy], Run]] = MappingProxyType(
    {rule.__name__: rule for rule in (pointsman, pointsman_quota, pointsman_quota_youngest)}
)
