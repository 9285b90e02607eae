"""What keeps a long queue affordable: rest between its passes, and no tags that nobody reads."""

from collections.abc import Sequence
from typing import Any

import pytest

from pointsman.ports import Snapshot
from pointsman.queues.jobs import TAG_BYTES, Detail
from tests.unit.loops.world import QUEUE, World

MANY = {f"cost-centre-{n:02}": "reinforcement-learning" for n in range(50)}


class Slow:
    """Batch, whose snapshot takes a while to come."""

    def __init__(self, world: World, port: Any, seconds: Sequence[float]) -> None:
        self._world, self._port, self._seconds = world, port, list(seconds)

    def snapshot(self, name: str) -> Snapshot:
        self._world.clock.advance(self._seconds.pop(0) if self._seconds else 0.0)
        return self._port.snapshot(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


@pytest.mark.parametrize(
    "looked, gap", [(0.0, 30.0), (6.0, 30.0), (9.0, 45.0)], ids=["no time", "a fifth of the gap", "longer"]
)
def test_after_a_long_look_a_queue_rests_for_five_times_as_long(looked: float, gap: float) -> None:
    world = World()
    world.apply()
    world.submit("a")
    slow = Slow(world, world.batch, [looked])
    world.wrap = lambda port, name: slow if name == "batch" else port
    world.pass_()
    began = world.record.passed_at

    world.clock.advance(began + gap - 1.0 - world.clock.now())
    world.loop().run(QUEUE)
    assert (len(world.log.reports), world.log.skips) == (1, ["the last pass was a moment ago"])
    world.clock.advance(1.0)
    world.loop().run(QUEUE)
    assert len(world.log.reports) == 2


def test_the_next_wake_of_a_queue_is_not_before_it_has_rested() -> None:
    world = World()
    world.apply()
    world.submit("a")
    slow = Slow(world, world.batch, [40.0])
    world.wrap = lambda port, name: slow if name == "batch" else port
    world.pass_()
    assert world.record.next_wake_at >= world.record.passed_at + 200.0


def test_few_tags_are_kept_whole() -> None:
    detail = Detail(1, 1, "all", 0, {"team": "ranking", "purpose": "explore"})
    assert detail.with_tags_of(("team",)) == detail
    assert not detail.lacks_tags("")


def test_of_many_tags_those_are_kept_that_the_policy_reads() -> None:
    detail = Detail(1, 1, "all", 0, {**MANY, "team": "ranking", "purpose": "explore"})
    assert detail.with_tags_of(("team", "purpose", "finish-by")).tags == {"team": "ranking", "purpose": "explore"}
    assert sum(map(len, MANY)) > TAG_BYTES


def test_a_job_of_many_tags_is_of_the_class_that_its_tag_says() -> None:
    world = World()
    world.apply()
    world.submit("a", tags={**MANY, "purpose": "explore"})
    world.pass_()
    assert [job.kind.job_class for job in world.report.view.waiting] == ["research"]


def test_a_policy_that_reads_another_tag_has_the_jobs_of_many_tags_described_again() -> None:
    world = World()
    world.apply()
    world.submit("many", tags={**MANY, "tier": "gold"})
    world.submit("few", tags={"tier": "gold"})
    world.pass_()
    described = world.report.described
    world.pass_()
    assert world.report.described == 0

    world.apply(classes=[{"name": "golden", "match": {"tag": {"tier": "gold"}}}], on_alarm=[])
    world.pass_()
    assert (described, world.report.described) == (2, 1)
    assert {job.kind.job_class for job in world.report.view.waiting} == {"golden"}
    world.pass_()
    assert world.report.described == 0
