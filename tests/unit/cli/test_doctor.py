"""`pointsman doctor`: each check on a deployment in which exactly that is wrong, and the order of what it says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.policy_documents import stored_policy
from pointsman.ports import QueueDescription, QueueRecord, Standstill
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare
from pointsman.rollouts.observations import Answer
from pointsman_cli.access import Target
from pointsman_cli.diagnosis import Finding, Weight, diagnose
from pointsman_cli.examined import Facts, QueueSeen, RolloutSeen, Submission
from pointsman_cli.main import cli
from pointsman_cli.principals import allowed, principal, resource
from tests.unit.loops.world import POLICY, QUEUE

NOW = 1.8e9
FAIR = QueueDescription(QUEUE, f"arn:{QUEUE}", QueueKind.FAIR_SHARE, 8, shares=("all",))
QUOTA = QueueDescription(
    QUEUE,
    f"arn:{QUEUE}",
    QueueKind.QUOTA_SHARE,
    8,
    quota_shares=(QuotaShare(name="all", arn="arn:all", limits=(("ml.g5.xlarge", 8),), preempts=True),),
)
RECORD = QueueRecord(QUEUE, version=3, passed_at=NOW - 40, next_wake_at=NOW + 20)
RULES = dict.fromkeys(("MinuteRule", "AlarmRule", "JobStateRule"), "ENABLED")


def seen(**changes: Any) -> QueueSeen:
    """A queue of which all is well."""
    return replace(QueueSeen(QUEUE, RECORD, stored_policy(json.dumps(POLICY)), description=FAIR), **changes)


def facts(*queues: QueueSeen, **changes: Any) -> Facts:
    """A deployment of which all is well."""
    return replace(Facts(NOW, queues or (seen(),), rules=RULES, skew=1.0), **changes)


def ruled(**changes: Any) -> Any:
    return stored_policy(json.dumps({**POLICY, **changes}))


def test_of_a_deployment_of_which_all_is_well_nothing_is_said() -> None:
    assert diagnose(facts()) == ()


def submitted(*priorities: int, share: str = "all") -> tuple[Submission, ...]:
    return tuple(Submission(f"job-{n}", share, priority) for n, priority in enumerate(priorities))


CASES: list[tuple[str, Facts, Weight, str, str]] = [
    ("a policy that cannot be read", facts(seen(policy=None, unreadable="classes.0: unknown key")), Weight.ERROR,
     QUEUE, "its stored policy cannot be read: classes.0: unknown key"),
    ("a queue that Batch lacks", facts(seen(description=None)), Weight.ERROR, QUEUE, "no job queue of this name"),
    ("a queue that cannot obey", facts(seen(description=replace(FAIR, kind=QueueKind.FIFO))), Weight.ERROR, QUEUE,
     "nothing in it can be moved"),
    ("a queue that is disabled", facts(seen(description=replace(FAIR, enabled=False))), Weight.WARNING, QUEUE,
     "it is disabled"),
    ("a queue without a quota share", facts(seen(description=replace(QUOTA, quota_shares=()))), Weight.WARNING, QUEUE,
     "it has no quota share"),
    ("a share that is not listed", facts(seen(description=replace(FAIR, shares=("team",)))), Weight.WARNING, QUEUE,
     "share all is not in the queue's scheduling policy"),
    ("weights that were written over", facts(seen(outstanding=("its weights are not those of its policy",))),
     Weight.WARNING, QUEUE, "its weights are not those of its policy"),
    ("a FIFO queue that is measured",
     facts(seen(policy=ruled(mode="observe"), description=replace(FAIR, kind=QueueKind.FIFO))), Weight.NOTE, QUEUE,
     "it is measured only"),
    ("mode observe", facts(seen(policy=ruled(mode="observe"))), Weight.NOTE, QUEUE, "its mode is observe"),
    ("an alarm that is not there", facts(seen(no_alarms=("drift-*",))), Weight.WARNING, QUEUE,
     "waits for the alarm drift-*"),
    ("a queue that is overdue", facts(seen(record=replace(RECORD, next_wake_at=NOW - 700, owner="x"))), Weight.ERROR,
     QUEUE, "it is due for a pass, held by a pass that never gave it back"),
    ("a lease of a wrong clock", facts(seen(record=replace(RECORD, lease_until=NOW + 86_400))), Weight.WARNING, QUEUE,
     "a clock was wrong"),
    ("a queue that had no pass", facts(seen(record=QueueRecord(QUEUE))), Weight.WARNING, QUEUE, "never had a pass"),
    ("a pass that failed", facts(seen(record=replace(RECORD, problem="denied"))), Weight.WARNING, QUEUE,
     "its last pass said: denied"),
    ("people above the cap", facts(seen(description=QUOTA, submissions=submitted(4998))), Weight.ERROR, QUEUE,
     "in share all job-0 was submitted above 4997"),
    ("people's own priorities", facts(seen(description=QUOTA, submissions=submitted(0, 7))), Weight.WARNING, QUEUE,
     "with priorities from 0 to 7 while in-share preemption is on"),
    ("a rule that is off", facts(rules={**RULES, "MinuteRule": "DISABLED"}), Weight.ERROR, "MinuteRule",
     "this rule is switched off"),
    ("a rule that is gone", facts(rules={**RULES, "AlarmRule": ""}), Weight.WARNING, "AlarmRule",
     "this rule is not there"),
    ("a clock that is wrong", facts(skew=-45.0), Weight.WARNING, "clock", "45 s behind that of AWS"),
    ("a clock that is very wrong", facts(skew=400.0), Weight.ERROR, "clock", "400 s ahead of that of AWS"),
    ("dead letters", facts(letters=2), Weight.WARNING, "dead letters", "2 messages could not be handled"),
    ("an alarm that fired", facts(fired=("DeadLettersAlarm",)), Weight.WARNING, "DeadLettersAlarm", "in ALARM"),
    ("a function that failed", facts(errors={"WakeDueFunction": 3, "RelayAlarmFunction": 0}), Weight.WARNING,
     "WakeDueFunction", "it failed 3 times in the last hour"),
    ("a stop", facts(still=Standstill(NOW, "ada", "a bad policy")), Weight.WARNING, "stop",
     "everything is stopped since 2027-01-15 08:00:00 UTC by ada: a bad policy"),
    ("a rollout that is overdue", facts(rollouts=(RolloutSeen("r1", NOW - 700),)), Weight.ERROR, "r1",
     "it is due for a pass"),
    ("a rollout's alarm that is not there", facts(rollouts=(RolloutSeen("r1", NOW, ("errors",)),)), Weight.WARNING,
     "r1", "it watches the alarm errors"),
    ("what one may not do", facts(denied={"pin jobs": ("dynamodb:PutItem",)}), Weight.WARNING, "permissions",
     "you may not pin jobs"),
    ("what could not be looked at", facts(left_out={"alarms": "access denied"}), Weight.NOTE, "alarms",
     "this was not looked at: access denied"),
    ("no policy at all", replace(facts(), queues=()), Weight.NOTE, "policies", "no queue has a policy"),
]  # fmt: skip


@pytest.mark.parametrize("case, wrong, weight, place, what", CASES, ids=[case[0] for case in CASES])
def test_what_is_wrong_is_said_once_with_its_weight_and_a_remedy(
    case: str, wrong: Facts, weight: Weight, place: str, what: str
) -> None:
    found = [finding for finding in diagnose(wrong) if what in finding.what]
    assert [(finding.weight, finding.place) for finding in found] == [(weight, place)], case
    assert found[0].remedy


def test_nothing_else_is_said_of_a_queue_whose_policy_cannot_be_read() -> None:
    assert len(diagnose(facts(seen(policy=None, unreadable="x", description=None)))) == 1


def test_a_queue_that_could_not_be_read_is_not_called_missing() -> None:
    assert diagnose(facts(seen(description=None, unread=True))) == ()


def test_priorities_of_another_share_or_without_preemption_are_nobody_s_business() -> None:
    assert diagnose(facts(seen(description=QUOTA, submissions=submitted(0, 9000, share="other")))) == ()
    assert diagnose(facts(seen(submissions=submitted(0, 9000)))) == ()


def test_errors_come_before_warnings_and_those_before_notes() -> None:
    wrong = facts(seen(policy=ruled(mode="observe"), description=replace(FAIR, enabled=False)),
                  letters=1, rules={**RULES, "MinuteRule": ""}, left_out={"alarms": "denied"})  # fmt: skip
    weights = [finding.weight for finding in diagnose(wrong)]
    assert weights == sorted(weights)
    assert set(weights) == set(Weight)


@dataclass
class Command:
    facts: Facts
    asked: str | None = None

    @contextmanager
    def examiner(self, target: Target) -> Iterator["Command"]:  # noqa: ARG002 - the real one's signature
        yield self

    def examine(self, queue: str | None = None) -> Facts:
        self.asked = queue
        return self.facts

    def run(self, *words: str) -> Any:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, ["doctor", *words], obj=self)


@pytest.mark.parametrize(
    "wrong, code, told",
    [
        (facts(), 0, "all is well\n"),
        (facts(letters=1), 0, "1 warning\n"),
        (facts(seen(description=None), letters=1), 1, "1 error, 1 warning\n"),
    ],
    ids=["well", "warned", "wrong"],
)
def test_only_an_error_exits_with_1(wrong: Facts, code: int, told: str) -> None:
    result = Command(wrong).run()
    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.endswith(told)


WRONG = """\
{error} search-training: Batch has no job queue of this name
        create the queue, or mend the name in its policy
{warning} dead letters: 1 message could not be handled
        `pointsman dlq show` says why, `dlq redrive` sends them back
1 error, 1 warning
"""


def test_the_weights_are_words_and_have_their_colour_on_a_terminal_only() -> None:
    command = Command(facts(seen(description=None), letters=1))
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": None}
    assert command.run().stdout == WRONG.format(error="error  ", warning="warning")
    assert CliRunner(env=terminal).invoke(cli, ["doctor"], obj=command).stdout == WRONG.format(
        error="\x1b[31merror  \x1b[0m", warning="\x1b[33mwarning\x1b[0m"
    )


def test_scripts_get_one_object_and_one_queue_can_be_asked_for() -> None:
    command = Command(facts(letters=1))
    told = json.loads(command.run("--json", "--queue", QUEUE).stdout)
    assert command.asked == QUEUE
    assert [(one["weight"], one["place"]) for one in told["findings"]] == [("warning", "dead letters")]
    assert set(told["findings"][0]) == set(Finding.__slots__)


def test_a_name_that_a_terminal_would_obey_is_escaped() -> None:
    result = Command(facts(seen(record=replace(RECORD, problem="bad\x1b[2J\nerror   forged: all is lost")))).run()
    assert "\x1b" not in result.stdout
    assert "bad\\x1b[2J\\nerror" in result.stdout


@pytest.mark.parametrize(
    "caller, who",
    [
        ("arn:aws:sts::1:assumed-role/Operators/ada", "arn:aws:iam::1:role/Operators"),
        ("arn:aws:iam::1:user/ada", "arn:aws:iam::1:user/ada"),
        ("ada", "ada"),
    ],
)
def test_a_session_of_a_role_is_asked_for_as_the_role(caller: str, who: str) -> None:
    assert principal(caller) == who


def test_names_of_a_stack_are_asked_for_by_their_arns() -> None:
    where = ("aws", "eu-west-1", "1")
    assert resource("dynamodb:GetItem", "jobs", *where) == "arn:aws:dynamodb:eu-west-1:1:table/jobs"
    assert resource("lambda:InvokeFunction", "due", *where) == "arn:aws:lambda:eu-west-1:1:function:due"
    assert resource("sqs:SendMessage", "https://sqs.eu-west-1.amazonaws.com/1/q", *where) == "arn:aws:sqs:eu-west-1:1:q"
    assert resource("batch:DescribeJobQueues", "", *where) == "*"


@pytest.mark.parametrize(
    "caller, answer",
    [("ada", Answer.UNKNOWN), ("arn:aws:iam::1:root", Answer.YES), ("arn:aws:iam::1:user/b", Answer.NO)],
)
def test_who_has_no_policies_is_not_asked_about(caller: str, answer: Answer) -> None:
    class Iam:
        def simulate(self, role: str, action: str, resources: list[str]) -> Answer:
            assert (role, action, resources) == ("arn:aws:iam::1:user/b", "a:B", ["*"])
            return Answer.NO

    assert allowed(Iam(), caller, "eu-west-1")("a:B", "") is answer
