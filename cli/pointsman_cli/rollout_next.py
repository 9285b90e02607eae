"""What a person may do about a rollout as it is, as the commands to type."""

from collections.abc import Iterator

from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import SHOWING, Hold, HoldKind, Intent, RolloutRecord, State

VERB = "pointsman rollout"
REASON = "--reason TEXT"


def next_steps(record: RolloutRecord) -> tuple[str, ...]:
    """The commands that end what holds it, or that follow its end; none where it goes on by itself."""
    return tuple(dict.fromkeys(_steps(record)))


def _steps(record: RolloutRecord) -> Iterator[str]:
    name = record.rollout
    if record.phase is Phase.ROLLBACK_INCOMPLETE and record.stranded:
        yield f"{VERB} rollback {name}, when what is said of {', '.join(record.stranded)} is seen to"
    elif record.phase is Phase.ROLLED_BACK:
        yield f"{VERB} retry {name}, when its cause is gone"
    elif record.phase is Phase.STOPPED:
        yield f"{VERB} retry {name}"
        yield f"{VERB} rollback {name}"
    elif record.phase is Phase.REJECTED:
        yield f"{VERB} start FILE, with what it names mended, and another name"
    if record.phase.terminal and (gave := sorted(set(record.needs_human) - set(record.stranded))):
        yield f"{VERB} history {name}, for what {', '.join(gave)} had before it gave way: give it back by hand"
    for hold in record.holds:
        yield from _ends(record, hold)
    if not record.phase.terminal and record.needs_human:
        yield f"{VERB} retry {name}"


def _ends(record: RolloutRecord, hold: Hold) -> Iterator[str]:
    name = record.rollout
    if hold.kind is HoldKind.OPERATOR:
        yield f"{VERB} resume {name}"
    elif hold.kind is HoldKind.APPROVAL:
        yield f"{VERB} approve {name} {record.wave + 1}"
    elif hold.kind in {HoldKind.NO_TRAFFIC, HoldKind.INCONCLUSIVE}:
        yield f"{VERB} waive {name} {hold.kind.value} {REASON}"
    elif hold.kind is HoldKind.DRIFT:
        for component in record.components:
            if component.state is State.DRIFTED:
                yield f"{VERB} adopt {name} {component.name} {REASON}"
    elif hold.kind is HoldKind.STUCK:
        if hold.owner not in SHOWING:
            yield f"{VERB} retry {name}"
        if record.intent is not Intent.REVERT:
            yield f"{VERB} rollback {name}"
