"""What `pointsman rollout` prints for people."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console

from pointsman.queues.reasons import hours
from pointsman.rollout_inbound import CLAIMED
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.decision import JournalEntry, parking
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Finding, Level, Plan, together
from pointsman.rollouts.record import CopyNote, Direction
from pointsman.rollouts.request import Capacity
from pointsman_cli.printing import counted, when
from pointsman_cli.rollout_next import next_steps
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
        approved = ", after an approval" if number in made.approvals else ""
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
    for finding in sorted(together(found), key=lambda f: order.index(f.level)):
        out.print(f"{finding.level.value:<11} {finding}", style=STYLES[finding.level])


def rollout(out: Console, stored: StoredRollout) -> None:
    """`rollout show`."""
    record, made = stored.record, stored.plan
    ended = record.phase.terminal
    wave = f", wave {_wave(stored)} ({record.step.value})" if _wave(stored) else ""
    out.print(f"{record.rollout}: {record.phase.value}{wave}", style="bold")
    out.print(f"asked for   {when(record.started_at)} by {who(record.started_by)}")
    out.print(f"intent      {INTENTS[record.intent]}")
    if record.cause:
        out.print(f"cause       {record.cause}")
    for hold in record.holds:
        until = f", until {when(hold.expiry)}" if hold.expiry else ""
        by = f"{hold.kind.value} by {who(hold.owner)} since {when(hold.since)}{until}"
        out.print(f"held        {by}: {hold.sentence}")
    if stored.request.retry_of:
        out.print(f"follows     {stored.request.retry_of}")
    if ended:
        out.print(f"ended       {when(record.ended_at)}")
    else:
        out.print(f"waits in    {parking(record)}; next pass {when(stored.next_wake_at)}, or when an event wakes it")
    for note in record.copies:
        out.print(f"{_copies(note)} ({note.state.value})")
    if record.needs_human:
        out.print(f"needs you   {', '.join(record.needs_human)}", style="red")
    for step in next_steps(record):
        out.print(f"next        {step}", style="cyan")
    if record.components:
        waves = {member.name: member.wave + 1 for member in made.members} if made else {}
        rows = [
            (waves.get(c.name, ""), c.name, c.state.value, when(c.since), len(c.attempts), c.sentence)
            for c in record.components
        ]
        out.print()
        out.print(table(("wave", "component", "state", "since", "attempts", "why"), rows, right=("wave", "attempts")))


def rollouts(out: Console, found: Sequence[StoredRollout], unread: Mapping[str, str]) -> None:
    """`rollout list`; `unread` says of those that cannot be read why not."""
    if not found and not unread:
        out.print("There is no rollout.")
        return
    rows = [
        (s.record.rollout, s.record.phase.value, _wave(s), ", ".join(hold.kind.value for hold in s.record.holds),
         when(s.record.started_at), who(s.record.started_by), s.record.cause)
        for s in found
    ]  # fmt: skip
    out.print(table(("rollout", "phase", "wave", "held", "asked for", "by", "cause"), rows))
    for why in unread.values():
        out.print(why, style="red")


def who(actor: str) -> str:
    """An actor as people read one.

    >>> who("claimed:arn:aws:iam::123456789012:user/ana")
    'user/ana (claimed)'
    """
    if not actor.startswith(CLAIMED):
        return actor or "unknown"
    return f"{actor.removeprefix(CLAIMED).rpartition(':')[2]} (claimed)"


def _wave(stored: StoredRollout) -> str:
    """The wave that is rolled, of how many; nothing where none is."""
    record = stored.record
    if stored.plan is None or record.phase is not Phase.RUNNING:
        return ""
    return f"{record.wave + 1} of {len(stored.plan.waves)}"


def _copies(note: CopyNote) -> str:
    if note.wanted > note.noted:
        return f"surges      {note.component}: {note.noted} to {note.wanted} copies while it is rolled"
    return f"gives way   {note.component}: {note.noted} to {note.wanted} copies, restored after"


def history(out: Console, journal: Sequence[JournalEntry]) -> None:
    """`rollout history`."""
    rows = [
        (line.rev, when(line.at), who(line.actor), said.component or "", said.reason.value, said.sentence)
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
