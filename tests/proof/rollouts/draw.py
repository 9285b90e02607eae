"""One random world from one integer: what AWS does where it says nothing, the fleet, the version, and the trouble."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from pointsman.rollouts.request import Amount, Guard, NoTraffic, OnFailure, SingleCopy, Yielding
from pointsman_emulator.models.inference import InferenceSettings

VERBS = ("pause", "resume", "abort", "rollback", "approve", "waive", "adopt", "retry", "stop everything",
         "approve by an event")  # fmt: skip
DEEDS = (
    "drift",
    "by hand to new",
    "by hand to old",
    "delete",
    "scale",
    "edit alarm",
    "delete alarm",
    "system update",
    "silence",
    "alarm of others",
    "take a lock",
)

RARE = ("hang", "own alarm")  # deeds of some profiles, and drawn apart, so that every world's integer stays what it was


@dataclass(frozen=True)
class Trouble:
    """The chances, at each outside call of a pass, that something goes wrong; and of what happens beside the passes."""

    kill: float = 0.0
    fault: float = 0.0
    slow: float = 0.0
    meanwhile: float = 0.0
    ghost: float = 0.0  # a second execution of the same generation, each ten minutes
    dies: float = 0.0  # an execution dies after a pass
    lost: float = 0.0  # an event, or the answer to a wake
    wire: float = 0.0  # a function is killed while a change of its is on the wire
    refused: float = 0.0  # an update, for a reason of SageMaker's own
    thawed: float = 0.0  # a function stands still right after a commit, and nobody ends it
    skew: float = 0.0  # seconds that a function's clock is off
    until: float = 12_000.0


@dataclass(frozen=True)
class Part:
    """One component to begin with."""

    name: str
    endpoint: str
    copies: int
    scales: bool = False


@dataclass(frozen=True)
class World:
    """All that is drawn before the first step; `deeds` are (seconds, what)."""

    seed: int
    settings: InferenceSettings
    parts: tuple[Part, ...]
    boxes: dict[str, tuple[str, int, int]]  # endpoint: instance type, instances, the most
    trouble: Trouble
    asked: dict[str, Any] = field(default_factory=dict)
    bad: str = ""
    rate: float = 0.0  # how often a second a bad version lets the alarm fire
    noise: float = 0.0  # how often a second the alarm knows nothing for a while
    quiet_from: float | None = None
    lag: float = 0.0
    deeds: tuple[tuple[float, str], ...] = ()
    second: float | None = None
    gone: bool = False  # whether the old model is

    @property
    def even(self) -> bool:
        """Whether nothing but events is left to chance."""
        return not (self.rate or self.noise or self.settings.launch_failures or any(p.scales for p in self.parts))


def anything(seed: int, luck: Random, *, crowded: bool) -> World:
    """A world of no profile."""
    parts, boxes = _fleet(luck, crowded=crowded)
    bad = luck.choice(("", "", "", "alarm", "alarm", "flaps", "does-not-start", "no-artifact"))
    return World(
        seed,
        inference_settings(luck),
        parts,
        boxes,
        _trouble(luck),
        asked=_asked(luck),
        bad=bad,
        rate={"alarm": luck.choice((0.003, 0.03)), "flaps": 0.001}.get(bad, 0.0),
        noise=luck.choice((0.0, 0.0, 0.0, 0.0002)),
        quiet_from=luck.uniform(0, 8000) if luck.random() < 0.05 else None,
        lag=luck.choice((0.0, 20.0, 60.0)),
        deeds=tuple(sorted((*_deeds(luck), *_rare(Random(f"{seed} rare"))))),
        second=luck.uniform(0, 9000) if luck.random() < 0.1 else None,
    )


def inference_settings(luck: Random) -> InferenceSettings:
    """Every choice that the documentation leaves open."""
    pick: Any = luck.choice
    return InferenceSettings(
        instance_launch=(60.0, luck.uniform(90, 400)),
        instance_release=(200.0, 900.0),
        release_seconds=pick((10.0, 60.0)),
        copy_start=(20.0, luck.uniform(40, 200)),
        copy_stop=(2.0, 30.0),
        failed_artifact=pick((0.0, 60.0)),
        startup_timeout=300.0,
        describe_lag=pick((0.0, 0.0, 0.0, 5.0, 20.0)),
        launch_failures=pick((0.0, 0.0, 0.2)),
        shortage_patience=pick((0.0, 120.0)),
        short_scaling=pick(("keep", "revert")),
        batch_rule=pick(("enforce", "clamp")),
        single_copy=pick(("refuse", "round-up", "plain")),
        zero_copies=pick(("accept", "refuse")),
        alarm_at_start=pick(("rollback", "refuse", "ignore")),
        alarm_insufficient=pick(("tolerate", "rollback")),
        alarm_missing=pick(("refuse", "inert")),
        alarms_watched=pick(("bake", "always")),
        after_timeout=pick(("rollback", "failed")),
        rollback_room=pick(("replace", "surge")),
        failed_rollback=pick(("failed", "in-service")),
        spec_while_updating=pick(("old", "new")),
        config_recorded=pick(("accepted", "finished")),
        config_after_rollback=pick(("kept", "restored")),
        modified_when_accepted=pick((True, False)),
        reason_after_success=pick(("sticky", "cleared")),
        reason_on_rollback=pick(("text", "blank")),
        partial_spec=pick(("merge", "replace")),
        busy_code=pick(("ValidationException", "ConflictException")),
        update_of_failed=pick(("refuse", "accept")),
        writes_while_endpoint_updates=pick(("accept", "refuse")),
        parallel_updates=pick(("accept", "refuse")),
    )


def _fleet(luck: Random, *, crowded: bool) -> tuple[tuple[Part, ...], dict[str, tuple[str, int, int]]]:
    parts, boxes = [], {}
    number = 0
    for endpoint in ("e1", "e2", "e3")[: luck.choice((1, 2, 2, 3))]:
        copies = 0
        for _ in range(luck.choice((1, 1, 2, 2))):
            number += 1
            mine = luck.choice((1, 1, 2, 4) if crowded else (1, 2, 2, 3, 4))
            parts.append(Part(f"m{number}", endpoint, mine, luck.random() < 0.25))
            copies += mine
        if luck.random() < 0.3:
            parts.append(Part(f"y{number}", endpoint, 2, luck.random() < 0.5))
            copies += 2
        spare = luck.choice((0, 1) if crowded else (1, 2, 2))
        kind = "one" if crowded else luck.choice(("one", "eight"))
        count = copies if kind == "one" else 1 + copies // 8
        boxes[endpoint] = (kind, count, count + spare)
    return tuple(parts), boxes


def _trouble(luck: Random) -> Trouble:
    pick = luck.choice
    return Trouble(
        kill=pick((0.0, 0.002, 0.01)),
        fault=pick((0.0, 0.005, 0.03)),
        slow=pick((0.0, 0.01, 0.03)),
        meanwhile=pick((0.0, 0.004, 0.02)),
        ghost=pick((0.0, 0.0, 0.2)),
        dies=pick((0.0, 0.0, 0.02)),
        lost=pick((0.0, 0.5, 1.0)),
        wire=pick((0.0, 0.0, 0.02)),
        refused=pick((0.0, 0.0, 0.0, 0.5)),
        thawed=pick((0.0, 0.0, 0.02)),
        skew=pick((0.0, 0.0, 5.0)),
    )


def _deeds(luck: Random) -> tuple[tuple[float, str], ...]:
    number = luck.choice((0, 0, 1, 1, 2, 4))
    return tuple(sorted((luck.uniform(0, 8000), luck.choice(VERBS + DEEDS)) for _ in range(number)))


def _rare(luck: Random) -> tuple[tuple[float, str], ...]:
    return ((luck.uniform(0, 8000), luck.choice(RARE)),) if luck.random() < 0.1 else ()


def _asked(luck: Random) -> dict[str, Any]:
    pick = luck.choice
    waves = pick(
        ((Amount(100, percent=True),), (Amount(1), Amount(100, percent=True)), (Amount(1), Amount(1), Amount(9)))
    )
    return {
        "waves": waves,
        "bake": pick((300.0, 300.0, 900.0)),
        "final_bake": pick((0.0, 300.0)),
        "wait": pick((0.0, 60.0)),
        "concurrency": pick((1, 2, 5)),
        "revert_concurrency": pick((1, 10)),
        "guards": (Guard("fleet-errors", native=luck.random() < 0.5),),
        "no_traffic": pick((NoTraffic.HOLD, NoTraffic.HOLD, NoTraffic.EXTEND)),
        "extend": 1800.0,
        "hold_timeout": pick((1200.0, 3600.0)),
        "on_failure": pick((OnFailure.REVERT, OnFailure.REVERT, OnFailure.STOP)),
        "single_copy": SingleCopy.SURGE,
        "yielding": tuple(Yielding(f"y{n}", pick((0, 1))) for n in range(1, 7)) if luck.random() < 0.7 else (),
        "approvals": pick(((), (), (1,))),
        "capacity_wait": pick((900.0, 1800.0)),
        "freezes": pick(((), (), (), ((luck.uniform(0, 3000), luck.uniform(3000, 5000)),))),
    }
