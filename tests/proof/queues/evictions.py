"""Q6: whom an eviction that our write caused may take, and what of it nobody can have known."""

from typing import TYPE_CHECKING

from pointsman.queues.policy import Policy
from pointsman_emulator.models.batch import ServiceJob
from pointsman_emulator.models.batch_quota import QuotaQueue
from tests.unit.loops.world import QUEUE

if TYPE_CHECKING:
    from tests.proof.queues.truth import Truth
    from tests.proof.queues.world import QueueWorld

RECENT = 1500.0  # seconds for which a policy still explains an eviction: one goes on for 15 minutes
KNOWN_LATE = 460.0  # seconds after which a change of capacity is known: a queue is described every five minutes
TWO_PASSES = 120.0  # seconds: to describe a job that was not known, and to protect it
UNSEEN = 15.0  # seconds that an event, and a pass, are on their way


class Evictions:
    """The evictions of one world, each judged when Batch makes it."""

    def __init__(self, world: "QueueWorld", truth: "Truth") -> None:
        self._world, self._truth = world, truth
        self._resized = -1e9
        self._secret: dict[str, float] = {}
        self._told: dict[str, float] = {}  # when each start was told of first

    def resized(self) -> None:
        """Capacity changed."""
        self._resized = self._world.model.now

    def started(self, job: ServiceJob, at: float) -> None:
        """The job holds capacity from now on, and nobody was told yet."""
        self._secret[job.job_id] = at

    def told(self, job: ServiceJob, at: float) -> None:
        """An event, or an answer of Batch, has said what the job did at this time."""
        if at >= self._secret.get(job.job_id, float("inf")):
            del self._secret[job.job_id]
            self._told[job.job_id] = self._world.time

    def evicted(self, job: ServiceJob) -> None:
        """Q6: whom a write of ours let go."""
        place, now = self._world.model.queues[QUEUE], self._world.model.now
        assert isinstance(place, QuotaQueue)
        share = next((s for s in place._shares.values() if s.claim is not None and job in s.victims), None)
        evictor = share.claim if share else None
        if evictor is None or share is None or share.name != job.quota_share:
            self._truth.counts["reclaims"] += 1
            return
        if evictor.job_id not in self._truth.ours and job.job_id not in self._truth.ours:
            self._truth.counts["evictions of Batch's own"] += 1
            return
        if now - self._resized < KNOWN_LATE:
            self._truth.counts["evictions after capacity was lost"] += 1
            return
        if self._unknowable(job, evictor):
            return
        self._truth.counts["evictions of ours"] += 1
        rules = [policy for at, policy in self._recent() if policy.preemption]
        told = f"{job.name} was evicted for {evictor.name} ({job.priority}, {evictor.priority})"
        if not rules:
            self._truth.wrong("Q6", f"{told} under a policy that evicts nobody")
            return
        protect = min(rule.preemption.protect for rule in rules if rule.preemption)
        most = max(rule.preemption.at_most_per_job for rule in rules if rule.preemption)
        ran = 0.0 if job.started_at is None else now - job.started_at
        if ran < protect:
            self._truth.wrong("Q6", f"{told}, having run {ran:.0f} s of {protect:.0f} s")
        if job.checkpoint_seconds is None or job.request.get("odd"):
            self._truth.wrong("Q6", f"{told}, and does not resume")
        if job.preempted_count >= most:
            self._truth.wrong("Q6", f"{told}, for the {job.preempted_count + 1}th time of {most}")
        if all(_place(rule, job) <= _place(rule, evictor) for rule in rules):
            self._truth.wrong("Q6", f"{told}, which is of no higher class")

    def _unknowable(self, job: ServiceJob, evictor: ServiceJob) -> bool:
        """Whether Batch moved one of both so shortly before our write that nobody can have known.

        Nor can anybody when no event came and no answer has shown it, or when a wrong clock puts all in another order.
        """
        told = self._told.get(job.job_id, -1e9)
        too_late = self._truth.written.get(evictor.job_id, -1e9) < told and self._world.model.now - told < TWO_PASSES
        if job.job_id in self._secret or too_late:
            self._truth.counts["evictions of a job of whose start nobody was told in time"] += 1
            return True
        here = [self._world.model.jobs[job_id] for job_id in self._secret]
        if any(one.quota_share == job.quota_share and one.holding for one in here):
            self._truth.counts["evictions while a start had not been told"] += 1
            return True
        ended = [o for o in self._world.model.jobs.values() if o.finished and o.quota_share == job.quota_share]
        if any(one.job_id not in self._truth.ends for one in ended):
            self._truth.counts["evictions while an end had not been told"] += 1
            return True
        if job.job_id in self._truth.ever_by_hand:
            self._truth.counts["evictions of a job whose priority someone had set"] += 1
            return True
        if self._world.clock.skew:
            self._truth.counts["evictions while the clock was wrong"] += 1
            return True
        blind = UNSEEN + self._world.model.settings.snapshot_lag
        back = [at for at, status in evictor.history[2:] if status == "RUNNABLE"]
        if back and self._truth.written.get(evictor.job_id, -1e9) < back[-1] + blind:
            self._truth.counts["evictions for a job that Batch had sent back"] += 1
            return True
        began = job.scheduled_at or 0.0
        if max(self._truth.written.get(one.job_id, -1e9) for one in (job, evictor)) < began + blind:
            self._truth.counts["evictions of a job that had just started"] += 1
            return True
        return False

    def _recent(self) -> list[tuple[float, Policy]]:
        """The policies that ruled of late."""
        now = self._world.model.now
        ends = [at for at, _ in self._truth.policies[1:]] + [now]
        return [one for one, end in zip(self._truth.policies, ends, strict=True) if end >= now - RECENT]


def _place(policy: Policy, job: ServiceJob) -> int:
    """Where its class stands, the most urgent first."""
    return policy.classes.index(policy.classify(job.name, {}))
