"""`pointsman queue export`: a queue's own past as the CSV that `simulate` reads."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor, isfinite
from pathlib import Path

import click

from pointsman.errors import Gone, UserMistake
from pointsman.policy_documents import stored_policy
from pointsman.queues.jobs import Detail, JobRecord, Sighting, Stage, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import Policy
from pointsman_cli import options
from pointsman_cli.access import Deployment
from pointsman_cli.budget import Budget
from pointsman_cli.check import check
from pointsman_cli.failures import FOUND
from pointsman_cli.printing import counted, moment, print_json
from pointsman_cli.screen import screen
from pointsman_simulator.traces import TEAM_OF_ALL

COLUMNS = ("submit_s", "duration_s", "gpus", "team", "derived_class", "name", "wait_s", "instances", "share", "tags",
           "job_id")  # fmt: skip
ENDED = (Status.SUCCEEDED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class Past:
    """One job that ran: when it was submitted (epoch seconds), how long it waited and ran, and what it is."""

    job_id: str
    name: str
    submit: float
    wait: float
    duration: float
    instances: int
    gpus: int
    share: str
    tags: Mapping[str, str]

    def row(self, policy: Policy) -> dict[str, str]:
        """As a line of the file, in the class that the policy has for it."""
        return {
            "submit_s": f"{self.submit:.3f}",
            "duration_s": f"{self.duration:.3f}",
            "gpus": str(self.gpus),
            "team": _inert(self.tags.get("team") or self.share or TEAM_OF_ALL),
            "derived_class": policy.classify(self.name, self.tags, self.share or None).name,
            "name": self.name,
            "wait_s": f"{self.wait:.3f}",
            "instances": str(self.instances),
            "share": self.share,
            "tags": json.dumps(dict(self.tags), ensure_ascii=False, sort_keys=True),
            "job_id": self.job_id,
        }


@dataclass(slots=True)
class Found:
    """What one export came to; `missing` jobs ran, and have not been described."""

    jobs: dict[str, Past] = field(default_factory=dict)
    kept: int = 0
    from_table: int = 0
    described: int = 0
    pages: int = 0
    never_started: int = 0
    unfinished: int = 0
    missing: int = 0
    listed_all: bool = True

    @property
    def complete(self) -> bool:
        """Whether the file has every job that it should."""
        return self.listed_all and not self.missing


@click.command(short_help="The queue's past as a CSV to try policies on.")
@click.argument("queue")
@click.option("--since", type=options.DURATION, default="28d", show_default=True, help="How far back.")
@click.option("--out", type=options.NewFile(), required=True, metavar="FILE.csv",
              help="Where to; jobs that the file has already are kept, and not asked for again.")  # fmt: skip
@click.option("--policy", type=click.Path(path_type=Path), metavar="FILE",
              help="Find the jobs' classes by this policy, not by the one that rules.")  # fmt: skip
@click.option("--wait", type=options.DURATION, default="0s", show_default=True,
              help="Go on for so long, a call a second, when the budget of API calls is used up.")  # fmt: skip
@options.as_json
@options.where
@click.pass_context
def export(
    ctx: click.Context, queue: str, since: float, out: Path, policy: Path | None, wait: float, as_json: bool
) -> None:
    """Write the jobs of QUEUE that have ended as the CSV that `pointsman simulate` reads.

    What Pointsman's own table does not know any more is asked of Batch, within the account's budget of API calls. When
    that is used up it stops and exits with 1: the same command goes on. Rows that are in FILE stay, also when Batch has
    forgotten their jobs.
    """
    kept = read(out)
    with options.deployment(ctx) as found:
        rule = _policy(found, queue, policy)
        began = found.clock.now() - since
        described = found.batch.describe_queue(queue)
        if described.kind is QueueKind.CONTAINER:
            raise UserMistake("this is a container queue: it has no service jobs to export", place=queue)
        result = collect(found, queue, began, kept, Budget(found, wait))
    write(out, result.jobs.values(), rule)
    facts = shape(queue, out, began, result, described.capacity)
    if as_json:
        print_json(facts)
    else:
        _say(facts)
    ctx.exit(0 if result.complete and result.jobs else FOUND)


def collect(found: Deployment, queue: str, began: float, kept: Mapping[str, Past], budget: Budget) -> Found:
    """The jobs of the queue that were submitted since then and have ended, beside those that are kept."""
    result = Found(dict(kept), kept=len(kept))
    ended = [job for status in ENDED for job in _listed(found, queue, status, began, result, budget)]
    result.unfinished = sum(row.stage is not Stage.ENDED and row.created >= began for row in found.jobs.active(queue))
    ran = [job for job in ended if job.job_id not in kept and _ran(job)]
    result.never_started = sum(not _ran(job) for job in ended)
    known = found.jobs.load(job.job_id for job in ran)
    for job in ran:
        row: JobRecord | Sighting | None = known.get(job.job_id)
        if isinstance(row, JobRecord) and row.detail is not None and not row.doubtful:
            result.from_table += 1
        elif budget.take():
            row = _described(found, job.job_id)
            result.described += 1
        else:
            result.missing += 1
            continue
        detail = row.detail if row is not None else None
        if detail is not None:
            result.jobs[job.job_id] = _past(job, detail)
    return result


def _listed(
    found: Deployment, queue: str, status: Status, began: float, result: Found, budget: Budget
) -> Iterator[Sighting]:
    """The jobs in this status that were submitted since then; the listing begins with the newest."""
    token: str | None = None
    while budget.take():
        page = found.batch.list_jobs(queue, status, token)
        result.pages += 1
        yield from (job for job in page.jobs if job.created >= began)
        token = page.next_token
        if token is None or (page.jobs and max(job.created for job in page.jobs) < began):
            return
    result.listed_all = False


def _ran(job: Sighting) -> bool:
    return job.started is not None and job.stopped is not None


def _described(found: Deployment, job_id: str) -> Sighting | None:
    try:
        return found.batch.describe_job(job_id)
    except Gone:  # Batch has forgotten it since it was listed
        return None


def _past(job: Sighting, detail: Detail) -> Past:
    started, stopped = job.started or job.created, job.stopped or job.created
    return Past(
        job.job_id, job.name, job.created, max(0.0, started - job.created), max(0.0, stopped - started), detail.size,
        detail.gpus or detail.size, detail.share or "", detail.tags,
    )  # fmt: skip


def _policy(found: Deployment, queue: str, file: Path | None) -> Policy:
    if file is not None:
        stated = check(file).stated
        if stated is None:
            raise UserMistake("this policy is not valid", place=str(file), remedy=f"pointsman policy check {file}")
        return stated
    stored = found.control.policy(queue)
    if stored is None:
        remedy = "`pointsman policy apply` one in mode observe, or name one by --policy"
        raise UserMistake("this queue has no policy, so that its jobs have no classes", place=queue, remedy=remedy)
    return stored_policy(stored.document)


# The file


def read(file: Path) -> dict[str, Past]:
    """The jobs of an earlier export; none where there is no file. Raises `UserMistake` for a file of another kind."""
    if not file.exists():
        return {}
    another = UserMistake("this file is no export of a queue", place=str(file), remedy="name another file by --out")
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise another
            return {row["job_id"]: _past_of(row) for row in reader}
    except OSError as error:
        raise UserMistake(error.strerror or str(error), place=str(file), remedy="name another file by --out") from None
    except (ValueError, KeyError, TypeError, RecursionError, csv.Error):
        raise another from None


def _past_of(row: Mapping[str, str]) -> Past:
    """The job of a row; raises ValueError, KeyError or TypeError for a row that no export wrote."""
    past = Past(
        row["job_id"], row["name"], float(row["submit_s"]), float(row["wait_s"]), float(row["duration_s"]),
        int(row["instances"]), int(row["gpus"]), row["share"], json.loads(row["tags"]),
    )  # fmt: skip
    times, tags = (past.submit, past.wait, past.duration), past.tags
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise TypeError("tags are texts by name")
    if not all(map(isfinite, times)) or min(past.instances, past.gpus) < 1:
        raise ValueError("no job has such a time or size")
    return past


def _inert(cell: str) -> str:
    """The cell as no spreadsheet takes it for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def write(file: Path, jobs: Iterable[Past], policy: Policy) -> None:
    """Put the jobs into the file in order of submission; a reader sees the old file or the new one, whole."""
    beside = file.with_name(file.name + ".part")
    try:
        with beside.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(job.row(policy) for job in sorted(jobs, key=lambda job: (job.submit, job.job_id)))
        beside.replace(file)
    except OSError as error:
        raise UserMistake(error.strerror or str(error), place=str(file), remedy="name another file by --out") from None


# What is said


def shape(queue: str, file: Path, began: float, found: Found, capacity: int) -> dict[str, object]:
    """The export as JSON; `capacity` is the pool in GPUs, `exact` unless it is a mean."""
    jobs = found.jobs.values()
    submits = [job.submit for job in jobs]
    each = {job.gpus / job.instances for job in jobs}
    gpus = sum(job.gpus for job in jobs) / max(1, sum(job.instances for job in jobs))
    return {
        "queue": queue,
        "file": str(file),
        "since": moment(began),
        "jobs": len(found.jobs),
        "kept": found.kept,
        "from_table": found.from_table,
        "described": found.described,
        "pages": found.pages,
        "never_started": found.never_started,
        "unfinished": found.unfinished,
        "missing": found.missing,
        "complete": found.complete,
        "oldest": moment(min(submits, default=None)),
        "window": [floor(min(submits)), ceil(max(submits)) + 1] if submits else None,
        "capacity": max(1, round(capacity * gpus)),
        "exact": len(each) <= 1,
    }


def _say(facts: Mapping[str, object]) -> None:
    out = screen()
    jobs, window = facts["jobs"], facts["window"]
    if not isinstance(jobs, int) or not isinstance(window, list):
        out.print(f"No job of {facts['queue']} that has run and ended was found since {facts['since']}.")
        return
    out.print(
        f"{facts['file']} has {counted(jobs, 'job')} of {facts['queue']}, the oldest of {facts['oldest']}: "
        f"{facts['kept']} it had, {facts['from_table']} from Pointsman's table, {facts['described']} described by "
        f"Batch ({facts['pages']} pages listed).",
        soft_wrap=True,
    )
    out.print(f"Left out: {facts['unfinished']} that have not ended, {facts['never_started']} that never started.")
    if not facts["exact"]:
        out.print("Its instances have different numbers of GPUs: as one pool of GPUs it is replayed roughly.")
    if not facts["complete"]:
        out.print(
            f"Not complete: the budget of API calls is used up, {facts['missing']} jobs are not described. The same "
            "command goes on; --wait 10m lets it wait.",
            soft_wrap=True,
        )
    out.print("To try a policy on them:")
    out.print(
        f"  pointsman simulate --trace {facts['file']} --window {window[0]}:{window[1]} "
        f"--capacity {facts['capacity']} --policy policy.yaml",
        soft_wrap=True,
    )
