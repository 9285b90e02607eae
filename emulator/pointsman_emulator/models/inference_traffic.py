"""A stream of requests to one component, the copies that serve it, and the metrics that come of it.

The same seed gives the same arrivals whatever serves them. Nothing waits without bound: a copy has so many places, and
a request that finds none is lost.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Literal

from pointsman_emulator.models.inference_parts import Component, Copy
from pointsman_emulator.models.inference_values import InferenceSettings, MetricValue

NAMESPACE = "AWS/SageMaker"


@dataclass(slots=True)
class Statistic:
    """What CloudWatch keeps of many values."""

    total: float = 0.0
    samples: float = 0.0
    low: float = inf
    high: float = -inf

    def add(self, value: float) -> None:
        """One more value."""
        self.total += value
        self.samples += 1
        self.low = min(self.low, value)
        self.high = max(self.high, value)


@dataclass(slots=True)
class Counts:
    """What became of the requests."""

    requests: int = 0
    failed: int = 0
    """Answered with an error by the model."""
    lost: int = 0
    """Not answered: nobody was there, every place was taken, or the copy went away under it."""
    by_model: dict[str, int] = field(default_factory=dict)
    """Requests that the copies of each model got; of each image, where a spec names no model."""


class Traffic:
    """Requests at a rate, Poisson or even."""

    def __init__(
        self,
        rate: float,
        seed: str,
        settings: InferenceSettings,
        start: float,
        until: float = inf,
        arrivals: Literal["poisson", "even"] = "poisson",
    ) -> None:
        self.rate = rate
        self.settings = settings
        self.until = until
        self.counts = Counts()
        self.last_minute = 0.0
        """Invocations of the last minute that ended."""
        self._even = arrivals == "even"
        self._random = Random(seed)
        self._next = start
        self._minute: dict[str, Statistic] = {}
        self._step()

    def run(self, component: Component, until: float) -> None:
        """Let the requests come that come before `until`; the copies stay as they are meanwhile."""
        until = min(until, self.until)
        if self._next >= until:
            return
        serving = component.serving
        while self._next < until:
            self._serve(serving, self._next, self._random.random())
            self._step()

    def cut_off(self, copy: Copy, now: float) -> None:
        """A copy goes away: what it has in hand is lost."""
        self.counts.lost += sum(1 for done in copy.work if done > now)
        copy.work.clear()

    def take_minute(self, component: str, at: float, copies: int) -> list[MetricValue]:
        """The metrics of the minute that ends now, which began at `at` (SM:monitoring-cloudwatch)."""
        minute, self._minute = self._minute, {}
        invocations = minute.get("Invocations")
        self.last_minute = invocations.total if invocations else 0.0
        if invocations is not None and copies:
            minute["InvocationsPerCopy"] = Statistic(invocations.total / copies, 1, *(invocations.total / copies,) * 2)
        dimensions = (("InferenceComponentName", component),)
        return [
            MetricValue(NAMESPACE, name, dimensions, at, it.total, it.samples, it.low, it.high, UNITS.get(name, "None"))
            for name, it in minute.items()
        ]

    def _step(self) -> None:
        gap = self._random.expovariate(self.rate) if self.rate > 0 else inf
        self._next += (1 / self.rate if self.rate > 0 else inf) if self._even else gap

    def _serve(self, serving: list[Copy], at: float, luck: float) -> None:
        counts = self.counts
        counts.requests += 1
        self._note("Invocations", 1.0)
        copy = self._least_busy(serving, at)
        if copy is None:
            counts.lost += 1
            if not serving:
                self._note("NoCapacityInvocationFailures", 1.0)
            self._errors(client=not serving, server=bool(serving))
            return
        behaviour = copy.spec.behaviour
        latency = self.settings.latency if behaviour.latency is None else behaviour.latency
        hit = luck < behaviour.rate
        client = hit and behaviour.kind == "4xx"
        server = hit and (
            behaviour.kind == "5xx"
            or (behaviour.kind == "fails-after" and at - (copy.serving_since or at) >= behaviour.after)
        )
        if hit and behaviour.kind == "slow":
            latency *= self.settings.slow_factor
        work = copy.work
        waiting = len(work) - self.settings.concurrency
        done = (work[waiting] if waiting >= 0 else at) + latency
        insort(work, done)
        counts.failed += client or server
        counts.by_model[copy.spec.runs] = counts.by_model.get(copy.spec.runs, 0) + 1
        self._errors(client=client, server=server)
        self._note("ModelLatency", (done - at) * 1e6)
        self._note("ConcurrentRequestsPerCopy", float(len(work)))

    def _least_busy(self, serving: list[Copy], at: float) -> Copy | None:
        places = self.settings.concurrency + self.settings.backlog
        best: Copy | None = None
        for copy in serving:
            work = copy.work
            while work and work[0] <= at:
                del work[0]
            if len(work) < places and (best is None or len(work) < len(best.work)):
                best = copy
        return best

    def _errors(self, *, client: bool, server: bool) -> None:
        self._note("Invocation4XXErrors", float(client))
        self._note("Invocation5XXErrors", float(server))

    def _note(self, name: str, value: float) -> None:
        statistic = self._minute.get(name)
        if statistic is None:
            statistic = self._minute[name] = Statistic()
        statistic.add(value)


UNITS = {"ModelLatency": "Microseconds"}
