"""Days in a quota share: what evictions are worth. Nearly all come about, for two writes a job at most.

That nobody goes who was not meant to, under every rule by which Batch might choose, is proved in `tests/proof/queues`.
"""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pointsman.queues.evictions import Progress
from pointsman.queues.jobs import Sighting, Stage, Status
from tests.unit.loops.quota_world import PREEMPTION, QuotaWorld, share
from tests.unit.loops.world import QUEUE

RULES: dict[str, Callable[[random.Random], Callable[[Sighting], Any] | None]] = {
    "longest": lambda _: lambda job: (job.started, job.job_id),
    "random": lambda chance: lambda _: chance.random(),
}


@pytest.mark.parametrize(
    "rule, equal, how, lost",
    [("longest", True, "levels", 0.3), ("random", True, "switch", 0.3), ("random", True, "levels", 0.0)],
)
def test_a_day_in_a_quota_share(rule: str, equal: bool, how: str, lost: float) -> None:
    chance = random.Random(f"{rule} {how}")
    losing = random.Random(rule)
    world = QuotaWorld(share(limit=8, preempts=how == "levels"))
    world.rule(preemption={**PREEMPTION, "patience": "20m", "how": how}, reservation={"after": "30m"})
    choose = RULES[rule](chance)
    world.loses = lambda: losing.random() < lost
    ends: dict[str, float] = {}
    submitted = 0
    for step in range(360):  # of 60 s
        if submitted < 60 and chance.random() < 0.35:
            production = chance.random() < 0.3
            name = f"{'prod' if production else 'sweep'}-{submitted:03}"
            prefix = f"s3://checkpoints/{name}"
            world.checkpoints.written[prefix] = world.clock.now()
            size = chance.choice((1, 1, 1, 2, 4)) if not production else chance.choice((1, 2, 4))
            saves = chance.random() < 0.8
            world.submit(name, size=size, checkpoints=prefix if saves else None, told=not world.loses())
            submitted += 1
        world.clock.advance(60)
        for job_id, end in list(ends.items()):
            if end <= world.clock.now() and world.batch.jobs[job_id].status is Status.RUNNING:
                world.move(job_id, Status.SUCCEEDED, told=not world.loses())
                del ends[job_id]
        for prefix in world.checkpoints.written:
            if step % 4 == 0:
                world.checkpoints.written[prefix] = world.clock.now()
        world.batch_goes_on(choose, equal=equal)
        for job_id, job in world.batch.jobs.items():
            if job.status is Status.RUNNING:
                ends.setdefault(job_id, world.clock.now() + chance.choice((600, 1800, 5400)))
            elif job_id in ends and job.status.stage is Stage.WAITING:
                del ends[job_id]
        world.loop().run(QUEUE)
        world.batch_goes_on(choose, equal=equal)
    asked = world.shares.evictions(QUEUE, 0.0)
    meant = Counter(victim.job_id for eviction in asked for victim in eviction.victims)
    went = {job_id: job.preemptions for job_id, job in world.batch.jobs.items() if job.preemptions}
    assert not world.log.failures
    assert asked, "nobody was evicted: the day shows nothing"
    assert all(count <= meant[job_id] for job_id, count in went.items()), (went, meant)
    assert all(world.batch.jobs[job_id].name.startswith("sweep") for job_id in went)
    assert max(went.values(), default=0) <= 2
    assert sum(e.progress is Progress.DONE for e in asked) >= 0.8 * len(asked)
    assert len(world.batch.priorities) <= 2 * submitted
