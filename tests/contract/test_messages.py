"""The contracts of wakes and dead letters, and what SQS would refuse."""

import json
from collections.abc import Callable
from typing import Any, Protocol

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.messages import SqsDeadLetters, SqsWakes
from pointsman.errors import Misconfigured
from pointsman.ports import DeadLetters, Wakes
from tests.contract.jobs import QUEUE, T0
from tests.fakes.messages import Buried, FakeDeadLetters, FakeWakes

BUCKET = T0 // 10 * 10


def received(aws: Clients, url: str) -> list[dict[str, Any]]:
    answer = aws.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    messages: list[dict[str, Any]] = answer.get("Messages", [])
    return messages


class Woken(Protocol):
    def __call__(self) -> list[str]: ...


@pytest.fixture(params=["fake", "SQS"])
def wakes(request: pytest.FixtureRequest) -> tuple[Wakes, Woken]:
    """The port, and what names the queues that were woken."""
    if request.param == "fake":
        fake = FakeWakes()
        return fake, lambda: sorted(fake.queues)
    aws: Clients = request.getfixturevalue("aws")
    url = request.getfixturevalue("make_queue")("QueueWakesQueue")
    return SqsWakes(aws.sqs, url), lambda: sorted(json.loads(m["Body"])["queue"] for m in received(aws, url))


def test_wakes_of_one_queue_in_one_bucket_are_one(wakes: tuple[Wakes, Woken]) -> None:
    port, woken = wakes
    for seconds in (0.0, 3.0, 9.999):
        port.wake(QUEUE, BUCKET + seconds)

    assert woken() == [QUEUE]


def test_a_new_bucket_and_another_queue_are_wakes_of_their_own(wakes: tuple[Wakes, Woken]) -> None:
    port, woken = wakes
    port.wake(QUEUE, BUCKET)
    port.wake("a" * 128, BUCKET)
    port.wake(QUEUE, BUCKET + 10)

    assert woken() == ["a" * 128, QUEUE, QUEUE]


Exhumed = Callable[[], list[Buried]]


@pytest.fixture(params=["fake", "SQS"])
def letters(request: pytest.FixtureRequest) -> tuple[DeadLetters, Exhumed]:
    """The port, and what gives what was buried."""
    if request.param == "fake":
        fake = FakeDeadLetters()
        return fake, lambda: fake.buried
    aws: Clients = request.getfixturevalue("aws")
    url = request.getfixturevalue("make_queue")("DeadLettersQueue")
    return SqsDeadLetters(aws.sqs, url, "job-events"), lambda: [_buried(m) for m in received(aws, url)]


def _buried(message: dict[str, Any]) -> Buried:
    said = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
    return Buried(message["Body"], said["reason"], said["place"])


def test_a_dead_letter_keeps_its_reason_and_place(letters: tuple[DeadLetters, Exhumed]) -> None:
    port, exhumed = letters
    port.bury('{"detail": {}}', "a job id is missing", "detail.jobId")

    assert exhumed() == [Buried('{"detail": {}}', "a job id is missing", "detail.jobId")]


@pytest.mark.parametrize(
    "body, reason, place, kept",
    [
        ("", "", "", Buried("(empty)", "unknown", "unknown")),
        ("a\x00b\x0bc\ufffe", "\x1b[31mred", "detail.\udc80", Buried("a�b�c�", "�[31mred", "detail.�")),
        ("line\r\n\ttab \U0001f682", "é", "ж", Buried("line\r\n\ttab \U0001f682", "é", "ж")),
        ("é" * 200_000, "r" * 5000, "p" * 5000, Buried("é" * 125_000, "r" * 1000, "p" * 250)),
    ],
    ids=["empty", "characters that SQS refuses", "characters that it takes", "too much"],
)
def test_sqs_takes_any_dead_letter(
    aws: Clients, make_queue: Callable[[str], str], body: str, reason: str, place: str, kept: Buried
) -> None:
    url = make_queue("DeadLettersQueue")

    SqsDeadLetters(aws.sqs, url, "job-events").bury(body, reason, place)

    assert [_buried(message) for message in received(aws, url)] == [kept]


def test_a_queue_that_is_not_there_is_for_the_operator_to_mend(aws: Clients, make_queue: Callable[[str], str]) -> None:
    url = make_queue("QueueWakesQueue").replace("QueueWakesQueue", "Elsewhere")

    with pytest.raises(Misconfigured):
        SqsWakes(aws.sqs, url).wake(QUEUE, T0)
