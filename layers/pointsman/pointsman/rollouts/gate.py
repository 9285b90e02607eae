"""The judge: from what the alarms showed since a window began to pass, fail or unknown. Worst first.

Windows tile: a window begins where the read of the verdict before it began, less a margin, never at a commit. So no
excursion falls between two, and one inside the window counts though the alarm is OK now.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pointsman.rollouts.observations import AlarmState, AlarmView
from pointsman.rollouts.request import Metric

LAG = 120.0  # how late metrics, and so an alarm's evaluation and its history, may be


class Verdict(IntEnum):
    """Worst last, so that the worst of many is their maximum."""

    PASS = 0
    UNKNOWN = 1
    FAIL = 2


class Why(StrEnum):
    """What made one alarm's verdict; the codes are API."""

    WATCHED = "watched"
    IN_ALARM = "in_alarm"
    WAS_IN_ALARM = "was_in_alarm"
    TOO_EARLY = "too_early"
    NO_TRAFFIC = "no_traffic"
    NO_DATA = "no_data"
    EVALUATION = "evaluation"
    MISSING = "missing"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class Watch:
    """One alarm that the gate judges, and what the plan knew of it; `traffic` is what its samples are counted on.

    Without `traffic` they are those of the alarm's own metric.
    """

    alarm: str
    min_samples: int = 1
    settings: str = ""
    components: tuple[str, ...] = ()  # whose own alarm it is; empty: the fleet's
    traffic: tuple[Metric, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One alarm's verdict with its cause and the sentence for people."""

    alarm: str
    verdict: Verdict
    why: Why
    sentence: str


@dataclass(frozen=True, slots=True)
class Window:
    """The time judged: alarms count since `since`, and evidence of health since `settled` (None: not settled yet)."""

    since: float
    settled: float | None
    read: float


def judge(watches: Iterable[Watch], alarms: Mapping[str, AlarmView], window: Window) -> tuple[Judgement, ...]:
    """Every alarm's verdict, the worst first."""
    found = [_one(watch, alarms.get(watch.alarm), window) for watch in watches]
    return tuple(sorted(found, key=lambda j: (-j.verdict, j.alarm)))


def worst(judgements: Iterable[Judgement]) -> Verdict:
    """Fail before unknown before pass; a gate without alarms passes."""
    return max((j.verdict for j in judgements), default=Verdict.PASS)


def earliest_pass(watches: Iterable[Watch], alarms: Mapping[str, AlarmView], settled: float) -> float:
    """When a read may begin that can show the slowest of these alarms healthy."""
    reactions = [alarms[w.alarm].reaction for w in watches if w.alarm in alarms]
    return settled + max(reactions, default=0.0) + (LAG if reactions else 0.0)


def least_bake(period: float, evaluation_periods: int) -> float:
    """The shortest bake in which such an alarm can fire.

    >>> least_bake(60.0, 3)
    300.0
    """
    return period * evaluation_periods + LAG


def _one(watch: Watch, view: AlarmView | None, window: Window) -> Judgement:
    name = watch.alarm
    if view is None:
        return Judgement(name, Verdict.UNKNOWN, Why.MISSING, f"Alarm {name} does not exist any more.")
    if view.state is AlarmState.ALARM:
        return Judgement(name, Verdict.FAIL, Why.IN_ALARM, f"Alarm {name} is in ALARM.")
    if any(window.since <= at for at in view.entered):
        return Judgement(name, Verdict.FAIL, Why.WAS_IN_ALARM, f"Alarm {name} was in ALARM and is {view.state} again.")
    if watch.settings and view.settings != watch.settings:
        return Judgement(name, Verdict.UNKNOWN, Why.EDITED, f"Alarm {name} was edited since the plan.")
    if view.problem:
        return Judgement(name, Verdict.UNKNOWN, Why.EVALUATION, f"Alarm {name} cannot be relied on: {view.problem}.")
    if window.settled is None or window.read < window.settled + least_bake(view.period, view.evaluation_periods):
        return Judgement(name, Verdict.UNKNOWN, Why.TOO_EARLY, f"Alarm {name} has not had the time to fire.")
    samples = sum(1 for at in view.samples if at >= window.settled)
    if samples < watch.min_samples:
        of = f" of {watch.traffic[0].namespace}/{watch.traffic[0].name}" if watch.traffic else ""
        text = f"Alarm {name} saw {samples} of the {watch.min_samples} samples{of} that it needs."
        return Judgement(name, Verdict.UNKNOWN, Why.NO_TRAFFIC, text)
    if view.state is not AlarmState.OK:
        return Judgement(name, Verdict.UNKNOWN, Why.NO_DATA, f"Alarm {name} has insufficient data.")
    return Judgement(name, Verdict.PASS, Why.WATCHED, f"Alarm {name} was OK throughout, and had samples.")
