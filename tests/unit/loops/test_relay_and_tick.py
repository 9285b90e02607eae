"""One alarm for queues and for rollouts, endpoints, and one tick for all: what wakes whom, and what a fault leaves."""

import json
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import Misconfigured, Transient
from pointsman.loops.due import Due
from pointsman.loops.relay import AlarmRelay
from pointsman.loops.rollout_notices import Teller
from pointsman.loops.rollout_wakers import DueRollouts, RolloutRelay, RolloutWaker
from pointsman.rollouts.commands import By, start
from pointsman.rollouts.decide import freeze
from tests.fakes.rollout_signals import FakeExecution, FakeNotices
from tests.fakes.rollout_table import FakeRolloutTable
from tests.unit.loops.world import QUEUE, World
from tests.unit.rollouts.build import component, request, seen

EVENTS = Path(__file__).parents[3] / "events"
EVENT = {kind: json.loads((EVENTS / f"relay_alarm.{kind}.json").read_text()) for kind in ("alarm", "endpoint")}


class Fleet(World):
    """The queues' world with rollouts beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.execution, self.notices = FakeRolloutTable(), FakeExecution(), FakeNotices()

    def ask(self, rollout: str = "r1", *, waits: float = 600.0) -> None:
        """A rollout with a frozen plan, parked: it names `fleet-errors` and the endpoint of its number."""
        now, asked = self.clock.now(), request(rollout=rollout)
        self.table.create(asked, start(asked, By("maria", now)))
        read = self.table.load(rollout)
        frozen = freeze(read.record, asked, seen(component(endpoint=f"e{rollout[1:]}")), now)
        self.table.commit(read, frozen, now + waits, 1)
        self.execution.start(rollout, 1)
        self.table.park(rollout, 0, f"token of {rollout}")

    def alarmed(self, name: str) -> tuple[str, ...]:
        event = {**EVENT["alarm"], "detail": {**EVENT["alarm"]["detail"], "alarmName": name}}
        return self.relayed(event)

    def relayed(self, event: Any) -> tuple[str, ...]:
        waker = RolloutWaker(self.table, self.execution)
        rollouts = RolloutRelay(self.table, waker, self.rollout_teller().late_alarm)
        relay = AlarmRelay(self.clock, self.control, self.wakes, rollouts, self.dead_letters, self.log)
        return relay.relay(event)

    def tick(self) -> tuple[str, ...]:
        log: Any = self.log
        waker = RolloutWaker(self.table, self.execution)
        tell = self.rollout_teller().tell_of
        return Due(DueRollouts(self.clock, self.table, self.execution, waker, tell, log), self.due()).wake()

    def rollout_teller(self) -> Teller:
        log: Any = self.log
        return Teller(self.table, self.notices, log)

    def wakes_of(self, rollout: str) -> int:
        return self.table.load(rollout).wake_seq


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


def test_an_alarm_wakes_the_rollouts_that_it_guards_and_ends_their_wait(fleet: Fleet) -> None:
    fleet.ask()
    assert fleet.alarmed("fleet-errors") == ("r1",)
    assert (fleet.wakes_of("r1"), fleet.execution.answered) == (1, ["token of r1"])


def test_a_kill_switch_wakes_its_own_rollout_only(fleet: Fleet) -> None:
    fleet.ask("r1")
    fleet.ask("r2")
    assert fleet.alarmed("pointsman-kill-r2") == ("r2",)


def test_an_endpoint_wakes_the_rollouts_on_it(fleet: Fleet) -> None:
    fleet.ask()
    assert fleet.relayed(EVENT["endpoint"]) == ()
    event = {**EVENT["endpoint"], "detail": {"EndpointName": "e1"}}
    assert fleet.relayed(event) == ("r1",)


def test_one_alarm_wakes_rollouts_and_queues(fleet: Fleet) -> None:
    fleet.apply(on_alarm=[{"alarm": "fleet-*", "boost": "research", "by": "48h", "for": "2h"}])
    fleet.ask()
    assert fleet.alarmed("fleet-errors") == ("r1", QUEUE)
    assert fleet.wakes.queues == [QUEUE]


def test_a_rollout_whose_time_has_passed_is_woken_and_no_other(fleet: Fleet) -> None:
    fleet.ask("r1", waits=60)
    fleet.ask("r2", waits=600)
    fleet.clock.advance(59)
    assert fleet.tick() == ()
    fleet.clock.advance(1)
    assert fleet.tick() == ("r1",)
    assert fleet.execution.answered == ["token of r1"]


def test_a_fault_with_one_rollout_keeps_neither_the_others_nor_the_queues_waiting(fleet: Fleet) -> None:
    fleet.apply()
    fleet.ask("r1", waits=1)
    fleet.ask("r2", waits=2)
    fleet.clock.advance(600)
    fleet.execution.fail_next("answer", Misconfigured("no permission"))
    with pytest.raises(Transient, match="r1: no permission"):
        fleet.tick()
    assert fleet.execution.answered == ["token of r2"]
    assert fleet.wakes.queues == [QUEUE]


def test_an_alarm_whose_wake_could_not_be_sent_is_for_the_platform_to_try_again(fleet: Fleet) -> None:
    fleet.ask()
    fleet.execution.fail_next("answer", Transient("throttled"))
    with pytest.raises(Transient):
        fleet.alarmed("fleet-errors")
    assert fleet.alarmed("fleet-errors") == ("r1",)


def test_what_was_woken_is_logged(fleet: Fleet) -> None:
    fleet.ask()
    fleet.alarmed("fleet-errors")
    assert fleet.log.wakes == [(("r1",), "alarm fleet-errors")]
