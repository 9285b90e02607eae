"""What `pointsman queue` prints for people."""

from collections.abc import Sequence
from statistics import fmean

from rich.console import Console

from pointsman.loops.inspect import Look
from pointsman.ports import RecordedMove, Standstill
from pointsman.queues.explain import Standing
from pointsman.queues.forecast import Expected
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.moves import Hold
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.ranking import Candidate
from pointsman.queues.reasons import Idle, hours, named
from pointsman_cli.printing import counted, when
from pointsman_cli.screen import table
from pointsman_cli.shapes import active_effects, open_windows, pinned, waits_by_class, working
from pointsman_cli.shares import share_lines
from pointsman_cli.standing import Elsewhere, Waiting
from pointsman_cli.standstill import stopped

IDLE = {
    Idle.RESERVATION: "kept for the job whose place is held",
    Idle.CEILING: "the class of what fits is at its ceiling; Batch starts it by itself",
    Idle.NOTHING_FITS: "no waiting job fits",
    Idle.NO_WORK: "nothing waits",
    Idle.NOT_RULED: "nothing in this queue can be moved",
    Idle.OTHER_SHARE: "the share that is next has a job at its head that does not fit; no other share goes before it",
}


def queue(out: Console, look: Look, *, still: Standstill | None, head: Sequence[Candidate]) -> None:
    """`queue show`."""
    view, record, stored = look.seen.view, look.record, look.stored
    kind = look.seen.description.kind.value
    by = f" by {stored.applied_by}" if stored.applied_by else ""
    out.print(f"{view.queue}: {kind}, {_mode(look, still)}", style="bold")
    stopped(out, still)
    out.print(f"policy     version {stored.number}, applied {when(stored.applied_at)}{by}")
    use = f"{view.used} of {view.capacity} instances in use, {working(look)} working, {view.free} free"
    use += f", {view.elsewhere} used by {', '.join(look.seen.description.siblings)}" if view.elsewhere else ""
    use += f", {view.withheld} kept back for other shares" if view.withheld else ""
    out.print(f"capacity   {use}")
    out.print(f"waiting    {counted(len(view.waiting), 'job')}")
    out.print(f"held       {_held(look.decision.hold, view.now)}")
    for line in share_lines(look):
        out.print(f"share      {line}")
    for pin, name in pinned(look):
        out.print(f"pinned     {name or pin.job_id} {_pin(pin)}")
    for effect in active_effects(look):
        end = "the alarm ends" if effect.end == float("inf") else when(effect.end)
        out.print(f"effect     {effect.alarm} gives {effect.boost} {hours(effect.by)} more head start until {end}")
    for window in open_windows(look):
        out.print(f"window     {window}, open until {when(window.next_edge(view.now))}")
    out.print(f"last pass  {when(record.passed_at)}")
    out.print(f"next pass  {when(record.next_wake_at)}, or when an event wakes it")
    _problems(out, [f"the last pass: {record.problem}"] if record.problem else [], look.seen.problems)
    out.print()
    waits = waits_by_class(look)
    rows = [(n, len(w), hours(fmean(w)) if w else "-", hours(max(w)) if w else "-") for n, w in waits.items()]
    numbers = ("waiting", "mean wait", "longest wait")
    out.print(table(("class", *numbers), rows, right=numbers))
    if head:
        out.print()
        out.print(_jobs([c.job for c in head], view.now, [hours(c.expected) for c in head]))


def plan(out: Console, look: Look, *, still: Standstill | None) -> None:
    """`queue plan`."""
    decision, view = look.decision, look.seen.view
    out.print(f"{view.queue} at {when(view.now)}: {_mode(look, still)}", style="bold")
    stopped(out, still)
    _problems(out, look.seen.problems)
    if decision.moves:
        rows = [
            (m.job_name, m.job_class, f"{m.before} -> {m.after}", m.reason.value, m.sentence) for m in decision.moves
        ]
        out.print(table(("job", "class", "priority", "reason", "why"), rows))
    else:
        out.print("Nothing would be moved.")
    for reason, count in decision.idle:
        out.print(f"{counted(count, 'instance')} would stay idle: {IDLE.get(reason, reason.value)}")
    for told in decision.told:
        out.print(f"{told.what.value.replace('_', ' ')}: {told.sentence}")
    out.print(f"held       {_held(decision.hold, view.now)}")
    out.print(f"next pass  {when(decision.next_wake)} at the latest")


def standing(out: Console, found: Waiting | Elsewhere, expected: Expected | None) -> None:
    """`queue explain`."""
    if isinstance(found, Elsewhere):
        told = f"{found.name} ({found.job_id}): " if found.job_id else ""
        out.print(f"{told}{found.sentence}")
        return
    it: Standing = found.standing
    job = it.job
    out.print(f"{named(job)}, {job.job_id}", style="bold")
    out.print(f"position   {it.position} of {counted(it.waiting, 'waiting job')}")
    out.print(f"what holds it  {it.holds}")
    if found.batch_says:
        out.print(f"Batch says {found.batch_says}")
    out.print(f"expected   {_expected(job.submitted + it.waited, expected)}")
    if it.pin:
        out.print(f"pinned     {_pin(it.pin)}")
    out.print(f"waited     {hours(it.waited)}; expected to run {hours(it.expected)}")
    own = "" if job.priority == job.submitted_priority else f" (submitted with {job.submitted_priority})"
    out.print(f"priority   {job.priority}{own}")
    out.print("its place  " + "; ".join(f"{part} {value}" for part, value in it.score_parts))
    if it.ahead:
        more = it.position - 1 - len(it.ahead)
        out.print()
        out.print(f"ahead of it{f', and {more} more' if more > 0 else ''}:")
        ahead = [one.job for one in it.ahead]
        out.print(_jobs(ahead, job.submitted + it.waited, [one.why for one in it.ahead], ("job", "why it is ahead")))
        out.print(f"what holds the first  {it.head_holds}")


def history(out: Console, queue: str, since: float, moves: Sequence[RecordedMove], *, full: bool) -> None:
    """`queue history`."""
    if not moves:
        out.print(f"No move in {queue} since {when(since)}.")
        return
    rows = [
        (when(r.at), r.move.job_name, r.move.job_class, f"{r.move.before} -> {r.move.after}", r.move.reason.value,
         r.outcome, r.policy, r.move.sentence)
        for r in moves
    ]  # fmt: skip
    out.print(
        table(("when", "job", "class", "priority", "reason", "outcome", "policy", "why"), rows, right=("policy",))
    )
    if full:
        out.print(f"There may be more: --limit shows {len(moves)}.")


def _mode(look: Look, still: Standstill | None) -> str:
    mode = f"mode {look.policy.mode.value}"
    return f"{mode}, but everything is stopped: it only observes" if still else mode


def _expected(now: float, expected: Expected | None) -> str:
    if expected is None:
        return "at no time that can be told"
    if expected.p90 == 0:
        return "to start at once"
    late = "later than that can be told" if expected.p90 == float("inf") else f"by {when(now + expected.p90)} (p90)"
    return f"to start about {when(now + expected.p50)} (p50), {late}"


def _pin(pin: Pin) -> str:
    goes = "goes first" if pin.kind is PinKind.FIRST else "goes last"
    return f"{goes}, says {pin.by or 'someone'}, until {when(pin.until)}"


def _held(hold: Hold | None, now: float) -> str:
    if hold is None:
        return "no place"
    fits = "no known time" if hold.until == float("inf") else f"about {hours(hold.until - now)} from now"
    return f"a place for {named(hold.job)}, expected to fit {fits}"


def _problems(out: Console, *problems: Sequence[str]) -> None:
    for problem in (p for part in problems for p in part):
        out.print(f"problem    {problem}", style="yellow")


def _jobs(
    jobs: Sequence[WaitingJob],
    now: float,
    last: Sequence[str],
    titles: tuple[str, str] = ("next to start", "expected run"),
) -> object:
    rows = [
        (n + 1, j.name, j.kind.job_class, j.size, hours(now - j.submitted), j.priority, said)
        for n, (j, said) in enumerate(zip(jobs, last, strict=True))
    ]
    columns = ("", titles[0], "class", "instances", "waited", "priority", titles[1])
    return table(columns, rows, right=("", "instances", "waited", "priority", "expected run"))
