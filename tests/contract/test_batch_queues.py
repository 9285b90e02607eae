"""The contract of Batch's queues and jobs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pointsman.aws.clients import Clients
from pointsman.errors import Gone
from pointsman.ports import Snapshot
from pointsman.queues.jobs import Detail, Sighting, Status
from pointsman.queues.kinds import QueueKind
from pointsman_emulator import Emulator
from pointsman_emulator.models.batch import BatchSettings
from tests.contract.batch_worlds import TOKEN_LIFE, BatchWorld, EmulatedWorld, FakeWorld

QUEUE = "search-training"


@pytest.fixture
def emulated(clients: Clients) -> Iterator[EmulatedWorld]:
    with Emulator(seed=1, batch=BatchSettings(token_life=TOKEN_LIFE)) as emulator:
        yield EmulatedWorld(emulator, clients)


@pytest.fixture(params=["fake", "emulator"])
def world(request: pytest.FixtureRequest) -> BatchWorld:
    if request.param == "fake":
        return FakeWorld()
    emulated: EmulatedWorld = request.getfixturevalue("emulated")
    return emulated


def listed(world: BatchWorld, status: Status) -> list[Sighting]:
    found: list[Sighting] = []
    token: str | None = None
    while True:
        page = world.port.list_jobs(QUEUE, status, token)
        assert len(page.jobs) <= 100
        found += page.jobs
        token = page.next_token
        if token is None:
            return found


@pytest.mark.parametrize("kind, shares", [(QueueKind.FAIR_SHARE, ("all", "team*")), (QueueKind.FIFO, ())])
def test_a_training_queue_is_described_with_its_kind_and_capacity(
    world: BatchWorld, kind: QueueKind, shares: tuple[str, ...]
) -> None:
    world.add_queue(QUEUE, 12, kind, shares)

    queue = world.port.describe_queue(QUEUE)

    assert (queue.name, queue.kind, queue.capacity, queue.shares, queue.enabled) == (QUEUE, kind, 12, shares, True)
    assert queue.arn.endswith(f":job-queue/{QUEUE}")


def test_a_container_queue_has_no_capacity_that_we_know(world: BatchWorld) -> None:
    world.add_queue("containers", 0, QueueKind.CONTAINER)

    queue = world.port.describe_queue("containers")

    assert (queue.kind, queue.capacity, queue.shares) == (QueueKind.CONTAINER, 0, ())


def test_a_queue_that_is_not_there_is_gone(world: BatchWorld) -> None:
    with pytest.raises(Gone):
        world.port.describe_queue("unheard-of")


def test_a_snapshot_has_the_front_in_the_order_of_dispatch_and_the_instances_in_use(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE, ("all",))
    world.submit(QUEUE, "running", 4, "all")
    waiting = [world.submit(QUEUE, f"job-{n}", 1, "all", priority) for n, priority in enumerate((0, 9, 0))]

    front = (waiting[1], waiting[0], waiting[2])
    assert world.port.snapshot(QUEUE) == Snapshot(front, 4, world.now(), (("all", 4),))


def test_a_fifo_queue_has_a_snapshot_in_the_order_of_submission(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 4, QueueKind.FIFO)
    world.submit(QUEUE, "running", 3)
    waiting = [world.submit(QUEUE, f"job-{n}", 2) for n in range(2)]

    assert world.port.snapshot(QUEUE) == Snapshot(tuple(waiting), 3, world.now())


def test_an_empty_queue_has_an_empty_snapshot(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 4, QueueKind.FAIR_SHARE)

    assert world.port.snapshot(QUEUE) == Snapshot((), 0, world.now())


def test_a_listing_has_every_job_of_one_status_newest_first_page_by_page(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)
    running = world.submit(QUEUE, "running", 1, "all")
    waiting = [world.submit(QUEUE, f"job-{n}", 1, "all") for n in range(130)]
    if isinstance(world, FakeWorld):  # nothing of the fake's is submitted at another time by itself
        waiting = sorted(waiting)

    found = listed(world, Status.RUNNABLE)

    assert {job.job_id for job in found} == set(waiting)
    assert [job.created for job in found] == sorted((job.created for job in found), reverse=True)
    assert [job.job_id for job in listed(world, Status.RUNNING)] == [running]
    assert listed(world, Status.SUCCEEDED) == []


def test_a_listed_job_is_without_detail_and_true_now(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)
    created = world.now()
    job_id = world.submit(QUEUE, "prod-1", 1, "all", 5)
    world.pass_time(60)

    (job,) = listed(world, Status.RUNNING)

    assert replace(job, training=None) == Sighting(
        job_id, Status.RUNNING, world.now(), QUEUE, "prod-1", created, started=created
    )


def test_a_waiting_job_is_described_whole(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 2, QueueKind.FAIR_SHARE)
    world.submit(QUEUE, "running", 2, "all")
    created = world.now()
    job_id = world.submit(QUEUE, "prod-1", 2, "all", 7, {"team": "ranking"})
    world.pass_time(60)

    job = world.port.describe_job(job_id)

    gpus = 2 if isinstance(world, FakeWorld) else 16
    detail = Detail(2, gpus, "all", 7, {"team": "ranking"})
    assert job == Sighting(job_id, Status.RUNNABLE, world.now(), QUEUE, "prod-1", created, detail=detail)


def test_a_running_job_says_since_when_it_runs(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 2, QueueKind.FAIR_SHARE)
    began = world.now()
    job_id = world.submit(QUEUE, "prod-1", 1, "all")
    world.pass_time(60)

    job = world.port.describe_job(job_id)

    assert (job.status, job.started, job.stopped) == (Status.RUNNING, began, None)


def test_an_ended_job_says_when_it_stopped(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 2, QueueKind.FAIR_SHARE)
    job_id = world.submit(QUEUE, "prod-1", 1, "all")
    world.pass_time(60)
    stopped = world.now()
    world.end(job_id)

    job = world.port.describe_job(job_id)

    assert (job.status, job.stopped) == (Status.FAILED, stopped)


def test_a_priority_that_was_set_is_described_and_decides_the_order(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)
    world.submit(QUEUE, "running", 1, "all")
    first, second = (world.submit(QUEUE, name, 1, "all") for name in ("first", "second"))

    world.port.set_priority(second, 4999)

    detail = world.port.describe_job(second).detail
    assert detail is not None
    assert detail.priority == 4999
    assert world.port.snapshot(QUEUE).front == (second, first)


def test_a_job_that_is_unknown_is_gone(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)

    with pytest.raises(Gone):
        world.port.describe_job("unheard-of")
    with pytest.raises(Gone):
        world.port.set_priority("unheard-of", 1)


def test_the_priority_of_an_ended_job_cannot_be_set(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)
    job_id = world.submit(QUEUE, "prod-1", 1, "all")
    world.end(job_id)

    with pytest.raises(Gone):
        world.port.set_priority(job_id, 1)


def test_a_listing_that_goes_on_by_a_token_that_is_no_longer_taken_says_gone(world: BatchWorld) -> None:
    world.add_queue(QUEUE, 1, QueueKind.FAIR_SHARE)
    for n in range(102):
        world.submit(QUEUE, f"job-{n}", 1, "all")
    token = world.port.list_jobs(QUEUE, Status.RUNNABLE, None).next_token
    world.pass_time(TOKEN_LIFE - 1.0)
    assert len(world.port.list_jobs(QUEUE, Status.RUNNABLE, token).jobs) == 1
    world.pass_time(2.0)
    with pytest.raises(Gone):
        world.port.list_jobs(QUEUE, Status.RUNNABLE, token)


def test_looking_into_a_queue_that_is_not_there_says_gone(world: BatchWorld) -> None:
    with pytest.raises(Gone):
        world.port.snapshot("unheard-of")
    with pytest.raises(Gone):
        world.port.list_jobs("unheard-of", Status.RUNNABLE, None)
