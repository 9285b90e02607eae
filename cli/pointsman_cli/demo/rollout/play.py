"""Plays a scenario to its end, and tells what came of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pointsman.errors import Gone
from pointsman.rollout_documents import parse_request
from pointsman.rollout_ports import StoredRollout
from pointsman.rollouts.phase import switch_name
from pointsman.rollouts.plan import Plan
from pointsman.rollouts.planner import make_plan
from pointsman_cli.demo.rollout.deployed import Deployed, deploy
from pointsman_cli.demo.rollout.executions import executions
from pointsman_cli.demo.rollout.result import Left, Moment, Result, told
from pointsman_cli.demo.rollout.scenario import Scenario
from pointsman_cli.demo.rollout.world import START, build
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.faults import Faults
from pointsman_emulator.models.inference import Counts

LOOK = 60.0  # seconds between two looks at the record
AFTER = 900.0  # seconds that the world goes on after the rollout's end, to see that it serves

Progress = Callable[[str], None]
"""Told where the rollout is, now and then."""


def play(scenario: Scenario, progress: Progress, *, history: bool = False) -> Result:
    """The scenario from the request to some time after its end; with `history`, its executions' histories too."""
    with staged(scenario) as stage:
        stage.ask()
        ended = stage.aws.run_until(lambda: stage.ended(progress), stage.began + scenario.limit)
        stage.aws.run_for(AFTER)
        result = stage.result(faults=() if ended else ("it did not end in time",))
        if not history:
            return result
        return replace(result, executions=executions(stage.aws, stage.deployed.stack.outputs["RolloutStateMachine"]))


def planned(scenario: Scenario) -> Plan:
    """What the rollout would do in the scenario's world."""
    with staged(scenario) as stage:
        request = parse_request(dict(scenario.request))
        return make_plan(request, stage.deployed.observer.survey(request), stage.aws.now)


@contextmanager
def staged(scenario: Scenario) -> Iterator["Stage"]:
    """Pointsman, and the scenario's world beside it, just before the request."""
    faults = Faults(deliver=scenario.events)
    with Emulator(scenario.seed, START, inference=scenario.settings, faults=faults) as aws:
        deployed = deploy(aws)
        build(aws, scenario)
        yield Stage(aws, scenario, deployed)


@dataclass
class Stage:
    """One world with a rollout in it, and what is seen of it on the way."""

    aws: Emulator
    scenario: Scenario
    deployed: Deployed
    seen: list[Moment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = self.aws.now
        self.before = self._counts()
        self.instances = self._instances()
        self.aws.watch(self._alarm)
        self._alarms = {alarm.name for alarm in self.scenario.alarms}
        self._alarms.add(switch_name(str(self.scenario.request["rollout"]), self.deployed.stack.name))
        self._looked = 0.0

    def ask(self) -> None:
        """Ask for the rollout by an event; where none is delivered, by invoking the function."""
        document = dict(self.scenario.request)
        if self.scenario.events:
            self.deployed.ask(document)
        else:
            self.deployed.command(verb="request", caller="demo", request=document)

    def ended(self, progress: Progress) -> bool:
        """Whether the rollout has ended; notes what it passes by."""
        for name, count in self._instances().items():
            if count != self.instances[name]:
                self.seen.append(
                    Moment(self.aws.now, "instances", f"{name} has {count} instances, before {self.instances[name]}.")
                )
                self.instances[name] = count
        if self.aws.now < self._looked + LOOK:
            return False
        self._looked = self.aws.now
        try:
            record = self.stored.record
        except Gone:
            return False  # the event is on its way
        progress(f"{(self.aws.now - self.began) / 60:5.0f} min, {record.phase.value}")
        return record.phase.terminal

    @property
    def stored(self) -> StoredRollout:
        """The rollout as stored."""
        return self.deployed.table.load(str(self.scenario.request["rollout"]))

    def result(self, faults: tuple[str, ...]) -> Result:
        """What came of it."""
        stored = self.stored
        model, after = self.aws.inference_model, self._counts()
        named = [m.name for m in stored.plan.members] if stored.plan else []
        moved = [model.components[name] for name in named]
        lines = [*told(self.deployed.table.journal(stored.record.rollout)), *self.seen, *self._deeds()]
        return Result(
            scenario=self.scenario.name,
            outcome=stored.record.phase.value,
            cause=stored.record.cause,
            lowest_serving=sum(component.lowest_serving or 0 for component in moved),
            wanted_copies=sum(component.desired for component in moved),
            requests=sum(after[name].requests - counts.requests for name, counts in self.before.items()),
            failed=sum(after[name].failed - counts.failed for name, counts in self.before.items()),
            lost=sum(after[name].lost - counts.lost for name, counts in self.before.items()),
            passes=stored.passes,
            started=self.began,
            timeline=tuple(sorted(lines, key=lambda line: line.at)),
            left=tuple(Left(it.name, it.spec.model or "", it.current) for it in model.components.values()),
            faults=(*faults, *self.deployed.faults()),
        )

    def _counts(self) -> dict[str, Counts]:
        model = self.aws.inference_model
        counts = {component.name: model.counts(component.name) for component in self.scenario.with_traffic}
        return {name: Counts(it.requests, it.failed, it.lost) for name, it in counts.items()}

    def _instances(self) -> dict[str, int]:
        model = self.aws.inference_model
        return {
            endpoint.name: sum(variant.current for variant in model.endpoints[endpoint.name].variants.values())
            for endpoint in self.scenario.endpoints
        }

    def _deeds(self) -> Iterator[Moment]:
        """What SageMaker did, as the model behind it knows."""
        for name, component in self.aws.inference_model.components.items():
            for at, what in component.log:
                if at >= self.began:
                    yield Moment(at, "sagemaker", f"{name}: {what}")

    def _alarm(self, event: Mapping[str, Any]) -> None:
        if event["detail-type"] == "CloudWatch Alarm State Change":
            name, state = event["detail"]["alarmName"], event["detail"]["state"]["value"]
            if name in self._alarms:
                self.seen.append(Moment(self.aws.now, "alarm_state", f"{name} is {state}."))
