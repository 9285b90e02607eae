"""What people do to a rollout, and to its world behind its back; and the one who sees to what a hold shows."""

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError
from pointsman.rollout_inbound import Command, Verb
from pointsman.rollouts.observations import AlarmState, LockView
from pointsman.rollouts.phase import SWITCHES
from pointsman.rollouts.record import HoldKind, State
from pointsman_emulator.models.inference import InferenceRefusedError
from tests.proof.rollouts.draw import DEEDS, RARE
from tests.proof.rollouts.faults import Killed
from tests.proof.rollouts.promises import ALARM
from tests.proof.rollouts.theirs import own_alarm
from tests.proof.rollouts.truth import HOTFIX

if TYPE_CHECKING:
    from tests.proof.rollouts.world import World

PATIENCE = 1800.0  # for which a person lets a hold be
EVENT = "event:ci"


class People:
    """Whoever has a keyboard."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.held_since: dict[str, float] = {}
        self.tried = Counter[str]()
        self.approved: set[tuple[str, int]] = set()  # by a person; whether they were answered or not
        self.paused: dict[str, float] = {}  # since when, where that was answered
        self.stopped_at: float | None = None
        self.switch_gone: dict[str, float] = {}  # kill switches that someone deleted, and when
        self.scaled: dict[str, tuple[float, int]] = {}  # when someone last set a component's copies, and to how many
        self.took_lock: dict[str, float] = {}  # endpoints whose lock someone has taken by hand, and when
        self.locked_out: dict[str, float] = {}  # rollouts, and when a commit of theirs was last refused for that

    def does(self, deed: str) -> None:
        """One deed of the world's own, at any time."""
        world = self.world
        world.faults[deed] += 1
        if deed in DEEDS + RARE:
            with suppress(InferenceRefusedError):
                self._meddle(deed)
        elif deed == "stop everything":
            world.control.stop()
            self.stopped_at = world.true_now()
            world.later(world.luck.uniform(60, 3000), self._start)
        elif deed == "approve by an event":
            self.command(Verb.APPROVE, actor=EVENT)
        else:
            self.command(Verb(deed))
            if deed == "pause":
                world.later(world.luck.uniform(60, 3000), lambda: self.command(Verb.RESUME))

    def delete_switches(self) -> None:
        """Someone tidies up alarms of which nobody knows whose they are."""
        bells = self.world.signals.bells
        for alarm in [name for name in bells if name.startswith(SWITCHES)]:
            self.world.faults["a kill switch is deleted"] += 1
            del bells[alarm]
            self.switch_gone[alarm] = self.world.true_now()

    def _take_lock(self, endpoint: str) -> None:
        """Someone writes the table by hand, and mends that after a while."""
        held = self.world.table.held
        lock = held.get(endpoint)
        if lock is None or not lock.owner or endpoint in self.took_lock:
            return

        def give_back() -> None:
            del self.took_lock[endpoint]
            held[endpoint] = lock

        held[endpoint] = LockView("someone", lock.fence + 1)
        self.took_lock[endpoint] = self.world.true_now()
        self.world.later(self.world.luck.uniform(900, 4000), give_back)

    def _ring(self, alarm: str) -> None:
        """A component's own alarm fires for a while, whatever version it has."""
        if alarm in self.world.signals.bells:
            self.world.ring(alarm, AlarmState.ALARM)
            seconds = self.world.luck.choice((10.0, 60.0, 600.0))
            self.world.later(seconds, lambda: self.world.ring(alarm, AlarmState.OK))

    def _hang(self) -> None:
        """What others are at with what they have changed, or with anything, takes long."""
        parts, client = self.world.model.components.values(), self.world.client
        theirs = [part.name for part in parts if part.spec.model == HOTFIX] or [part.name for part in parts]
        names = set(theirs) - client.silent
        client.silent |= names
        self.world.later(self.world.luck.uniform(600, 6000), lambda: client.silent.difference_update(names))

    def _start(self) -> None:
        self.world.control.resume()
        self.stopped_at = None

    def command(self, verb: Verb, rollout: str = "", actor: str = "claimed:ana") -> None:
        """A command, obeyed or refused; what a hold or a component needs is found in the record."""
        world = self.world
        name = rollout or world.rollout
        record = world.table.kept[name].stored.record
        kinds = [hold.kind.value for hold in record.holds if hold.kind in {HoldKind.INCONCLUSIVE, HoldKind.NO_TRAFFIC}]
        lost = [c.name for c in record.components if c.state in {State.DRIFTED, State.NEEDS_HUMAN}]
        wanted = Command(
            verb, actor, name, "a test", wave=record.wave + 1,
            hold=(kinds or ["inconclusive"])[0], component=(lost or [""])[0],
        )  # fmt: skip
        if verb is Verb.APPROVE and actor != EVENT:
            self.approved.add((name, wanted.wave))
        if verb is Verb.RESUME:
            self.paused.pop(name, None)
        with suppress(PointsmanError, Killed):
            world.run_function(lambda: world.commands.obey(wanted))
            if verb is Verb.PAUSE:
                self.paused.setdefault(name, world.true_now())

    def see_to_holds(self) -> None:
        """After a while someone does what each rollout's hold asks for."""
        for rollout, kept in list(self.world.table.kept.items()):
            record = kept.stored.record
            if not record.holds or record.phase.terminal:
                self.held_since.pop(rollout, None)
            elif self.world.true_now() > self.held_since.setdefault(rollout, self.world.true_now()) + PATIENCE:
                del self.held_since[rollout]
                self.tried[rollout] += 1
                self._see_to(rollout, {hold.kind for hold in record.holds})

    def _see_to(self, rollout: str, kinds: set[HoldKind]) -> None:
        luck = self.world.luck
        if self.tried[rollout] > 6:
            self.command(Verb.ROLLBACK, rollout)
        elif HoldKind.OPERATOR in kinds:
            self._start()
            self.command(Verb.RESUME, rollout)
        elif kinds & {HoldKind.INCONCLUSIVE, HoldKind.NO_TRAFFIC} and luck.random() < 0.5:
            self.command(Verb.WAIVE, rollout)
        elif HoldKind.APPROVAL in kinds:
            self.command(Verb.APPROVE, rollout)
        elif HoldKind.DRIFT in kinds:
            self.command(Verb.ADOPT if luck.random() < 0.7 else Verb.ROLLBACK, rollout)
        elif HoldKind.STUCK in kinds:
            self.command(Verb.RETRY if luck.random() < 0.5 else Verb.ROLLBACK, rollout)

    def _meddle(self, deed: str) -> None:
        world = self.world
        name = world.luck.choice(sorted(world.model.components) or ["none"])
        if deed in {"drift", "by hand to new", "by hand to old"}:
            model = {"drift": HOTFIX, "by hand to new": "ranker-v2", "by hand to old": "ranker-v1"}[deed]
            world.model.update_component({"InferenceComponentName": name, "Specification": {"ModelName": model}})
            world.meddled(name)
        elif deed == "delete":
            world.model.delete_component(name)
            world.meddled(name)
        elif deed == "scale":
            copies = world.luck.choice((1, 2, 3))
            world.model.update_runtime(name, copies)
            self.scaled[name] = (world.true_now(), copies)
            world.meddled(name)
        elif deed == "system update":
            world.model.system_update(world.luck.choice(sorted(world.model.endpoints)), world.luck.uniform(30, 900))
        elif deed == "silence":
            world.client.silent |= {part.name for part in world.model.components.values() if part.change in world.ours}
        elif deed == "hang":
            self._hang()
        elif deed == "own alarm":
            self._ring(own_alarm(name))
        elif deed == "take a lock":
            self._take_lock(world.luck.choice(sorted(world.model.endpoints)))
        elif deed == "alarm of others":
            world.fire(600.0)
        elif deed == "edit alarm":
            world.signals.edit(ALARM, "edited")
            world.later(world.luck.uniform(60, 4000), world.signals.bring_back)
        elif deed == "delete alarm":
            world.signals.remove(ALARM)
            world.later(world.luck.uniform(60, 4000), world.signals.bring_back)


def state_of(firing: bool, known: bool) -> AlarmState:
    """An alarm's state."""
    return AlarmState.ALARM if firing else AlarmState.OK if known else AlarmState.INSUFFICIENT_DATA
