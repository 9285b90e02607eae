"""A queue's world of a few hours: jobs, people, alarms and faults from one seed, on the behaviour model of Batch.

It passes through trouble, then calm in which nothing fails any more, then rest in which Batch stands still and only
passes are made, and then every job runs to its end.
"""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import count
from math import ceil
from random import Random
from typing import Any
from unittest import mock

from pointsman.documents import InvalidDocument
from pointsman.errors import Transient
from pointsman.inbound import Message
from pointsman.loops import queue as queue_loop
from pointsman.loops.queue import QueueLoop
from pointsman.loops.recorder import Recorder
from pointsman.policy_documents import parse_policy, stored_policy
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.policy import Policy
from pointsman_emulator.models.batch import BatchModel, JobChange, ServiceJob
from pointsman_emulator.models.batch_fair import FairQueue
from pointsman_emulator.models.batch_quota import QuotaQueue
from tests.fakes.job_table import FakeJobTable
from tests.fakes.messages import FakeWakes
from tests.proof.queues import draw
from tests.proof.queues.batch import POOL, ModelBatch, ModelCheckpoints, ModelClock, body_of
from tests.proof.queues.doors import Door, Killed
from tests.proof.queues.truth import Truth
from tests.unit.loops.quota_world import GPU
from tests.unit.loops.world import QUEUE, Log, World

START = 1_800_000_000.0
checked = read = lru_cache(maxsize=64)(
    stored_policy
)  # a document is checked as a whole each time: 2 ms, and always the same
GOOD = json.dumps({"version": 1, "queue": QUEUE, "share": "*", "default": {"name": "sweep"}})
TICK, DEEP = 60.0, 3
LONG_AGO = 9 * 86400.0
ALARMS = ("drift-ranker", "drift-search")


class Woken(FakeWakes):
    """Wakes that become passes once their bucket has closed; SQS remembers a bucket for five minutes."""

    def __init__(self, world: "QueueWorld") -> None:
        super().__init__()
        self._world = world
        self._seen: dict[int, float] = {}
        self.lost = False

    def wake(self, queue: str, now: float) -> None:
        """As the port says."""
        bucket, true = int(now // 10), self._world.model.now
        if true - self._seen.get(bucket, -1e9) >= 300 and not self.lost:
            self._seen[bucket] = true
            self._world.later(10 - now % 10 + self._world.luck.random(), lambda: self._world.make_pass(queue))


class QueueWorld(World):
    """One world; `truth` has what was wrong in it."""

    def __init__(self, seed: int, profile: str) -> None:
        self.seed, self.profile = seed, profile
        self.luck = Random(f"{seed} {profile}")
        self.faults: Counter[str] = Counter()
        super().__init__()
        luck, quota = self.luck, profile in draw.QUOTA
        again = Random(f"listings {seed} {profile}")
        listings = draw.listings(again)
        self.trouble = replace(draw.trouble(luck, profile), refused=listings.refused)
        self.capacity = luck.choice((4, 6, 8))
        settings = replace(draw.settings(luck, quota=quota), token_life=listings.token_life)
        self.model = BatchModel(settings, seed, start=START, listener=self._happened)
        self.names = draw.queue(luck, self.model, profile, self.capacity)
        place = self.model.queues[QUEUE]
        kept = ceil(self.capacity * place.policy.compute_reservation / 100) if isinstance(place, FairQueue) else 0
        self.most = (self.capacity - kept) // (len(self.names) if profile in draw.QUOTA else 1)
        self.clock = ModelClock(self.model)  # type: ignore[assignment]
        self.batch = ModelBatch(self.model, self.clock, whole=luck.random() < 0.7)  # type: ignore[assignment, arg-type]
        self.batch.page = listings.page if self.batch.whole else self.batch.page
        self.batch.refuses = lambda: again.random() < self.trouble.refused and self._refused()
        self.checkpoints = ModelCheckpoints(self.model)  # type: ignore[assignment]
        rate, saved = luck.choice(((2.0, 120), (2.0, 120), (0.5, 60), (0.1, 12)))
        self.jobs = FakeJobTable(calls_a_second=rate, saved_calls=saved)
        self.truth = Truth(self, rate, saved)
        self.batch.told = self.truth.told
        if isinstance(place, QuotaQueue) and profile == "lending":
            self.truth.limits = {name: place.share(name).value.borrow_limit for name in self.names}
        self.wakes = Woken(self)
        self.depth = self.passes_made = 0
        self._stood = 0.0  # seconds for which Batch has stood still
        self._agenda: list[tuple[float, int, Callable[[], Any]]] = []
        self._sequence, self._owner = count(), ""
        self.document = draw.policy(luck, profile, self.names)
        self.put(self.document)
        if luck.random() < 0.2:
            self.alarms.set_state(ALARMS[0], "ALARM", START - LONG_AGO)
            self.truth.alarms.moved(ALARMS[0], "ALARM", START - LONG_AGO)

    # Time

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do this so many seconds from now."""
        heappush(self._agenda, (self.model.now + seconds, next(self._sequence), action))

    def go_on(self, seconds: float) -> None:
        """Let this time pass, with all that happens in it."""
        end = self.model.now + seconds
        while True:
            at = self._agenda[0][0] if self._agenda else float("inf")
            coming = self.model.next_event_at
            if min(at, coming if coming is not None else at) > end:
                break
            if coming is not None and coming < at:
                self.model.advance(coming)
            else:
                _, _, action = heappop(self._agenda)
                self.model.advance(max(at, self.model.now))
                action()
        self.model.advance(max(end, self.model.now))

    @property
    def time(self) -> float:
        """What a right clock shows: Batch's time, and while that stands still the time that goes on without it."""
        return self.model.now + self._stood

    def rest(self, seconds: float) -> None:
        """Batch stands still for so long, and the functions' clock goes on."""
        self._stood += seconds
        self.clock.skew += seconds

    def rested(self) -> None:
        """Batch goes on, at the time that it has become."""
        self.model.now, self.clock.skew = self.time, self.clock.skew - self._stood
        self._stood = 0.0

    # What the functions do

    def loop(self) -> QueueLoop:
        """A loop whose every call goes through a door."""
        owner = f"pass-{self.passes_made}"
        self.wrap = lambda port, name: Door(port, name, owner, self)
        loop = super().loop()
        return replace(loop, new_owner=lambda: owner)

    def make_pass(self, queue: str = QUEUE) -> None:
        """A pass, in a function of its own."""
        if self.depth >= DEEP:
            self.later(30.0, lambda: self.make_pass(queue))
            return
        self.passes_made += 1
        log = self.log = Log()
        loop = self.loop()
        self.depth += 1
        self.faults["overlapping passes"] += self.depth > 1
        owner = f"pass-{self.passes_made}"
        self.truth.begins(owner)
        try:
            with mock.patch.object(queue_loop, "stored_policy", read):
                loop.run(queue)
            self.truth.told_of.lived(owner)
        except Killed:
            self.faults["killed passes"] += 1
        except Transient:
            self.later(30.0, lambda: self.make_pass(queue))
        finally:
            self.depth -= 1
        self.truth.passed(log)

    def _refused(self) -> bool:
        """Batch says that it does not know a job that it has."""
        self.faults["descriptions refused"] += 1
        return True

    def recorder(self) -> Recorder:
        """Records events through doors of its own."""
        doors = [Door(port, name, "", self) for port, name in ((self.jobs, "jobs"), (self.wakes, "wakes"),
                                                               (self.dead_letters, "letters"))]  # fmt: skip
        return Recorder(self.clock, *doors, self.log)  # type: ignore[arg-type]

    def every(self, seconds: float) -> None:
        """A pass every so often, and no other: what else wakes the queue is lost."""
        self._agenda.clear()
        self.wakes.lost = True

        def again() -> None:
            self.later(seconds, again)
            self.make_pass()

        self.later(1.0, again)

    def tick(self) -> None:
        """The minute's tick."""
        self.later(TICK, self.tick)
        self.wrap = lambda port, name: Door(port, name, "", self)
        try:
            self.due().wake()
        except Transient:
            self.faults["ticks that failed"] += 1

    # Events

    def _happened(self, change: JobChange) -> None:
        self.truth.happened(change)
        body, trouble, luck = body_of(change, self.model), self.trouble, self.luck
        if luck.random() < trouble.lost:
            self.faults["events lost"] += 1
            return
        times = 1 + (luck.random() < trouble.doubled)
        says = partial(self.truth.announced, change.job, change.at, ended=change.job.finished)
        told = says if change.kind == "state" and (change.job.finished or change.job.holding) else None
        self.faults["events doubled"] += times - 1
        for _ in range(times):
            late = luck.random() < trouble.late
            self.faults["events late"] += late
            delay = luck.choice((30.0, 300.0, 3000.0, 86400.0)) if late else luck.uniform(0.5, 6.0)
            self.later(delay, lambda: self.deliver(body, told=told))

    def deliver(self, body: str, tries: int = 4, told: Callable[[], None] | None = None) -> None:
        """Hand the message to the recorder, again while it asks for it."""
        again = self.recorder().record([Message(f"m{next(self._sequence)}", body)])
        if again and tries:
            self.later(60.0, lambda: self.deliver(body, tries - 1, told))
        elif told and not again:
            told()

    def poison(self) -> None:
        """A message that nobody can read."""
        self.faults["poison"] += 1
        some = next(iter(self.model.jobs))
        change = JobChange("state", self.model.now, self.model.jobs[some], "RUNNABLE")
        unknown = body_of(change, self.model).replace('"status": "', '"status": "NO')
        body = self.luck.choice(
            ("{", "[]", '{"source": "aws.batch"}', json.dumps({"detail": {"jobId": some}}), unknown)
        )
        before = dict(self.jobs.jobs), len(self.dead_letters.buried)
        again = self.recorder().record([Message("poison", body)])
        if dict(self.jobs.jobs) != before[0] or (len(self.dead_letters.buried) == before[1] and not again):
            self.truth.wrong("Q10", f"a poison event changed something: {body[:80]}")

    # People, alarms, the world around

    def put(self, document: Any) -> None:
        """Make a policy rule, as `policy apply` does: checked first."""
        policy = parse_policy(document)
        self.control.put_policy(QUEUE, json.dumps(document), self.clock.now(), "someone")
        self.document = document
        self.truth.ruled(policy)

    def bad_policy(self) -> None:
        """Somebody tries to apply what is no policy."""
        self.faults["bad policies"] += 1
        document, before = draw.worsened(self.luck, self.document), self.control.policy(QUEUE)
        kept = self.document
        with suppress(InvalidDocument):
            self.put(document)
        self.document = kept
        if self.control.policy(QUEUE) != before:
            self.control.policies[QUEUE].pop()
            self.truth.wrong("Q10", "a bad policy rules the queue")

    @staticmethod
    def policy_of(document: str) -> Policy:
        """The policy of a stored document."""
        return checked(document)

    def submit_jobs(self) -> None:
        """Some jobs, now and then many."""
        luck = self.luck
        for _ in range(luck.choice((1, 1, 2, 3, 8))):
            if len(self.model.jobs) < 36:
                self.submit_one(luck)

    def submit_one(self, luck: Random) -> ServiceJob:
        """A job of any name, size and length; some fail at once, some never fit, some save their work."""
        size = min(luck.choice((1, 1, 1, 2, 2, 4)), self.most)
        if luck.random() < 0.02:
            size = self.capacity + 2
        more: dict[str, Any] = {}
        if luck.random() < 0.1:
            more = {"failing_attempts": luck.choice((1, 4)), "max_attempts": 4}
        seconds = luck.choice((20.0, 200.0)) if more else luck.choice((60.0, 300.0, 900.0, 2000.0))
        share = luck.choice(self.names)
        if self.profile in draw.QUOTA:
            saves = luck.random() < 0.7
            request = {"saves": saves, "share": share, "odd": luck.random() < 0.05}
            more |= {"quota_share": share, "instance_type": GPU, "request": request,
                     "checkpoint_seconds": luck.choice((60.0, 200.0)) if saves else None,
                     "preemption_retries": luck.choice((None, None, 3))}  # fmt: skip
        else:
            more |= {"share": share, "request": {"share": share}}
        name = f"{luck.choice(draw.NAMES)}-{len(self.model.jobs)}"
        return self.model.submit(QUEUE, name, size, seconds, **more)

    def somebody(self) -> None:
        """Somebody does something."""
        self.later(self.trouble.pace * self.luck.uniform(0.2, 1.8), self.somebody)
        deeds = (self.pin, self.pin, self.by_hand, self.by_hand, self.end_one, self.toggle, self.toggle,
                 self.other_policy, self.bad_policy, self.resize, self.other_share)  # fmt: skip
        deed = self.luck.choice(deeds)
        self.faults[f"people: {deed.__name__.replace('_', ' ')}"] += 1
        deed()

    def one(self, *statuses: str) -> ServiceJob | None:
        """A job in one of these states."""
        jobs = [job for job in self.model.jobs.values() if job.status in statuses]
        return self.luck.choice(jobs) if jobs else None

    def pin(self) -> None:
        """A job is put first or last, or no longer."""
        job, now = self.one("RUNNABLE"), self.clock.now()
        if job is None:
            return
        if self.luck.random() < 0.3:
            self.control.remove_pin(QUEUE, job.job_id)
        else:
            kind = self.luck.choice((PinKind.FIRST, PinKind.LAST))
            until = now + self.luck.choice((300, 3000))
            self.control.put_pin(QUEUE, Pin(job.job_id, until, kind, "ana", now))
            self.truth.pinned(job)

    def by_hand(self) -> None:
        """Someone else sets a priority."""
        job = self.one("RUNNABLE")
        priority = self.luck.choice((3, 70, 2000))
        if job is not None and job.priority != priority:
            self.model.set_priority(job.job_id, priority)
            self.truth.by_hand(job, priority)

    def end_one(self) -> None:
        """Someone terminates a job."""
        job = self.one("RUNNABLE", "RUNNING")
        if job is not None:
            self.model.terminate(job.job_id, "by hand")

    def toggle(self) -> None:
        """`pointsman stop` and `start`."""
        if self.control.stopped():
            self.control.resume()
        else:
            self.control.stop()
        self.truth.modes += 1

    def other_policy(self) -> None:
        """Another policy, in mid-flight."""
        self.put(draw.policy(self.luck, self.profile, self.names))

    def resize(self) -> None:
        """Capacity is lost, or found."""
        self.resize_to(max(2, self.capacity + self.luck.choice((-2, -1, 0, 1, 2))))

    def resize_to(self, limit: int) -> None:
        """The service environment has so many instances."""
        self.truth.evictions.resized()
        self.truth.told_of.changes += 1
        self.model.update_environment(POOL, capacity={GPU: limit} if self.profile in draw.QUOTA else limit)

    def other_share(self) -> None:
        """Someone else changes a weight or a borrow limit."""
        self.truth.told_of.changes += 1
        place, luck = self.model.queues[QUEUE], self.luck
        if isinstance(place, FairQueue):
            weights = {name: luck.choice((1.0, 0.5)) for name in place.policy.weights}
            self.model.update_queue(QUEUE, policy=replace(place.policy, weights=weights))
        elif self.profile == "lending":
            share = place.share(self.names[0])  # type: ignore[attr-defined]
            limit = luck.choice((0, 50, 100))
            self.model.update_share(QUEUE, share.name, replace(share.value, borrow_limit=limit))
            self.truth.borrowing(share.name, limit)

    def alarm(self) -> None:
        """An alarm goes on or off, is unknown, or is deleted."""
        self.later(self.trouble.alarms * self.luck.uniform(0.1, 1.9), self.alarm)
        name, state = self.luck.choice(ALARMS), self.luck.choice(("ALARM", "ALARM", "OK", "INSUFFICIENT_DATA", "gone"))
        self.faults[f"alarms: {state.lower().replace('_', ' ')}"] += 1
        if state == "gone":
            self.alarms.delete(name)
        else:
            self.alarms.set_state(name, state, self.model.now)
        self.truth.alarms.moved(name, state, self.model.now)
        if self.luck.random() >= self.trouble.lost:
            self.wakes.wake(QUEUE, self.clock.now())

    def jump(self) -> None:
        """The functions' clock jumps."""
        self.later(60.0, self.jump)
        if self.depth == 0 and self.luck.random() < self.trouble.jumps:
            self.faults["clock jumps"] += 1
            self.clock.skew = self.luck.choice((-3600.0, -20.0, 20.0, 3600.0, 86400.0))
            self.truth.jumped()
