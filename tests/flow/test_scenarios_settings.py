"""What nobody knows of SageMaker, at both its ends: whatever it is, a rollout ends safely, and no request is lost.

Each setting of the emulator's inference model takes each value that it does not have by itself, one at a time, in three
scenarios: one that should succeed, one whose new version is bad, and one that must make room.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from pointsman_cli.demo.rollout.play import play
from pointsman_cli.demo.rollout.result import Result
from pointsman_cli.demo.rollout.scenarios import NEW, OLD
from pointsman_emulator.models.inference import InferenceSettings
from tests.flow.scenes import models, scenario

ENDS: dict[str, tuple[Any, ...]] = {
    "instance_launch": (30.0, 1500.0),
    "instance_release": (60.0, 3600.0),
    "release_seconds": (1.0, 900.0),
    "copy_start": (20.0, 560.0),
    "copy_stop": (5.0, 300.0),
    "failed_artifact": (600.0,),
    "startup_timeout": (300.0, 3600.0),
    "describe_lag": (60.0,),
    "schedulable_memory": (0.5, 1.0),
    "shortage_patience": (900.0,),
    "alarm_poll": (1.0, 60.0),
    "default_timeout": (3600.0, None),
    "alarm_text": ("",),
    "timeout_text": ("",),
    "startup_text": ("",),
    "busy_code": ("ConflictException", "ResourceInUse"),
    "calls_per_second": (2.0,),
    "metric_lag": (120.0,),
}
LEFT_OUT = {
    "order": "the control, which is no SageMaker",
    "instances": "what no instance is left for is a case of its own",
    "launch_failures": "the scenario's own instances would not come either",
    "reservations": "full-endpoint has one",
    "adapter_seconds": "adapters are not rolled",
    "scale_in_minutes": "nothing is scaled in these scenarios",
    "latency": "how much the copies bear, which the scenarios are made for",
    "slow_factor": "the same",
    "concurrency": "the same",
    "backlog": "the same",
}
SCENARIOS = ("single-gpu", "bad-api", "make-room")
NO_INSTANCE = ("instances", {"ml.g5.2xlarge": 3})
SHORT = {"instances"}  # where a good version may find no room, and goes back


def other_values() -> Iterator[tuple[str, Any]]:
    """Each setting with each value that is not its own."""
    kinds = get_type_hints(InferenceSettings)
    for setting in fields(InferenceSettings):
        kind = kinds[setting.name]
        if setting.name in LEFT_OUT:
            continue
        if kind is bool:
            values: tuple[Any, ...] = (not setting.default,)
        elif get_origin(kind) is Literal:
            values = tuple(value for value in get_args(kind) if value != setting.default)
        else:
            values = ENDS[setting.name]
        yield from ((setting.name, value) for value in values)


CASES = [(name, setting, value) for setting, value in other_values() for name in SCENARIOS]


def played_with(name: str, setting: str, value: Any) -> Result:
    made = scenario(name, bake="4m", final_bake="4m")
    return play(replace(made, settings=replace(made.settings, **{setting: value})), lambda _: None)


def safe(name: str, setting: str, result: Result) -> None:
    """The outcome is one that it may have, the fleet is as it says, and nobody noticed."""
    told = f"{result.outcome}: {result.cause} {result.faults}"
    assert "it did not end in time" not in result.faults, told
    version = {model for component, model in models(result).items() if component != "embed"}
    if result.outcome == "SUCCEEDED":
        assert (name != "bad-api", version) == (True, {NEW}), told
    else:
        assert (result.outcome in {"ROLLED_BACK", "REJECTED"}, version) == (True, {OLD}), told
        assert name == "bad-api" or setting in SHORT, told
    copies = {left.component: left.copies for left in result.left}
    assert copies == {"llm": 3, **({"drafts": 2} if name == "bad-api" else {"embed": 2} if name == "make-room" else {})}
    assert (result.lost, result.lowest_serving) == (0, result.wanted_copies), told


@pytest.mark.walk
@pytest.mark.parametrize("name,setting,value", CASES, ids=[f"{n}-{s}={v}" for n, s, v in CASES])
def test_a_rollout_ends_safely_whatever_sagemaker_does(name: str, setting: str, value: Any) -> None:
    safe(name, setting, played_with(name, setting, value))


@pytest.mark.parametrize(
    "name,setting,value",
    [
        ("single-gpu", *NO_INSTANCE),
        ("bad-api", "config_after_rollback", "restored"),
    ],
)
def test_a_rollout_ends_safely_where_it_is_told_least(name: str, setting: str, value: Any) -> None:
    safe(name, setting, played_with(name, setting, value))


def test_no_setting_is_forgotten() -> None:
    known = {setting.name for setting in fields(InferenceSettings)}
    assert {*ENDS, *LEFT_OUT} <= known
    assert known == {setting for _, setting, _ in CASES} | set(LEFT_OUT)
