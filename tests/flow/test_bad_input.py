"""Messages that nobody expects: each is dead-lettered with its reason and place, and the rest goes on.

No event is delivered in this deployment but what a test sends itself, so a test knows what the table was told.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from pointsman.queues.jobs import NO_QUEUE, Status
from pointsman_emulator import Faults
from tests.flow.day import MINUTE, QUEUE, ROOT, Day, opened

Event = dict[str, Any]
names = (f"sweep-{number}" for number in count())


class Told(Day):
    """A day on which events come only by hand; `events` has what Batch said of each job."""

    events: dict[str, list[Event]]

    def put(self, **more: Any) -> tuple[str, Event]:
        """Submit a job; returns its name and the event of its first state."""
        name = next(names)
        self.submit(name, **more)
        return name, self.events[self.ids[name]][0]

    def say(self, *events: Event | str) -> None:
        """Send these as one batch, and let it be handled."""
        self.send("JobEventsUrl", *(event if isinstance(event, str) else json.dumps(event) for event in events))
        self.aws.run_for(10)


@pytest.fixture(scope="module")
def day() -> Iterator[Told]:
    with opened(faults=Faults(deliver=0), capacity=2) as plain:
        told = Told(plain.aws, plain.stack, plain.wiring)
        told.events = {}

        def keep(event: Any) -> None:
            told.events.setdefault(event["detail"].get("jobId", ""), []).append(deepcopy(dict(event)))

        told.aws.watch(keep)
        told.submit("prod-hold", 2, minutes=10_000)
        yield told


@pytest.fixture(autouse=True)
def _nothing_left_over(day: Told) -> Iterator[None]:
    """Whatever a test sends is handled: nothing fails, nothing stays in a queue."""
    yield
    assert not day.aws.failures
    for queue in ("JobEventsUrl", "QueueWakesUrl"):
        assert day.aws.run_until(lambda queue=queue: day.left_in(queue) == 0, day.aws.now + MINUTE)


def without(name: str) -> Callable[[Event], object]:
    return lambda event: event["detail"].pop(name)


def with_(**fields: Any) -> Callable[[Event], object]:
    return lambda event: event["detail"].update(fields)


def envelope(**fields: Any) -> Callable[[Event], object]:
    return lambda event: event.update({name.replace("_", "-"): value for name, value in fields.items()})


POISON = [
    ("an unknown detail-type", envelope(detail_type="Batch Job Daydream"), "detail-type", "Batch Job Daydream"),
    ("another service's event", envelope(source="aws.ec2"), "detail-type", "aws.ec2"),
    ("no time", lambda event: event.pop("time"), "event.time", "required"),
    ("a time that is none", envelope(time="yesterday"), "event.time", "datetime"),
    ("a detail that is a text", envelope(detail="RUNNABLE"), "event.detail", "dictionary"),
    ("no queue", without("jobQueue"), "detail.jobQueue", "required"),
    ("no id", without("jobId"), "detail.jobId", "required"),
    ("a name that is a number", with_(jobName=7), "detail.jobName", "string"),
    ("a status that Batch does not have", with_(status="DREAMING"), "detail.status", "RUNNABLE"),
    ("attempts that are no list", with_(attempts="two"), "detail.attempts", "list"),
    ("a creation before all time", with_(createdAt=-1), "detail.createdAt", "greater"),
    ("an ARN that is no queue's", with_(jobQueue="arn:aws:s3:::bucket"), "detail.jobQueue", "match"),
]


@pytest.mark.parametrize("spoil, place, word", [case[1:] for case in POISON], ids=[case[0] for case in POISON])
def test_one_poison_among_good_events_is_dead_lettered_with_body_reason_and_place(
    day: Told, spoil: Callable[[Event], object], place: str, word: str
) -> None:
    (first, before), (last, after) = day.put(), day.put()
    poison = deepcopy(day.put()[1])
    spoil(poison)
    day.say(before, poison, after)
    [(body, reason, where)] = day.dead_letters()
    assert json.loads(body) == poison
    assert where == place
    assert word in reason
    assert {first, last} <= day.rows().keys()


@pytest.mark.parametrize("body", ["not JSON", '{"half": ', "[]", "null", '"RUNNABLE"'])
def test_what_is_no_event_at_all_is_dead_lettered_as_it_came(day: Told, body: str) -> None:
    name, good = day.put()
    day.say(body, good)
    [(kept, reason, place)] = day.dead_letters()
    assert kept == body
    assert place in {"body", "event"}
    assert reason
    assert name in day.rows()


def test_a_batch_of_nothing_but_poison_is_dead_lettered_whole(day: Told) -> None:
    day.say("one", "two", "three")
    assert {body for body, _, _ in day.dead_letters()} == {"one", "two", "three"}


def test_fields_that_nobody_knows_are_no_fault(day: Told) -> None:
    name, event = day.put()
    event = deepcopy(event)
    event["replay-name"] = "tomorrow"
    event["detail"] |= {"newInTheNextRelease": {"a": [1]}, "shareIdentifier": "all", "schedulingPriority": 5}
    day.say(event)
    assert day.rows()[name].status is Status.RUNNABLE
    assert day.dead_letters() == []


def test_a_preemption_of_a_job_that_we_never_saw_is_no_fault_and_the_rest_goes_on(day: Told) -> None:
    name, good = day.put()
    unknown = deepcopy(good)
    unknown["detail-type"] = "Batch Service Job Preemption Started"
    unknown["detail"] = {"preemptedJobArn": "arn:aws:batch:us-east-1:123456789012:service-job/0000-never-seen"}
    day.say(unknown, good)
    assert name in day.rows()
    assert day.dead_letters() == []
    (kept,) = day.wiring.jobs.load(["0000-never-seen"]).values()
    assert (kept.queue, kept.doubtful) == (NO_QUEUE, True), "its next pass over quota shares describes it"


def test_a_preemption_of_a_job_that_we_know_puts_it_in_doubt(day: Told) -> None:
    name, good = day.put()
    day.say(good)
    told = deepcopy(good)
    told["detail-type"] = "Batch Service Job Preemption Completed"
    told["detail"] = {"preemptedJobArn": good["detail"]["jobArn"]}
    day.say(told)
    assert day.rows()[name].doubtful


ORDERS = [(0, 1), (1, 0), (1, 0, 0, 1), (0, 1, 0)]


@pytest.mark.parametrize("order", ORDERS)
def test_the_end_of_a_job_stays_in_whatever_order_and_however_often_events_come(
    day: Told, order: tuple[int, ...]
) -> None:
    name, first = day.put()
    day.aws.run_for(20)
    day.terminate(name)
    second = day.events[day.ids[name]][-1]
    for which in order:
        day.say((first, second)[which])
    row = day.rows()[name]
    assert row.status is Status.FAILED
    assert row.stopped == pytest.approx(day.job(name).stopped_at, abs=1e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_newest_state_stays_in_whatever_order_and_however_often_events_come(
    day: Told, order: tuple[int, ...]
) -> None:
    name, first = day.put()
    second = deepcopy(first)
    second["time"] = (datetime.fromisoformat(first["time"]) + timedelta(seconds=20)).isoformat()
    second["detail"] |= {"status": "RUNNING", "startedAt": first["detail"]["createdAt"] + 20_000}
    for which in order:
        day.say((first, second)[which])
    row = day.rows()[name]
    assert row.status is Status.RUNNING
    assert not row.doubtful


def test_two_states_in_one_second_are_doubted_and_the_next_pass_knows_better(day: Told) -> None:
    name, waits = day.put()
    runs = deepcopy(waits)
    runs["detail"] |= {"status": "RUNNING", "startedAt": waits["detail"]["createdAt"]}
    day.say(runs, waits)
    assert day.rows()[name].doubtful
    day.apply(mode="observe")
    day.pass_minutes(3)
    row = day.rows()[name]
    assert not row.doubtful
    assert row.status is Status.RUNNABLE
    assert day.failed_passes() == []


@pytest.mark.parametrize("body", ["not a wake", "{}", '{"queue": 7}', '{"queue": "no such/name"}'])
def test_a_message_that_is_no_wake_is_dead_lettered_and_blocks_no_queue(day: Told, body: str) -> None:
    passes = len(day.passes())
    day.apply(mode="observe")
    day.send("QueueWakesUrl", body, json.dumps({"queue": QUEUE}))
    day.aws.run_for(MINUTE)
    [(kept, reason, place)] = day.dead_letters()
    assert kept == body
    assert place.partition(".")[0] in {"body", "wake"}
    assert reason
    assert len(day.passes()) > passes


def test_a_wake_of_a_queue_that_batch_does_not_have_fails_in_words_and_is_no_poison(day: Told) -> None:
    day.apply("no-such-queue")
    day.send("QueueWakesUrl", json.dumps({"queue": "no-such-queue"}))
    day.aws.run_for(MINUTE)
    assert day.record("no-such-queue").problem == "there is no job queue no-such-queue"
    assert day.dead_letters() == []


@pytest.mark.parametrize(
    "event, place",
    [
        (json.loads((ROOT / "events/relay_alarm.not-an-alarm.json").read_text()), "detail-type"),
        ({"hello": "world"}, "event.source"),
        ([], "event"),
    ],
)
def test_what_is_no_alarm_is_dead_lettered_by_the_relay(day: Told, event: Any, place: str) -> None:
    assert day.stack.function("RelayAlarmFunction").invoke(event) == {"woken": []}
    [(body, reason, where)] = day.dead_letters()
    assert json.loads(body) == event
    assert where == place
    assert reason
