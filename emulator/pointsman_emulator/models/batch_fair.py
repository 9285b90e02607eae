"""A fair-share queue: the share that has used least for its weight is next."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_line import WaitingLine
from pointsman_emulator.models.batch_policies import FairShare, Policy
from pointsman_emulator.models.batch_queue import JobQueue
from pointsman_emulator.models.batch_usage import MINIMUM_DECAY_SECONDS, UsageMeter
from pointsman_emulator.models.batch_values import ANY_TYPE, BatchRefusedError, BatchSettings

ACTIVE_SHARES = 500
"""Active share ids of one queue; a submission that adds one more fails (API:CreateJobQueueRequest)."""

Rank = tuple[float, float, float, float]


class _Share:
    def __init__(self, name: str, meter: UsageMeter, *, by_size: bool) -> None:
        self.name = name
        self.meter = meter
        self.line = WaitingLine(by_size=by_size)
        self.entry: str | None = None
        self.weight = 1.0
        self.unfinished = 0


class FairQueue(JobQueue):
    """A queue with a fair-share policy. It never preempts (UG:preemption)."""

    def __init__(
        self,
        name: str,
        environment: Environment,
        policy: FairShare,
        priority: int,
        settings: BatchSettings,
        now: float,
    ) -> None:
        super().__init__(name, environment, priority, settings, now)
        self._policy = policy
        self._opened_at = now
        self._shares: dict[str, _Share] = {}
        self._waiting: dict[str, _Share] = {}
        self._busy = 0
        self._busy_under: dict[str, int] = {}
        self._idle: dict[str, float] = {}

    @property
    def policy(self) -> FairShare:
        """The scheduling policy."""
        return self._policy

    def replace(self, policy: Policy) -> None:
        """Take another policy of this kind, from the next look on."""
        if not isinstance(policy, FairShare):
            raise BatchRefusedError("A fair-share policy can only be replaced by another")
        self._policy = policy
        self._busy_under.clear()
        for share in self._shares.values():
            share.meter.window = self._window
            self._weigh(share)
            if share.unfinished:
                self._count(share, 1)

    def admit(self, share: str, now: float) -> None:
        """Refuse a share that would be the 501st active one."""
        known = self._shares.get(share)
        if not (known and known.unfinished) and share not in self._idle and self.active_shares(now) >= ACTIVE_SHARES:
            raise BatchRefusedError(f"The job queue has {ACTIVE_SHARES} active share identifiers already")

    def active_shares(self, now: float) -> int:
        """How many shares are active (UG:fair-share-scheduling).

        Active is a share with a job that has not ended, or whose last one ended within the decay period.
        """
        while self._idle:
            name, left_at = next(iter(self._idle.items()))
            if left_at + self._window > now:
                break
            del self._idle[name]
        return self._busy + len(self._idle)

    @property
    def _window(self) -> float:
        if self._policy.decay_seconds == 0 and self.settings.zero_decay == "current":
            return 0.0
        return max(MINIMUM_DECAY_SECONDS, self._policy.decay_seconds) + 60 * self.settings.order_minutes

    def _weigh(self, share: _Share) -> None:
        share.entry = self._policy.entry_of(share.name)
        share.weight = self._policy.weight_of(share.name)
        if share.entry == share.name:
            share.entry = None

    def _count(self, share: _Share, change: int) -> None:
        if share.entry is not None:
            self._busy_under[share.entry] = self._busy_under.get(share.entry, 0) + change

    def _weight(self, share: _Share) -> float:
        if share.entry is None:
            return share.weight
        return share.weight * max(1, self._busy_under.get(share.entry, 0))

    def _share(self, job: ServiceJob) -> _Share:
        name = job.share or ""
        found = self._shares.get(name)
        if found is None:
            meter = UsageMeter(self._window, self._opened_at, self.settings.decay_curve)
            found = self._shares[name] = _Share(name, meter, by_size=self.settings.head_of_line == "skip")
            self._weigh(found)
        return found

    def line(self, job: ServiceJob) -> WaitingLine:
        """The line of its share."""
        return self._share(job).line

    def add(self, job: ServiceJob) -> None:
        """A job became RUNNABLE."""
        super().add(job)
        self._waiting[job.share or ""] = self._share(job)

    def remove(self, job: ServiceJob) -> None:
        """A job is RUNNABLE no longer."""
        super().remove(job)
        if not len(self.line(job)):
            del self._waiting[job.share or ""]

    def is_head(self, job: ServiceJob) -> bool:
        """Yes: use decays, so that after any change another share may be next."""
        return True

    def arrive(self, job: ServiceJob) -> None:
        """A job was submitted: its share is active."""
        share = self._share(job)
        share.unfinished += 1
        if share.unfinished == 1:
            self._busy += 1
            self._idle.pop(share.name, None)
            self._count(share, 1)

    def leave(self, job: ServiceJob, now: float) -> None:
        """A job has ended: its share may be idle from now on."""
        share = self._share(job)
        share.unfinished -= 1
        if not share.unfinished:
            self._busy -= 1
            self._count(share, -1)
            if self._window > 0:
                self._idle[share.name] = now

    def occupy(self, job: ServiceJob, now: float) -> None:
        """A job took its instances; its share's use is metered."""
        super().occupy(job, now)
        self._share(job).meter.change(now, job.instances)

    def vacate(self, job: ServiceJob, now: float) -> None:
        """A job gave its instances back."""
        super().vacate(job, now)
        self._share(job).meter.change(now, -job.instances)

    def _room(self, now: float) -> int:
        environment = self.environment
        held = 0.0
        if self._policy.compute_reservation:
            held = environment.limits[ANY_TYPE] * (self._policy.compute_reservation / 100) ** self.active_shares(now)
        return int(environment.limits[ANY_TYPE] - held) - environment.usage.get(ANY_TYPE, 0)

    def choose(self, now: float) -> ServiceJob | None:
        """The head of the share with the lowest use x weight, if it fits (UG:share-identifiers)."""
        room = self._room(now)
        strict = self.settings.head_of_line == "strict"

        def fits(job: ServiceJob) -> bool:
            return job.instances <= room and job.not_before <= now

        best: Rank | None = None
        chosen = None
        for share in self._waiting.values():
            job = share.line.head() if strict else share.line.candidate(fits)
            if job is None:
                continue
            rank = self._rank(share, job, now)
            if best is None or rank < best:
                best, chosen = rank, job
        if chosen is not None and fits(chosen):
            return chosen
        self.heads = [chosen] if chosen is not None else [*self._first(now)]
        return None

    def _first(self, now: float) -> list[ServiceJob]:
        for job in self.order(now):
            return [job]
        return []

    def _rank(self, share: _Share, job: ServiceJob, now: float, extra: int = 0) -> Rank:
        weight = self._weight(share)
        meter = share.meter
        return (meter.usage(now) * weight, (meter.in_use + extra) * weight, job.created_at, job.order)

    def order(self, now: float) -> Iterator[ServiceJob]:
        """The waiting jobs, as if each that goes added to its share's use at once."""
        heap: list[tuple[Rank, ServiceJob, _Share, int, Iterator[ServiceJob]]] = []
        for share in self._waiting.values():
            line = share.line.walk()
            job = next(line, None)
            if job is not None:
                heap.append((self._rank(share, job, now), job, share, 0, line))
        heapq.heapify(heap)
        while heap:
            _, job, share, extra, line = heapq.heappop(heap)
            yield job
            following = next(line, None)
            if following is not None:
                extra += job.instances
                heapq.heappush(heap, (self._rank(share, following, now, extra), following, share, extra, line))

    def share_usage(self) -> Mapping[str, Mapping[str, int]]:
        """Instances in use by share."""
        return {name: {ANY_TYPE: share.meter.in_use} for name, share in self._shares.items()}
