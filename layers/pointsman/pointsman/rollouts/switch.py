"""The kill switch: made before the first update, fired when what is in flight must go back, deleted at the end.

One that someone else deleted is made again once nothing is in flight, and no update begins before it stands.
"""

from dataclasses import replace

from pointsman.rollouts.decision import Act, CreateSwitch, DeleteSwitch, FireSwitch
from pointsman.rollouts.draft import ASK_AGAIN, LEASE, PATIENCE, Draft
from pointsman.rollouts.observations import AlarmState
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.reasons import Reason
from pointsman.rollouts.record import Direction, Intent, Switch

_BEGINNING = frozenset({Phase.PREFLIGHT, Phase.RUNNING})  # where updates are still to come


def advance_switch(draft: Draft) -> None:
    """Carry the switch one step on; what was recorded before this pass is acted on."""
    switch, state = draft.record.switch, draft.seen.kill_switch
    asked = draft.record.switch_asked_at is not None
    needed = draft.record.intent is not Intent.FORWARD and bool(draft.outstanding(Direction.FORWARD))
    name = draft.record.kill_switch
    if switch is Switch.CREATING:
        if asked and state is AlarmState.OK:
            _go(draft, Switch.READY)
        elif draft.record.intent is Intent.FORWARD:
            _ask(draft, CreateSwitch(name))
    elif switch is Switch.READY and state is None and draft.record.phase in _BEGINNING and not draft.outstanding():
        _go(draft, Switch.CREATING)
        draft.say(Reason.SWITCH, f"The kill switch {name} is gone, though nobody here deleted it: it is made again.")
    elif switch is Switch.READY and needed:
        _go(draft, Switch.FIRING)
        draft.say(Reason.SWITCH, "The kill switch is fired, so that what is in flight goes back.")
    elif switch is Switch.FIRING:
        if asked and state is AlarmState.ALARM:
            _go(draft, Switch.FIRED)
        elif needed:
            _ask(draft, FireSwitch(name))
    elif switch is Switch.FIRED and needed and state is not AlarmState.ALARM:
        _go(draft, Switch.FIRING)
    elif switch is Switch.DELETING:
        if asked and state is None:
            _go(draft, Switch.DELETED)
        else:
            _ask(draft, DeleteSwitch(name))


def make_switch(draft: Draft) -> bool:
    """Whether the switch stands ready and OK; if there is none yet, record that it is to be made."""
    if draft.record.switch is Switch.NONE:
        _go(draft, Switch.CREATING)
    return draft.record.switch is Switch.READY and draft.seen.kill_switch is AlarmState.OK


def dispose_of_switch(draft: Draft) -> bool:
    """Whether the switch is gone; it is deleted only when nothing is in flight, and nobody can make it again.

    A sender who was slow may live until his lease ends, and would leave an alarm for ever.
    """
    switch = draft.record.switch
    if switch in {Switch.NONE, Switch.DELETED}:
        return True
    if draft.outstanding():
        return False
    lease = max(draft.record.switch_since, draft.record.switch_asked_at or 0.0) + LEASE
    if switch is not Switch.DELETING and draft.seen.began <= lease:
        draft.wake(lease + 1.0)
        return False
    if switch is not Switch.DELETING:
        _go(draft, Switch.DELETING)
        return False
    asked = draft.record.switch_asked_at is not None
    return asked and draft.now > draft.record.switch_since + PATIENCE  # `uninstall` finds those left


def _go(draft: Draft, switch: Switch) -> None:
    draft.update(replace(draft.record, switch=switch, switch_since=draft.now, switch_asked_at=None))


def _ask(draft: Draft, act: Act) -> None:
    if draft.before.switch is not draft.record.switch:
        return  # recorded by this pass: acted on once that is committed
    asked_at = draft.record.switch_asked_at
    if asked_at is None or draft.now >= asked_at + ASK_AGAIN:
        since = draft.now if asked_at is None else draft.record.switch_since  # patience begins with the first asking
        draft.update(replace(draft.record, switch_asked_at=draft.now, switch_since=since))
        draft.act(act)
    else:
        draft.wake(asked_at + ASK_AGAIN)
