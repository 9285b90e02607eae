"""What people and other systems do to a rollout on the way: it holds, overwrites nothing, and goes on when it may."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind, RolloutRecord
from pointsman_cli.demo.rollout.play import Stage, staged
from pointsman_cli.demo.rollout.scenario import Scenario
from pointsman_cli.demo.rollout.scenarios import NEW, OLD, SCENARIOS
from pointsman_emulator.emulator import Emulator

HOUR = 3600.0
ADA = {"caller": "arn:aws:iam::123456789012:user/ada", "rollout": "bad-api"}


def two_waves() -> Scenario:
    """The world of `bad-api` with a version that is fine: `drafts` in the first wave, `llm` in the second."""
    made = SCENARIOS["bad-api"]().asking(bake="4m", final_bake="4m")
    return replace(made, models={OLD: {}, NEW: {}, "hotfix": {}})


@dataclass
class Held:
    """A stage on which others act too."""

    stage: Stage

    @property
    def aws(self) -> Emulator:
        return self.stage.aws

    @property
    def record(self) -> RolloutRecord:
        return self.stage.stored.record

    def until(self, reached: Callable[[RolloutRecord], bool]) -> None:
        """Let time pass until the record is so."""
        limit = self.aws.now + 4 * HOUR
        while not reached(self.record):
            assert self.aws.now < limit, self.record
            self.aws.run_for(60)

    def end(self) -> Phase:
        self.until(lambda record: record.phase.terminal)
        result = self.stage.result(())
        assert (result.lost, result.faults) == (0, ())
        return self.record.phase

    def command(self, verb: str, **more: Any) -> None:
        self.stage.deployed.command(verb=verb, **ADA, **more)

    def models(self) -> tuple[str | None, str | None]:
        found = self.aws.inference_model.components
        return found["drafts"].spec.model, found["llm"].spec.model


def held(kind: HoldKind) -> Callable[[RolloutRecord], bool]:
    return lambda record: record.hold(kind) is not None


def wave_two(record: RolloutRecord) -> bool:
    return record.wave == 1


@pytest.fixture
def stage() -> Iterator[Held]:
    with staged(two_waves()) as made:
        made.ask()
        made.aws.run_for(30)  # the event arrives
        yield Held(made)


def someone_else_updates(stage: Held, name: str) -> None:
    stage.aws.client("sagemaker").update_inference_component(
        InferenceComponentName=name,
        Specification={
            "ModelName": "hotfix",
            "ComputeResourceRequirements": {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 16384},
        },
        DeploymentConfig={
            "RollingUpdatePolicy": {
                "MaximumBatchSize": {"Type": "COPY_COUNT", "Value": 1},
                "WaitIntervalInSeconds": 60,
            }
        },
    )


def test_a_component_that_someone_else_changed_is_not_overwritten_until_adopted_and_goes_back_to_that(
    stage: Held,
) -> None:
    stage.aws.run_for(300)
    someone_else_updates(stage, "llm")
    stage.until(held(HoldKind.DRIFT))
    stage.aws.run_for(HOUR / 2)
    assert stage.models()[1] == "hotfix"
    stage.command("adopt", component="llm", reason="the hotfix is part of the new version")
    stage.until(lambda record: record.phase is Phase.FINAL_BAKE)
    assert stage.models() == (NEW, NEW)
    stage.command("rollback", reason="a complaint")
    assert stage.end() is Phase.ROLLED_BACK
    assert stage.models() == (OLD, "hotfix")


def test_an_abort_in_mid_update_takes_it_back_and_keeps_the_wave_that_is_done(stage: Held) -> None:
    stage.until(wave_two)
    stage.aws.run_for(900)
    assert stage.aws.inference_model.components["llm"].status == "Updating"
    stage.command("abort", reason="not today")
    assert stage.end() is Phase.STOPPED
    assert stage.models() == (NEW, OLD)


def test_a_rollback_in_mid_update_takes_all_back(stage: Held) -> None:
    stage.until(wave_two)
    stage.aws.run_for(900)
    stage.command("rollback", reason="not at all")
    assert stage.end() is Phase.ROLLED_BACK
    assert stage.models() == (OLD, OLD)


def test_a_pause_begins_nothing_new_and_a_resume_goes_on(stage: Held) -> None:
    stage.aws.run_for(60)
    stage.command("pause", reason="lunch")
    stage.aws.run_for(HOUR / 2)
    assert stage.models() == (NEW, OLD)  # what had begun is finished
    stage.command("resume")
    assert stage.end() is Phase.SUCCEEDED
