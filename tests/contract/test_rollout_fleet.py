"""The contracts of the fleet, its alarms, the kill switch, its scaling and its roles' permissions."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pointsman.aws.clients import Clients
from pointsman.errors import Gone, Refused
from pointsman.rollout_ports import AlarmQuery, ModelFacts
from pointsman.rollouts.observations import (
    WHOLE,
    AlarmState,
    Answer,
    Pool,
    ScalingView,
    Status,
    Suspension,
)
from pointsman.rollouts.request import Metric
from pointsman.rollouts.specs import Compute
from pointsman_emulator import Emulator
from tests.contract.rollout_worlds import NEW, OLD, EmulatedPorts, FakePorts, RolloutPorts, act


@pytest.fixture
def emulated(clients: Clients) -> Iterator[EmulatedPorts]:
    with Emulator(seed=7) as emulator:
        yield EmulatedPorts(emulator, clients)


@pytest.fixture(params=["fake", "emulator"])
def ports(request: pytest.FixtureRequest) -> RolloutPorts:
    if request.param == "fake":
        return FakePorts()
    made: EmulatedPorts = request.getfixturevalue("emulated")
    return made


def test_a_component_is_described_as_it_is(ports: RolloutPorts) -> None:
    view = ports.fleet.component("llm")

    assert (view.name, view.endpoint, view.status) == ("llm", "chat", Status.IN_SERVICE)
    assert (view.spec.digest, view.desired, view.current) == (OLD.digest, 3, 3)
    assert (view.failure, view.mark, view.base) == ("", None, None)
    assert 0 < view.modified < ports.now()


def test_what_there_is_not_is_gone(ports: RolloutPorts) -> None:
    for ask in (ports.fleet.component, ports.fleet.endpoint, ports.fleet.tags):
        with pytest.raises(Gone):
            ask("nothing")
    assert ports.fleet.model("nothing") == ModelFacts(Answer.NO)
    assert ports.fleet.components(endpoint="nothing") == ()
    assert ports.gauges.read([AlarmQuery("nothing", 0.0)], ports.now()) == {}
    assert ports.scaling.describe(["llm"]) == {}


def test_an_endpoint_tells_its_instances_what_they_hold_and_its_most(ports: RolloutPorts) -> None:
    facts = ports.fleet.endpoint("chat")

    assert facts.in_service
    assert facts.pools == (Pool("ml.g5.2xlarge", 3, Compute(1.0, 8.0, 32768.0)),)
    assert (facts.most, facts.role) == (4, ports.role)


def test_components_are_found_by_endpoint_and_by_the_beginning_of_their_names(ports: RolloutPorts) -> None:
    ports.add_component("a-llm")

    assert ports.fleet.components(endpoint="chat") == ("a-llm", "llm")
    assert ports.fleet.components(prefix="llm") == ("llm",)
    assert ports.fleet.components() == ("a-llm", "llm")
    assert ports.fleet.tags("llm") == (("team", "chat"),)
    assert [ports.fleet.model(name).there for name in ("new", "old")] == [Answer.YES, Answer.YES]


def test_an_update_is_seen_under_way_and_then_applied_with_its_mark(ports: RolloutPorts) -> None:
    before = ports.fleet.component("llm")
    ports.fleet.update(act(NEW, mark=3607))
    assert ports.fleet.component("llm").status is Status.UPDATING
    ports.pass_time(3000)

    after = ports.fleet.component("llm")
    assert (after.status, after.spec.digest, after.mark) == (Status.IN_SERVICE, NEW.digest, 3607)
    assert (after.desired, after.current) == (3, 3)
    assert after.modified > before.modified


def test_what_the_core_does_not_judge_travels_along(ports: RolloutPorts) -> None:
    spec = ports.fleet.component("llm").spec
    ports.fleet.update(act(replace(spec, model="new", environment=(("A", "1"),), image="images/other:2", rest="")))
    ports.pass_time(3000)
    there = ports.fleet.component("llm").spec

    assert (there.model, there.environment, there.image) == ("new", (("A", "1"),), "images/other:2")


def test_a_second_change_meanwhile_is_refused_in_words(ports: RolloutPorts) -> None:
    ports.fleet.update(act(NEW))

    with pytest.raises(Refused, match="llm"):
        ports.fleet.update(act(OLD, mark=3602))
    with pytest.raises(Refused, match="llm"):
        ports.fleet.set_copies("llm", 2)
    with pytest.raises(Refused):
        ports.fleet.update(act(NEW, component="nothing"))


def test_an_alarm_that_an_update_lists_turns_it_back(ports: RolloutPorts) -> None:
    ports.switch.make("kill")
    ports.fleet.update(act(NEW, "kill"))
    ports.pass_time(90)
    ports.switch.fire("kill")
    ports.pass_time(3000)

    view = ports.fleet.component("llm")
    assert (view.status, view.spec.digest) == (Status.IN_SERVICE, OLD.digest)


def test_copies_are_set(ports: RolloutPorts) -> None:
    ports.fleet.set_copies("llm", 2)
    ports.pass_time(600)

    view = ports.fleet.component("llm")
    assert (view.desired, view.current, view.spec.digest) == (2, 2, OLD.digest)


def test_the_kill_switch_is_ok_until_it_is_fired_and_then_stays_fired(ports: RolloutPorts) -> None:
    def state() -> AlarmState | None:
        view = ports.gauges.read([AlarmQuery("kill")], ports.now()).get("kill")
        return view.state if view else None

    ports.switch.make("kill")
    ports.switch.make("kill")
    ports.pass_time(600)
    assert state() is AlarmState.OK
    ports.switch.fire("kill")
    ports.pass_time(600)
    ports.switch.fire("kill")
    ports.switch.make("kill")
    assert state() is AlarmState.ALARM
    ports.switch.delete("kill")
    ports.switch.delete("kill")
    assert state() is None


def test_an_alarm_says_when_it_fired_though_it_is_ok_again(ports: RolloutPorts) -> None:
    ports.add_alarm("errors")
    ports.pass_time(600)
    since = ports.now()
    ports.pass_time(100)
    fired = ports.now()
    ports.set_alarm("errors", AlarmState.ALARM)
    ports.pass_time(30)
    ports.set_alarm("errors", AlarmState.OK)
    ports.pass_time(100)

    view = ports.gauges.read([AlarmQuery("errors", since)], ports.now())["errors"]
    assert (view.state, view.period, view.evaluation_periods, view.problem) == (AlarmState.OK, 60.0, 1, "")
    assert view.entered == pytest.approx((fired,), abs=0.01)
    assert ports.gauges.read([AlarmQuery("errors", ports.now() - 50)], ports.now())["errors"].entered == ()
    assert ports.gauges.read([AlarmQuery("errors")], ports.now())["errors"].entered == ()


def test_samples_are_minutes_in_which_a_named_metric_is_above_zero(ports: RolloutPorts) -> None:
    ports.add_alarm("errors")
    served = Metric("Search", "Served", (("Model", "llm"), ("Stage", "live")))
    other = Metric("Search", "Served", (("Model", "other"), ("Stage", "live")))
    ports.pass_time(-ports.now() % 60)
    since = ports.now()
    for metric, value in ((served, 4.0), (served, 0.0), (other, 3.0), (served, 1.0)):
        ports.pass_time(20)
        ports.publish(metric, value)
        ports.pass_time(40)

    def minutes(*traffic: Metric) -> list[float]:
        view = ports.gauges.read([AlarmQuery("errors", since, traffic, since, 9)], ports.now())["errors"]
        return [(at - since) // 60 for at in view.samples]

    assert minutes(served) == [0, 3]
    assert minutes(served, other) == [0, 2, 3]
    assert minutes(Metric("Search", "Served", (("Model", "llm"),))) == []


def test_an_alarm_s_settings_are_the_same_at_each_read(ports: RolloutPorts) -> None:
    ports.add_alarm("errors")
    first = ports.gauges.read([AlarmQuery("errors", ports.now() - 300)], ports.now())["errors"].settings
    ports.pass_time(300)
    ports.set_alarm("errors", AlarmState.ALARM)

    assert first
    assert ports.gauges.read([AlarmQuery("errors", ports.now() - 300)], ports.now())["errors"].settings == first


def test_a_target_is_suspended_and_restored(ports: RolloutPorts) -> None:
    ports.add_target("llm", 2, 5)
    assert ports.scaling.describe(["llm", "other"]) == {"llm": ScalingView(2, 5)}
    ports.scaling.suspend("llm")
    ports.scaling.suspend("llm")
    assert ports.scaling.describe(["llm"]) == {"llm": ScalingView(2, 5, WHOLE)}
    ports.scaling.restore("llm", Suspension())
    assert ports.scaling.describe(["llm"]) == {"llm": ScalingView(2, 5)}


@pytest.mark.parametrize(
    "suspension",
    [Suspension(scale_in=True), Suspension(scale_out=True), Suspension(scale_in=True, scheduled=True), WHOLE],
)
def test_a_target_that_was_suspended_in_part_is_given_back_as_it_was(
    ports: RolloutPorts, suspension: Suspension
) -> None:
    ports.add_target("llm", 2, 5)
    ports.scaling.suspend("llm")
    ports.scaling.restore("llm", suspension)
    assert ports.scaling.describe(["llm"]) == {"llm": ScalingView(2, 5, suspension)}


def test_a_target_that_there_is_not_is_gone(ports: RolloutPorts) -> None:
    with pytest.raises(Gone):
        ports.scaling.suspend("llm")
    with pytest.raises(Gone):
        ports.scaling.restore("llm", Suspension())


@pytest.mark.parametrize("answer", [Answer.YES, Answer.NO])
def test_whether_a_role_may_read_alarms_is_known(ports: RolloutPorts, answer: Answer) -> None:
    ports.let_read_alarms(answer)

    assert ports.permissions.reads_alarms(ports.role, ["errors", "kill"]) is answer


@pytest.mark.parametrize("answer", [Answer.YES, Answer.NO])
def test_whether_a_role_may_update_components_is_known(ports: RolloutPorts, answer: Answer) -> None:
    ports.let_update(answer)

    assert ports.permissions.updates(ports.role, ["llm"]) is answer


def test_whether_there_is_a_role_is_known(ports: RolloutPorts) -> None:
    assert ports.permissions.exists(ports.role) is Answer.YES
    assert ports.permissions.exists("arn:aws:iam::123456789012:role/nobody") is Answer.NO


def test_a_model_tells_its_role_and_what_it_is_made_of(ports: RolloutPorts) -> None:
    facts = ports.fleet.model("old")

    assert facts.there is Answer.YES
    assert facts.role
    assert len(facts.images) == 1
