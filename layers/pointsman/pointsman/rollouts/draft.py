"""A pass's working copy: the record as it will be, and what goes with it. It lives for one call of `decide`."""

from collections.abc import Iterable
from dataclasses import replace

from pointsman.rollouts.decision import Act, Decision, entry
from pointsman.rollouts.gate import Judgement, Watch, Window, judge
from pointsman.rollouts.observations import Absent, AlarmView, Observations
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Member, Plan
from pointsman.rollouts.reasons import Notice, Reason, Said
from pointsman.rollouts.record import Back, ComponentRecord, Direction, Hold, HoldKind, Intent, RolloutRecord, State

MOST_CHANGES = 40  # components that one transaction may change, beside locks, journal and notices
LEASE = 210.0  # from an act's commit until no call of its sender can land: its timeout, a call's, and what is seen late
ASK_AGAIN = 60.0  # before an absolute act that was not seen to have an effect is repeated
SLACK = 900.0  # beyond SageMaker's own timeout, before silence is called stuck
PATIENCE = 1800.0  # for what has no timeout of its own: settling, restoring, what a way back waits for
ATTEMPTS, ATTEMPTS_BACK = 3, 6  # of one component in one direction, before a person is asked

OUT = frozenset({State.FAILED, State.NATIVE_ROLLED_BACK, State.STUCK})
_FLYING = frozenset({State.SUBMITTING, State.UPDATING, State.SETTLING, State.REVERT_SUBMITTING, State.REVERT_UPDATING})
SHED_BY_REVERT = frozenset(set(HoldKind) - {HoldKind.STUCK, HoldKind.DRIFT})


class Draft:
    """The record that this pass makes, its acts, its notices, and when to look again."""

    def __init__(self, record: RolloutRecord, plan: Plan, seen: Observations, now: float) -> None:
        """Start from the record as it was read."""
        self.before, self.record = record, record
        self.plan, self.seen, self.now = plan, seen, now
        self.acts: list[Act] = []
        self.said: list[Said] = []
        self.notices: list[Notice] = []
        self.unlocks: tuple[str, ...] = ()
        self._members = {member.name: member for member in plan.members}
        self._counted: tuple[tuple[ComponentRecord, ...], tuple[ComponentRecord, ...]] | None = None
        self._changed: set[str] = set()
        self._wake = now + plan.request.poll
        self._judged: tuple[Judgement, ...] | None = None

    def put(self, component: ComponentRecord, reason: Reason, sentence: str) -> bool:
        """Change a component's record; False when this pass has changed as many as a transaction takes.

        What is not changed now is changed by the next pass, from the same facts.
        """
        if component.name not in self._changed and len(self._changed) >= MOST_CHANGES:
            self.wake(self.now)
            return False
        self._changed.add(component.name)
        if component.state is not self.record.component(component.name).state:
            component = replace(component, since=self.now)
        self.record = self.record.with_component(replace(component, sentence=sentence))
        self._counted = None
        self.say(reason, sentence, component.name)
        return True

    def update(self, record: RolloutRecord) -> None:
        """Take this as the record; components are changed by `put`."""
        self.record = record

    def act(self, act: Act) -> None:
        """Do this after the commit."""
        self.acts.append(act)

    def say(self, reason: Reason, sentence: str, component: str | None = None) -> None:
        """Put this into the journal."""
        self.said.append(Said(reason, sentence, component))

    def notice(self, key: str, sentence: str) -> None:
        """Tell people, once for this key."""
        self.notices.append(Notice(f"{self.record.rollout}/{key}", sentence))

    def wake(self, at: float) -> None:
        """Look again then at the latest."""
        self._wake = min(self._wake, max(at, self.now))

    def member(self, name: str) -> Member:
        """The plan's member of this name."""
        return self._members[name]

    def old_digest(self, component: ComponentRecord) -> str:
        """What the component counts as old: as planned, or as adopted."""
        return (component.adopted or self.member(component.name).old).digest

    def raise_intent(self, intent: Intent, cause: str) -> None:
        """Turn the rollout; the intent only rises, and the first cause is kept."""
        if intent <= self.record.intent:
            return
        record = replace(self.record, intent=intent, cause=self.record.cause or cause)
        if record.phase in {Phase.RUNNING, Phase.FINAL_BAKE, Phase.STOPPING}:
            revert = intent is Intent.REVERT
            record = replace(
                record,
                phase=Phase.ROLLING_BACK if revert else Phase.STOPPING,
                back=Back.DRAIN if revert else None,
                since=self.now,
                holds=tuple(h for h in record.holds if h.kind not in SHED_BY_REVERT),
            )
            word = "Everything is taken back" if revert else "Nothing more is started"
            self.say(Reason.ROLLING_BACK if revert else Reason.STOPPING, f"{word}: {cause}")
            self.notice(f"intent/{intent.name}", f"Rollout {record.rollout}: {word[0].lower()}{word[1:]}: {cause}")
        self.record = record

    def hold(self, kind: HoldKind, owner: str, sentence: str, expiry: float | None = None) -> None:
        """Hold forward admission for this reason, once."""
        if self.record.hold(kind) is None:
            held = Hold(kind, owner, self.now, expiry, sentence)
            self.record = replace(self.record, holds=(*self.record.holds, held))
            self.say(Reason.HELD, f"Held ({kind.value}): {sentence}")
            self.notice(f"hold/{kind.value}/{self.now:.0f}", f"Rollout {self.record.rollout} is held: {sentence}")

    def release(self, kind: HoldKind) -> None:
        """End a hold, if there is one."""
        if self.record.hold(kind) is not None:
            self.record = replace(self.record, holds=tuple(h for h in self.record.holds if h.kind is not kind))
            self.say(Reason.RELEASED, f"No longer held ({kind.value}).")

    def progressed_at(self) -> float:
        """When anything of the rollout last went on."""
        record = self.record
        notes = [note.since for note in record.copies] + [note.since for note in record.scaling]
        return max([record.since, *(c.since for c in record.components), *notes])

    def outstanding(self, direction: Direction | None = None) -> tuple[ComponentRecord, ...]:
        """Components with a call or an update that was not yet seen to its end."""
        return tuple(
            c
            for c in self.record.components
            if c.outstanding and (direction is None or (c.attempt is not None and c.attempt.direction is direction))
        )

    def flying(self) -> tuple[ComponentRecord, ...]:
        """Components that are in flight."""
        return self._count()[0]

    def failed(self) -> tuple[ComponentRecord, ...]:
        """Components whose update came to nothing, which count against the limits as long as they are so."""
        return self._count()[1]

    def _count(self) -> tuple[tuple[ComponentRecord, ...], tuple[ComponentRecord, ...]]:
        """Counted once until a component changes: each that waits for its turn asks."""
        if self._counted is None:
            parts = self.record.components
            self._counted = tuple(filter(in_flight, parts)), tuple(c for c in parts if c.state in OUT)
        return self._counted

    def judgements(self) -> tuple[Judgement, ...]:
        """What the alarms of the fleet and of all that was touched say, the worst first; waived ones are left out."""
        if self._judged is None:
            since = self.record.window_from
            window = Window(float("inf") if since is None else since, self.record.settled_at, self.seen.began)
            self._judged = judge(self.watches(), self._alarms(), window)
        return self._judged

    def _alarms(self) -> dict[str, AlarmView]:
        """The alarms as seen, less what one did while it was waived, or for the old versions of its components."""
        alarms = dict(self.seen.alarms)
        counts = [(waiver.alarm, waiver.until) for waiver in self.plan.request.waived]
        begun = {c.name: c.attempts[0].prepared_at for c in self.record.components if c.touched and c.attempts}
        for watch in self.plan.watches:
            first = [begun[name] for name in watch.components if name in begun]
            counts += [(watch.alarm, min(first))] if first else []
        for alarm, since in counts:
            if alarm in alarms:
                view = alarms[alarm]
                alarms[alarm] = replace(view, entered=tuple(at for at in view.entered if at >= since))
        return alarms

    def watches(self) -> tuple[Watch, ...]:
        """The alarms that count now: the fleet's, and the own ones of what was updated."""
        touched = [c.name for c in self.record.components if c.touched]
        return self._unwaived(self.plan.watched(touched))

    def own_alarms(self, component: str) -> tuple[AlarmView, ...]:
        """A component's own alarms, as seen; waived ones are left out."""
        own = [watch for watch in self.plan.watches if component in watch.components]
        return tuple(self.seen.alarms[w.alarm] for w in self._unwaived(own) if w.alarm in self.seen.alarms)

    def _unwaived(self, watches: Iterable[Watch]) -> tuple[Watch, ...]:
        waived = {w.alarm for w in self.plan.request.waived if self.now < w.until}
        return tuple(watch for watch in watches if watch.alarm not in waived)

    def end(self, phase: Phase, sentence: str) -> None:
        """End the rollout; locks go with it, but for the endpoints of what is not back, and may still be taken back.

        Copies and auto scaling that were not given back lock nothing: no linked rollout would give them back.
        """
        left = [name for name in self.record.stranded if self.seen.component(name) is not Absent.NOT_FOUND]
        kept = {self.member(name).endpoint for name in left}
        self.unlocks = tuple(endpoint for endpoint, _ in self.record.fences if endpoint not in kept)
        self.record = replace(self.record, phase=phase, since=self.now, ended_at=self.now, holds=())
        self.say(Reason.ENDED, sentence)
        self.notice("ended", f"Rollout {self.record.rollout}: {sentence}")

    def decision(self, actor: str = "pointsman") -> Decision:
        """The pass's result: the next revision if anything changed, and another pass at once, since more may follow."""
        if self.record == self.before:
            return Decision(self.record, next_wake_at=self._wake)
        after = replace(self.record, rev=self.before.rev + 1)
        return Decision(
            record=after,
            journal=entry(self.before, after, self.now, actor, self.said),
            acts=tuple(self.acts),
            notices=tuple(self.notices),
            next_wake_at=None if after.phase.terminal else self.now,
            unlocks=self.unlocks,
        )


def in_flight(component: ComponentRecord) -> bool:
    """Whether a component counts against the limits: an intent is recorded, or an update runs or settles."""
    return component.outstanding or component.state in _FLYING
