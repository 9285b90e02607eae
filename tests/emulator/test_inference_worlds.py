"""Random worlds under random settings: what holds in every one of them."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest

from pointsman_emulator.models.inference import (
    CopyState,
    InferenceModel,
    InferenceRefusedError,
    InferenceSettings,
    Room,
)
from tests.emulator.components import (
    BEHAVIOURS,
    SIZES,
    Fleet,
    component_request,
    config_request,
    model_request,
    rolling,
)

CHOICES: dict[str, tuple[Any, ...]] = {
    "instance_launch": (0.0, 300.0, (60.0, 900.0)),
    "copy_start": (0.0, 240.0, (30.0, 600.0)),
    "copy_stop": (0.0, 30.0),
    "failed_artifact": (0.0, 60.0),
    "launch_failures": (0.0, 0.3),
    "shortage_patience": (0.0, 600.0, float("inf")),
    "short_scaling": ("keep", "revert"),
    "batch_rule": ("enforce", "clamp"),
    "single_copy": ("refuse", "round-up", "plain"),
    "percent_rounding": ("up", "down"),
    "plain_update": ("blue-green", "in-place"),
    "alarm_at_start": ("rollback", "refuse", "ignore"),
    "alarms_watched": ("bake", "always"),
    "default_timeout": (1800.0, 28800.0),
    "after_timeout": ("rollback", "failed"),
    "zero_copies": ("accept", "refuse"),
    "rollback_room": ("replace", "surge"),
    "failed_rollback": ("failed", "in-service"),
    "describe_lag": (0.0, 30.0),
    "update_of_failed": ("refuse", "accept"),
    "parallel_updates": ("accept", "refuse"),
    "writes_while_endpoint_updates": ("accept", "refuse"),
}


class World:
    """Two components on one endpoint, and someone who does this and that."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.alarm = "OK"
        settings = InferenceSettings(**{name: self.random.choice(values) for name, values in CHOICES.items()})
        self.model = InferenceModel(settings, seed, sizes=SIZES.__getitem__, alarm_state=lambda *_: self.alarm)
        for name in BEHAVIOURS:
            self.model.create_model(model_request(name))
        kind = self.random.choice(sorted(SIZES))
        most = self.random.choice((None, 4, 6))
        self.model.create_config(config_request(3, most, least=self.random.choice((1, 3)), kind=kind))
        self.model.create_endpoint({"EndpointName": "chat", "EndpointConfigName": "config"})
        for name in ("llm", "embed"):
            self.attempt(lambda it=name: self.model.create_component(component_request(it, self.random.randint(1, 3))))

    def attempt(self, action: Any) -> None:
        with suppress(InferenceRefusedError):
            action()

    def act(self) -> None:
        draw, model = self.random, self.model
        name = draw.choice(("llm", "embed"))
        match draw.randrange(7):
            case 0 | 1:
                request = component_request(name, 1, draw.choice(sorted(BEHAVIOURS)))
                del request["EndpointName"], request["VariantName"]
                if draw.random() < 0.7:
                    del request["RuntimeConfig"]
                if draw.random() < 0.8:
                    request["DeploymentConfig"] = rolling(
                        1, draw.choice((0, 120, 600)), "bad", back=draw.choice((None, 1))
                    )
                self.attempt(lambda: model.update_component(request))
            case 2:
                self.attempt(lambda: model.update_runtime(name, draw.randint(0, 6)))
            case 3:
                self.alarm = draw.choice(("OK", "ALARM", "INSUFFICIENT_DATA"))
            case 4:
                self.attempt(lambda: model.delete_component(name))
            case 5:
                self.attempt(lambda: model.create_component(component_request(name, draw.randint(1, 3))))

            case 6:
                self.attempt(lambda: model.system_update("chat", draw.choice((60, 900))))

    def check(self) -> None:
        for endpoint in self.model.endpoints.values():
            variant = endpoint.variants["all"]
            assert sum(stock.used for stock in self.model.stocks.values()) == len(variant.instances)
            for instance in variant.instances:
                taken = Room()
                for copy in instance.copies:
                    assert copy.instance is instance
                    assert copy.state is not CopyState.GONE
                    taken = taken.plus(instance.needs_of(copy.spec))
                assert instance.pool.size.holds(taken)
                assert instance.free.accelerators == pytest.approx(instance.pool.size.accelerators - taken.accelerators)
                if not instance.ready:
                    assert all(copy.state is CopyState.WAITING for copy in instance.copies)
            if variant.managed:
                assert sum(not it.leaving for it in variant.instances) <= max(variant.maximum, variant.initial)
            assert (endpoint.status == "InService") is (endpoint.busy == 0)
            assert all(copy.state is CopyState.WAITING and copy.instance is None for copy in endpoint.waiting)
        for component in self.model.components.values():
            assert (component.internal is None) is (component.change is None)
            assert (component.status in ("InService", "Failed")) is (component.change is None)
            for copy in component.copies:
                assert copy in component.endpoint.waiting or copy.instance is not None
            if component.settled:
                assert component.current <= component.desired


def lived(seed: int, steps: int = 25) -> World:
    world = World(seed)
    for _ in range(steps):
        world.act()
        world.model.advance(world.model.now + world.random.choice((1, 60, 400, 3000)))
        world.check()
    return world


@pytest.mark.parametrize("block", range(4))
def test_no_world_overbooks_an_instance_or_forgets_what_it_is_doing(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        lived(seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_seed_lives_the_same_life_twice(seed: int) -> None:
    def told(world: World) -> list[tuple[float, str]]:
        return [line for name in sorted(world.model.components) for line in world.model.components[name].log]

    assert told(lived(seed)) == told(lived(seed))


def test_every_world_comes_to_rest() -> None:
    for seed in range(60):
        world = lived(seed)
        world.alarm = "OK"
        world.model.advance(world.model.now + 100_000)
        world.check()
        for component in world.model.components.values():
            waits = world.model.settings.shortage_patience == float("inf") and component.endpoint.waiting
            assert component.change is None or waits


def test_where_there_is_room_no_roll_and_no_way_back_takes_a_copy_or_a_request_away() -> None:
    for seed in range(15):
        draw = Random(seed)
        copies = draw.randint(2, 6)
        fleet = Fleet(copies=copies, initial=copies, most=2 * copies, alarms_watched=draw.choice(("bake", "always")))
        fleet.alarms["bad"] = "OK"
        fleet.model.start_traffic("llm", 0.5 * copies)
        for _ in range(4):
            model, back = draw.choice(("old", "new", "crashing")), draw.choice((None, 1, 2))
            fleet.update(model, rolling(draw.randint(1, copies // 2), draw.choice((0, 200)), "bad", back=back))
            fleet.run(draw.uniform(0, 2000))
            fleet.alarms["bad"] = "ALARM"
            fleet.run(60)
            fleet.alarms["bad"] = "OK"
            while not fleet.llm.settled:
                fleet.run(60)
        assert fleet.llm.current == fleet.llm.lowest_serving == copies
        counts = fleet.model.counts("llm")
        assert counts.requests > 1000
        assert counts.lost == counts.failed == 0
