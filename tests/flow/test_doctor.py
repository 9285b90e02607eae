"""`pointsman doctor` on the emulated AWS: each thing that can be wrong, made wrong, found, and mended.

One deployment serves all cases.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman.aws.permissions import IamPermissions
from pointsman.ports import Standstill
from pointsman_cli.access import Target
from pointsman_cli.examiner import Clients, Examiner
from pointsman_cli.main import cli
from pointsman_cli.principals import allowed
from tests.flow.day import QUEUE, opened
from tests.flow.test_failure_paths import Broken

pytestmark = pytest.mark.filterwarnings("ignore:Tried to parse")  # moto, of types that the emulator reads itself
REGION = "us-east-1"
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


class Patient(Broken):
    """The command on the day's deployment, asked by `caller`."""

    caller = "arn:aws:iam::123456789012:root"

    @contextmanager
    def examiner(self, target: Target) -> Iterator[Examiner]:  # noqa: ARG002 - the real one's signature
        client = self.aws.client
        clients = Clients(client("cloudformation"), client("cloudwatch"), client("events"), client("sqs"))
        may = allowed(IamPermissions(client("iam"), REGION), self.caller, REGION)
        yield Examiner("pointsman", self.wiring, clients, self.stack.outputs, may)

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, ["doctor", *words], obj=self)

    def told(self) -> list[tuple[str, str, str]]:
        """Weight, place and sentence of each finding."""
        result = self.run("--json")
        assert result.exit_code in {0, 1}, result.stderr
        findings = json.loads(result.stdout)["findings"]
        assert (result.exit_code == 1) is any(one["weight"] == "error" for one in findings)
        return [(one["weight"], one["place"], one["what"]) for one in findings]

    @contextmanager
    def policy(self, queue: str = QUEUE, **changes: Any) -> Iterator[None]:
        """The queue has this policy."""
        self.apply(queue, **changes)
        try:
            yield
        finally:
            self.apply(queue)

    @contextmanager
    def refused(self, service: str, operation: str) -> Iterator[None]:
        """The caller may not make the next call of this."""
        self.aws.fail_next(service, operation, "AccessDeniedException")
        yield

    @contextmanager
    def rule_off(self, logical_id: str) -> Iterator[None]:
        """Somebody disabled a rule."""
        name = self.stack.resources[logical_id]
        self.aws.client("events").disable_rule(Name=name)
        try:
            yield
        finally:
            self.aws.client("events").enable_rule(Name=name)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self.wiring.control.stand_still(Standstill(self.aws.now, "ada", "lunch"))
        try:
            yield
        finally:
            self.wiring.control.go_on(self.aws.now, "ada", "")

    @contextmanager
    def spoiled(self) -> Iterator[None]:
        """A release that wrote something else was here."""
        self.wiring.control.put_policy(QUEUE, '{"version": 9}', self.aws.now, "test")
        try:
            yield
        finally:
            self.apply()

    @contextmanager
    def poisoned(self) -> Iterator[None]:
        self.send("JobEventsUrl", "no event")
        self.pass_minutes(1)
        try:
            yield
        finally:
            self.letters()

    @contextmanager
    def asked_by(self, caller: str) -> Iterator[None]:
        self.caller = caller
        try:
            yield
        finally:
            self.caller = Patient.caller

    @contextmanager
    def stuck(self) -> Iterator[None]:
        """Passes die, whoever wakes the queue."""
        with self.raising("PrioritizeQueueFunction"):
            self.pass_minutes(20)
            yield
        self.pass_minutes(30)


@pytest.fixture(scope="module")
def day() -> Iterator[Patient]:
    with opened() as plain:
        plain.apply()
        patient = Patient(plain.aws, plain.stack, plain.wiring, plain.ids)
        iam = patient.aws.client("iam")
        iam.create_role(RoleName="Readers", AssumeRolePolicyDocument=TRUST)
        reads = ["dynamodb:GetItem", "dynamodb:Query", "batch:Describe*"]
        statement = {"Effect": "Allow", "Action": reads, "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_role_policy(RoleName="Readers", PolicyName="reads", PolicyDocument=document)
        patient.pass_minutes(3)
        yield patient


def test_of_a_deployment_that_works_nothing_is_wrong(day: Patient) -> None:
    result = day.run()
    assert (result.exit_code, result.stdout, result.stderr) == (0, "all is well\n", "")


EVICTING: dict[str, Any] = {"preemption": {"patience": "1h"}, "default": {"name": "sweep", "preemptible": True}}
NOBODY = {"alarm": "nobody-*", "boost": "production", "by": "1h", "for": "1h"}
Break = Callable[[Patient], AbstractContextManager[None]]
CASES: list[tuple[str, Break, tuple[str, str, str]]] = [
    ("the minute's rule is off", lambda day: day.rule_off("MinuteRule"), ("error", "MinuteRule", "switched off")),
    ("the alarms' rule is off", lambda day: day.rule_off("AlarmRule"), ("warning", "AlarmRule", "switched off")),
    ("a policy of another release", Patient.spoiled, ("error", QUEUE, "its stored policy cannot be read")),
    ("a policy that a FIFO queue cannot obey", lambda day: day.policy(**EVICTING),
     ("error", QUEUE, "nothing in it can be evicted")),
    ("a policy that only observes", lambda day: day.policy(mode="observe"), ("note", QUEUE, "its mode is observe")),
    ("an alarm that nobody made", lambda day: day.policy(on_alarm=[NOBODY]),
     ("warning", QUEUE, "waits for the alarm nobody-*")),
    ("weights that were set back", lambda day: day.policy(
        share="all", across_shares="weights", on_alarm=[],
        classes=[{"name": "all", "match": {"share": "all", "job_name": "sweep-*"}, "weight": 2}]),
     ("warning", QUEUE, "its weights are not those of its policy")),
    ("everything is stopped", Patient.stopped, ("warning", "stop", "by ada: lunch")),
    ("something is poison", Patient.poisoned, ("warning", "dead letters", "1 message could not be handled")),
    ("passes that die", Patient.stuck, ("error", QUEUE, "it is due for a pass")),
    ("alarms that may not be read", lambda day: day.refused("cloudwatch", "DescribeAlarms"),
     ("note", "alarms", "this was not looked at")),
    ("a stack that may not be read", lambda day: day.refused("cloudformation", "ListStackResources"),
     ("note", "stack", "this was not looked at")),
    ("queues that may not be read", lambda day: day.refused("batch", "DescribeJobQueues"),
     ("note", f"queue {QUEUE}", "this was not looked at")),
    ("a person who only reads", lambda day: day.asked_by("arn:aws:sts::123456789012:assumed-role/Readers/ada"),
     ("warning", "permissions", "you may not command rollouts")),
    ("a person whom IAM does not know", lambda day: day.asked_by("arn:aws:iam::123456789012:role/nobody"),
     ("note", "permissions", "IAM does not tell")),
]  # fmt: skip


@pytest.mark.parametrize("broken, wanted", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_made_wrong_is_found(day: Patient, broken: Break, wanted: tuple[str, str, str]) -> None:
    weight, place, words = wanted
    with broken(day):
        told = day.told()
    assert [one for one in told if one[:2] == (weight, place) and words in one[2]], told


def test_a_reader_is_told_what_to_allow_and_not_what_is_allowed(day: Patient) -> None:
    with day.asked_by("arn:aws:sts::123456789012:assumed-role/Readers/ada"):
        told = [what for _, place, what in day.told() if place == "permissions"]
    assert len(told) == 3
    assert not any("look at queues" in what for what in told)


def test_a_queue_that_batch_lacks_is_an_error_and_one_queue_can_be_asked_for(day: Patient) -> None:
    day.apply("no-such-queue")
    found = json.loads(day.run("--queue", "no-such-queue", "--json").stdout)["findings"]
    assert ("error", "no-such-queue") in {(one["weight"], one["place"]) for one in found}
    assert QUEUE not in {one["place"] for one in found}


def test_functions_that_failed_and_alarms_that_fired_are_named(day: Patient) -> None:
    day.fired = set()
    with day.raising("RelayAlarmFunction"), pytest.raises(RuntimeError):
        day.stack.function("RelayAlarmFunction").invoke({})
    day.until(lambda: any(what[1] == "RelayAlarmErrorsAlarm" for what in day.told()), 10)
    assert ("warning", "RelayAlarmFunction", "it failed once in the last hour") in day.told()


def test_the_command_finds_the_deployment_by_its_stack(day: Patient) -> None:
    assert day.stack.name == "pointsman"
    result = CliRunner(env={"COLUMNS": None}).invoke(cli, ["doctor", "--stack", "pointsman", "--queue", QUEUE])
    assert result.exit_code in {0, 1}, result.stderr
    assert "this was not looked at: IAM does not tell what you may do" in result.stdout
    letters = CliRunner(env={"COLUMNS": None}).invoke(cli, ["dlq", "show", "--stack", "pointsman"])
    assert letters.exit_code in {0, 1}, letters.stderr
    nowhere = CliRunner(env={"COLUMNS": None}).invoke(cli, ["dlq", "show", "--stack", "nobody"])
    assert nowhere.exit_code == 2
    assert "nobody: there is no such stack in us-east-1" in nowhere.stderr
