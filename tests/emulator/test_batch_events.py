"""The events of Batch, and how EventBridge delivers them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from pointsman_emulator import BatchSettings, Faults
from tests.emulator.worlds import Make, World

STATE_CHANGE = "Batch Service Job State Change"
DWELLS = BatchSettings(submitted_dwell=1, scheduled_dwell=20, starting_dwell=40)


def events(w: World) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    w.aws.watch(lambda event: seen.append(dict(event)))
    return seen


def test_each_state_but_submitted_is_told_once(world: Make) -> None:
    w = world(batch=DWELLS)
    seen = events(w)
    w.submit(seconds=60)
    w.aws.run_for(600)
    states = [event["detail"]["status"] for event in seen if event["source"] == "aws.batch"]
    assert states == ["RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED"]


def test_an_event_has_the_documented_fields_and_no_others(world: Make) -> None:
    w = world(batch=DWELLS)
    seen = events(w)
    job = w.submit(seconds=60, tags={"team": "a"}, timeoutConfig={"attemptDurationSeconds": 86400})
    w.aws.run_for(600)
    event = next(it for it in seen if it["detail"].get("status") == "SUCCEEDED")
    assert event["detail-type"] == STATE_CHANGE
    assert event["resources"] == [event["detail"]["jobArn"]]
    assert event["time"] == "2026-03-02T00:02:01Z"
    assert event["detail"]["jobId"] == job
    assert event["detail"]["jobQueue"].endswith(":job-queue/training")
    assert set(event["detail"]) == {
        "attempts",
        "createdAt",
        "jobArn",
        "jobId",
        "jobName",
        "jobQueue",
        "latestAttempt",
        "serviceJobType",
        "startedAt",
        "status",
        "stoppedAt",
        "timeoutConfig",
    }


def test_fields_that_the_guide_leaves_open_come_by_setting(world: Make) -> None:
    w = world(batch=BatchSettings(optional_event_fields=True))
    seen = events(w)
    w.submit(seconds=60, schedulingPriority=7)
    w.aws.run_for(1)
    detail = next(it["detail"] for it in seen if it["source"] == "aws.batch")
    assert (detail["schedulingPriority"], detail["shareIdentifier"]) == (7, "all")
    assert "tags" not in detail
    assert "serviceRequestPayload" not in detail


def test_nothing_is_told_of_a_change_of_priority(world: Make) -> None:
    w = world(instances=1)
    w.submit()
    job = w.submit()
    w.aws.run_for(1)
    seen = events(w)
    w.batch.update_service_job(jobId=job, schedulingPriority=9)
    w.aws.run_for(30)
    assert [event for event in seen if event["source"] == "aws.batch"] == []


def test_a_head_that_can_never_fit_blocks_the_queue_and_that_is_told_once(world: Make) -> None:
    w = world(instances=2)
    seen = events(w)
    w.submit("huge", instances=3)
    w.aws.run_for(3600)
    (event,) = [it for it in seen if it["detail-type"] == "Batch Service Job Queue Blocked"]
    assert event["detail"]["statusReason"].startswith("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")
    assert event["detail"]["status"] == "RUNNABLE"


def test_events_reach_the_table_through_the_queue(world: Make) -> None:
    w = world(batch=DWELLS)
    job = w.submit(seconds=60)
    w.aws.run_for(600)
    assert w.records()[job] in {"RUNNING", "SUCCEEDED", "STARTING", "SCHEDULED"}
    assert w.aws.failures == []


def test_deliveries_take_between_the_least_and_the_most_delay_and_may_overtake(world: Make) -> None:
    w = world(faults=Faults(delay=(1, 60)))
    jobs = [w.submit(f"{n}", seconds=10_000) for n in range(4)]
    w.aws.run_for(120)
    assert set(w.records()) == set(jobs)
    assert len(set(w.records().values())) > 1  # a late RUNNABLE was written over a RUNNING


@pytest.mark.parametrize("deliver,copies", [(0.0, 0), (1.0, 1), (3.0, 3)])
def test_each_event_comes_as_often_as_it_is_to(world: Make, deliver: float, copies: int) -> None:
    w = world(faults=Faults(deliver=deliver))
    w.submit(seconds=10_000)
    w.aws.run_for(60)
    taken = sum(line.get("records", 0) for line in w.aws.logs.get("TakeJobsFunction", []))
    assert taken == 4 * copies


def test_doubles_and_losses_are_drawn_by_the_seed(world: Make) -> None:
    def taken(seed: int) -> list[int]:
        w = world(seed=seed, faults=Faults(duplicate=0.5, lose=0.3))
        for n in range(4):
            w.submit(f"{n}", seconds=50)
        w.aws.run_for(300)
        counts = [line["records"] for line in w.aws.logs["TakeJobsFunction"]]
        w.aws.__exit__(None, None, None)
        return counts

    assert taken(1) == taken(1)
    assert taken(1) != taken(2)


def test_injected_loss_is_no_fault_of_the_wiring(world: Make) -> None:
    w = world(faults=Faults(deliver=0))
    w.submit(seconds=60)
    w.aws.run_for(600)
    report = w.aws.wiring.check()
    assert report.ok, str(report)
    assert "lost by injection" in str(report)


def test_a_put_event_without_a_source_is_refused_and_the_others_are_taken(world: Make) -> None:
    w = world()
    good = {"Source": "x", "DetailType": "y", "Detail": "{}"}
    answer = w.aws.client("events").put_events(Entries=[{**good, "Source": ""}, {**good, "Detail": "["}, good])
    assert [entry.get("ErrorCode") for entry in answer["Entries"]] == ["InvalidArgument", "MalformedDetail", None]


def test_faults_that_cannot_be_are_refused() -> None:
    for wrong in ({"lose": 2}, {"delay": (5, 1)}, {"deliver": -1}):
        with pytest.raises(ValueError, match="not"):
            Faults(**wrong)  # type: ignore[arg-type]


def test_a_schedule_ticks_each_minute_of_virtual_time(world: Make) -> None:
    w = world()
    w.aws.run_for(3600)
    ticks = [line for line in w.aws.logs["TickFunction"] if line["records"] == 0]
    assert len(ticks) == 60
    assert Counter(round(line["at"]) % 60 for line in ticks) == {0: 60}


def test_a_disabled_rule_neither_ticks_nor_matches(world: Make) -> None:
    w = world()
    client = w.aws.client("events")
    for rule in client.list_rules()["Rules"]:
        client.disable_rule(Name=rule["Name"])
    w.submit(seconds=60)
    w.aws.run_for(600)
    assert not {"TickFunction", "TakeJobsFunction"} & set(w.aws.logs)
    assert not w.aws.wiring.check().ok


def test_an_event_that_nobody_wants_is_named(world: Make) -> None:
    w = world()
    w.aws.client("events").put_events(
        Entries=[{"Source": "my.app", "DetailType": "Odd", "Detail": json.dumps({"a": 1})}]
    )
    w.aws.run_for(60)
    (fault,) = w.aws.wiring.check().faults
    assert fault.startswith('"Odd" from my.app: 1 produced, matched by no rule')


def test_the_same_seed_gives_the_same_day(world: Make) -> None:
    def day(seed: int) -> str:
        w = world(seed=seed, batch=BatchSettings(tie_break="random", bounce_rate=0.2, scheduled_dwell=20), instances=2)
        for n in range(6):
            w.submit(f"{n}", seconds=200)
        w.aws.run_for(3600)
        told = json.dumps([w.aws.logs, w.stack.outputs, sorted(w.records().items())])
        w.aws.__exit__(None, None, None)
        return told

    assert day(5) == day(5)
    assert day(5) != day(6)
