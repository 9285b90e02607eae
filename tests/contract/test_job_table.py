"""The job table's contract, and what only DynamoDB can do wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.job_table import DynamoJobTable
from pointsman.errors import Conflict, Transient
from pointsman.ports import JobTable, QueueDescription, QueueRecord, Sweep
from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.jobs import Detail, JobRecord, Status
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare, Strategy
from pointsman.queues.usage import Usage
from tests.contract.interference import Interfered
from tests.contract.jobs import QUEUE, T0, job, job_id
from tests.fakes.job_table import FakeJobTable


@pytest.fixture
def table(request: pytest.FixtureRequest) -> str:
    make: Callable[[str], str] = request.getfixturevalue("make_table")
    return make("JobsTable")


@pytest.fixture(params=["fake", "DynamoDB"])
def jobs(request: pytest.FixtureRequest) -> JobTable:
    if request.param == "fake":
        return FakeJobTable()
    aws: Clients = request.getfixturevalue("aws")
    return DynamoJobTable(aws.dynamodb, request.getfixturevalue("table"))


RECORDS = {
    "a job known from an event only": job(status=Status.RUNNABLE, detail=None, submitted_priority=None),
    "a waiting job": job(),
    "a lifted job": job(detail=Detail(4, 32, "team-a", 4999, {"team": "ranking"}), submitted_priority=12),
    "a job without share or tags": job(detail=Detail(2, 2, None, 0), submitted_priority=0),
    "a doubtful job after two attempts": job(status=Status.SCHEDULED, attempts=2, doubtful=True),
    "a job whose priority someone else set": job(detail=Detail(1, 0, "all", 77, {}), foreign=True),
    "a running job": job(status=Status.RUNNING, attempts=1, started=T0 + 3600.5),
    "a preempted job": job(status=Status.RUNNABLE, attempts=1, preemptions=3, submitted_priority=9999),
    "a job that has ended": job(status=Status.SUCCEEDED, attempts=1, started=T0 + 60, stopped=T0 + 7200.25),
    "a job that failed before it ran": job(status=Status.FAILED, stopped=T0 + 5),
    "a job that was seen before it was created": job(at=T0 - 1),
    "a job with a name in another script": job(name='попытка-1 "b"', detail=Detail(1, 1, "é", 0, {"ключ": "\u2603"})),
    "a job that started as it was created": job(status=Status.RUNNING, started=T0),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
def test_a_record_is_read_as_it_was_saved_by_its_id_and_in_its_queue(jobs: JobTable, record: JobRecord) -> None:
    saved = jobs.save(record)

    assert saved == replace(record, version=1)
    assert jobs.load([record.job_id]) == {record.job_id: saved}
    assert jobs.active(QUEUE) == (saved,)


def test_unknown_jobs_are_left_out_and_one_asked_for_twice_is_there_once(jobs: JobTable) -> None:
    saved = jobs.save(job(1))

    assert jobs.load([job_id(1), job_id(2), job_id(1)]) == {job_id(1): saved}
    assert jobs.load([]) == {}


def test_more_jobs_are_loaded_than_one_call_takes(jobs: JobTable) -> None:
    saved = {n.job_id: n for n in (jobs.save(job(number)) for number in range(230))}

    assert jobs.load(saved) == saved


def test_only_jobs_that_wait_run_or_have_not_been_learned_from_are_active(jobs: JobTable) -> None:
    active = [
        jobs.save(job(1)),
        jobs.save(job(2, Status.RUNNING, started=T0)),
        jobs.save(job(3, Status.FAILED, stopped=T0)),
    ]
    folded = jobs.save(job(4, Status.SUCCEEDED, stopped=T0, folded=True))
    elsewhere = jobs.save(job(5, queue="other"))
    placeless = jobs.save(job(6, queue=""))

    assert sorted(jobs.active(QUEUE), key=lambda record: record.job_id) == active
    assert jobs.active("other") == (elsewhere,)
    assert jobs.active("unheard-of") == ()
    assert jobs.load([job_id(4), job_id(6)]) == {job_id(4): folded, job_id(6): placeless}


def test_a_job_leaves_the_active_ones_when_it_has_been_learned_from(jobs: JobTable) -> None:
    ended = jobs.save(job(1, Status.SUCCEEDED, started=T0, stopped=T0 + 60))

    jobs.save(replace(ended, folded=True))

    assert jobs.active(QUEUE) == ()
    assert jobs.load([job_id(1)])[job_id(1)].folded


def test_an_active_record_can_be_saved_again(jobs: JobTable) -> None:
    jobs.save(job(1, Status.RUNNING, started=T0 + 60, attempts=1))

    (active,) = jobs.active(QUEUE)
    saved = jobs.save(replace(active, status=Status.SUCCEEDED, stopped=T0 + 90))

    assert saved.version == 2
    assert jobs.active(QUEUE) == (saved,)


def test_of_two_first_writers_of_a_job_the_second_loses(jobs: JobTable) -> None:
    first = jobs.save(job(1))

    with pytest.raises(Conflict):
        jobs.save(job(1, Status.RUNNING))
    assert jobs.load([job_id(1)]) == {job_id(1): first}


def test_of_two_writers_who_read_the_same_version_the_second_loses(jobs: JobTable) -> None:
    read = jobs.save(job(1))
    first = jobs.save(replace(read, status=Status.RUNNING))

    with pytest.raises(Conflict):
        jobs.save(replace(read, status=Status.FAILED))
    assert jobs.load([job_id(1)]) == {job_id(1): first}


def test_a_job_that_has_expired_conflicts_with_one_who_knew_it(jobs: JobTable) -> None:
    with pytest.raises(Conflict):
        jobs.save(job(1, version=3))


def test_a_queue_never_stored_has_an_empty_record(jobs: JobTable) -> None:
    assert jobs.queue(QUEUE) == QueueRecord(QUEUE)


def test_a_queue_record_is_read_as_it_was_saved(jobs: JobTable) -> None:
    description = QueueDescription(QUEUE, f"arn:aws:batch:x:1:job-queue/{QUEUE}", QueueKind.FAIR_SHARE, 64, ("a", "b"))
    shares = (QuotaShare("team", "arn:team", (("ml.g5.xlarge", 4),), Strategy.LEND_AND_BORROW, 50, preempts=True),)
    description = replace(description, quota_shares=shares, limits=(("ml.g5.xlarge", 4),), weights=(("a", 0.5),))
    record = QueueRecord(
        QUEUE,
        owner="pass-1",
        lease_until=T0 + 60,
        passed_at=T0,
        next_wake_at=T0 + 30.5,
        described_at=T0,
        description=description,
        sweep=Sweep(T0, Status.RUNNABLE, "token"),
        swept=T0 - 600,
        walk=Sweep(T0 - 30, Status.RUNNING, "page 4", "AAECAw=="),
        walked=T0 - 500,
        deferred=True,
        priorities=((job_id(1), 4999),),
        would=((job_id(2), 4998), (job_id(3), 0)),
        suspects=(job_id(4),),
        preempted=((job_id(1), 2),),
        saved=((job_id(5), None), (job_id(1), T0 - 60.5)),
        problem="no policy",
        usage=Usage(T0, (("production", 0.5),), (("production", 0.25), ("sweep", 1e-9))),
    )

    saved = jobs.save_queue(record)

    assert saved == replace(record, version=1)
    assert jobs.queue(QUEUE) == saved
    assert jobs.queue("other") == QueueRecord("other")


def test_of_two_passes_that_take_the_lease_the_second_loses(jobs: JobTable) -> None:
    first = jobs.save_queue(QueueRecord(QUEUE, owner="one"))

    with pytest.raises(Conflict):
        jobs.save_queue(QueueRecord(QUEUE, owner="two"))
    again = jobs.save_queue(replace(first, owner=""))
    with pytest.raises(Conflict):
        jobs.save_queue(replace(first, owner="two"))
    assert jobs.queue(QUEUE) == again


def test_a_queue_that_nothing_was_learned_of_has_an_empty_history(jobs: JobTable) -> None:
    assert jobs.history(QUEUE) == History()


def test_what_was_learned_is_read_in_the_order_it_was_learned(jobs: JobTable) -> None:
    kinds = [Kind(team, "sweep-#", 1, "sweep") for team in ("b", "a", "c", "a")]
    history = History().learn(Finished(kind, 60.5 + n) for n, kind in enumerate(kinds))
    history = history.learn([Finished(kinds[0], 9.0, crashed=True)] * 2)
    history = replace(history, taught=("job-1", "jöb-2"))

    jobs.save_history(QUEUE, history)

    assert jobs.history(QUEUE) == history
    assert list(jobs.history(QUEUE).circles) == list(history.circles)


def test_of_two_that_have_learned_at_once_the_later_one_is_told(jobs: JobTable) -> None:
    kind = Kind("a", "sweep-#", 1, "sweep")
    jobs.save_history(QUEUE, jobs.history(QUEUE).learn([Finished(kind, 60.0)]))
    before = jobs.history(QUEUE)
    jobs.save_history(QUEUE, before.learn([Finished(kind, 70.0)]))
    with pytest.raises(Conflict):
        jobs.save_history(QUEUE, before.learn([Finished(kind, 80.0)]))
    with pytest.raises(Conflict):
        jobs.save_history(QUEUE, History())
    assert jobs.history(QUEUE).circles[kind.circles()[0]] == (60.0, 70.0)


def test_the_budget_gives_what_was_saved_up_and_then_two_calls_a_second(jobs: JobTable) -> None:
    assert jobs.take_budget(100, T0) == 100
    assert jobs.take_budget(100, T0) == 20
    assert jobs.take_budget(1, T0) == 0
    assert jobs.take_budget(10, T0 + 2.0) == 4
    assert jobs.take_budget(1000, T0 + 3600) == 120


def test_the_budget_gives_nothing_for_nothing_and_nothing_for_a_clock_that_goes_back(jobs: JobTable) -> None:
    assert jobs.take_budget(0, T0) == 0
    assert jobs.take_budget(120, T0) == 120
    assert jobs.take_budget(5, T0 - 60) == 0
    assert jobs.take_budget(5, T0 + 1) == 2


def test_a_clock_that_was_a_day_ahead_gives_nothing_extra_and_keeps_nobody_waiting(jobs: JobTable) -> None:
    assert jobs.take_budget(120, T0 + 86_400) == 120
    assert jobs.take_budget(5, T0) == 0
    assert jobs.take_budget(100, T0 + 10) == 20


# ------------------------------------------------------------------------------------------------- DynamoDB only


def test_a_history_too_big_for_an_item_keeps_its_newest(aws: Clients, table: str) -> None:
    jobs = DynamoJobTable(aws.dynamodb, table)
    history = History(
        {f"team-{n}|{hash(n * 7919)}": tuple((n * m * 7.7) % 1e6 for m in range(20)) for n in range(9000)},
        {f"team-{n}|x" * 100: 1 for n in range(50)},
        tuple(f"{n:036}" for n in range(1000)),
    )

    jobs.save_history(QUEUE, history)

    kept = jobs.history(QUEUE).circles
    assert 3000 < len(kept) < 9000
    assert (jobs.history(QUEUE).crashes, jobs.history(QUEUE).taught) == ({}, history.taught)
    assert list(kept) == list(history.circles)[-len(kept) :]


def test_a_read_of_jobs_left_half_done_is_finished(aws: Clients, table: str) -> None:
    DynamoJobTable(aws.dynamodb, table).save(job(1))
    DynamoJobTable(aws.dynamodb, table).save(job(2))
    half = Interfered(aws.dynamodb, batch_get_item=_leaves_half(times=2))

    assert set(DynamoJobTable(half, table).load([job_id(1), job_id(2)])) == {job_id(1), job_id(2)}


def test_a_read_of_jobs_left_half_done_for_ever_is_transient(
    aws: Clients, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    never = Interfered(aws.dynamodb, batch_get_item=_leaves_half(times=99))

    with pytest.raises(Transient):
        DynamoJobTable(never, table).load([job_id(1), job_id(2)])


def test_who_loses_a_race_for_the_budget_tries_again(aws: Clients, table: str) -> None:
    other = DynamoJobTable(aws.dynamodb, table)
    raced = Interfered(aws.dynamodb, get_item=_lets_in(lambda: other.take_budget(50, T0), times=2))

    assert DynamoJobTable(raced, table).take_budget(100, T0) == 20


def test_who_loses_every_race_for_the_budget_gets_nothing(aws: Clients, table: str) -> None:
    other = DynamoJobTable(aws.dynamodb, table)
    raced = Interfered(aws.dynamodb, get_item=_lets_in(lambda: other.take_budget(1, T0), times=99))

    assert DynamoJobTable(raced, table).take_budget(10, T0) == 0


def test_a_queue_record_of_a_later_release_can_be_read(aws: Clients, table: str) -> None:
    state = {"S": '{"owner": "", "next_wake_at": 5.0, "invented_later": [1]}'}
    aws.dynamodb.put_item(TableName=table, Item={"pk": {"S": f"QUEUE#{QUEUE}"}, "st": state, "v": {"N": "7"}})

    assert DynamoJobTable(aws.dynamodb, table).queue(QUEUE) == QueueRecord(QUEUE, version=7, next_wake_at=5.0)


def _leaves_half(times: int) -> Callable[..., Any]:
    left = [times]

    def batch_get_item(real: Callable[..., Any], RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - boto's own name
        ((table, asked),) = RequestItems.items()
        if left[0] == 0:
            return real(RequestItems=RequestItems)
        left[0] -= 1
        done, undone = asked["Keys"][:1], asked["Keys"][1:] or asked["Keys"]
        answer = real(RequestItems={table: {**asked, "Keys": done}})
        return {**answer, "UnprocessedKeys": {table: {**asked, "Keys": undone}}}

    return batch_get_item


def _lets_in(other: Callable[[], object], times: int) -> Callable[..., Any]:
    left = [times]

    def get_item(real: Callable[..., Any], **request: Any) -> Any:
        answer = real(**request)
        if left[0] > 0:
            left[0] -= 1
            other()
        return answer

    return get_item
