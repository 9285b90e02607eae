"""A rollout to a container that refuses every request: its alarm takes it back, with events and without."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pointsman_emulator import Faults
from tests.flow.fleet import SAMPLE, Fleet, deployed

BAD = "chat-bad"
REQUEST = {**SAMPLE["detail"], "rollout": BAD, "change": {"model": BAD}}
MARIA = "arn:aws:iam::123456789012:user/maria"


@dataclass(frozen=True)
class TakenBack:
    fleet: Fleet
    course: tuple[str, ...]
    """Passes, the alarm's events and what was set of the kill switch, in order."""


@pytest.fixture(scope="module", params=[1.0, 0.0], ids=["every event delivered", "no event delivered"])
def taken(request: pytest.FixtureRequest) -> Iterator[TakenBack]:
    with deployed(faults=Faults(deliver=request.param)) as fleet:
        course: list[str] = []
        add_bad_model(fleet)
        aws = fleet.aws
        aws.watch(lambda event: course.extend(alarm_of(event)))
        aws.before("lambda", "Invoke", lambda call: course.append("pass") if "Machine" in call.caller else None, None)
        aws.before("cloudwatch", "SetAlarmState", lambda _: course.append("switch"), None)
        fleet.command("request", "", request=REQUEST)
        fleet.until_ended(BAD)
        yield TakenBack(fleet, tuple(course))


def add_bad_model(fleet: Fleet) -> None:
    container = {"Image": "images/chat:2", "Environment": {"EMULATED_BEHAVIOUR": "4xx"}}
    role = "arn:aws:iam::123456789012:role/anybody"
    fleet.aws.client("sagemaker").create_model(ModelName=BAD, ExecutionRoleArn=role, PrimaryContainer=container)


def alarm_of(event: Mapping[str, Any]) -> list[str]:
    detail = event["detail"]
    fires = detail.get("alarmName") == "llm-errors" and detail.get("state", {}).get("value") == "ALARM"
    return ["alarm"] if fires else []


def test_every_copy_runs_the_old_model_again(taken: TakenBack) -> None:
    assert taken.fleet.models() == ["chat-v1"] * 3
    record = taken.fleet.record(BAD).record
    assert record.phase.value == "ROLLED_BACK"
    assert "llm-errors" in record.cause
    assert record.started_by == f"claimed:{MARIA}"


def test_the_execution_tells_that_it_was_rolled_back(taken: TakenBack) -> None:
    assert taken.fleet.executions() == {f"{BAD}-1": "FAILED"}
    phases = taken.fleet.phases(f"{BAD}-1")
    assert phases[0] == "Await update"
    assert phases[-2:] == ["Await rollback", "Rolled back"]


def test_from_the_alarm_to_the_kill_switch_it_is_one_pass(taken: TakenBack) -> None:
    after = taken.course[taken.course.index("alarm") + 1 :]
    assert after[: after.index("switch")] == ("pass",)


def test_people_are_told_once_of_each_thing(taken: TakenBack) -> None:
    keys = taken.fleet.notices()
    assert len(keys) == len(set(keys))
    assert keys[0] == f"{BAD}/started"
    assert keys[-1] == f"{BAD}/ended"


def test_nothing_of_it_is_left(taken: TakenBack) -> None:
    alarms = taken.fleet.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="pointsman-kill/")["MetricAlarms"]
    assert alarms == []
    assert {lock.owner for lock in taken.fleet.wiring.rollouts.locks(["chat"]).values()} == {""}
    assert not taken.fleet.aws.failures
