"""New rollouts that are linked to one that has ended: again for what it left, or back to where it came from."""

from collections.abc import Collection
from dataclasses import replace

from pointsman.rollouts.commands import By, CommandRefused
from pointsman.rollouts.decision import Decision, entry
from pointsman.rollouts.observations import Answer, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.reasons import Notice, Reason, Said
from pointsman.rollouts.record import Back, ComponentRecord, Intent, RolloutRecord, State
from pointsman.rollouts.request import Request, Target


def retried_request(record: RolloutRecord, request: Request, rollout: str) -> Request:
    """The request of a new rollout, linked to one that has ended, for the components that it left."""
    if not record.phase.terminal:
        raise CommandRefused("it has not ended", "`retry` it as it is")
    if record.phase is Phase.ROLLBACK_INCOMPLETE:
        text = "it was being taken back, and a retry would go forward again"
        raise CommandRefused(text, f"`pointsman rollout rollback {record.rollout}` goes on with the way back")
    if not record.components:
        raise CommandRefused("it was refused before it began", "mend what it names, and start it under another name")
    left = [c.name for c in record.components if c.state not in {State.DONE_NEW, State.SKIPPED}]
    if not left:
        raise CommandRefused("it left nothing: every component has the new version", "there is nothing to do")
    targets = tuple(Target(component=name) for name in left)
    return replace(request, rollout=rollout, targets=targets, retry_of=record.rollout)


def rollback_ended(
    record: RolloutRecord,
    plan: Plan,
    rollout: str,
    seen: Observations,
    by: By,
    switch: str = "",
    ended: Collection[str] = (),
) -> Decision:
    """A new rollout that takes back what an ended one left new, to each component's own old specification.

    It begins on its way back: what has the old version already is only verified, what someone changed is left to them.
    `ended` are those owners of locks that have ended too, and left something to a person.
    """
    if not record.phase.terminal:
        raise CommandRefused("it has not ended", "roll it back as it is")
    touched = [c for c in record.components if c.touched]
    if not touched:
        raise CommandRefused("it changed nothing, so there is nothing to take back", "")
    endpoints = sorted({plan.member(c.name).endpoint for c in touched})
    for name in endpoints:
        lock = seen.locks.get(name)
        if lock is not None and lock.owner not in {"", rollout, record.rollout}:
            if lock.owner in ended:
                text = f"rollout {lock.owner} has ended, and left something on endpoint {name} to a person"
                cure = f"`pointsman rollout rollback {lock.owner}` goes on from there"
                raise CommandRefused(text, cure)
            raise CommandRefused(f"rollout {lock.owner} is under way on endpoint {name}", f"wait for {lock.owner}")
    for component in touched:
        model = (component.adopted or plan.member(component.name).old).model
        if model is not None and seen.models.get(model) is Answer.NO:
            text = f"the old model {model} of {component.name} is gone, so there is no way back"
            raise CommandRefused(text, f"create model {model} again")
    linked = replace(plan, request=replace(plan.request, rollout=rollout, retry_of=record.rollout), made_at=by.at)
    before = RolloutRecord(rollout)
    locks = tuple((name, (seen.locks[name].fence if name in seen.locks else 0) + 1) for name in endpoints)
    after = replace(
        before,
        rev=1,
        phase=Phase.ROLLING_BACK,
        intent=Intent.REVERT,
        back=Back.DRAIN,
        alarm=switch,
        started_at=by.at,
        started_by=by.actor,
        since=by.at,
        fences=locks,
        cause=f"{record.rollout} is taken back by {by.actor}",
        components=tuple(
            ComponentRecord(c.name, State.REVERT_WAIT, since=by.at, adopted=c.adopted, touched=True) for c in touched
        ),
    )
    said = (Said(Reason.STARTED, f"{record.rollout} is taken back, asked for by {by.actor}."),)
    notice = Notice(f"{rollout}/started", f"Rollout {rollout}: {said[0].sentence}")
    journal = entry(before, after, by.at, by.actor, said)
    return Decision(after, journal, (), (notice,), by.at, plan=linked, locks=locks)
