"""Calm, rest and the end of a world: what must be so once nothing goes wrong any more."""

from itertools import accumulate, permutations, takewhile
from operator import sub
from typing import TYPE_CHECKING, Any

from pointsman.queues.jobs import Stage, Status, WaitingJob
from pointsman.queues.levels import OF_EVICTIONS
from pointsman.queues.moves import FRONT
from pointsman.queues.standby import LEAST_GAIN, stands_by
from pointsman_emulator.models.batch_quota import QuotaQueue
from tests.proof.queues.draw import QUOTA, Trouble
from tests.proof.queues.truth import UNSURE, placed, share_of
from tests.unit.loops.world import QUEUE

if TYPE_CHECKING:
    from tests.proof.queues.world import QueueWorld

PASSES = 10  # of a queue at rest, of which the last are looked at
APART = 80.0  # seconds: all of them together are longer than it takes until the next listing
SPARSE = 600.0  # seconds between passes while every job runs to its end
FAR = 1e9  # seconds of score by which one that has waited too long goes before the others
MOST_WRITES = 20  # of one job, in a world of an hour of trouble and the hours until it ends; most jobs have one
LONGEST = 200  # times that time is let pass until every job must have ended


class Rest:
    """The end of one world."""

    def __init__(self, world: "QueueWorld") -> None:
        self._world = world

    def settle(self, seconds: float) -> None:
        """Nothing fails any more; Batch goes on a while, then stands still, then runs every job to its end."""
        world = self._world
        world.trouble = Trouble(pace=1e12, alarms=1e12)
        world.clock.skew = 0.0
        over = ("somebody", "alarm", "poison", "submit_jobs", "jump")
        world._agenda = [entry for entry in world._agenda if entry[2].__name__ not in over]
        world._agenda.sort()
        world.control.resume()
        world.truth.modes += 1
        for alarm in ("drift-ranker", "drift-search"):
            world.alarms.set_state(alarm, "OK", world.model.now)
            world.truth.alarms.moved(alarm, "OK", world.model.now)
        if world.document["mode"] != "act":
            world.put(world.document | {"mode": "act"})
        world.jobs.take_budget(0, world.clock.now())  # until now it filled as it did
        world.jobs._rate, world.jobs._most = 2.0, 120
        world.truth.calm()
        world.go_on(seconds)
        self._stand_still()
        world.truth.told_of.once()
        world.truth.told_of.at_rest()
        self._run_out()

    def _stand_still(self) -> None:
        """Q3 and Q8: Batch stands still; once the last event has come, the line is as it should be and stays so."""
        world = self._world
        late = [action for _, _, action in sorted(world._agenda)]
        world._agenda.clear()
        world.batch.fresh = True
        for action in late:
            if action.__name__ != "tick":
                action()
        world._agenda.clear()
        due = 0.0
        for n in range(PASSES):
            world.rest(APART)
            before, made = world.truth.writes, len(world.truth.reports)
            world.make_pass()
            if len(world.truth.reports) == made:
                continue
            report = world.truth.reports[-1][1]
            moved = [(move.job_name, move.before, move.after, move.reason.value) for move in report.decision.moves]
            evicts = any(move.reason in OF_EVICTIONS for move in report.decision.moves)  # patience is over, by the way
            if n >= PASSES // 2 and world.truth.writes > before and due > world.clock.now() and not evicts:
                world.truth.wrong("Q8", f"with nothing new and nothing due, it wrote {moved}")
            due = report.decision.next_wake
        self._line()
        self._shares()
        world.rested()
        world.batch.fresh = False

    def _line(self) -> None:
        """Q3: what is believed is so, nothing is left to move, and the front is in the wanted order."""
        world, truth = self._world, self._world.truth
        if not truth.reports:
            truth.wrong("Q3", "no pass came to its end")
            return
        report = truth.reports[-1][1]
        view = report.view
        really = {job.job_id: job for job in world.model.jobs.values() if Status(job.status).stage is Stage.WAITING}
        believed = {job.job_id: job for job in view.waiting}
        for job_id in really.keys() ^ believed.keys():
            job = world.model.jobs.get(job_id)
            name = job.name if job else job_id
            truth.wrong("Q3", f"{name} {'waits, and is not known' if job_id in really else 'is thought to wait'}")
        for job_id in really.keys() & believed.keys():
            job, seen = really[job_id], believed[job_id]
            by_hand = job_id in truth.ever_by_hand  # seen only where it puts jobs out of order
            if seen.priority != job.priority and not by_hand and report.mode == "act" and not report.decision.moves:
                truth.wrong("Q3", f"{job.name} has {job.priority} and is thought to have {seen.priority}")
        self._order(report)
        if report.decision.moves and report.outcomes and report.decision.next_wake > world.clock.now() + APART:
            moved = [(move.job_name, move.before, move.after) for move in report.decision.moves]
            truth.wrong("Q3", f"after {PASSES} passes it still moves {moved}")

    def _order(self, report: Any) -> None:
        """Q3 by the policy's words alone: where run times do not count, who stands by goes by age and head start."""
        view, truth = report.view, self._world.truth
        policy = truth.policies[-1][1].at(view.now)
        apart = any(c.entitlement or c.ceiling for c in policy.classes) or any(e.active(view.now) for e in view.effects)
        if policy.spread or apart or self._world.profile in ("levels", "stalls", "switch"):
            return
        line: list[tuple[float, WaitingJob]] = []
        for job in view.waiting:
            kind = policy.classify(job.name, {})
            late = kind.max_wait is not None and view.now - job.submitted > 2 * kind.max_wait  # nobody can be evicted
            people = job.job_id in truth.ever_by_hand or job.job_id in truth.pins
            if stands_by(job) and not (people or job.crashes or view.history.crashed(job.kind)):
                line.append((job.submitted - kind.head_start - FAR * late, job))
        has = {job_id: job.priority for job_id, job in self._world.model.jobs.items()}
        delaying = {job.job_id for _, job in line if _delays(job, report)}
        leaving = self._leaving(view.free)
        for (score, job), (other_score, other) in permutations(line, 2):
            place, other_place = has[job.job_id], has[other.job_id]
            if (other_place == FRONT and job.job_id in delaying) or {job.job_id, other.job_id} <= leaving:
                continue
            if job.share == other.share and score + LEAST_GAIN < other_score and place < other_place:
                truth.wrong("Q3", f"{job.name} stands by at {place}, behind {other.name} at {other_place}")

    def _leaving(self, free: int) -> set[str]:
        """Who stands first in a line of one share and fits what is free: all of them start, in whatever order."""
        line = sorted((j for j in self._world.model.jobs.values() if j.status == "RUNNABLE"), key=placed)
        if len({share_of(job) for job in line}) > 1:
            return set()
        rooms = accumulate((job.instances for job in line), sub, initial=free)
        return {job.job_id for job in takewhile(lambda job: next(rooms) >= job.instances, line)}

    def _shares(self) -> None:
        """Q9: with its alarm a share's borrow limit ends too."""
        place = self._world.model.queues[QUEUE]
        for name, limit in self._world.truth.limits.items():
            assert isinstance(place, QuotaQueue)
            has = place.share(name).value.borrow_limit
            if limit not in (UNSURE, has):
                self._world.truth.wrong("Q9", f"share {name} may borrow {has} %, with no alarm on: it had {limit}")

    def _run_out(self) -> None:
        """Q1: every job that can run has run, and none was moved to another share."""
        world = self._world
        most = max(world.capacity, 2)
        world.resize_to(most)
        world.trouble = Trouble(lost=1.0)
        world.every(SPARSE)
        for job in list(world.model.jobs.values()):
            if job.instances > most:  # it blocks whoever is behind it, and people were told
                world.model.terminate(job.job_id, "it can never start")
        for _ in range(LONGEST):
            left = [job for job in world.model.jobs.values() if not job.finished and job.instances <= most]
            if not left:
                break
            world.go_on(SPARSE)
        else:
            world.truth.wrong("Q1", f"{left[0].name} never ran to its end: {left[0].status}, {left[0].priority}")
        for job in world.model.jobs.values():
            share = job.quota_share if world.profile in QUOTA else job.share
            if share != job.request.get("share", share):
                world.truth.wrong("Q1", f"{job.name} was moved to share {share}")
        over = [(n, job_id) for job_id, n in world.truth.writes_of.items() if n > MOST_WRITES]
        for n, job_id in over:
            world.truth.wrong("Q4", f"{world.model.jobs[job_id].name} was written {n} times")


def _delays(job: WaitingJob, report: Any) -> bool:
    """Whether the job may stay on the list while a younger one is lifted from it beside a place that is held.

    It is expected to end too late for that place. By what came to its end so far only the product knows how long.
    """
    view = report.view
    ends = view.now + view.history.predict(job.kind)
    holds = [hold for hold in report.decision.holds if hold.job.share == job.share or not view.quota_shares]
    return any(ends > hold.until for hold in holds)
