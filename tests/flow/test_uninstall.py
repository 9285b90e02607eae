"""A deployment goes and comes back: what it changed is given back, and what it knew is there again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from click.testing import CliRunner, Result

from pointsman.aws.share_records import DynamoShareRecords
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.share_changes import Setting, ShareChange
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_cli.main import cli
from tests.flow.day import QUEUE, TEMPLATE, Day, opened
from tests.flow.fleet import SAMPLE

ROLLOUT = SAMPLE["detail"]["rollout"]
QUOTA = {
    "queue": "quota",
    "share": "team*",
    "spread": "0m",
    "reservation": None,
    "classes": [{"name": "production", "match": {"job_name": "prod-*"}}],
    "on_alarm": [{"alarm": "ranker-drift-*", "share": "teamA", "borrow_limit": 100}],
}


def run(*words: str, stdin: str = "") -> Result:
    return CliRunner(env={"COLUMNS": None}).invoke(cli, [*words, "--stack", "pointsman"], input=stdin)


def share_of(day: Day) -> tuple[int, str]:
    (share,) = day.aws.client("batch").list_quota_shares(jobQueue="quota")["quotaShares"]
    sharing, preemption = share["resourceSharingConfiguration"], share["preemptionConfiguration"]
    return int(sharing["borrowLimit"]), str(preemption["inSharePreemption"])


def kill_switches(day: Day) -> list[str]:
    found = day.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="pointsman-kill")
    return [alarm["AlarmName"] for alarm in found["MetricAlarms"]]


def leave_kill_switch(day: Day, alarm: str) -> None:
    """As a rollout leaves one that could not delete it."""
    day.aws.client("cloudwatch").put_metric_alarm(
        AlarmName=alarm, Namespace="Pointsman/KillSwitch", MetricName="Fired",
        Statistic="Maximum", Period=60, EvaluationPeriods=1, Threshold=0.0, ComparisonOperator="GreaterThanThreshold",
    )  # fmt: skip


def refused_rollout(day: Day) -> None:
    """A rollout of a component that is not there comes to its end at once."""
    entry = {"Source": "test", "DetailType": SAMPLE["detail-type"], "Detail": json.dumps(SAMPLE["detail"])}
    day.aws.client("events").put_events(Entries=[{**entry, "EventBusName": day.stack.outputs["Bus"]}])
    day.pass_minutes(2)
    assert day.wiring.rollouts.load(ROLLOUT).record.phase.terminal


@contextmanager
def lived() -> Iterator[Day]:
    """A while: jobs of two classes, a pin, an alarm that goes on, an eviction cut short, a rollout that ended."""
    with opened() as day:
        arn = day.add_quota_queue("quota")
        day.apply()
        day.apply(**QUOTA)
        for number in range(8):
            day.submit(f"sweep-{number}", 2, minutes=300)
        day.submit("prod-ranker", 4, minutes=30)
        day.drift(0, 180)
        day.pass_minutes(8)
        job = day.ids["sweep-7"]
        day.wiring.control.put_pin(QUEUE, Pin(job, day.aws.now + 86400, PinKind.FIRST, "ada", day.aws.now))
        day.pass_minutes(2)
        note = ShareChange("teamA", Setting.PREEMPTION, 0, 1, day.aws.now, "a job takes the place of others", seen=True)
        DynamoShareRecords(day.aws.client("dynamodb"), day.stack.outputs["ControlTable"]).put_share_change(
            "quota", note
        )
        day.aws.client("batch").update_quota_share(
            quotaShareArn=arn, preemptionConfiguration={"inSharePreemption": "ENABLED"}
        )
        refused_rollout(day)
        leave_kill_switch(day, f"pointsman-kill/pointsman/{ROLLOUT}")
        leave_kill_switch(day, f"pointsman-kill/another-deployment/{ROLLOUT}")
        yield day


def deploy_again(day: Day, table: str) -> Day:
    day.aws.client("cloudformation").delete_stack(StackName="pointsman")
    assert table in day.aws.client("dynamodb").list_tables()["TableNames"]
    stack = day.aws.deploy(TEMPLATE, "pointsman", {"ExistingTable": table})
    names = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")
    return Day(day.aws, stack, Wiring(Settings(*(stack.outputs[name] for name in names))), day.ids)


def test_a_deployment_goes_and_comes_back() -> None:
    with lived() as day:
        assert share_of(day)[0] == 100
        lifted = {name: priority for name, priority in day.priorities_of_waiting().items() if priority}
        assert lifted
        before = [(move.at, move.move) for move in day.moves()]

        result = run("uninstall", "--yes", "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        told: dict[str, Any] = json.loads(result.stdout)
        assert share_of(day) == (0, "DISABLED")
        assert set(day.priorities_of_waiting().values()) == {0}
        assert kill_switches(day) == [f"pointsman-kill/another-deployment/{ROLLOUT}"]
        assert told["kill_switches"]["left"] == kill_switches(day)
        assert {one["queue"]: one["jobs"] for one in told["queues"]} == {QUEUE: len(lifted), "quota": 0}
        day.pass_minutes(2)
        assert set(day.priorities_of_waiting().values()) == {0}, "everything is stopped"

        again = run("uninstall", "--yes")
        assert (again.exit_code, again.stderr) == (0, "")
        assert "sam delete --stack-name pointsman\n" in again.stdout

        back = deploy_again(day, told["control_table"])
        assert [(move.at, move.move) for move in back.moves()][: len(before)] == before
        assert back.wiring.control.policy(QUEUE) is not None
        assert [pin.job_id for pin in back.wiring.control.pins(QUEUE)] == [day.ids["sweep-7"]]
        assert back.wiring.rollouts.load(ROLLOUT).record.phase.terminal
        assert "uninstalled" in run("queue", "show", QUEUE).stdout
        assert run("start").exit_code == 0
        back.submit("prod-second", 4, minutes=30)
        back.pass_minutes(4)
        assert back.priority("sweep-7"), "the pin counts again"
        assert share_of(back)[0] == 100, "the alarm goes on, and so does what it does"
        assert len(back.moves()) > len(before)
        assert not back.aws.failures


def test_nothing_is_done_unless_it_is_confirmed() -> None:
    with opened() as day:
        day.apply()
        result = run("uninstall", stdin="n\n")
        assert result.exit_code == 1
        assert "give 1 queue back as found?" in result.stdout
        assert run("uninstall", "--json").exit_code == 2
        assert not day.wiring.control.stopped()


def test_while_a_pass_is_under_way_nothing_is_given_back() -> None:
    with opened() as day:
        day.apply()
        day.wiring.jobs.save_queue(replace(day.record(), lease_until=day.aws.now + 60))
        result = run("uninstall", "--yes")
        assert result.exit_code == 3
        assert f"a pass is under way over {QUEUE}; everything is stopped, so that it is the last" in result.stderr
        assert day.wiring.control.stopped()
