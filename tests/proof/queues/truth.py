"""What is really so in a queue's world, and what was wrong by it: Q1 to Q14, each by its id."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pointsman.loops.queue import Outcome
from pointsman.queues.decide import decide
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.levels import EVICTS
from pointsman.queues.moves import RESERVED
from pointsman.queues.policy import JobClass, Mode, Policy
from pointsman_emulator.models.batch import JobChange, ServiceJob
from tests.proof.frame import Violation
from tests.proof.queues.alarms import Alarms
from tests.proof.queues.evictions import Evictions
from tests.proof.queues.told import Told
from tests.unit.loops.world import QUEUE, Log

if TYPE_CHECKING:
    from tests.proof.queues.world import QueueWorld

OLD = 60.0  # seconds that a write may be behind the look that it is made by
UNSURE = -2  # of a borrow limit that someone set while a pass was made
PATIENT_PASSES = 3  # passes that knew of a job's guard before its wait counts


@dataclass
class Hand:
    """What someone else set of a job, and when."""

    priority: int
    at: float


@dataclass(frozen=True)
class Begun:
    """A pass: which lease it took (0: none yet), and when it began, observing or not, after so many changes of that.

    `places` are what Batch went by then: each waiting job's priority, the highest first, and time of submission.
    """

    lease: int
    at: float
    observed: bool
    modes: int
    places: dict[str, tuple[int, float]]


class Truth:
    """The ground truth beside the model's own."""

    def __init__(self, world: "QueueWorld", rate: float, saved: float) -> None:
        self._world = world
        self.found: dict[str, Violation] = {}
        self.counts: Counter[str] = Counter()
        self.modes = 0
        self.policies: list[tuple[float, Policy]] = []
        self.limits: dict[str, int] = {}
        self._rate, self._saved, self._tokens, self._filled = rate, saved, saved, world.model.now
        stalls = world.trouble.pauses or world.trouble.jumps  # what a pass took of the budget it may spend much later
        self._slack = 3 + (3 * saved if stalls else 0)  # so many may stand still at a time
        self._jumps = world.trouble.jumps > 0
        self._begun: dict[str, Begun] = {}
        self._writer = self._leases = 0
        self._meant: dict[str, int] = {}  # the lease of the pass whose intent is stored, by job
        self.writes_of: Counter[str] = Counter()
        self.writes = 0
        self.ours: dict[str, int] = {}
        self.hands: dict[str, Hand] = {}
        self.written: dict[str, float] = {}  # when the pass began that wrote it last, or a minute before it did
        self._overridden: dict[str, Hand] = {}
        self.ends: set[str] = set()
        self._announced: set[str] = set()
        self._due_at: dict[str, float] = {}
        self.pins: set[str] = set()
        self._said: dict[str, str] = {}
        self._delaying: dict[str, set[str]] = {}
        self._overtaken: defaultdict[str, set[str]] = defaultdict(set)
        self._held: set[str] = set()
        self._late: set[str] = set()  # whose guard was over by the clock of the pass that wrote it last
        self._overdue: Counter[str] = Counter()
        self.ever_by_hand: set[str] = set()
        self.reports: list[Any] = []
        self.evictions = Evictions(world, self)
        self.alarms = Alarms(self)
        self.told_of = Told(world, self)

    def wrong(self, invariant: str, sentence: str) -> None:
        """The first of each kind is enough."""
        at = self._world.model.now - 1_800_000_000.0
        self.found.setdefault(invariant, Violation(invariant, f"at {at:.0f} s: {sentence}"))

    # What people did

    def ruled(self, policy: Policy) -> None:
        """This policy rules from now on."""
        self.policies.append((self._world.model.now, policy))
        self.modes += 1
        self.told_of.changes += 1
        self._overdue.clear()  # by another guard

    def by_hand(self, job: ServiceJob, priority: int) -> None:
        """Someone else set the job's priority; of a job that was never described it counts as submitted so."""
        row = self._world.jobs.jobs.get(job.job_id)
        if row is not None and row.submitted_priority not in (None, priority):
            self.hands[job.job_id] = Hand(priority, self._world.time)
        self.ever_by_hand.add(job.job_id)
        self.ours.pop(job.job_id, None)

    def pinned(self, job: ServiceJob) -> None:
        """A person's pin is newer than any priority that was set by hand."""
        self.pins.add(job.job_id)
        self.hands.pop(job.job_id, None)

    def borrowing(self, share: str, limit: int) -> None:
        """Someone else set a share's borrow limit; while a pass is made nobody can say which write was first."""
        self.limits[share] = UNSURE if self._world.depth else limit

    def jumped(self) -> None:
        """The product's bucket may have filled at once."""
        self._tokens += self._saved

    def calm(self) -> None:
        """The account has its usual budget from now on."""
        self._fill()
        self._rate, self._saved = 2.0, 120.0

    # What Batch did

    def happened(self, change: JobChange) -> None:
        """A job went on."""
        if change.kind == "state" and change.job.status == "SCHEDULED":
            self.evictions.started(change.job, change.at)
            self._started(change.job)
        elif change.kind == "preempting":
            self.evictions.evicted(change.job)
        elif change.kind == "state" and change.job.finished:
            self._ended(change.job)

    def _ended(self, job: ServiceJob) -> None:
        runs = sum(status in ("SUCCEEDED", "FAILED") for _, status in job.history)
        if runs > 1 or len(job.attempts) > max(1, job.max_attempts):
            self.wrong("Q1", f"{job.name} ran {runs} times to its end, {len(job.attempts)} attempts")

    def _started(self, job: ServiceJob) -> None:
        """Q7: nobody ranked below may be started by a write of ours while one waits beyond its guard who would fit."""
        self.hands.pop(job.job_id, None)  # what someone set stands until the job starts
        mine = share_of(job)
        lifted = self.ours.get(job.job_id, 0)
        came_back = sum(status == "SCHEDULED" for _, status in job.history) > 1
        evicts = lifted == EVICTS  # it takes places that the other may not take
        overdue_too = job.job_id in self._late or self._overdue_at(job, self._world.model.now)
        held = job.job_id in self._held  # what is small is on the standby list behind it
        unsaid = job.job_id not in self._said  # the pass that lifted it has told nobody why yet, or died before it did
        if not lifted or unsaid or evicts or held or came_back or overdue_too or job.job_id in self.pins:
            return
        for job_id, passes in self._overdue.items():
            other = self._world.model.jobs[job_id]
            if (
                passes >= PATIENT_PASSES
                and other.status == "RUNNABLE"
                and share_of(other) == mine
                and other.instances <= job.instances
                and other.priority < job.priority
                and job_id in self._overtaken[job.job_id]
                and other.not_before <= self._world.model.now
                and self.written.get(job.job_id, 0.0) > self._due_at.get(job_id, 1e12)
                and other.name not in self._said.get(job.job_id, "")
                and job_id not in self._delaying.get(job.job_id, ())
                and job_id not in self.ever_by_hand
            ):
                self.wrong("Q7", f"{job.name} was started at {job.priority}, and {other.name} waits beyond its guard")

    def _overdue_at(self, job: ServiceJob, now: float) -> bool:
        """Whether its own guard is over."""
        limit = _class(self.policies[-1][1].at(now), job.name).max_wait
        return limit is not None and now - job.created_at > limit

    # What the product did

    def begins(self, owner: str) -> None:
        """A pass begins."""
        places = {j.job_id: placed(j) for j in self._world.model.jobs.values() if j.status == "RUNNABLE"}
        self._begun[owner] = Begun(0, self._world.time, self._observes(), self.modes, places)

    def leased(self, owner: str) -> None:
        """The pass has taken the queue's lease."""
        self._leases += 1
        self._begun[owner] = replace(self._begun[owner], lease=self._leases)

    def _observes(self) -> bool:
        return self._world.control._standstill is not None or self.policies[-1][1].mode is Mode.OBSERVE

    def called(self, method: str, cost: int) -> None:
        """Q4: the budget of calls."""
        self._fill()
        self._tokens -= cost
        if self._tokens < -self._slack:
            self.wrong("Q4", f"{method} is {-self._tokens:.0f} calls over the budget")

    def _fill(self) -> None:
        now = self._world.time
        self._tokens = min(self._saved, self._tokens + self._rate * (now - self._filled))
        self._filled = now

    def meant(self, owner: str, job_ids: Iterable[str]) -> None:
        """Q5: what a pass means to write of these jobs is stored."""
        lease = self._begun[owner].lease
        for job_id in job_ids:
            if lease < self._meant.get(job_id, 0):
                self.wrong("Q5", f"{owner} stores what it means to write of {job_id} over what a later pass does")
            self._meant[job_id] = lease

    def wrote(self, owner: str, method: str, args: Any, kwargs: Any) -> None:
        """Q1, Q2, Q4, Q5, and people's priorities, at the moment of a write."""
        begun = self._begun[owner]
        if begun.observed and self._observes() and begun.modes == self.modes:
            self.wrong("Q2", f"{method} {args} {kwargs} while the queue is only observed")
        if begun.lease < self._writer:
            self.wrong("Q5", f"{method} of {owner}, and a pass that took the lease later has written")
        self._writer = max(self._writer, begun.lease)
        self.writes += 1
        if method != "set_priority":
            return
        job_id, priority = args
        self.writes_of[job_id] += 1
        self._said.pop(job_id, None)
        self._late.discard(job_id)
        self.written[job_id] = max(begun.at, self._world.time - OLD)
        job = self._world.model.jobs.get(job_id)
        if job is None:
            self.wrong("Q1", f"the priority of a job that is not there, {job_id}, is set")
            return
        if self._overdue_at(job, self._world.clock.now()):
            self._late.add(job_id)
        hand = self.hands.get(job_id)
        if priority == self._submitted(job_id):
            self.ours.pop(job_id, None)
        else:
            self._overtaken[job_id] |= self._before(job, begun.places)
            self.ours[job_id] = priority
        if hand is not None:
            self._overridden[job_id] = self.hands.pop(job_id)

    def _before(self, job: ServiceJob, places: dict[str, tuple[int, float]]) -> set[str]:
        """Whom Batch would have started before the job as things were when the pass began."""
        jobs, place = self._world.model.jobs, places.get(job.job_id, placed(job))
        return {i for i, other in places.items() if other < place and share_of(jobs[i]) == share_of(job)}

    def _submitted(self, job_id: str) -> int:
        row = self._world.jobs.jobs.get(job_id)
        return (row.submitted_priority or 0) if row else 0

    def _over(self, hand: Hand) -> bool:
        """Whether what someone set stands no longer, or nobody can say by clocks that jump."""
        if self._jumps:
            return True
        least = min((p.respect_human for _, p in self.policies if p.respect_human is not None), default=1e12)
        return self._world.time - hand.at > least - 30

    def passed(self, log: Log) -> None:
        """A pass has come to its end, well or not."""
        for why, known in log.failures:
            if not known:
                self.wrong("crash", why)
            if "NOTICE#" in why:
                self.wrong("Q10", f"a pass failed of a notice: {why[:120]}")
            if "version" in why or "policy" in why:
                self.wrong("Q10", f"a pass failed of the policy that rules: {why[:120]}")
        for report in log.reports:
            self._reported(report)
            self.reports.append((self._world.model.now, report))

    def _reported(self, report: Any) -> None:
        view, world = report.view, self._world
        number = report.policy
        policy = world.policy_of(world.control.policies[QUEUE][number - 1].document)
        if len(self.reports) % 6 == 0 and repr(decide(view, policy)) != repr(report.decision):
            self.wrong("Q11", "the same view and policy gave another decision")
        for move, outcome in zip(report.decision.moves, report.outcomes, strict=True):
            if outcome == Outcome.DONE:
                self._said[move.job_id] = move.sentence
                if move.after == RESERVED:
                    self._held.add(move.job_id)
                elif move.after < move.before:
                    self._held.discard(move.job_id)
                self._delaying[move.job_id] = _delaying(report, move)
        asked = not any("as they were last seen" in problem for problem in report.problems)  # of alarms
        if world.clock.skew == 0 and not world.trouble.jumps and asked:
            self.alarms.judge(view, policy)
        self._beliefs(report)
        evicting = {e.share for e in (*view.evictions, *report.decision.evictions) if e.open}  # nothing else is moved
        waiting = [j for j in view.waiting if j.share not in evicting and self._waits_too_long(j, view, policy)]
        acted = report.mode == Mode.ACT and Outcome.DEFERRED not in report.outcomes
        before = self._overdue
        self._overdue = Counter({job.job_id: before[job.job_id] + 1 for job in waiting}) if acted else Counter()

    def told(self, job: ServiceJob, at: float, *, ended: bool = False) -> None:
        """An event, or an answer of Batch, has said that the job held capacity at this time, or has `ended`."""
        self.evictions.told(job, at)
        self.ends |= {job.job_id} if ended else set()

    def announced(self, job: ServiceJob, at: float, *, ended: bool) -> None:
        """The same by an event that was recorded."""
        self.told(job, at, ended=ended)
        self._announced |= {job.job_id} if ended else set()

    def _beliefs(self, report: Any) -> None:
        """Q3, after each pass: what it said of priorities is so, and what people set was not set back."""
        jobs, view = self._world.model.jobs, report.view
        after = {}
        for move, outcome in zip(report.decision.moves, report.outcomes, strict=True):
            after[move.job_id] = (
                move.after if outcome == Outcome.DONE else None if report.mode == "act" else move.before
            )
            hand = self._overridden.pop(move.job_id, None)
            if hand is not None and move.before == hand.priority and not self._over(hand):
                self.wrong("Q3", f"{move.job_name} is set to {move.after}, and someone had set it to {hand.priority}")
        for seen in view.waiting:
            job = jobs[seen.job_id]
            if seen.foreign and seen.job_id not in self.ever_by_hand:
                self.wrong("Q3", f"{job.name} is thought to be someone else's, at {seen.priority}")
            wanted = after.get(seen.job_id, seen.priority)
            known = wanted is not None and seen.job_id not in self.ever_by_hand and job.status == "RUNNABLE"
            if known and wanted != job.priority and not self._world.trouble.pauses:
                self.wrong("Q3", f"{job.name} has {job.priority}, and is thought to have {wanted}")
        for seen in (*view.waiting, *view.busy):
            if seen.job_id in self._announced and jobs[seen.job_id].finished and not self._world.trouble.pauses:
                self.wrong("Q3", f"{seen.name} has ended, as was told, and is thought to go on")

    def _waits_too_long(self, job: WaitingJob, view: Any, policy: Policy) -> bool:
        """Whether its guard is over, and nothing that was said of it puts it last."""
        ruling = policy.at(view.now)
        job_class = _class(ruling, job.name)
        if job_class.max_wait is None or any(c.ceiling or c.entitlement for c in ruling.classes):
            return False
        guard = job_class.max_wait * (1 if policy.preemption and view.quota_shares else 2)
        people = job.job_id in self.pins or job.job_id in self.ever_by_hand
        last = job.crashes >= 3 or view.history.crashed(job.kind) >= 3 or people
        self._due_at[job.job_id] = job.submitted + guard
        return view.now - job.submitted > guard and not last and job.size <= view.capacity


def _delaying(report: Any, move: Any) -> set[str]:
    """Whom the pass that said this may have left behind: who would have delayed the job that a place was held for."""
    view, holds = report.view, report.decision.holds
    share = next((job.share for job in view.waiting if job.job_id == move.job_id), None)
    hold = next((hold for hold in holds if hold.job.share == share), None)
    if hold is None or " ranks before it and " not in move.sentence:
        return set()
    return {job.job_id for job in view.waiting if view.now + view.history.predict(job.kind) > hold.until}


def placed(job: ServiceJob) -> tuple[int, float]:
    return (-job.priority, job.created_at)


def share_of(job: ServiceJob) -> str | None:
    return job.share or job.quota_share


def _class(policy: Policy, name: str) -> JobClass:
    return policy.classify(name, {})
