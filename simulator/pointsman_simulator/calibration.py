"""How often jobs start before what they were told: generated days, played with the decisions of production."""

from collections.abc import Iterable
from dataclasses import dataclass

from pointsman.queues.decide import Decision
from pointsman.queues.forecast import Expected, forecast
from pointsman.queues.policy import Policy
from pointsman.queues.view import QueueView
from pointsman_simulator.clock import since
from pointsman_simulator.replay import Replay, World
from pointsman_simulator.steered import watched

WAITS = 600.0  # seconds: jobs that start sooner are no test of a forecast
EVERY = 900.0  # seconds between two forecasts of the same jobs, so that one falls into the middle of a wait


@dataclass(frozen=True, slots=True)
class Told:
    """What a job was told at `at`, seconds after the window's start."""

    at: float
    expected: Expected

    def before(self, started: float, part: str) -> bool:
        """Whether it started before what it was told."""
        return started <= self.at + float(getattr(self.expected, part))


@dataclass(frozen=True, slots=True)
class Count:
    """Of how many jobs that waited how many started before the p50, and the p90, that they were told."""

    jobs: int = 0
    before_p50: int = 0
    before_p90: int = 0

    def __add__(self, other: "Count") -> "Count":
        """Both together."""
        return Count(self.jobs + other.jobs, self.before_p50 + other.before_p50, self.before_p90 + other.before_p90)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The counts of one day: as told when a job was first seen waiting, and again in the middle of its wait."""

    seed: int
    first: Count
    middle: Count


class _Watch:
    """Asks for a forecast whenever somebody new waits, and every so often."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._at = float("-inf")
        self.told: dict[str, list[Told]] = {}

    def __call__(self, view: QueueView, _decision: Decision) -> None:
        new = [job for job in view.waiting if job.job_id not in self.told]
        if not new and view.now - self._at < EVERY:
            return
        self._at = view.now
        for job_id, expected in forecast(view, self._policy).items():
            self.told.setdefault(job_id, []).append(Told(view.now, expected))


def calibrate(seed: int, replay: Replay, policy: Policy) -> Calibration:
    """Play the day, and hold what was told against what came."""
    watch = _Watch(since(replay.begins, policy))
    starts = watched(replay, World(seed), policy, watch)
    first, middle = Count(), Count()
    for job_id, told in watch.told.items():
        started = starts[job_id]
        if started - told[0].at < WAITS:
            continue
        first += _count([told[0]], started)
        half = (told[0].at + started) / 2
        later = [one for one in told[1:] if one.at <= half]
        middle += _count(later[-1:], started)
    return Calibration(seed, first, middle)


def _count(told: Iterable[Told], started: float) -> Count:
    total = Count()
    for one in told:
        total += Count(1, one.before(started, "p50"), one.before(started, "p90"))
    return total
