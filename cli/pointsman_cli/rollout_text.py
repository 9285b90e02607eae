"""What `pointsman rollout` prints for people."""

from collections.abc import Iterable, Sequence

from rich.console import Console

from pointsman.queues.reasons import hours
from pointsman.rollouts.decision import JournalEntry, parking
from pointsman.rollouts.plan import Finding, Level, Plan
from pointsman.rollouts.record import Direction, RolloutRecord
from pointsman.rollouts.request import Capacity, Request
from pointsman_cli.printing import counted, when
from pointsman_cli.rollout_shapes import INTENTS
from pointsman_cli.screen import table

STYLES = {Level.REFUSED: "red", Level.WARNED: "yellow", Level.NOTED: "default"}
DIRECTIONS = {Direction.FORWARD: "forward", Direction.BACK: "way back"}


def plan(out: Console, made: Plan) -> None:
    """`rollout plan`."""
    endpoints = counted(len(made.endpoints), "endpoint")
    what = f"{counted(len(made.members), 'component')} on {endpoints} in {counted(len(made.waves), 'wave')}"
    out.print(f"{made.rollout} at {when(made.made_at)}: {what}", style="bold")
    if made.request.capacity is Capacity.TRY:
        out.print(f"capacity is not required: {made.request.reason} ({made.request.person})", style="yellow")
    for number, (names, seconds) in enumerate(zip(made.waves, made.seconds, strict=True), 1):
        members = [made.member(name) for name in names]
        approved = ", after an approval" if number in made.request.approvals else ""
        out.print()
        out.print(f"wave {number}: {counted(len(members), 'component')}, about {hours(seconds)}{approved}")
        rows = [(m.name, m.endpoint, m.copies, m.batch.copies, m.batch.sentence) for m in members]
        out.print(
            table(("component", "endpoint", "copies", "batch", "why this batch"), rows, right=("copies", "batch"))
        )
    if made.needs:
        out.print()
        out.print(_capacity(made))
    for given in made.gives:
        out.print(f"gives way   {given.component} from {given.before} to {given.after} copies, restored after")
    out.print()
    alarms = counted(len(made.watches), "alarm")
    bakes = f"bakes {hours(made.request.bake)} after a wave, {hours(made.request.final_bake)} at the end"
    out.print(f"guards      {alarms}; {bakes}")
    for guard in made.request.guards:
        least = counted(guard.min_samples, "minute" if guard.counted else "sample")
        out.print(f"            {guard.alarm}: at least {least} of {guard.counted or 'its own metric'}", markup=False)
    out.print(f"duration    about {hours(made.duration)}")
    findings(out, made.findings)
    verdict = "it would be refused, nothing would change" if made.refused else "it may start"
    out.print(f"verdict     {verdict}", style="red" if made.refused else "green")


def findings(out: Console, found: Iterable[Finding]) -> None:
    """One line for each thing that the checks found, the gravest first."""
    order = list(STYLES)
    for finding in sorted(found, key=lambda f: order.index(f.level)):
        out.print(f"{finding.level.value:<11} {finding}", style=STYLES[finding.level])


def rollout(out: Console, record: RolloutRecord, request: Request, made: Plan | None, next_wake_at: float) -> None:
    """`rollout show`."""
    wave = f", wave {record.wave + 1} of {len(made.waves)} ({record.step.value})" if made and made.waves else ""
    ended = record.phase.terminal
    out.print(f"{record.rollout}: {record.phase.value}{'' if ended else wave}", style="bold")
    out.print(f"asked for   {when(record.started_at)} by {record.started_by or 'unknown'}")
    out.print(f"intent      {INTENTS[record.intent]}")
    if record.cause:
        out.print(f"cause       {record.cause}")
    for hold in record.holds:
        until = f", until {when(hold.expiry)}" if hold.expiry else ""
        out.print(f"held        {hold.kind.value} by {hold.owner} since {when(hold.since)}{until}: {hold.sentence}")
    if request.retry_of:
        out.print(f"retry of    {request.retry_of}")
    if ended:
        out.print(f"ended       {when(record.ended_at)}")
    else:
        out.print(f"waits in    {parking(record)}; next pass {when(next_wake_at)}, or when an event wakes it")
    for note in record.copies:
        out.print(f"gives way   {note.component}: {note.noted} copies, {note.wanted} wanted ({note.state.value})")
    if record.needs_human:
        out.print(f"needs you   {', '.join(record.needs_human)}", style="red")
    if record.components:
        waves = {member.name: member.wave + 1 for member in made.members} if made else {}
        rows = [
            (waves.get(c.name, ""), c.name, c.state.value, when(c.since), len(c.attempts), c.sentence)
            for c in record.components
        ]
        out.print()
        out.print(table(("wave", "component", "state", "since", "attempts", "why"), rows, right=("wave", "attempts")))


def rollouts(out: Console, records: Sequence[RolloutRecord]) -> None:
    """`rollout list`."""
    if not records:
        out.print("There is no rollout.")
        return
    rows = [
        (r.rollout, r.phase.value, r.wave + 1 if r.components and not r.phase.terminal else "",
         ", ".join(hold.kind.value for hold in r.holds), when(r.started_at), r.started_by, r.cause)
        for r in records
    ]  # fmt: skip
    out.print(table(("rollout", "phase", "wave", "held", "asked for", "by", "cause"), rows, right=("wave",)))


def history(out: Console, journal: Sequence[JournalEntry]) -> None:
    """`rollout history`."""
    rows = [
        (line.rev, when(line.at), line.actor, said.component or "", said.reason.value, said.sentence)
        for line in journal
        for said in line.said
    ]
    out.print(table(("rev", "when", "by", "component", "reason", "why"), rows, right=("rev",)))


def _capacity(made: Plan) -> object:
    rows = [
        (need.endpoint, need.component, DIRECTIONS[need.direction], need.copies, need.room.needed, need.room.there,
         need.room.most, "yes" if need.room.enough else "NO", "assumed" if need.room.assumed else "")
        for need in made.needs
    ]  # fmt: skip
    numbers = ("copies more", "instances needed", "there", "most")
    return table(("endpoint", "for", "direction", *numbers, "enough", ""), rows, right=numbers)
