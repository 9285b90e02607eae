"""Passes over one rollout: load, observe, decide, commit, carry out, tell.

No act without its committed intent: acts are carried out only after the commit that names them, and a pass that loses
the race for the commit does nothing. Several passes may follow each other in one run while there is more to do at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from pointsman.errors import Conflict, Gone, Misconfigured, PointsmanError, Refused, Transient
from pointsman.loops.rollout_notices import Teller
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.ports import Clock
from pointsman.rollout_log_ports import RolloutLog, RolloutPass
from pointsman.rollout_ports import (
    InferenceFleet,
    KillSwitch,
    Refusal,
    RolloutNotices,
    RolloutTable,
    Scaling,
    StoredRollout,
)
from pointsman.rollouts.commands import By, abort
from pointsman.rollouts.decide import decide, freeze
from pointsman.rollouts.decision import (
    Act,
    CreateSwitch,
    Decision,
    DeleteSwitch,
    FireSwitch,
    ResumeScaling,
    SetCopies,
    SubmitUpdate,
    SuspendScaling,
    parking,
)
from pointsman.rollouts.record import RolloutRecord

PASSES = 8  # of one run, at most
RUN_SECONDS = 45.0  # after which a run begins no further pass: the function has its time-out
GENERATION = 1_500  # passes of one execution, whose history holds 25,000 events
STUMBLE = 60.0  # seconds to the next pass after one that failed for a reason that only a person mends
SUPERSEDED = "SUPERSEDED"


@dataclass(frozen=True, slots=True)
class Advance:
    """What the state machine needs to know: where to wait, for how long, and on which wake."""

    rollout_id: str
    generation: int
    phase: str
    wake_seq: int
    wait_seconds: int
    ended: bool = False
    successor: int | None = None

    def answer(self) -> dict[str, Any]:
        """As the state machine reads it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RolloutLoop:
    """Carries out passes."""

    clock: Clock
    observer: RolloutObserver
    table: RolloutTable
    fleet: InferenceFleet
    switch: KillSwitch
    scaling: Scaling
    notices: RolloutNotices
    log: RolloutLog

    def run(self, rollout: str, generation: int) -> Advance:
        """Pass after pass while there is more to do at once; then where to wait.

        Raises `Conflict` when another pass was faster and `Transient` for a fault that may be over soon: the state
        machine repeats both. Raises `Misconfigured` for a record that this release cannot read, which it leaves
        alone. Any other fault is logged, and the rollout waits a minute.
        """
        stored = self.table.load(rollout)
        if stored.generation != generation:
            return Advance(rollout, generation, SUPERSEDED, stored.wake_seq, 1, ended=True)
        until, wake_seq = self.clock.now() + RUN_SECONDS, stored.wake_seq
        for _ in range(PASSES):
            if stored.record.phase.terminal:
                break
            with self.log.correlated(_pass_of(stored)):
                try:
                    stored = self._pass(stored)
                except (Transient, Conflict):
                    raise
                except Exception as error:  # noqa: BLE001 - a fault of ours must not end the execution
                    why = str(error) or type(error).__name__
                    self.log.stumbled(rollout, why, known=isinstance(error, PointsmanError))
                    stored = replace(stored, next_wake_at=self.clock.now() + STUMBLE)
                    break
            if stored.generation != generation or stored.next_wake_at > self.clock.now() or self.clock.now() > until:
                break
        with self.log.correlated(_pass_of(stored)):
            Teller(self.table, self.notices, self.log).tell(stored)
        return self._parked(stored, generation, wake_seq)

    def _parked(self, stored: StoredRollout, generation: int, wake_seq: int) -> Advance:
        record, wait = stored.record, max(1, ceil(stored.next_wake_at - self.clock.now()))
        ended = record.phase.terminal
        phase = record.phase.value if ended else parking(record)
        successor = stored.generation if stored.generation != generation and not ended else None
        return Advance(record.rollout, generation, phase, wake_seq, wait, ended, successor)

    def _pass(self, stored: StoredRollout) -> StoredRollout:
        rollout = stored.record.rollout
        decision = self._decide(stored)
        now = self.clock.now()
        wake_at = now if decision.next_wake_at is None else decision.next_wake_at
        ends = decision.record.phase.terminal
        generation = stored.generation + (0 if ends or stored.passes + 1 < GENERATION else 1)
        if decision.journal is None:
            self.table.sleep(stored, wake_at, generation)
            self.log.advanced(RolloutPass(rollout, stored.generation, decision, ()))
            return replace(stored, next_wake_at=wake_at, generation=generation, passes=stored.passes + 1)
        committed = self.table.commit(stored, decision, wake_at, generation)
        outcomes, refusals = self._carry_out(decision.record, decision.acts)
        self.log.advanced(RolloutPass(rollout, stored.generation, decision, outcomes))
        return self._remember(committed, refusals)

    def _decide(self, stored: StoredRollout) -> Decision:
        record = stored.record
        if stored.plan is None:
            try:
                seen = self.observer.survey(stored.request, record.kill_switch)
            except Misconfigured as error:  # nothing has been changed: better refused than held for ever
                return abort(record, By("pointsman", self.clock.now(), f"what it names cannot be read: {error}"))
            return freeze(record, stored.request, seen, self.clock.now())
        seen = self.observer.look(stored, stored.plan)
        return decide(record, stored.plan, seen, self.clock.now())

    def _carry_out(self, record: RolloutRecord, acts: Sequence[Act]) -> tuple[tuple[str, ...], dict[str, Refusal]]:
        """Do what was committed, the kill switch first; what one act meets stops no other."""
        outcomes = [""] * len(acts)
        refusals: dict[str, Refusal] = {}
        for number, act in sorted(enumerate(acts), key=lambda each: not isinstance(each[1], FireSwitch)):
            try:
                outcomes[number] = self._do(act)
            except (Refused, Gone, Misconfigured) as error:
                outcomes[number] = "refused"
                if isinstance(act, SubmitUpdate | SetCopies):
                    attempt = act.attempt.number if isinstance(act, SubmitUpdate) else 0
                    refusals[act.component] = Refusal(attempt, str(error)[:500])
                self.log.stumbled(record.rollout, f"{type(act).__name__}: {error}", known=True)
            except Exception as error:  # noqa: BLE001 - it may have been carried out all the same: a read tells
                outcomes[number] = "unknown"
                self.log.stumbled(record.rollout, f"{type(act).__name__}: {error}", known=isinstance(error, Transient))
        return tuple(outcomes), refusals

    def _do(self, act: Act) -> str:
        if isinstance(act, SubmitUpdate | SetCopies | SuspendScaling | ResumeScaling):
            if self.clock.now() >= act.not_after:
                return "too late"
            if isinstance(act, SubmitUpdate):
                self.fleet.update(act)
            elif isinstance(act, SetCopies):
                self.fleet.set_copies(act.component, act.copies)
            elif isinstance(act, SuspendScaling):
                self.scaling.suspend(act.component)
            else:
                self.scaling.restore(act.component, act.suspension)
        elif isinstance(act, FireSwitch):
            self.switch.fire(act.alarm)
        elif isinstance(act, CreateSwitch):
            self.switch.make(act.alarm)
        elif isinstance(act, DeleteSwitch):
            self.switch.delete(act.alarm)
        return "done"

    def _remember(self, stored: StoredRollout, refusals: dict[str, Refusal]) -> StoredRollout:
        """Keep the words of refusals for the next pass; losing them costs patience, and changes no outcome."""
        if not refusals:
            return stored
        open_ = {component.name for component in stored.record.components if component.outstanding}
        kept = {name: each for name, each in stored.refusals.items() if name in open_} | refusals
        try:
            self.table.reply(stored.record.rollout, kept)
        except (Transient, Conflict) as error:
            self.log.stumbled(stored.record.rollout, f"replies: {error}", known=True)
        return replace(stored, refusals=kept)


def _pass_of(stored: StoredRollout) -> str:
    """What the lines of one pass have in common: the rollout, its execution, and the number of the pass in it."""
    return f"{stored.record.rollout}/{stored.generation}/{stored.passes + 1}"
