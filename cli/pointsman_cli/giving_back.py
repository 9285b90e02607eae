"""Giving a queue back as it was found: its shares' settings, and its jobs' priorities."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pointsman.documents import InvalidDocument
from pointsman.errors import Gone
from pointsman.loops.share_keeper import ShareKeeper
from pointsman.policy_documents import stored_policy
from pointsman.ports import QueueDescription, Write
from pointsman.queues.jobs import JobRecord, Stage
from pointsman.queues.policy import Mode, Policy
from pointsman_cli.access import Deployment
from pointsman_cli.budget import Budget
from pointsman_cli.policy_queue import live

PATIENCE = 300.0  # seconds that are waited in all, once the account's budget is used up


@dataclass(frozen=True, slots=True)
class GivenBack:
    """What came of one queue: sentences on its shares, how many jobs have their own priority again, what is open."""

    queue: str
    shares: tuple[str, ...] = ()
    jobs: int = 0
    problems: tuple[str, ...] = ()


def give_back(found: Deployment, queue: str) -> GivenBack:
    """Give the queue back. It may be repeated: what is as it was found is left alone, and what others set too."""
    try:
        description = live(found, queue)
    except Gone:
        return GivenBack(queue)  # with its jobs and its shares
    shares, problems = _shares(found, description)
    budget, jobs = Budget(found, PATIENCE), 0
    for write in _ours(found, queue):
        if not (budget.take() and budget.take()):
            problems = (*problems, "some jobs keep the priority that they have: the budget of Batch calls is used up")
            break
        jobs += _own_again(found, write)
    return GivenBack(queue, shares, jobs, problems)


def _shares(found: Deployment, queue: QueueDescription) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was given back of the shares, and what was not."""
    stored = found.control.policy(queue.name)
    observer = found.inspector().observer
    keeper = ShareKeeper(observer.shares, observer.alarms, found.jobs)
    before = keeper.shares.records.share_changes(queue.name)
    try:
        if stored is None:
            return (), ()
        policy = _at_rest(stored_policy(stored.document))
    except InvalidDocument as error:
        return (), (f"its shares are left as they are, its policy cannot be read: {error}",)
    kept = keeper.keep(queue, policy, (), found.clock.now(), act=True)
    open_ = set(keeper.shares.records.share_changes(queue.name))
    told = [f"the {n.setting} of share {n.share} is {n.before} again" for n in before if n not in open_]
    told += ["its shares have the weights that its policy states"] if kept.changed and not before else []
    still = [f"the {n.setting} of share {n.share} is still {n.after}, and was {n.before}" for n in open_]
    return tuple(told), (*kept.problems, *still)


def _at_rest(policy: Policy) -> Policy:
    """The policy as if no alarm stood. One that only observes has set no weights."""
    return replace(policy, on_alarm_shares=(), weights=policy.weights if policy.mode is Mode.ACT else ())


def _ours(found: Deployment, queue: str) -> Iterator[Write]:
    """What we set of jobs that wait or run, and should not last.

    What runs comes first, so that nobody who waits stands above it meanwhile. What runs higher than it was submitted
    is protected from those who wait, and ends by itself.
    """
    set_since = dict(found.jobs.queue(queue).priorities)
    rows = [row for row in found.jobs.active(queue) if row.stage is not Stage.ENDED]
    moved = {row.job_id: row for row in rows if _last(row, set_since) != row.submitted_priority}
    writes = found.control.writes(moved)
    for job_id in sorted(writes, key=lambda one: moved[one].stage is Stage.WAITING):
        write = writes[job_id]
        if moved[job_id].stage is Stage.WAITING or write.after < write.submitted:
            yield write


def _last(row: JobRecord, set_since: dict[str, int]) -> int | None:
    return set_since.get(row.job_id, row.detail.priority if row.detail else None)


def _own_again(found: Deployment, write: Write) -> bool:
    """Whether the job was set back to what it was submitted with; one that someone else set is theirs."""
    try:
        job = found.batch.describe_job(write.job_id)
        if job.status.stage is Stage.ENDED or job.detail is None or job.detail.priority != write.after:
            return False
        found.batch.set_priority(write.job_id, write.submitted)
    except Gone:
        return False
    return write.after != write.submitted
