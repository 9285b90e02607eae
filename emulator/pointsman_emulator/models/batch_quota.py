"""A queue under quota management: each quota share is a queue of its own, with limits by instance type."""

from __future__ import annotations

import random
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from pointsman_emulator.models.batch_environment import Environment
from pointsman_emulator.models.batch_jobs import ServiceJob
from pointsman_emulator.models.batch_line import WaitingLine
from pointsman_emulator.models.batch_policies import HIGHEST_SHARES, Policy, QuotaShare, QuotaSharePolicy
from pointsman_emulator.models.batch_preemption import Preemption, victim_key
from pointsman_emulator.models.batch_queue import TOO_LARGE, Eviction, JobQueue, Stuck
from pointsman_emulator.models.batch_shares import (
    Loans,
    Share,
    borrow_limit,
    holding,
    lendable_to,
    staying,
    within,
)
from pointsman_emulator.models.batch_values import RUNNABLE, BatchRefusedError, BatchSettings, FrontJob

OVER_QUOTA = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


class QuotaQueue(JobQueue):
    """A queue with a quota-share policy, on an environment of its own (UG:create-quota-management-resources).

    Two rounds at each look: first the shares start what lies within their own limits, in the order of `share_visit`;
    then what is idle and lent goes to borrowers, first in, first out. Whom that leaves waiting may preempt.
    """

    def __init__(
        self,
        name: str,
        environment: Environment,
        policy: QuotaSharePolicy,
        priority: int,
        settings: BatchSettings,
        now: float,
        luck: random.Random,
    ) -> None:
        super().__init__(name, environment, priority, settings, now)
        self._policy = policy
        self._luck = luck
        self._shares: dict[str, Share] = {}
        self._turn = 0
        self._claiming: list[Share] = []
        self._loans: Loans | None = None
        self._now = now

    # Shares

    @property
    def policy(self) -> QuotaSharePolicy:
        """The scheduling policy."""
        return self._policy

    def replace(self, policy: Policy) -> None:
        """Take another policy of this kind."""
        if not isinstance(policy, QuotaSharePolicy):
            raise BatchRefusedError("A quota-share policy can only be replaced by another")
        self._policy = policy

    def add_share(self, name: str, value: QuotaShare) -> None:
        """Create a quota share."""
        if name in self._shares:
            raise BatchRefusedError(f"Quota share {name} already exists")
        if len(self._shares) >= HIGHEST_SHARES:
            raise BatchRefusedError(f"A job queue has {HIGHEST_SHARES} quota shares at most")
        self._check(name, value)
        self._shares[name] = Share(name, value, by_size=self.settings.head_of_line == "skip")

    def update_share(self, name: str, value: QuotaShare) -> None:
        """Change a quota share; what its jobs use above lower limits may be preempted."""
        self._check(name, value)
        self.share(name).value = value

    def remove_share(self, name: str) -> None:
        """Forget a quota share that has no unfinished jobs."""
        del self._shares[name]

    def share(self, name: str) -> Share:
        """A quota share; BatchRefusedError when there is none of this name."""
        found = self._shares.get(name)
        if found is None:
            raise BatchRefusedError(f"Quota share {name} does not exist")
        return found

    def admit(self, name: str) -> None:
        """Refuse a job for a share that is not there or is disabled (API:CreateQuotaShareRequest)."""
        if not self.share(name).value.enabled:
            raise BatchRefusedError(f"Quota share {name} is disabled")

    def _check(self, name: str, value: QuotaShare) -> None:
        value.check()
        if self.settings.limits_over_environment == "accept":
            return
        others = [share.value.limits for share in self._shares.values() if share.name != name]
        for unit, limit in value.limits.items():
            if limit + sum(limits.get(unit, 0) for limits in others) > self.environment.limits.get(unit, 0):
                raise BatchRefusedError(f"The quota shares' limits of {unit} exceed the service environment's")

    # Jobs of the queue

    def needs(self, instances: int, types: Mapping[str, int]) -> Mapping[str, int]:
        """Instances by their types."""
        return types

    def _share_of(self, job: ServiceJob) -> Share:
        return self._shares[job.quota_share or ""]

    def line(self, job: ServiceJob) -> WaitingLine:
        """The line of its quota share."""
        return self._share_of(job).line

    def reprioritise(self, job: ServiceJob, priority: int) -> None:
        """A waiting job moves in its share's line; one that holds instances is more or less likely to be preempted."""
        evictable = job.holding and job.preempting is None
        if evictable:
            self._spare(job)
        super().reprioritise(job, priority)
        if evictable:
            self._expose(job)

    def occupy(self, job: ServiceJob, now: float) -> None:
        """A job took its instances, and can be preempted from now on."""
        share = self._share_of(job)
        job.borrowed = sum(
            max(0, min(instances, share.usage.get(unit, 0) + instances - share.value.limits.get(unit, 0)))
            for unit, instances in job.needs.items()
        )
        super().occupy(job, now)
        share.charge(job.needs, 1)
        self._expose(job)

    def vacate(self, job: ServiceJob, now: float) -> None:
        """A job gave its instances back."""
        super().vacate(job, now)
        share = self._share_of(job)
        share.charge(job.needs, -1)
        if job.preempting is None:
            self._spare(job)
        else:
            self._stop(share, job, -1)

    def _expose(self, job: ServiceJob) -> None:
        share = self._share_of(job)
        draw = self._luck.random() if self.settings.victim_rule == "random" else 0.0
        job.victim_key = victim_key(job, self.settings, draw)
        insort(share.evictable, (job.victim_key, job))
        insort(share.priorities, job.priority)

    def _spare(self, job: ServiceJob) -> None:
        share = self._share_of(job)
        del share.evictable[bisect_left(share.evictable, (job.victim_key,))]
        del share.priorities[bisect_left(share.priorities, job.priority)]

    def _stop(self, share: Share, job: ServiceJob, sign: int) -> None:
        for place in (share.stopping, self.environment.stopping):
            for unit, instances in job.needs.items():
                place[unit] = place.get(unit, 0) + sign * instances

    # Who starts

    def choose(self, now: float) -> ServiceJob | None:
        """The next job that lies within its share's own limits and finds room; then the first of the borrowers."""
        self._now = now
        waiting = [share for share in self._visit() if len(share.line)]
        while True:
            self._loans = None
            self._claiming = [share for share in self._shares.values() if self._claims(share)]
            job = self._find(waiting)
            if job is not None or not self._drop_claims():
                break
        if job is None:
            self.heads = [head for share in waiting if (head := share.line.head()) is not None]
        else:
            self._take(self._share_of(job), job)
        return job

    def _find(self, waiting: list[Share]) -> ServiceJob | None:
        if all(self.environment.free(unit) <= 0 for unit in self.environment.limits):
            return None
        for share in waiting:
            job = share.line.candidate(self._fits_within)
            if job is not None:
                return job
        found: tuple[tuple[float, ...], ServiceJob] | None = None
        for place, share in enumerate(waiting):
            job = share.line.candidate(self._fits) if share.value.borrows else None
            if job is not None:
                key = self._idle_key(share, job, place)
                if found is None or key < found[0]:
                    found = (key, job)
        return found[1] if found else None

    def _fits_within(self, job: ServiceJob) -> bool:
        share = self._share_of(job)
        return within(share, job.needs, self._beside(share, job)) and self._fits(job)

    def _fits(self, job: ServiceJob) -> bool:
        """Whether a job finds room, and what is lent allows it, beside the jobs for which others are preempted."""
        if job.not_before > self._now:
            return False
        share = self._share_of(job)
        for unit, instances in job.needs.items():
            free = self.environment.free(unit)
            for other in self._claiming:
                if other.claim is not None and other.claim is not job:
                    free -= other.claim.needs.get(unit, 0)
            if instances > free:
                return False
        if self._loans is None:
            self._loans = Loans(self._shares.values(), self.environment, holding, self.settings)
        return self._loans.allow(share, job.needs, self._beside(share, job))

    @staticmethod
    def _beside(share: Share, job: ServiceJob) -> Mapping[str, int]:
        """What its share uses beside a job; the head for which others are preempted comes before the rest of it."""
        if share.claim is None or share.claim is job:
            return share.usage
        return {unit: holding(share, unit) for unit in job.needs}

    def _visit(self) -> list[Share]:
        shares = list(self._shares.values())
        match self.settings.share_visit:
            case "created":
                return shares
            case "name":
                return sorted(shares, key=lambda share: share.name)
            case "rotating":
                return shares[self._turn :] + shares[: self._turn]

    def _idle_key(self, share: Share, job: ServiceJob, place: int) -> tuple[float, ...]:
        claims = 0.0 if share.claim is job else 1.0
        if self.settings.idle_key == "share":
            return (claims, place)
        return (claims, job.created_at, job.order)

    def _take(self, share: Share, job: ServiceJob) -> None:
        if self.settings.share_visit == "rotating":
            self._turn = (list(self._shares).index(share.name) + 1) % len(self._shares)
        if share.claim is job:
            share.claim = None

    # Claims: the heads for which others are being preempted

    def _claims(self, share: Share) -> bool:
        if share.claim is None:
            return False
        if share.claim.status != RUNNABLE or share.line.head() is not share.claim:
            share.claim = None
        return share.claim is not None

    def _drop_claims(self) -> bool:
        """Let go of the claims whose victims have stopped, and which still do not fit."""
        dropped = False
        for share in self._claiming:
            awaited = [victim for victim in share.victims if victim.preempting is not None]
            if not awaited and (share.victims or not any(self.environment.stopping.values())):
                share.claim, dropped = None, True
        return dropped

    # Who is preempted

    def evict(self, now: float) -> list[Eviction]:
        """The jobs to preempt for the heads that wait. They hold their instances until their attempts have stopped."""
        evictions: list[Eviction] = []
        for head in self.heads if self.in_use else ():
            share = self._share_of(head)
            waits = head.status == RUNNABLE and head.not_before <= now
            if share.claim is head or not waits or head.stuck in {TOO_LARGE, OVER_QUOTA}:
                continue
            victims, cause = self._victims(share, head)
            if victims is None:
                continue
            share.claim, share.victims = head, victims
            for victim in victims:
                self._spare(victim)
                self._stop(self._share_of(victim), victim, 1)
                evictions.append(Eviction(victim, cause))
        return evictions

    def _victims(self, share: Share, head: ServiceJob) -> tuple[list[ServiceJob] | None, str]:
        own = within(share, head.needs, {unit: staying(share, unit) for unit in head.needs})
        outranks = share.value.in_share_preemption and self._outranks_any(share, head)
        if not own and not outranks:
            return None, ""
        free = {unit: self.environment.free(unit) + self.environment.stopping.get(unit, 0) for unit in head.needs}
        for other in self._shares.values():
            if other.claim is not None:
                for unit in head.needs:
                    free[unit] -= other.claim.needs.get(unit, 0)
        choice = Preemption(share, head, self._shares.values(), self.environment, free, self.settings)
        victims = choice.reclaim() if own else None
        if victims is not None or not outranks:
            return victims, f"Capacity that was lent is reclaimed by quota share {share.name}"
        lower = (job for _, job in share.evictable if self._outranks(head, job))
        return choice.outrank(lower), f"A job of higher priority in quota share {share.name} needs the capacity"

    def _outranks_any(self, share: Share, head: ServiceJob) -> bool:
        if not share.priorities:
            return False
        lowest = share.priorities[0]
        return lowest < head.priority or (self.settings.equal_priority_evicts and lowest == head.priority)

    def _outranks(self, head: ServiceJob, job: ServiceJob) -> bool:
        """Whether a job may be evicted for this one: its priority is lower, or by setting equal and it is behind."""
        if job.priority == head.priority and self.settings.equal_priority_evicts:
            return self.key(job) > self.key(head)
        return job.priority < head.priority

    # What an observer sees

    def stuck_reason(self, job: ServiceJob) -> Stuck | None:
        """Why a head can never start: the environment's cap, its share's limit, its borrow limit, all that is lent."""
        share = self._share_of(job)
        own, caps = share.value.limits, self.environment.limits
        if all(instances <= min(own.get(unit, 0), caps.get(unit, 0)) for unit, instances in job.needs.items()):
            return None
        reason = super().stuck_reason(job)
        if reason is not None:
            return reason
        for unit, instances in job.needs.items():
            above = instances - own.get(unit, 0)
            unlisted = unit not in caps or unit not in own
            if above <= 0 or (unlisted and self.settings.type_without_limit == "wait"):
                continue
            if not share.value.borrows:
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit.")
            if above > borrow_limit(share.value, unit, self.settings):
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit and borrow limit.")
            all_idle = self.settings.unassigned_capacity == "lendable"
            if above > lendable_to(share, self._shares.values(), self.environment, unit, all_idle=all_idle):
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit and all that others lend.")
        return None

    def order(self, now: float) -> Iterator[ServiceJob]:
        """The waiting jobs: by the part of its limits that a share uses, then by priority (API:FrontOfQueueDetail)."""
        heap: list[tuple[tuple[float, float, int], ServiceJob, Share, int, Iterator[ServiceJob]]] = []

        def push(share: Share, extra: int, line: Iterator[ServiceJob]) -> None:
            job = next(line, None)
            if job is not None:
                used = (sum(share.usage.values()) + extra) / sum(share.value.limits.values())
                heappush(heap, ((used, job.created_at, job.order), job, share, extra, line))

        for share in self._shares.values():
            push(share, 0, share.line.walk())
        while heap:
            _, job, share, extra, line = heappop(heap)
            yield job
            push(share, extra + job.instances, line)

    def share_usage(self) -> Mapping[str, Mapping[str, int]]:
        """Instances in use by share and type."""
        return {
            name: {unit: instances for unit, instances in share.usage.items() if instances}
            for name, share in self._shares.items()
        }

    def front_of_shares(self) -> Mapping[str, FrontJob]:
        """The first waiting job of each quota share."""
        fronts: dict[str, FrontJob] = {}
        for name, share in self._shares.items():
            job = share.line.head()
            if job is not None:
                if share.head is not job:
                    share.head, share.head_since = job, max(self.changed_at, job.created_at)
                fronts[name] = FrontJob(job, share.head_since)
        return fronts
