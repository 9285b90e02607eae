"""Each asynchronous edge, broken: what it carried is a dead letter with its reason, an alarm tells, the rest goes on.

One deployment serves all cases. Each breaks one edge, and mends it.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from moto.events.models import events_backends
from moto.sqs.models import sqs_backends

from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.functions import Function
from tests.flow.day import MINUTE, QUEUE, Day, opened
from tests.flow.fleet import SAMPLE


@dataclass(frozen=True)
class Letter:
    """A dead letter: its body, and what goes with it."""

    body: Any
    said: dict[str, str]


class Broken(Day):
    """A day with one edge broken; `fired` has the alarms of the stack that went into ALARM, by logical id."""

    fired: set[str]

    def hear(self, event: Any) -> None:
        """Take note of an alarm."""
        if event["detail-type"] == "CloudWatch Alarm State Change" and event["detail"]["state"]["value"] == "ALARM":
            names = {physical: logical for logical, physical in self.stack.resources.items()}
            self.fired.add(names.get(event["detail"]["alarmName"], ""))

    def letters(self, output: str = "DeadLettersUrl") -> list[Letter]:
        """Those that are there; reading takes them away."""
        sqs, url, found = self.aws.client("sqs"), self.stack.outputs[output], []
        asked: Any = {"QueueUrl": url, "MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"]}
        while messages := sqs.receive_message(**asked).get("Messages"):
            for message in messages:
                said = {k: v["StringValue"] for k, v in message.get("MessageAttributes", {}).items()}
                body = message["Body"]
                found.append(Letter(json.loads(body) if body[:1] == "{" else body, said))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found

    def quiet(self) -> bool:
        """Whether no alarm of the stack stands in ALARM."""
        alarms = self.aws.client("cloudwatch").describe_alarms(StateValue="ALARM")["MetricAlarms"]
        return not {alarm["AlarmName"] for alarm in alarms} & set(self.stack.resources.values())

    def until(self, what: Callable[[], bool], minutes: float) -> None:
        assert self.aws.run_until(what, self.aws.now + minutes * MINUTE)

    @contextmanager
    def raising(self, logical_id: str) -> Iterator[None]:
        """The function raises, whatever it is asked."""
        function = self.stack.function(logical_id)
        call = function.load()

        def fail(*_: Any) -> Any:
            raise RuntimeError("broken for the test")

        function._call = fail
        try:
            yield
        finally:
            function._call = call

    @contextmanager
    def gone(self, function: Function) -> Iterator[None]:
        """The function was deleted."""
        del self.aws.deployer.functions[function.arn]
        try:
            yield
        finally:
            self.aws.deployer.functions[function.arn] = function


@pytest.fixture(scope="module")
def deployed() -> Iterator[Broken]:
    with opened() as plain:
        plain.apply()
        made = Broken(plain.aws, plain.stack, plain.wiring, plain.ids)
        made.fired = set()
        made.aws.watch(made.hear)
        yield made


@pytest.fixture
def day(deployed: Broken) -> Iterator[Broken]:
    """Nothing is broken before, and nothing after: a new job is lifted as ever, and every alarm is quiet again."""
    deployed.pass_minutes(1)
    deployed.fired.clear()
    yield deployed
    name = f"prod-after-{len(deployed.ids)}"
    deployed.submit(name, minutes=1)
    deployed.until(lambda: deployed.job(name).status == "SUCCEEDED", 15)
    deployed.letters()
    deployed.letters("DeadWakesUrl")
    deployed.until(deployed.quiet, 60)
    deployed.aws.failures.clear()


def alarm_event(day: Broken) -> str:
    """Something that the relay hears of."""
    detail = {"alarmName": "ranker-drift-search", "state": {"value": "OK"}, "configuration": {}}
    return day.aws.bus.put("aws.cloudwatch", "CloudWatch Alarm State Change", detail)


INVOKED = [
    ("RelayAlarmFunction", "RelayAlarmErrorsAlarm", alarm_event),
    ("WakeDueFunction", "WakeDueErrorsAlarm", lambda _: ""),
    (
        "CommandRolloutFunction",
        "CommandRolloutErrorsAlarm",
        lambda day: day.aws.client("events").put_events(
            Entries=[
                {
                    "EventBusName": day.stack.outputs["Bus"],
                    "Source": "pipeline",
                    "DetailType": "Rollout Requested",
                    "Detail": json.dumps(SAMPLE["detail"]),
                }
            ]
        ),
    ),
]


@pytest.mark.parametrize("function, alarm, ask", INVOKED, ids=[case[0] for case in INVOKED])
def test_what_a_function_cannot_do_for_good_is_a_dead_letter_with_the_event_and_the_error(
    day: Broken, function: str, alarm: str, ask: Callable[[Broken], Any]
) -> None:
    with day.raising(function):
        ask(day)
        day.until(lambda: {alarm, "DeadLettersAlarm"} <= day.fired, 10)
    letters = [letter.body for letter in day.letters()]
    mine = [body for body in letters if function in body["requestContext"]["functionArn"]]
    assert mine
    assert mine[0]["responsePayload"]["errorMessage"] == "broken for the test"
    assert mine[0]["requestContext"]["condition"] == "RetriesExhausted"
    assert mine[0]["requestPayload"]["detail-type"]


def test_a_function_that_is_throttled_is_asked_again_and_nothing_is_lost(day: Broken) -> None:
    function = day.stack.function("RelayAlarmFunction")
    woken = len(day.log("RelayAlarmFunction", "woken"))
    day.aws.runtime.throttle(function, 6)
    alarm_event(day)
    day.until(lambda: "RelayAlarmThrottlesAlarm" in day.fired, 15)
    day.until(lambda: len(day.log("RelayAlarmFunction", "woken")) > woken, 15)
    assert day.letters() == []


def test_job_events_that_no_invocation_takes_are_dead_letters_and_the_jobs_are_found_all_the_same(day: Broken) -> None:
    with day.raising("RecordJobsFunction"):
        day.submit("prod-unheard", minutes=200)
        day.until(lambda: {"RecordJobsErrorsAlarm", "JobEventsAgeAlarm", "DeadLettersAlarm"} <= day.fired, 45)
    letters = day.letters()
    assert {letter.body["detail-type"] for letter in letters} == {"Batch Service Job State Change"}
    assert {letter.body["detail"]["jobName"] for letter in letters} == {"prod-unheard"}
    day.until(lambda: "prod-unheard" in day.rows(), 15)
    day.terminate("prod-unheard")


def test_a_wake_that_no_invocation_takes_is_a_dead_wake_that_names_its_queue_and_the_queue_is_overdue(
    day: Broken,
) -> None:
    with day.raising("PrioritizeQueueFunction"):
        day.until(lambda: "QueueWakesDeadLetterAlarm" in day.fired, 90)
        assert {"PrioritizeQueueErrorsAlarm", "QueueWakesAgeAlarm", "QueueOverdueAlarm"} <= day.fired
    assert day.letters("DeadWakesUrl")[0].body == {"queue": QUEUE}
    day.until(lambda: day.record().passed_at > day.aws.now - MINUTE, 30)


@pytest.mark.parametrize(
    "rule, function, ask",
    [("AlarmRule", "RelayAlarmFunction", alarm_event), ("MinuteRule", "WakeDueFunction", lambda _: "")],
    ids=["alarms", "ticks"],
)
def test_an_event_whose_function_is_gone_is_a_dead_letter_that_names_rule_target_and_error(
    day: Broken, rule: str, function: str, ask: Callable[[Broken], Any]
) -> None:
    with day.gone(day.stack.function(function)):
        ask(day)
        day.until(lambda: {f"{rule}Alarm", "DeadLettersAlarm"} <= day.fired, 10)
    said = [letter.said for letter in day.letters()]
    mine = [one for one in said if day.stack.resources[rule] in one["RULE_ARN"]]
    assert mine[0]["TARGET_ARN"] == day.stack.function(function).arn
    assert mine[0]["ERROR_CODE"] == "NO_RESOURCE"


def test_job_events_whose_queue_is_closed_to_the_rule_are_dead_letters(day: Broken) -> None:
    permitted = day.aws.deployer.permitted
    (arn,) = (arn for arn in permitted if "JobEventsQueue" in arn)
    opened_to = permitted.pop(arn)
    day.submit("prod-shut-out", minutes=200)
    try:
        day.until(lambda: {"JobStateRuleAlarm", "DeadLettersAlarm"} <= day.fired, 10)
    finally:
        permitted[arn] = opened_to
    letters = day.letters()
    assert {letter.body["detail"]["jobName"] for letter in letters} == {"prod-shut-out"}
    assert {letter.said["ERROR_CODE"] for letter in letters} == {"NO_PERMISSIONS"}
    day.until(lambda: "prod-shut-out" in day.rows(), 15)
    day.terminate("prod-shut-out")


def test_a_tick_that_never_comes_is_told_by_the_data_that_are_missing(day: Broken) -> None:
    (rule,) = (
        r for r in events_backends[ACCOUNT][REGION].event_buses["default"].rules.values() if r.scheduled_expression
    )
    rule.disable()
    alarm = day.stack.resources["QueueOverdueAlarm"]

    def state() -> str:
        (found,) = day.aws.client("cloudwatch").describe_alarms(AlarmNames=[alarm])["MetricAlarms"]
        return str(found["StateValue"])

    day.until(lambda: state() == "INSUFFICIENT_DATA", 60)
    rule.enable()
    day.until(lambda: state() == "OK", 15)


def test_passes_that_fail_one_after_the_other_raise_an_alarm_and_the_queue_is_tried_each_minute(day: Broken) -> None:
    failed = len(day.failed_passes())
    day.aws.fail_next("batch", "GetJobQueueSnapshot", "TooManyRequestsException", 30)
    day.until(lambda: "FailedPassesAlarm" in day.fired, 45)
    assert len(day.failed_passes()) - failed > 5
    day.until(lambda: day.record().problem == "", 30)


def test_poison_is_a_dead_letter_with_reason_and_place_and_raises_its_alarm(day: Broken) -> None:
    day.send("JobEventsUrl", "not an event")
    day.until(lambda: "DeadLettersAlarm" in day.fired, 5)
    (letter,) = day.letters()
    assert (letter.body, letter.said["place"]) == ("not an event", "body")
    assert letter.said["reason"]


def test_nothing_stays_in_a_queue(day: Broken) -> None:
    day.pass_minutes(2)
    for queue in sqs_backends[ACCOUNT][REGION].queues.values():
        assert "DeadLetter" not in queue.name or not queue._messages, queue.name
