"""The scenarios that can be played. Each is small enough to be read, and large enough to show one thing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pointsman_cli.demo.rollout.scenario import Alarm, Component, Endpoint, Scenario
from pointsman_emulator.models.inference import InferenceSettings

PACE = InferenceSettings(latency=2.0)  # a copy answers two requests a second
RESERVATION = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/chat"
OLD, NEW = "llm-1", "llm-2"
GUARD = {"alarm": "{component}-errors", "native": True}
ONE_WAVE: Mapping[str, Any] = {
    "version": 1,
    "change": {"model": NEW},
    "waves": ["100%"],
    "wait": "3m",
    "bake": "10m",
    "final_bake": "15m",
    "guards": [GUARD],
}
LLM = Component("llm", "chat", 3, OLD, rate=4.5)
FOUR_HUNDREDS = Alarm("llm-errors", "llm")
FIVE_HUNDREDS = "Invocation5XXErrors"


def single_gpu() -> Scenario:
    """Every instance is full, so one is added; each copy is replaced in turn."""
    return Scenario(
        name="single-gpu",
        about="three one-GPU instances, one copy on each: one copy at a time, a fourth instance is added",
        endpoints=(Endpoint("chat", instances=3, most=4),),
        models={OLD: {}, NEW: {}},
        components=(LLM,),
        alarms=(FOUR_HUNDREDS,),
        request={**ONE_WAVE, "rollout": "single-gpu", "targets": [{"component": "llm"}]},
        settings=PACE,
    )


def bad_api() -> Scenario:
    """The first wave gets too few requests to tell; the second one's alarm fires, and both go back."""
    return Scenario(
        name="bad-api",
        about="the new container answers half of the requests with 4xx: an alarm fires, all is taken back",
        endpoints=(Endpoint("drafts", instances=2, most=3), Endpoint("chat", instances=3, most=4)),
        models={OLD: {}, NEW: {"EMULATED_BEHAVIOUR": "4xx", "EMULATED_RATE": "0.5"}},
        components=(Component("drafts", "drafts", 2, OLD, rate=0.2), LLM),
        alarms=(Alarm("drafts-errors", "drafts"), FOUR_HUNDREDS),
        request={
            **ONE_WAVE,
            "rollout": "bad-api",
            "targets": [{"component": "drafts"}, {"component": "llm"}],
            "waves": [1, "100%"],
        },
        settings=PACE,
    )


def full_endpoint() -> Scenario:
    """The reservation holds no further instance, whatever managed scaling may reach, and nothing gives way."""
    return Scenario(
        name="full-endpoint",
        about="reserved instances, all full: refused with the numbers, or tried and rolled back",
        endpoints=(Endpoint("chat", instances=3, most=4, reservation=RESERVATION),),
        models={OLD: {}, NEW: {}},
        components=(LLM,),
        alarms=(FOUR_HUNDREDS,),
        request={**ONE_WAVE, "rollout": "full-endpoint", "targets": [{"component": "llm"}]},
        settings=replace(PACE, reservations={RESERVATION: 3}),
    )


def make_room() -> Scenario:
    """No instance can be added, but a component of less urgency may be lowered meanwhile."""
    return Scenario(
        name="make-room",
        about="five instances, all full: a component that yields is lowered by one copy, and restored",
        endpoints=(Endpoint("chat", instances=5, most=5),),
        models={OLD: {}, NEW: {}, "embed-1": {}},
        components=(LLM, Component("embed", "chat", 2, "embed-1", rate=0.5)),
        alarms=(FOUR_HUNDREDS,),
        request={
            **ONE_WAVE,
            "rollout": "make-room",
            "targets": [{"component": "llm"}],
            "yielding": [{"component": "embed", "least": 1}],
        },
        settings=PACE,
    )


def fleet() -> Scenario:
    """The new version tires: the first component's alarm fires while the second wave is rolled."""
    four = "ml.g5.12xlarge"
    copies = {
        "chat-a": {"chat-en": 2, "chat-de": 2},
        "chat-b": {"chat-fr": 3},
        "embed-a": {"embed-en": 4, "embed-de": 4, "embed-fr": 4},
        "rank-a": {"rank-web": 8, "rank-app": 4},
        "tag-a": {"tag-news": 2, "tag-mail": 2, "tag-wiki": 4, "tag-code": 2},
    }
    components = tuple(
        Component(name, endpoint, count, OLD, rate=1.25 * count, tags={"fleet": "search"})
        for endpoint, names in copies.items()
        for name, count in names.items()
    )
    return Scenario(
        name="fleet",
        about="12 components on 5 endpoints in waves of 1, 25 % and all: an alarm in wave 2, all is taken back",
        endpoints=(
            Endpoint("chat-a", 4, 5),
            Endpoint("chat-b", 3, 4),
            *(Endpoint(name, 3, 4, four) for name in ("embed-a", "rank-a", "tag-a")),
        ),
        models={OLD: {}, NEW: {"EMULATED_BEHAVIOUR": "fails-after:2400"}},
        components=components,
        alarms=tuple(Alarm(f"{c.name}-errors", c.name, FIVE_HUNDREDS) for c in components),
        request={
            **ONE_WAVE,
            "rollout": "fleet",
            "targets": [{"component": "chat-en"}, {"prefix": "embed-"}, {"tag": {"fleet": "search"}}],
            "waves": [1, "25%", "100%"],
        },
        settings=PACE,
    )


SCENARIOS = {make().name: make for make in (single_gpu, bad_api, full_endpoint, make_room, fleet)}
