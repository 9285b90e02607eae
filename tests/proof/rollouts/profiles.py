"""Kinds of worlds: each leans towards what shows one guard's worth, and leaves the rest to the integer."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from pointsman.rollouts.request import Amount, Guard, NoTraffic, OnFailure, WhenShort
from tests.proof.rollouts.draw import DEEDS, Part, Trouble, World, anything

MIX, INTERLEAVED = "", "interleaved"  # the core alone, whose passes interleave step by step, is drawn elsewhere
HANDLERS = "handlers"  # what is deployed, on the emulated AWS: seconds each, and never in the mix
Leaning = Callable[[World, Random], World]


def drawn(seed: int, profile: str) -> World:
    """The world of this integer."""
    luck = Random(f"{seed} {profile}")  # a string, so that neighbours have nothing in common
    world = anything(seed, luck, crowded=profile.startswith("crowded") or luck.random() < 0.1)
    return _LEANINGS[profile](world, luck) if profile in _LEANINGS else world


def _steady(world: World, **changes: Any) -> World:
    """With a sound version, a sound alarm, and nobody who does anything."""
    calm: dict[str, Any] = {"bad": "", "rate": 0.0, "noise": 0.0, "deeds": (), "second": None, "quiet_from": None}
    return replace(world, **{**calm, **changes})


def _turned(luck: Random, first: float, last: float, number: int = 1) -> tuple[tuple[float, str], ...]:
    return tuple(sorted((luck.uniform(first, last), luck.choice(("abort", "rollback"))) for _ in range(number)))


def _at(luck: Random, last: float, deeds: tuple[str, ...], number: int) -> tuple[tuple[float, str], ...]:
    return tuple(sorted((luck.uniform(0, last), luck.choice(deeds)) for _ in range(number)))


def _aborted(world: World, luck: Random) -> World:
    trouble = replace(world.trouble, slow=0.05, meanwhile=0.05)
    return replace(world, deeds=_turned(luck, 100, 4000, 2), trouble=trouble)


def _bad_version(world: World, luck: Random) -> World:
    rate = luck.choice((0.001, 0.02))
    return _steady(world, bad=luck.choice(("alarm", "flaps")), rate=rate, second=world.second)


def _blind(world: World, _luck: Random) -> World:
    return replace(world, bad="", deeds=(), noise=0.003)


def _busy(world: World, luck: Random) -> World:
    return _steady(world, deeds=_at(luck, 3000, ("system update",), 4))


def _calm(world: World, luck: Random) -> World:
    trouble = Trouble(lost=luck.choice((0.0, 1.0)))
    return replace(world, trouble=trouble, deeds=(), second=None, noise=0.0, quiet_from=None)


def _crowded_and_bad(world: World, luck: Random) -> World:
    """What had room on the way forward may lack it on the way back."""
    return _steady(world, bad=luck.choice(("alarm", "flaps")), rate=0.02, deeds=_at(luck, 3000, ("scale",), 8))


def _crowded_and_paused(world: World, luck: Random) -> World:
    """Room lacks for a while, and while everybody waits for it, everything stands still."""
    deeds = (*_at(luck, 2500, ("scale",), 4), *_at(luck, 3500, ("pause", "stop everything"), 3))
    asked = world.asked | {"capacity_wait": 900.0, "when_short": WhenShort.WAIT}
    return _steady(world, deeds=tuple(sorted(deeds)), asked=asked)


def _crowded_and_unread(world: World, luck: Random) -> World:
    """Others grow into the room, and what they have cannot be read."""
    return _steady(world, trouble=Trouble(fault=0.1), deeds=_at(luck, 2500, ("scale",), 8))


def _drifted(world: World, luck: Random) -> World:
    drift = luck.uniform(100, 2500)
    return _steady(world, deeds=((drift, "drift"), (drift + luck.uniform(300, 1500), "rollback")))


def _drifted_and_busy(world: World, luck: Random) -> World:
    """Who changed a component is at it again as everything is taken back."""
    drift = luck.uniform(300, 2500)
    hang = drift + luck.uniform(200, 900)
    asked = world.asked | {"hold_timeout": 3600.0, "approvals": ()}
    deeds = ((drift, "drift"), (hang, "hang"), (hang + luck.uniform(60, 600), "rollback"))
    return _steady(world, deeds=deeds, asked=asked)


def _edited(world: World, luck: Random) -> World:
    return _steady(world, deeds=_at(luck, 1200, ("edit alarm", "delete alarm"), 2))


def _fired_before(world: World, luck: Random) -> World:
    return _steady(world, deeds=_at(luck, 20, ("alarm of others",), 1))


def _flickering(world: World, luck: Random) -> World:
    asked = world.asked | {"waves": (Amount(1), Amount(1), Amount(2), Amount(9)), "wait": 0.0}
    return _steady(world, bad="flaps", rate=luck.choice((0.001, 0.003)), lag=60.0, asked=asked)


def _given_up(world: World, luck: Random) -> World:
    """It turns as soon as something was changed for a time, and those who change it are killed."""
    made = _surges(world, luck)
    trouble = Trouble(wire=0.3, ghost=0.5)
    return replace(made, deeds=_turned(luck, 20, luck.choice((200, 800))), trouble=trouble)


def _hasty(world: World, _luck: Random) -> World:
    return _steady(world, asked=world.asked | {"bake": 60.0, "final_bake": 60.0})


def _held(world: World, luck: Random) -> World:
    since = luck.uniform(300, 1500)
    asked = world.asked | {
        "waves": (Amount(1), Amount(100, percent=True)),
        "approvals": luck.choice(((1,), (2,), ())),
        "concurrency": 1,
        "freezes": ((since, since + luck.uniform(900, 3000)),) if luck.random() < 0.5 else (),
    }
    return _steady(world, deeds=_at(luck, 2500, ("stop everything", "approve by an event"), 4), asked=asked)


def _interfered(world: World, luck: Random) -> World:
    return replace(world, deeds=_at(luck, 5000, DEEDS, 4))


def _left_behind(world: World, luck: Random) -> World:
    trouble = replace(world.trouble, lost=0.0, meanwhile=0.1)
    asked = world.asked | {"on_failure": OnFailure.STOP, "final_bake": 0.0}
    return _steady(world, bad="alarm", rate=luck.choice((0.002, 0.02)), trouble=trouble, asked=asked)


def _locked_out(world: World, luck: Random) -> World:
    return _steady(world, deeds=_at(luck, 2000, ("take a lock",), 3))


def _lost_replies(world: World, _luck: Random) -> World:
    trouble = replace(world.trouble, kill=0.03, fault=0.06, slow=0.03, meanwhile=0.04, ghost=0.3)
    return replace(world, trouble=trouble, deeds=())


def _no_way_back(world: World, _luck: Random) -> World:
    return _steady(world, gone=True)


def _own_alarms(world: World, luck: Random) -> World:
    """Components have alarms of their own, which fire for the old version as well."""
    guards = (Guard("fleet-errors"), Guard("{component}-errors", native=True))
    asked = world.asked | {"guards": guards, "waves": (Amount(1), Amount(1), Amount(1), Amount(9))}
    return _steady(world, deeds=_at(luck, 4000, ("own alarm",), 6), asked=asked)


def _paused(world: World, luck: Random) -> World:
    return replace(world, bad="", deeds=tuple((luck.uniform(100, 1500), "pause") for _ in range(2)), noise=0.0)


def _quiet(world: World, luck: Random) -> World:
    asked = world.asked | {"no_traffic": NoTraffic.HOLD}
    return _steady(world, quiet_from=luck.uniform(0, 1500), asked=asked)


def _refused(world: World, luck: Random) -> World:
    trouble = replace(world.trouble, refused=luck.choice((0.7, 1.0)))
    return replace(world, trouble=trouble, deeds=(), bad=luck.choice(("", "alarm")), rate=0.02)


def _scaled_by_hand(world: World, luck: Random) -> World:
    """Others scale who has one copy more for its turn, or fewer to make room."""
    made = _surges(world, luck)
    boxes = {name: (kind, count, count + 8) for name, (kind, count, _) in made.boxes.items()}
    return replace(made, boxes=boxes, deeds=_at(luck, 2500, ("scale",), 8))


def _silent(world: World, luck: Random) -> World:
    return replace(world, bad="", deeds=((luck.uniform(200, 900), "silence"),))


def _slow_updates(world: World, luck: Random) -> World:
    return _steady(world, deeds=_turned(luck, 300, 2500), asked=world.asked | {"wait": 900.0})


def _surges(world: World, luck: Random) -> World:
    """Components of one copy each, on endpoints with room for one more and its batch."""
    parts: list[Part] = []
    boxes = {}
    for endpoint in ("e1", "e2")[: luck.choice((1, 2))]:
        count = luck.choice((2, 3))
        parts += [Part(f"m{len(parts) + n}", endpoint, 1, luck.random() < 0.5) for n in range(1, count + 1)]
        boxes[endpoint] = ("one", count, count + 2)
    asked = world.asked | {"waves": (Amount(100, percent=True),), "concurrency": 5}
    trouble = replace(world.trouble, fault=0.03, refused=0.0)
    return _steady(world, parts=tuple(parts), boxes=boxes, trouble=trouble, asked=asked)


def _thawed(world: World, luck: Random) -> World:
    trouble = replace(world.trouble, thawed=0.15, kill=0.002)
    return replace(world, trouble=trouble, deeds=((luck.uniform(100, 3000), "rollback"),))


def _two_at_once(world: World, luck: Random) -> World:
    return replace(world, second=luck.uniform(0, 3000))


def _waived(world: World, luck: Random) -> World:
    asked = world.asked | {"waves": (Amount(1), Amount(1), Amount(9)), "hold_timeout": 7200.0}
    deeds = tuple((luck.uniform(600, 6000), "waive") for _ in range(4))
    return _steady(world, noise=0.01, deeds=deeds, asked=asked)


_LEANINGS: dict[str, Leaning] = {
    "aborted": _aborted,
    "bad version": _bad_version,
    "blind": _blind,
    "busy": _busy,
    "calm": _calm,
    "crowded": lambda world, _: world,
    "crowded and bad": _crowded_and_bad,
    "crowded and paused": _crowded_and_paused,
    "crowded and unread": _crowded_and_unread,
    "drifted": _drifted,
    "drifted and busy": _drifted_and_busy,
    "edited": _edited,
    "fired before": _fired_before,
    "flickering": _flickering,
    "given up": _given_up,
    "hasty": _hasty,
    "held": _held,
    "interfered": _interfered,
    "left behind": _left_behind,
    "locked out": _locked_out,
    "lost replies": _lost_replies,
    "no way back": _no_way_back,
    "own alarms": _own_alarms,
    "paused": _paused,
    "quiet": _quiet,
    "refused": _refused,
    "scaled by hand": _scaled_by_hand,
    "silent": _silent,
    "slow updates": _slow_updates,
    "surges": _surges,
    "thawed": _thawed,
    "two at once": _two_at_once,
    "waived": _waived,
}
PROFILES = tuple(sorted({HANDLERS, INTERLEAVED, *_LEANINGS}))
