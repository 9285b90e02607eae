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
    loans,
    staying,
    unassigned,
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
        self._claims = 0
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
            max(0, holding(share, unit) + instances - max(share.value.limits.get(unit, 0), holding(share, unit)))
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
        self._claiming = [share for share in waiting if share.claim is not None and self._claims_still(share)]
        if any(self.environment.free(unit) > 0 for unit in self.environment.limits):
            for share in waiting:
                job = share.line.candidate(self._fits_within)
                if job is not None:
                    return self._take(share, job)
            borrower = self._first_borrower(waiting)
            if borrower is not None:
                return self._take(self._share_of(borrower), borrower)
        self.heads = [job for share in waiting if (job := share.line.head()) is not None]
        return None

    def _first_borrower(self, waiting: list[Share]) -> ServiceJob | None:
        self._loans = None
        found: tuple[tuple[float, ...], ServiceJob] | None = None
        for place, share in enumerate(waiting):
            job = share.line.candidate(self._fits_borrowed) if share.value.borrows else None
            if job is not None:
                key = self._idle_key(share, job, place)
                if found is None or key < found[0]:
                    found = (key, job)
        return found[1] if found else None

    def _fits_within(self, job: ServiceJob) -> bool:
        share = self._share_of(job)
        return within(share, job.needs, holding) and self._fits(share, job)

    def _fits_borrowed(self, job: ServiceJob) -> bool:
        share = self._share_of(job)
        if not self._fits(share, job):
            return False
        if self._loans is None:
            self._loans = loans(self._shares.values(), self.environment, holding, self.settings)
        return self._loans.allow(share, job.needs, holding, self.settings)

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

    def _take(self, share: Share, job: ServiceJob) -> ServiceJob:
        if self.settings.share_visit == "rotating":
            self._turn = (list(self._shares).index(share.name) + 1) % len(self._shares)
        if share.claim is job:
            share.claim = None
        return job

    def _claims_still(self, share: Share) -> bool:
        job = share.claim
        if job is None:
            return False
        if job.status == RUNNABLE and share.line.head() is job and any(self.environment.stopping.values()):
            return True
        share.claim = None
        return False

    def _fits(self, share: Share, job: ServiceJob) -> bool:
        """Whether there is room for a job, beside those for which others are being preempted already."""
        if job.not_before > self._now:
            return False
        for unit, instances in job.needs.items():
            free = self.environment.free(unit)
            for other in self._claiming:
                earlier = share.claim is None or other.claim_number < share.claim_number
                if other is not share and earlier and other.claim is not None:
                    free -= other.claim.needs.get(unit, 0)
            if instances > free:
                return False
        return True

    # Who is preempted

    def evict(self, now: float) -> list[Eviction]:
        """The jobs to preempt for the heads that wait. They hold their instances until their attempts have stopped."""
        evictions: list[Eviction] = []
        if not self.in_use:
            return evictions
        for head in self.heads:
            share = self._share_of(head)
            waits = head.status == RUNNABLE and head.not_before <= now
            if share.claim is head or not waits or head.stuck in {TOO_LARGE, OVER_QUOTA}:
                continue
            victims, cause = self._victims(share, head)
            if victims is None:
                continue
            self._claims += 1
            share.claim, share.claim_number = head, self._claims
            for victim in victims:
                self._spare(victim)
                self._stop(self._share_of(victim), victim, 1)
                evictions.append(Eviction(victim, cause))
        return evictions

    def _victims(self, share: Share, head: ServiceJob) -> tuple[list[ServiceJob] | None, str]:
        own = within(share, head.needs, staying)
        outranks = share.value.in_share_preemption and self._outranks_any(share, head)
        if not own and not outranks:
            return None, ""
        free = {unit: self.environment.free(unit) + self.environment.stopping.get(unit, 0) for unit in head.needs}
        for other in self._shares.values():
            if other.claim is not None and other is not share:
                for unit in head.needs:
                    free[unit] -= other.claim.needs.get(unit, 0)
        choice = Preemption(self._shares.values(), self.environment, free, self.settings)
        victims = choice.reclaim(share, head.needs) if own else None
        if victims is not None or not outranks:
            return victims, f"Capacity that was lent is reclaimed by quota share {share.name}"
        lower = (job for _, job in share.evictable if self._outranks(head, job))
        victims = choice.outrank(share, head, lower)
        return victims, f"A job of higher priority in quota share {share.name} needs the capacity"

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
            if above <= 0 or unit not in caps:
                continue
            if not share.value.borrows:
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit.")
            if above > borrow_limit(share.value, unit, self.settings):
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit and borrow limit.")
            if above > self._lendable_to(share, unit):
                return Stuck(OVER_QUOTA, "The job requires more than its quota share's limit and all that others lend.")
        return None

    def _lendable_to(self, borrower: Share, unit: str) -> int:
        others = [share for share in self._shares.values() if share is not borrower and share.value.lends]
        lent = sum(share.value.limits.get(unit, 0) for share in others)
        if self.settings.unassigned_capacity == "lendable":
            lent += unassigned(self._shares.values(), self.environment).get(unit, 0)
        return lent

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
