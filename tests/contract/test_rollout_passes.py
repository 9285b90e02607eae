"""Whole rollouts by the loop over every adapter: SageMaker and what is around it on the emulator, DynamoDB by moto."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pointsman.aws.clients import Clients
from pointsman.aws.control_table import DynamoControl
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.loops.rollout import RolloutLoop
from pointsman.loops.rollout_observe import RolloutObserver
from pointsman.loops.way_back import WayBack
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decision import SubmitUpdate, replay
from pointsman.rollouts.observations import LockView
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Check
from pointsman.rollouts.record import HoldKind, NoteState, RolloutRecord, State
from pointsman.rollouts.request import INVOCATIONS, Amount, Guard, Request, Target, Yielding
from pointsman.rollouts.specs import Change
from pointsman_emulator import Emulator, InferenceSettings
from tests.contract.rollout_worlds import EmulatedPorts
from tests.contract.tables import create_table, restore
from tests.emulator.components import component_request, config_request, model_request
from tests.fakes.rollout_signals import FakeNotices
from tests.unit.loops.rollout_world import Log

ERRORS = "llm-errors"
OLDER = Path(__file__).parent / "older"


class Account:
    """The emulated account with one rollout, whose passes are run by hand."""

    def __init__(self, emulator: Emulator, clients: Clients, table: str) -> None:
        self.ports = ports = EmulatedPorts(emulator, clients)
        self.emulator, self.clients = emulator, clients
        clients.sagemaker.create_model(**model_request("bad-api"))
        clients.cloudwatch.put_metric_alarm(
            AlarmName=ERRORS,
            Namespace="AWS/SageMaker",
            MetricName="Invocation4XXErrors",
            Dimensions=[{"Name": "InferenceComponentName", "Value": "llm"}],
            Statistic="Sum",
            Period=60,
            EvaluationPeriods=1,
            Threshold=5,
            ComparisonOperator="GreaterThanThreshold",
            TreatMissingData="notBreaching",
        )
        emulator.inference_model.start_traffic("llm", 1.0)
        emulator.run_for(120)
        self.table = DynamoRolloutTable(clients.dynamodb, table)
        self.notices, self.log = FakeNotices(), Log()
        observer = RolloutObserver(
            ports, ports.fleet, ports.gauges, ports.scaling, ports.permissions, self.table,
            DynamoControl(clients.dynamodb, table), WayBack(ports.permissions, ports.sources),
        )  # fmt: skip
        self.loop = RolloutLoop(
            ports, observer, self.table, ports.fleet, ports.switch, ports.scaling, self.notices, self.log
        )

    def ask(self, model: str, **changes: Any) -> None:
        values: dict[str, Any] = {
            "rollout": "r1",
            "targets": (Target(component="llm"),),
            "change": Change(model=model),
            "waves": (Amount(100, percent=True),),
            "wait": 60.0,
            "bake": 300.0,
            "final_bake": 300.0,
            "guards": (Guard(ERRORS, native=True, counted=INVOCATIONS),),
        }
        wanted = Request(**{**values, **changes})
        self.table.create(wanted, start(wanted, By("ana", self.ports.now())))

    def run(self, stop: Callable[[RolloutRecord], bool] = lambda _record: False) -> Phase:
        until = self.ports.now() + 6 * 3600
        while self.ports.now() < until and not stop(self.record):
            advance = self.loop.run("r1", 1)
            if advance.ended:
                break
            self.emulator.run_for(advance.wait_seconds)
        return self.record.phase

    def roll(self, model: str, **changes: Any) -> Phase:
        self.ask(model, **changes)
        return self.run()

    @property
    def record(self) -> RolloutRecord:
        return self.table.load("r1").record


@pytest.fixture
def account(request: pytest.FixtureRequest, clients: Clients, written: dict[str, Any]) -> Iterator[Account]:
    with Emulator(seed=7, inference=getattr(request, "param", None)) as emulator:
        yield Account(emulator, clients, create_table(clients, written, "ControlTable"))


def whole(account: Account) -> None:
    """What holds at every end."""
    assert account.log.stumbles == []
    assert replay(RolloutRecord("r1"), account.table.journal("r1")) == account.record
    assert {lock.owner for lock in account.table.locks(["chat"]).values()} <= {""}
    alarms = account.clients.cloudwatch.describe_alarms(AlarmNamePrefix="pointsman-kill")["MetricAlarms"]
    assert alarms == []
    assert account.table.load("r1").unsent == 0


def test_a_good_version_is_rolled_out_one_copy_at_a_time(account: Account) -> None:
    assert account.roll("new") is Phase.SUCCEEDED, account.record.cause
    view = account.ports.fleet.component("llm")
    assert (view.spec.model, view.desired, view.current) == ("new", 3, 3)
    counts = account.emulator.inference_model.counts("llm")
    assert (counts.lost, counts.requests > 1000) == (0, True)
    whole(account)


def test_a_version_that_answers_errors_is_turned_back(account: Account) -> None:
    assert account.roll("bad-api") is Phase.ROLLED_BACK, account.record.cause
    view = account.ports.fleet.component("llm")
    assert (view.spec.model, view.desired, view.current) == ("old", 3, 3)
    whole(account)


@pytest.mark.parametrize(
    "account",
    [
        pytest.param(
            InferenceSettings(
                config_recorded="finished",
                config_after_rollback="restored",
                modified_when_accepted=False,
                reason_on_rollback="blank",
            ),
            id="SageMaker shows nothing of an attempt",
        ),
        pytest.param(
            InferenceSettings(spec_while_updating="new", describe_lag=45.0, metric_lag=60.0, calls_per_second=2.0),
            id="SageMaker answers late, and not to all",
        ),
    ],
    indirect=True,
)
def test_a_version_is_turned_back_though(account: Account) -> None:
    assert account.roll("bad-api") is Phase.ROLLED_BACK, account.record.cause
    assert account.ports.fleet.component("llm").spec.model == "old"
    whole(account)


@pytest.mark.parametrize(
    "account", [pytest.param(InferenceSettings(launch_failures=1.0), id="no instance is to be had")], indirect=True
)
def test_a_component_that_never_came_to_life_is_refused_with_its_reason(account: Account) -> None:
    assert account.roll("new") is Phase.REJECTED
    assert "component llm: it is Failed (" in account.record.cause
    assert "InsufficientInstanceCapacity" in account.record.cause
    assert "delete it and create it anew" in account.record.cause
    whole(account)


@pytest.mark.parametrize("patience", [0.0, 3000.0])
def test_a_roll_for_which_no_instance_is_to_be_had_is_taken_back_and_says_so(account: Account, patience: float) -> None:
    model = account.emulator.inference_model
    model.settings = replace(model.settings, launch_failures=1.0, shortage_patience=patience)

    assert account.roll("new") is Phase.ROLLED_BACK
    assert ("InsufficientInstanceCapacity" in account.record.cause) is (patience == 0)
    assert "SageMaker took the update and went back to the old version" in account.record.cause
    view = account.ports.fleet.component("llm")
    assert (view.spec.model, view.desired, view.current) == ("old", 3, 3)
    whole(account)


SURGE = InferenceSettings(rollback_room="surge", shortage_patience=0.0)


@pytest.mark.parametrize("account", [pytest.param(SURGE, id="old copies come before new ones go")], indirect=True)
def test_a_way_back_that_sagemaker_has_no_room_for_is_left_to_a_person_by_name(account: Account) -> None:
    assert account.roll("bad-api") is Phase.ROLLBACK_INCOMPLETE
    assert account.record.needs_human == ("llm",)
    assert "came to nothing; the last was failed. SageMaker refused it" in account.record.component("llm").sentence
    assert {lock.owner for lock in account.table.locks(["chat"]).values()} == {"r1"}
    plan = account.table.load("r1").plan
    assert plan is not None
    (noted,) = [finding for finding in plan.findings if finding.check is Check.SHARED_ROOM]
    assert "a maximum of 5 is safe from that" in str(noted)


@pytest.mark.parametrize(
    "account",
    [pytest.param(replace(SURGE, update_of_failed="accept"), id="one that failed may be updated")],
    indirect=True,
)
def test_a_way_back_goes_on_once_a_person_has_made_the_room_that_its_hold_names(account: Account) -> None:
    account.ask("bad-api")
    account.run(stop=lambda record: record.phase is Phase.ROLLING_BACK and record.hold(HoldKind.CAPACITY) is not None)
    assert "chat needs 5 instances to take back llm" in account.record.holds[0].sentence
    account.clients.sagemaker.create_endpoint_config(**config_request(3, 5, name="roomy"))
    account.clients.sagemaker.update_endpoint(EndpointName="chat", EndpointConfigName="roomy")

    assert account.run() is Phase.ROLLED_BACK, account.record.cause
    assert len(account.record.component("llm").attempts) == 2
    view = account.ports.fleet.component("llm")
    assert (view.spec.model, view.desired, view.current) == ("old", 3, 3)
    whole(account)


@pytest.mark.parametrize("account", [pytest.param(SURGE, id="old first")], indirect=True)
def test_with_the_room_that_the_plan_names_the_same_version_is_turned_back(account: Account) -> None:
    account.clients.sagemaker.create_endpoint_config(**config_request(3, 5, name="roomy"))
    account.clients.sagemaker.update_endpoint(EndpointName="chat", EndpointConfigName="roomy")
    account.emulator.run_for(1200)

    assert account.roll("bad-api") is Phase.ROLLED_BACK, account.record.cause
    view = account.ports.fleet.component("llm")
    assert (view.spec.model, view.desired, view.current) == ("old", 3, 3)
    whole(account)


@pytest.mark.parametrize(
    "account",
    [pytest.param(replace(SURGE, failed_rollback="in-service"), id="InService with fewer copies")],
    indirect=True,
)
def test_copies_that_a_way_back_did_not_restore_are_told(account: Account) -> None:
    assert account.roll("bad-api") is Phase.ROLLED_BACK, account.record.cause
    assert "llm has 2 of its 3 copies" in account.notices.told[-1].sentence
    whole(account)


def test_a_rollout_that_the_first_release_began_is_finished(account: Account) -> None:
    restore(account.clients, "ControlTable", OLDER / "rollout_of_schema_1.json")
    stored = account.table.load("r1")
    (component,) = stored.record.components
    assert stored.plan is not None
    assert (component.state, len(component.attempts)) == (State.UPDATING, 1)
    assert component.sent_at is not None
    account.emulator.run(component.sent_at)
    account.ports.switch.make(stored.record.kill_switch)
    new, alarms = stored.plan.member("llm").new, (ERRORS, stored.record.kill_switch)
    account.ports.fleet.update(SubmitUpdate("llm", component.attempts[0], new, 60.0, alarms, component.sent_at))

    assert account.run() is Phase.SUCCEEDED, account.record.cause
    assert account.ports.fleet.component("llm").spec.model == "new"
    assert len(account.record.components[0].attempts) == 1
    whole(account)


def test_a_full_endpoint_is_refused_with_its_numbers(account: Account) -> None:
    account.clients.sagemaker.create_endpoint_config(**config_request(3, 3, name="full"))
    account.clients.sagemaker.update_endpoint(EndpointName="chat", EndpointConfigName="full")
    account.emulator.run_for(1200)

    assert account.roll("new") is Phase.REJECTED
    assert "chat needs 4 instances" in account.record.cause
    whole(account)


def test_a_component_gives_way_and_its_scaling_is_restored(account: Account) -> None:
    account.clients.sagemaker.create_inference_component(**component_request("lent", copies=1))
    account.emulator.run_for(1200)
    account.ports.add_target("lent", 0, 2)
    account.ports.add_target("llm", 1, 4)

    assert account.roll("new", yielding=(Yielding("lent", 0),)) is Phase.SUCCEEDED, account.record.cause
    assert account.ports.fleet.component("lent").desired == 1
    assert not any(view.suspension.whole for view in account.ports.scaling.describe(["lent", "llm"]).values())
    assert {note.state for note in account.record.copies} == {NoteState.RESTORED}
    assert account.table.locks(["chat"]) == {"chat": LockView("", 1)}
    whole(account)
