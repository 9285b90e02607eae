"""`pointsman dlq` over dead letters in memory: what each says, what is sent back, and what is kept."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman.errors import Transient
from pointsman_cli.access import Target
from pointsman_cli.letters import Letter, Message, letter, shown
from pointsman_cli.main import cli

FUNCTIONS = {"pm-relay": "alarms", "pm-command": "commands", "pm-due": "ticks"}
ACCOUNT = "us-east-1:123456789012"
EVENT = {
    "source": "aws.batch",
    "detail-type": "Batch Service Job State Change",
    "detail": {"jobName": "prod-a", "jobQueue": f"arn:aws:batch:{ACCOUNT}:job-queue/search"},
}
ALARM = {"source": "aws.cloudwatch", "detail-type": "x", "detail": {"alarmName": "ranker-drift"}}
TICK = {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}
COMMAND = {"source": "me", "detail-type": "Rollout Requested", "detail": {"rollout": "r1"}}


def message(body: object, number: int = 1, *, queue: str = "", **said: str) -> Message:
    text = body if isinstance(body, str) else json.dumps(body)
    return Message(f"{number:08d}-0000", text, 1.8e9 + number, f"receipt-{number}", said, queue)


def invocation(event: object, function: str) -> dict[str, Any]:
    return {
        "requestContext": {
            "functionArn": f"arn:aws:lambda:{ACCOUNT}:function:{function}:$LATEST",
            "condition": "RetriesExhausted",
        },
        "requestPayload": event,
        "responsePayload": {"errorType": "KeyError", "errorMessage": "ours"},
    }


def of_rule(target: str) -> dict[str, str]:
    return {
        "RULE_ARN": f"arn:aws:events:{ACCOUNT}:rule/pm-rule",
        "TARGET_ARN": target,
        "ERROR_CODE": "NO_RESOURCE",
        "ERROR_MESSAGE": "it is gone",
    }


@pytest.mark.parametrize(
    "case, received, edge, reason, about",
    [
        ("poison", message("x", reason="not JSON", place="body", edge="job-events"), "job-events", "not JSON", ""),
        ("poison of an earlier release", message(EVENT, reason="r", place="p"), "", "r", "job prod-a in search"),
        ("poison of nowhere", message(EVENT, reason="r", place="p", edge="rm -rf"), "", "r", "job prod-a in search"),
        ("an event whose queue is gone", message(EVENT, **of_rule(f"arn:aws:sqs:{ACCOUNT}:pm-events")), "job-events",
         "NO_RESOURCE: it is gone", "job prod-a in search"),
        ("an event whose function is gone", message(ALARM, **of_rule(f"arn:aws:lambda:{ACCOUNT}:function:pm-relay")),
         "alarms", "NO_RESOURCE: it is gone", "alarm ranker-drift"),
        ("a tick that failed", message(invocation(TICK, "pm-due")), "ticks", "RetriesExhausted: KeyError: ours",
         "the minute's tick"),
        ("a command that failed", message(invocation(COMMAND, "pm-command")), "commands",
         "RetriesExhausted: KeyError: ours", "rollout r1"),
        ("a function that is not ours", message(invocation(ALARM, "billing")), "", "RetriesExhausted: KeyError: ours",
         "alarm ranker-drift"),
        ("a wake that was received too often", message({"queue": "search"}, queue="queue-wakes"), "queue-wakes",
         "it was delivered too often and never handled: its function failed, or ran out of time", "queue search"),
        ("an event that was received too often", message(EVENT), "job-events",
         "it was delivered too often and never handled: its function failed, or ran out of time",
         "job prod-a in search"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_a_letter_says_where_it_came_from_why_and_whom_it_concerns(
    case: str, received: Message, edge: str, reason: str, about: str
) -> None:
    found = letter(received, FUNCTIONS)
    assert (found.edge, found.reason, found.concerns) == (edge, reason, about), case


def test_what_goes_back_is_the_event_and_not_the_record_around_it() -> None:
    assert json.loads(letter(message(invocation(ALARM, "pm-relay")), FUNCTIONS).again) == ALARM
    assert letter(message("not JSON", reason="r", place="p", edge="queue-wakes"), FUNCTIONS).again == "not JSON"


@pytest.mark.parametrize("body", ["[]", "null", "7", '{"requestContext": 7}', '{"detail": {"jobName": 7}}', "[" * 9999])
def test_nonsense_is_shown_as_it_is(body: str) -> None:
    assert letter(message(body), FUNCTIONS).message.body == body


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert shown("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\nb\\u202e"
    assert len(shown("x" * 1000)) == 200


@dataclass
class Box:
    """Dead letters in memory."""

    letters: list[Letter]
    sent: list[Letter] = field(default_factory=list)
    given_back: list[str] = field(default_factory=list)
    broken: bool = False

    def read(self) -> tuple[Letter, ...]:
        return tuple(self.letters)

    def waiting(self) -> int:
        return len(self.letters)

    def give_back(self, letters: Iterable[Letter]) -> None:
        self.given_back += [each.message.message_id for each in letters]

    def send_back(self, wanted: Letter) -> None:
        if self.broken:
            raise Transient("try later")
        self.sent.append(wanted)
        self.letters.remove(wanted)


@dataclass
class Command:
    box: Box

    @contextmanager
    def letters(self, target: Target) -> Iterator[Box]:  # noqa: ARG002 - the real one's signature
        yield self.box

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, ["dlq", *words], obj=self)


POISON, WAKE, LOST = "00000001-0000", "00000002-0000", "00000003-0000"


@pytest.fixture
def command() -> Command:
    """Poison, a wake, and a letter that does not say where it came from."""
    messages = [
        message("x\x1b[2J", 1, reason="not JSON", place="body", edge="job-events"),
        message({"queue": "search"}, 2, queue="queue-wakes"),
        message(invocation(ALARM, "billing"), 3),
    ]
    return Command(Box([letter(each, FUNCTIONS) for each in messages]))


def test_show_tells_everything_takes_nothing_away_and_exits_with_1(command: Command) -> None:
    result = command.run("show")
    assert (result.exit_code, result.stderr) == (1, "")
    for word in (POISON, "poison: not JSON (at body)", "queue search", "queue-wakes", "unknown", "2027-01-15"):
        assert word in result.stdout
    assert "\x1b" not in result.stdout
    assert command.box.given_back == [POISON, WAKE, LOST]
    told = json.loads(command.run("show", "--json").stdout)
    assert (told["total"], told["letters"][1]["from"], told["letters"][0]["poison"]) == (3, "queue-wakes", True)


def test_show_exits_with_0_where_there_is_none() -> None:
    result = Command(Box([])).run("show")
    assert (result.exit_code, result.stdout) == (0, "there are no dead letters\n")


def test_all_sends_what_can_be_handled_and_keeps_the_rest_with_the_reason(command: Command) -> None:
    result = command.run("redrive", "--all")
    assert result.exit_code == 1
    assert f"{WAKE} sent back to queue-wakes: queue search" in result.stdout
    assert f"{POISON} kept: it can never be read (not JSON, at body): --force for a release that can" in result.stderr
    assert f"{LOST} kept: it does not say where it came from" in result.stderr
    assert "1 letter sent back, 2 kept" in result.stdout
    assert command.box.given_back == [POISON, LOST]


def test_one_is_named_by_the_beginning_of_its_id_and_poison_goes_by_force(command: Command) -> None:
    assert command.run("redrive", "00000001").exit_code == 1
    assert command.box.sent == []
    result = command.run("redrive", "00000001", "--force")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [each.message.message_id for each in command.box.sent] == [POISON]


@pytest.mark.parametrize(
    "words, told",
    [
        ((), "name letters by their ids, or give --all"),
        (("--all", "00000001"), "name letters by their ids, or give --all"),
        (("nobody",), "nobody: there is no such dead letter"),
        (("0000000",), "0000000: 3 letters begin like this"),
        (("00000002", "nobody"), "nobody: there is no such dead letter"),
    ],
)
def test_a_mistake_sends_nothing(command: Command, words: tuple[str, ...], told: str) -> None:
    result = command.run("redrive", *words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert command.box.sent == []
    assert len(command.box.given_back) in {0, 3}


def test_where_aws_does_not_take_them_they_are_kept(command: Command) -> None:
    command.box.broken = True
    result = command.run("redrive", WAKE)
    assert result.exit_code == 3
    assert f"{WAKE} kept: try later" in result.stderr
    assert command.box.given_back == [POISON, WAKE, LOST]
