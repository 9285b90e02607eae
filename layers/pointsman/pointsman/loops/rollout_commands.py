"""Requests and operators' commands: a pure verb on the record, committed on its revision, and then a wake."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pointsman.documents import InvalidDocument, Path
from pointsman.errors import Conflict, Gone, Poison, UserMistake
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.rollout_wakers import RolloutWaker
from pointsman.ports import Clock, DeadLetters
from pointsman.rollout_inbound import Command, Verb, command, from_bus
from pointsman.rollout_log_ports import RolloutLog
from pointsman.rollout_ports import ID, ID_IN_WORDS, LONGEST_ID, RolloutTable, StoredRollout
from pointsman.rollout_wake_ports import Execution
from pointsman.rollouts import commands
from pointsman.rollouts.commands import By, CommandRefused
from pointsman.rollouts.decision import Decision
from pointsman.rollouts.linked import retried_request, rollback_ended
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.record import HoldKind
from pointsman.rollouts.request import Request

TRIES = 5  # commits of one command, against passes that were faster


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What came of a command, as the caller is told."""

    rollout: str
    phase: str
    rev: int
    said: str

    def answer(self) -> dict[str, Any]:
        """As the function answers it."""
        return {"rollout": self.rollout, "phase": self.phase, "rev": self.rev, "said": self.said}


@dataclass(frozen=True, slots=True)
class RolloutCommands:
    """Obeys commands; `read_request` turns a request's document into what the core decides on.

    Kill switches bear the name of the `stack`, whose rollouts these are.
    """

    clock: Clock
    table: RolloutTable
    observer: RolloutObserver
    execution: Execution
    waker: RolloutWaker
    dead_letters: DeadLetters
    read_request: Callable[[Mapping[str, Any]], Request]
    log: RolloutLog
    stack: str

    def receive(self, event: Mapping[str, Any]) -> Obeyed | None:
        """A payload into a command, obeyed.

        Raises `UserMistake` (or `Poison`) to a caller who hears it; from the bus a mistake is dead-lettered with its
        reason. Raises `Transient` and `Conflict` for another try.
        """
        try:
            return self.obey(command(event))
        except (UserMistake, Poison) as mistake:
            if not from_bus(event):
                raise
            reason = str(mistake).removeprefix(f"{mistake.place}: ")
            self.dead_letters.bury(json.dumps(event, default=str), reason, mistake.place)
            self.log.commanded("", "event", "event", f"refused: {mistake}")
            return None

    def respond(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The same, as the function answers it: what was done, or under `refused` why not, and the remedy."""
        try:
            obeyed = self.receive(event)
        except UserMistake as mistake:
            return {"refused": {"problem": mistake.problem, "place": mistake.place, "remedy": mistake.remedy}}
        except Poison as poison:
            return {"refused": {"problem": poison.reason, "place": poison.place, "remedy": "correct the command"}}
        return obeyed.answer() if obeyed is not None else {}

    def obey(self, wanted: Command) -> Obeyed:
        """Carry out one command. Raises `UserMistake` with the remedy when it cannot be obeyed."""
        try:
            obeyed = self._request(wanted) if wanted.verb is Verb.REQUEST else self._command(wanted)
        except (CommandRefused, UserMistake) as refused:
            self.log.commanded(wanted.rollout, wanted.verb, wanted.actor, f"refused: {refused}")
            if isinstance(refused, UserMistake):
                raise
            place = f"rollout {wanted.rollout}"
            raise UserMistake(refused.problem, place=place, remedy=refused.remedy) from refused
        self.log.commanded(obeyed.rollout, wanted.verb, wanted.actor, obeyed.said)
        return obeyed

    def _request(self, wanted: Command) -> Obeyed:
        try:
            request = self.read_request(wanted.body or {})
        except InvalidDocument as error:
            told = "; ".join(
                f"{_path(p.path)}{p.message}{f' ({p.remedy})' if p.remedy else ''}" for p in error.problems
            )
            raise UserMistake(told, place="request") from error
        return self._start(request, wanted)

    def _start(self, request: Request, wanted: Command) -> Obeyed:
        by = By(wanted.actor, self.clock.now(), wanted.reason)
        return self._begin(request, commands.start(request, by, switch_name(request.rollout, self.stack)))

    def _begin(self, request: Request, decision: Decision) -> Obeyed:
        """Store a new rollout and start its execution; the same request twice is one rollout."""
        rollout, said = request.rollout, decision.said[0].sentence
        try:
            self.table.create(request, decision)
        except Conflict:
            stored = self._known(rollout)
            if stored is None and not decision.locks:
                raise
            if stored is None:
                text, cure = "another rollout has begun on one of its endpoints", "wait for it to end"
                raise UserMistake(text, place=f"rollout {rollout}", remedy=cure) from None
            if stored.request != request:
                text = "there is a rollout of this name already, with another request"
                cure = f"give it a new name; `pointsman rollout show {rollout}` shows that one"
                raise UserMistake(text, place=f"rollout {rollout}", remedy=cure) from None
            said = "It was asked for already."
            decision = Decision(stored.record)
            if stored.record.phase.terminal or stored.generation > 1:
                return Obeyed(rollout, stored.record.phase.value, stored.record.rev, said)
        self.execution.start(rollout, 1)
        return Obeyed(rollout, decision.record.phase.value, decision.record.rev, said)

    def _known(self, rollout: str) -> StoredRollout | None:
        try:
            return self.table.load(rollout)
        except Gone:
            return None

    def _command(self, wanted: Command) -> Obeyed:
        for _ in range(TRIES):
            try:
                stored = self.table.load(wanted.rollout)
            except Gone:
                known = ", ".join(self.table.rollouts(5)) or "none"
                text = "there is no such rollout"
                raise UserMistake(text, place=f"rollout {wanted.rollout}", remedy=f"the last ones: {known}") from None
            if stored.record.phase.terminal and wanted.verb in {Verb.RETRY, Verb.ROLLBACK}:
                return self._linked(stored, wanted)
            now = self.clock.now()
            decision = self._verb(stored, wanted, By(wanted.actor, now, wanted.reason))
            try:
                self.table.commit(stored, decision, now, stored.generation)
            except Conflict:
                continue
            self.waker.wake(wanted.rollout)
            return Obeyed(wanted.rollout, decision.record.phase.value, decision.record.rev, decision.said[0].sentence)
        raise Conflict(f"rollout {wanted.rollout} is written by others all the time")

    def _linked(self, stored: StoredRollout, wanted: Command) -> Obeyed:
        """A new rollout, linked to one that has ended: for what it left, or to take back what it did."""
        now = self.clock.now()
        name = wanted.new_rollout or f"{stored.record.rollout[: LONGEST_ID - 12]}-{round(now)}"
        if not re.fullmatch(ID, name):
            raise UserMistake(f"{name!r} is no name of a rollout", place="new_rollout", remedy=ID_IN_WORDS)
        if wanted.verb is Verb.RETRY:
            return self._start(retried_request(stored.record, stored.request, name), wanted)
        if stored.plan is None:
            raise CommandRefused("it changed nothing, so there is nothing to take back", "")
        seen = self.observer.way_back(stored, stored.plan)
        by, switch = By(wanted.actor, now, wanted.reason), switch_name(name, self.stack)
        ended = self._ended({lock.owner for lock in seen.locks.values()})
        decision = rollback_ended(stored.record, stored.plan, name, seen, by, switch, ended)
        request = decision.plan.request if decision.plan is not None else stored.request
        return self._begin(request, decision)

    def _ended(self, rollouts: Iterable[str]) -> set[str]:
        """Those of them that have ended; who locks what by hand is no rollout."""
        known = [found for name in sorted(filter(None, rollouts)) if (found := self._known(name)) is not None]
        return {found.record.rollout for found in known if found.record.phase.terminal}

    def _verb(self, stored: StoredRollout, wanted: Command, by: By) -> Decision:
        record = stored.record
        simple = {
            Verb.PAUSE: commands.pause,
            Verb.RESUME: commands.resume,
            Verb.ABORT: commands.abort,
            Verb.ROLLBACK: commands.rollback,
            Verb.RETRY: commands.retry,
        }
        if wanted.verb in simple:
            return simple[wanted.verb](record, by)
        if wanted.verb is Verb.WAIVE:
            return commands.waive(record, _hold(wanted.hold), by)
        if stored.plan is None:
            raise CommandRefused("it is not planned yet", "try again in a moment")
        if wanted.verb is Verb.APPROVE:
            return commands.approve(record, stored.plan, wanted.wave, by)
        seen = self.observer.single(wanted.component)
        return commands.adopt(record, stored.plan, wanted.component, seen, by)


def _path(path: Path) -> str:
    return f"{'.'.join(map(str, path))}: " if path else ""


def _hold(name: str) -> HoldKind:
    try:
        return HoldKind(name)
    except ValueError:
        names = ", ".join(kind.value for kind in HoldKind)
        raise CommandRefused(f"there is no hold {name!r}", f"one of: {names}") from None
