"""When waiting jobs are expected to start: a small, seeded Monte Carlo over how long everything takes.

Each draw gives every job a run time, lets jobs like those of late go on arriving, and plays the queue in the wanted
order. A run time is drawn from finished jobs alike and from those that still run: one that has run for an hour says
that such jobs take longer than an hour, and its weight goes to the longer ones (Efron's redistribution to the right,
which draws from the Kaplan-Meier estimate). So a history that has seen the short jobs end first promises no more than
it knows. Jobs alike that wait or run together are long or short together, by a factor that each draw has for each kind.

The same view gives the same forecast. `docs/operations.md` says how often it holds, and how that is measured.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import ceil, exp, sqrt
from random import Random  # noqa: TID251 - seeded by the view alone, so that the same view gives the same forecast

from pointsman.queues.cases import Tier
from pointsman.queues.estimates import ENOUGH, UNKNOWN_SECONDS, History, Kind
from pointsman.queues.jobs import BusyJob, WaitingJob
from pointsman.queues.policy import Policy
from pointsman.queues.quota import Rooms, needs_of
from pointsman.queues.ranking import Ranks, ranks_of
from pointsman.queues.view import QueueView

DRAWS, FEWEST_DRAWS = 100, 20
DRAWN = 30_000  # jobs times draws, about: where many wait, fewer draws are made
MOST_WAITING = 1_000  # jobs of which one is said when it starts: the time that a draw takes grows with their square
RECENT = 6 * 3600.0  # seconds: what was submitted since then may come again at the same rate
HORIZON = 24 * 3600.0  # seconds in which more arrives
SPREAD = 0.25  # of the logarithm of a run time around the one that was drawn
TOGETHER = 0.35  # the same of the factor that jobs alike have in common; more where few of them have ended
WHOLE = 0.4  # the same of the factor that all jobs have in common
UNKNOWN_SPREAD = 1.2  # the same of a run time of which nothing is known
LAG = 60.0  # seconds from room to the start of a job: an event, a pass, Batch's own look

_Key = tuple[Tier, float, float, str]
_Item = tuple[_Key, int, float, float, int, bool]
"""What waits in one draw: order, size, run time, when submitted, its class's place, whether its start is asked for."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Seconds from now until a job starts, which half of the draws, and nine of ten of them, do not exceed."""

    p50: float
    p90: float


class RunTimes:
    """Draws how long jobs run, from those alike that have ended and those that still run."""

    def __init__(self, history: History, busy: Iterable[BusyJob], now: float, random: Random) -> None:
        """Sort out what is known of each circle when it is first asked for."""
        self._history, self._random = history, random
        self._running: dict[str, list[float]] = {}
        for job in busy:
            if job.started is not None and now > job.started:
                for key in job.kind.circles():
                    self._running.setdefault(key, []).append(now - job.started)
        self._circle: dict[Kind, str] = {}
        self._known: dict[str, list[tuple[float, bool]]] = {}
        self._together: dict[str, float] = {}
        self._factors: dict[str, float] = {}
        self._whole = 1.0

    def begin(self) -> None:
        """A new draw: all jobs, and those alike, get another factor in common."""
        self._factors.clear()
        self._whole = exp(self._random.gauss(0.0, WHOLE))

    def draw(self, kind: Kind, elapsed: float = 0.0) -> float:
        """How long a job runs that has run `elapsed` seconds already; never less."""
        circle = self._circle.get(kind) or self._find(kind)
        factor = self._factors.get(circle)
        if factor is None:
            factor = self._factors[circle] = self._whole * exp(self._random.gauss(0.0, self._together[circle]))
        known, least, random = self._known[circle], elapsed / factor, self._random
        while True:
            longer = bisect_right(known, (least, True))
            if longer == len(known):
                return self._beyond(elapsed, least * factor, known=bool(known))
            value, ended = known[int(random.random() * (len(known) - longer)) + longer]
            if ended:
                return max(elapsed + 1.0, value * factor * exp(random.gauss(0.0, SPREAD)))
            least = value

    def _beyond(self, elapsed: float, least: float, *, known: bool) -> float:
        """Longer than anything that is known: as heavy-tailed run times do, on average for as long again."""
        if not known:
            least = exp(self._random.gauss(0.0, UNKNOWN_SPREAD)) * UNKNOWN_SECONDS
        return max(elapsed + 1.0, max(least, elapsed) * (1.0 + self._random.expovariate(1.0) * known))

    def _find(self, kind: Kind) -> str:
        circles, keys = self._history.circles, kind.circles()
        circle = next((key for key in keys if len(circles.get(key, ())) >= ENOUGH), keys[-1])
        ended = circles.get(circle, ()) or [s for key, some in circles.items() if key.startswith("|||") for s in some]
        known = [(seconds, True) for seconds in ended]
        known += [(seconds, False) for seconds in self._running.get(circle, ())]
        self._known[circle] = sorted(known)
        self._together[circle] = sqrt(TOGETHER**2 + 1.0 / (1 + len(circles.get(circle, ()))))
        self._circle[kind] = circle
        return circle


def forecast(view: QueueView, policy: Policy, *, acts: bool = True, only: str | None = None) -> Mapping[str, Expected]:
    """When each waiting job, or `only` the one of this id, is expected to start; infinite if in too few draws.

    `acts`: jobs start in the order that Pointsman wants. Otherwise in Batch's own, in which nothing passes the first.
    """
    asked = {job.job_id for job in view.waiting if only in (None, job.job_id)}
    play = _Play(view, policy, ranks_of(view, policy), asked, acts=acts and view.movable)
    starts: dict[str, list[float]] = {job_id: [] for job_id in asked}
    draws = max(FEWEST_DRAWS, min(DRAWS, DRAWN // max(1, len(view.waiting))))
    for _ in range(draws):
        for job_id, at in play.once().items():
            starts[job_id].append(at)
    return {job_id: Expected(_part(times, 0.5, draws), _part(times, 0.9, draws)) for job_id, times in starts.items()}


def expected_start(view: QueueView, policy: Policy, job_id: str, *, acts: bool = True) -> Expected | None:
    """When one waiting job is expected to start; None for one of which that cannot be said.

    That is one that can never start, or that was put last for failing again and again, and any in a queue of which the
    capacity is not known, or in which more wait than can be played soon. A quota share counts by itself, with what it
    may borrow now.
    """
    job = view.lines.get(job_id)
    if job is None or view.capacity <= 0 or len(view.lines) > MOST_WAITING:
        return None
    if view.quota_shares:
        view = _share_alone(view, job)
    found = forecast(view, policy, acts=acts, only=job_id).get(job_id)
    return found if found is not None and found.p50 < float("inf") else None


def _share_alone(view: QueueView, job: WaitingJob) -> QueueView:
    """The queue as a job of a quota share has it: its own share, as far as it goes and borrows now."""
    rooms, unit = Rooms(view.quota_shares, view.pool, view.busy), max(needs_of(job.kind).items(), key=lambda n: n[1])[0]
    used, room = rooms.used(job.share, unit), max(0, rooms.room(job.share, unit))
    return replace(
        view,
        capacity=used + room,
        used=used,
        waiting=[other for other in view.waiting if other.share == job.share and unit in needs_of(other.kind)],
        busy=[other for other in view.busy if other.share == job.share and unit in needs_of(other.kind)],
        quota_shares=(),
        elsewhere=0,
        withheld=0,
    )


def _part(times: list[float], part: float, draws: int) -> float:
    """The time that this part of all draws does not exceed."""
    needed = ceil(part * draws)
    if len(times) < needed:
        return float("inf")
    at = sorted(times)[needed - 1]
    return at + LAG if at > 0 else 0.0


class _Play:
    """One queue, to be played again and again."""

    def __init__(self, view: QueueView, policy: Policy, ranks: Ranks, asked: Collection[str], *, acts: bool) -> None:
        self._view, self._ranks, self._asked, self._acts = view, ranks, asked, acts
        self._random = Random(f"{view.queue} {view.now} {len(view.waiting)}")
        self._times = RunTimes(view.history, view.busy, view.now, self._random)
        self._place = {c.name: n for n, c in enumerate(policy.classes)}
        self._boosts = [*(ranks.boosts.get(c.name, 0.0) for c in policy.classes), 0.0]
        self._held_never = [*(c.name in ranks.cases.satisfied for c in policy.classes), True]
        held = policy.reservation
        self._hold_after = held.after if acts and held is not None and held.at_most else float("inf")
        self._keys = {job.job_id: self._key(job, job.submitted) for job in view.waiting}
        self._last = max(self._keys.values(), default=(Tier.FIRST, 0.0, 0.0, ""))
        self._busy = [
            (job, 0.0 if job.started is None else max(0.0, view.now - job.started), job.size) for job in view.busy
        ]
        self._recent = self._of_late() if acts else []

    def _key(self, job: WaitingJob, submitted: float) -> _Key:
        if not self._acts:
            return (Tier.USUAL, -float(job.priority), submitted, job.job_id)
        made = self._ranks.candidate(job, self._view.history.predict(job.kind), self._view.now)
        return (made.tier, made.score + submitted - job.submitted, submitted, job.job_id)

    def _of_late(self) -> list[WaitingJob]:
        """Jobs submitted of late, as they would wait if they came again."""
        since = self._view.now - RECENT
        late = [job for job in self._view.waiting if job.submitted > since and not job.foreign]
        late += [
            WaitingJob(job.job_id, job.name, job.kind, job.gpus, job.submitted, share=job.share)
            for job in self._view.busy
            if job.submitted > since
        ]
        return late

    def once(self) -> dict[str, float]:
        """One draw, as far as it takes: when each job that is asked for starts, in seconds from now."""
        self._times.begin()
        draw, started = self._times.draw, dict[str, float]()
        ends = [(draw(job.kind, elapsed) - elapsed, size) for job, elapsed, size in self._busy]
        heapify(ends)
        now = self._view.now
        row: list[_Item] = sorted(
            (self._keys[job.job_id], job.size, draw(job.kind), job.submitted - now, self._place_of(job),
             job.job_id in self._asked)
            for job in self._view.waiting
            if job.size <= self._view.capacity
        )  # fmt: skip
        left, at, free = sum(item[5] for item in row), 0.0, self._view.free
        coming = self._coming()
        while left:
            row, freed = self._start(row, free, at, ends, started)
            left, free = left - freed[0], freed[1]
            if not left:
                break
            soonest = ends[0][0] if ends else float("inf")
            if coming and coming[-1][3] < soonest:
                item = coming.pop()
                at = item[3]
                insort(row, item)
                continue
            if not ends:
                break
            at, size = heappop(ends)
            free += size
            while ends and ends[0][0] <= at:
                free += heappop(ends)[1]
        return started

    def _place_of(self, job: WaitingJob) -> int:
        return self._place.get(job.kind.job_class, len(self._place))

    def _coming(self) -> list[_Item]:
        """What arrives and goes before someone who waits now, the last to come first."""
        random, now, found = self._random, self._view.now, list[_Item]()
        for job in self._recent:
            at = random.expovariate(1.0 / RECENT)
            while at < HORIZON:
                key = self._key(job, now + at)
                if (Tier.USUAL, *key[1:]) >= self._last:
                    break
                found.append(
                    ((Tier.USUAL, *key[1:]), job.size, self._times.draw(job.kind), at, self._place_of(job), False)
                )
                at += random.expovariate(1.0 / RECENT)
        found.sort(key=lambda item: -item[3])
        return found

    def _start(
        self, row: list[_Item], free: int, at: float, ends: list[tuple[float, int]], started: dict[str, float]
    ) -> tuple[list[_Item], tuple[int, int]]:
        """Let start what starts now; gives what still waits, how many of those told of started, and what is free."""
        if not free:
            return row, (0, 0)
        held = self._held(row, free, at)
        rest: list[_Item] = []
        told = 0
        for number, item in enumerate(row):
            if not free:
                rest += row[number:]
                break
            if item[1] > free:
                rest.append(item)
                if not self._acts or item is held:
                    rest += row[number + 1 :]
                    break
                continue
            free -= item[1]
            heappush(ends, (at + item[2], item[1]))
            if item[5]:
                told += 1
                started[item[0][3]] = at
        return rest, (told, free)

    def _may_be_held(self, item: _Item, at: float) -> bool:
        """Whether a place may be held for it: what must go first at once, all else when it has waited long enough."""
        tier, place = item[0][0], item[4]
        if self._held_never[place] or tier is Tier.LAST:
            return False
        return tier < Tier.USUAL or at - item[3] + self._boosts[place] >= self._hold_after

    def _held(self, row: Sequence[_Item], free: int, at: float) -> _Item | None:
        """The job for which what is freed is held: nothing that ranks after it starts before it."""
        best: _Item | None = None
        if self._hold_after < float("inf"):
            for item in row:
                waits = item[1] > max(1, free) and self._may_be_held(item, at)
                if waits and (best is None or (item[4], item[3]) < (best[4], best[3])):
                    best = item
        return best
