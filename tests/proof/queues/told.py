"""Q12 to Q14: what passes tell and keep: lines of the history, notices, and what jobs that ended have taught."""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from pointsman.loops.queue import Outcome
from tests.unit.loops.world import QUEUE

if TYPE_CHECKING:
    from tests.proof.queues.truth import Truth
    from tests.proof.queues.world import QueueWorld


class Told:
    """What is told of one world: `answered` has by pass what it knows to have set, `changes` how often anything moved.

    Those are changes by which a job that could never start may be able to, or the other way.
    """

    def __init__(self, world: "QueueWorld", truth: "Truth") -> None:
        self._world, self._truth = world, truth
        self.answered: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self.changes = 0

    def lived(self, owner: str) -> None:
        """The pass was not killed: what it set, and knows to be set, is in the history."""
        done = self._done() if self.answered[owner] else ()
        for job_id, priority in self.answered.pop(owner):
            if (job_id, priority) not in done:
                self._truth.wrong("Q12", f"{job_id} was set to {priority}, and no line of the history tells of it")

    def at_rest(self) -> None:
        """What was set in the end is in the history, though the pass was killed, or its answer lost."""
        done = self._done()
        for job_id, priority in self._truth.ours.items():
            job = self._world.model.jobs[job_id]
            known = job.status == "RUNNABLE" and job.priority == priority and job_id not in self._truth.ever_by_hand
            if known and (job_id, priority) not in done:
                self._truth.wrong("Q12", f"{job.name} has {priority}, and no line of the history tells of it")

    def _done(self) -> set[tuple[str, int]]:
        lines = self._world.control.moves(QUEUE, 0.0, 100_000)
        return {(line.move.job_id, line.move.after) for line in lines if line.outcome == Outcome.DONE}

    def once(self) -> None:
        """That a job can never start is told once, and once more at most for each such change; nobody teaches twice."""
        begun = {told for told, _ in self._world.notices.told}
        told = Counter(one.split("/")[2] for one in begun if one.split("/")[1] == "cannot_fit")
        jobs = self._world.model.jobs
        for job_id, times in told.items():
            if times > self.changes:
                said = f"that {jobs[job_id].name} cannot fit was told {times} times, with {self.changes} changes"
                self._truth.wrong("Q13", said)
        failed = sum(job.status == "FAILED" for job in jobs.values())
        learned = sum(self._world.jobs.history(QUEUE).crashes.values())
        if learned > failed:
            self._truth.wrong("Q14", f"{learned} crashes were learned of {failed} jobs that failed")
