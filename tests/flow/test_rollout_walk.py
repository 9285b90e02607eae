"""The crash walk through the deployed template: `bad-api`, killed once a run at every boundary of its passes.

A pass dies before it began, and after it with its answer lost, and its execution with it. Whatever died, the rollout
ends as if nothing had. It takes minutes: `make walk` runs it, and `make test` the sample in test_rollout_killed.py.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from pointsman.rollouts.decision import replay
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import RolloutRecord
from pointsman_cli.demo.rollout.play import AFTER, Stage, staged
from pointsman_cli.demo.rollout.scenarios import SCENARIOS
from pointsman_emulator.gateway import Call
from tests.walks import Walked

MINUTE = 60.0
SHARES = 8  # parts of the walk, which several processes take
SIDES = ("before", "after")
MACHINE = "RolloutStateMachine"


class Killed(BaseException):
    """Not an error: the process is gone."""


@dataclass
class Death:
    """Counts the passes, and kills one of them; number 0 kills none."""

    number: int = 0
    side: str = "before"
    passes: int = 0

    def met(self, call: Call) -> None:
        if call.caller == MACHINE:
            self.passes += 1
            if self.passes == self.number:
                raise Killed


def quiet(_: str) -> None:
    """No progress is told."""


def outlive(stage: Stage, reached: Callable[[], bool]) -> None:
    """Let time pass, whatever is killed."""
    last = stage.aws.now + stage.scenario.limit
    while not reached():
        assert stage.aws.now < last, stage.stored.record
        with suppress(Killed):
            stage.aws.run_for(MINUTE)


def projection(stage: Stage) -> dict[str, Any]:
    """What must be the same whatever died on the way; times, revisions, generations and holds need not."""
    from moto.sns.models import sns_backends

    stored, model, wiring = stage.stored, stage.aws.inference_model, stage.deployed.wiring
    record, endpoints = stored.record, [endpoint.name for endpoint in stage.scenario.endpoints]
    (topic,) = sns_backends["123456789012"]["us-east-1"].topics.values()
    told = [attributes["notice"]["Value"] for *_, attributes, _ in topic.sent_notifications]
    alarms = stage.aws.client("cloudwatch").describe_alarms(AlarmNamePrefix="pointsman-kill/")["MetricAlarms"]
    result = stage.result(faults=())
    return {
        "phase": record.phase,
        "components": [(each.name, each.state, len(each.attempts)) for each in record.components],
        "digests": {name: wiring.rollout_observer.fleet.component(name).spec.digest for name in model.components},
        "copies": {name: (it.desired, it.current) for name, it in model.components.items()},
        "locks": {endpoint: lock.owner for endpoint, lock in wiring.rollouts.locks(endpoints).items()},
        "yields": sorted((note.component, note.state) for note in (*record.copies, *record.scaling)),
        "notices": {key.partition("/hold/")[0] for key in told},
        "unsent": stored.unsent,
        "kill switches": [alarm["AlarmName"] for alarm in alarms],
        "updates": stage.aws.count("sagemaker", "UpdateInferenceComponent"),
        "requests": (result.lost, result.lowest_serving, result.wanted_copies),
        "faults": result.faults,
    }


def end_of(death: Death) -> dict[str, Any]:
    """The projection of the scenario's end, with one death in it at most."""
    with staged(SCENARIOS["bad-api"]()) as stage:
        getattr(stage.aws, death.side)("lambda", "Invoke", death.met, None)
        stage.ask()
        outlive(stage, lambda: stage.ended(quiet))
        stage.aws.run_for(AFTER)
        journal = stage.deployed.table.journal(stage.stored.record.rollout)
        assert replay(RolloutRecord(stage.stored.record.rollout), journal) == stage.stored.record
        return projection(stage)


@pytest.fixture(scope="module")
def undisturbed() -> tuple[dict[str, Any], int]:
    """How it ends when nothing dies, and in how many passes."""
    nobody = Death()
    end = end_of(nobody)
    assert end["phase"] is Phase.ROLLED_BACK
    assert (end["requests"], end["faults"]) == ((0, 5, 5), ())
    return end, nobody.passes


@pytest.mark.walk
@pytest.mark.parametrize("share", range(SHARES))
def test_killed_at_any_boundary_of_its_passes_the_rollout_ends_the_same(
    undisturbed: tuple[dict[str, Any], int], share: int, record_property: Callable[[str, object], None]
) -> None:
    wanted, passes = undisturbed
    walked = Walked("passes of bad-api, through the state machine")
    for number in range(1 + share, 1 + passes, SHARES):
        walked.boundaries += 1
        for side in SIDES:
            death = Death(number, side)
            walked.saw(f"{side} pass {number} of {passes}", end_of(death), wanted)
            assert death.passes >= number
    record_property(*walked.reported())
    assert walked.different == []
