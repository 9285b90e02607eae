"""What becomes of jobs that have ended: what they teach is learned, who should know is told, and they are let go."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from pointsman.errors import Conflict, Unreadable
from pointsman.loops.notices import store_failures
from pointsman.loops.view import finished
from pointsman.notice_ports import NoticeTable
from pointsman.ports import JobTable
from pointsman.queues.estimates import History
from pointsman.queues.jobs import JobRecord, Stage
from pointsman.queues.notices import failures
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView

FOLD_WITHOUT_DETAIL = 3600.0  # seconds after which an ended job that was never described is let go
TAUGHT = 1000  # jobs that are remembered as learned from until they are let go; of more some are learned from twice


def known_enough(row: JobRecord, now: float) -> bool:
    """Whether a job that has ended is described, or will hardly be any more: then it is let go."""
    return not row.needs_describe or now - row.at > FOLD_WITHOUT_DETAIL


def set_apart(known: dict[str, JobRecord]) -> tuple[JobRecord, ...]:
    """The jobs that have ended and are not let go yet, the earliest first; they are no longer `known`."""
    ended = [row for row in known.values() if row.stage is Stage.ENDED]
    for row in ended:
        del known[row.job_id]
    return tuple(sorted((row for row in ended if not row.folded), key=lambda row: row.at))


def learned(history: History, ended: Iterable[JobRecord], policy: Policy, now: float) -> History:
    """The history with what these jobs teach, each once: one that is not let go yet comes again."""
    known = {row.job_id: row for row in ended if known_enough(row, now)}
    before = tuple(job_id for job_id in history.taught if job_id in known)
    new = {i: lesson for i, row in known.items() if i not in history.taught and (lesson := finished(row, policy))}
    return replace(history.learn(new.values()), taught=(*before, *new)[-TAUGHT:])


def let_go(
    jobs: JobTable, notices: NoticeTable, view: QueueView, ended: Iterable[JobRecord], policy: Policy
) -> tuple[str, ...]:
    """Store what the jobs that have ended taught, and who should be told of them; then be done with them.

    Where a notice cannot be read, those that people should be told of stay until it can, and the answer says so.
    """
    known = [row for row in ended if known_enough(row, view.now)]
    failed = failures(known, policy)
    problems: tuple[str, ...] = ()
    try:
        store_failures(notices, view.queue, failed, view.now)
    except Unreadable as error:
        known = [row for row in known if f"failed/{row.job_id}" not in failed]
        problems = (f"people are told of no job that failed: {error}",)
    if not {row.job_id for row in known}.isdisjoint(view.history.taught):
        jobs.save_history(view.queue, view.history)
    for row in known:
        with suppress(Conflict):  # an event came in between: the next pass sees both
            jobs.save(replace(row, folded=True))
    return problems
