"""The values of the inference model: settings, room, what a copy runs, and what an observer is told.

`API:X` names the shape or operation X of SageMaker's API model, `SM:page` a page of the SageMaker developer guide, `AWS
sample` a notebook of AWS, `observed` a report of someone who ran it. What none of them says is a setting here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

IN_SERVICE, CREATING, UPDATING, FAILED, DELETING = "InService", "Creating", "Updating", "Failed", "Deleting"
"""The five states of a component; there is no other (API:InferenceComponentStatus)."""

Seconds = float | tuple[float, float]
"""A number of seconds, or (least, most), uniform."""

EPSILON = 1e-9
NAME = re.compile("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
LONGEST_ENVIRONMENT = 16
"""API:EnvironmentMap allows 100, its text and CloudFormation 16."""


class InferenceRefusedError(Exception):
    """The service refuses a request. `code` is the error code that a client sees."""

    def __init__(self, message: str, code: str = "ValidationException") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Room:
    """What an instance has, or a copy reserves: whole accelerators, cores, and MB of memory."""

    accelerators: float = 0.0
    cores: float = 0.0
    memory: float = 0.0

    def holds(self, other: Room) -> bool:
        """Whether something of that size fits in here."""
        return (
            other.accelerators <= self.accelerators + EPSILON
            and other.cores <= self.cores + EPSILON
            and other.memory <= self.memory + EPSILON
        )

    def less(self, other: Room) -> Room:
        """What is left."""
        return Room(self.accelerators - other.accelerators, self.cores - other.cores, self.memory - other.memory)

    def plus(self, other: Room) -> Room:
        """The sum."""
        return Room(self.accelerators + other.accelerators, self.cores + other.cores, self.memory + other.memory)


def check_name(kind: str, name: str) -> None:
    """Refuse a name that the API's pattern refuses."""
    if not NAME.fullmatch(name):
        raise InferenceRefusedError(
            f"1 validation error detected: Value '{name}' at '{kind}' failed to satisfy constraint: "
            f"Member must satisfy regular expression pattern: {NAME.pattern}"
        )


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How good a spec is; read from the container's environment, for the emulator only.

    EMULATED_BEHAVIOUR: starts, does-not-start (crashes until the startup timeout), no-artifact (fails at once), 4xx,
    5xx, slow, or fails-after:SECONDS (5xx from then on). EMULATED_RATE: how many of the requests suffer, from 0 to 1.
    EMULATED_START_SECONDS and EMULATED_LATENCY: the times of a copy's start and of one request.
    """

    kind: str = "starts"
    rate: float = 1.0
    after: float = 0.0
    start_seconds: float | None = None
    latency: float | None = None


KINDS = frozenset({"starts", "does-not-start", "no-artifact", "4xx", "5xx", "slow", "fails-after"})


def behaviour_of(environment: Mapping[str, str]) -> Behaviour:
    """The behaviour that an environment asks for."""
    kind, _, after = environment.get("EMULATED_BEHAVIOUR", "starts").partition(":")
    if kind not in KINDS:
        raise InferenceRefusedError(f"EMULATED_BEHAVIOUR is one of {', '.join(sorted(KINDS))}, not {kind}")
    start, latency = environment.get("EMULATED_START_SECONDS"), environment.get("EMULATED_LATENCY")
    return Behaviour(
        kind,
        float(environment.get("EMULATED_RATE", "1")),
        float(after or 0),
        None if start is None else float(start),
        None if latency is None else float(latency),
    )


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    """Every choice that the documentation leaves open, and the pace of the world around SageMaker."""

    # The pace

    instance_launch: Seconds = 300.0
    """From the wish for an instance until it takes copies; about 10 minutes with the model's load (AWS sample)."""
    instance_release: Seconds = 600.0
    """How long an idle instance stays: 5, 10 and 12 minutes were seen (AWS samples)."""
    release_seconds: Seconds = 60.0
    """How long the endpoint is Updating while an instance goes: Current and Desired may agree already (AWS sample)."""
    copy_start: Seconds = 240.0
    copy_stop: Seconds = 30.0
    """How long a copy that gets no more requests may finish those it has."""
    adapter_seconds: Seconds = 300.0
    """An adapter's update; about 5 minutes (AWS sample)."""
    failed_artifact: Seconds = 0.0
    """Until a missing artifact is found: so soon that nobody sees Updating (observed), or later."""
    startup_timeout: float = 600.0
    """ContainerStartupHealthCheckTimeoutInSeconds where the spec has none."""
    describe_lag: float = 0.0
    """Describe shows a component as it was so many seconds ago: Updating is not always seen on the first poll."""

    # Capacity

    schedulable_memory: float = 0.8
    """The part of an instance's memory that copies can reserve; under a quarter of 16 GiB was seen (observed)."""
    instances: Mapping[str, int] = field(default_factory=dict)
    """How many instances of a type there are in all; a type that is not named is never short."""
    reservations: Mapping[str, int] = field(default_factory=dict)
    """How many instances a reservation holds, by its ARN; a variant that names one has no others."""
    launch_failures: float = 0.0
    """Chance that a launch ends in insufficient capacity."""
    shortage_patience: float = 0.0
    """How long copies wait for room before they are given up: 0 at once (observed), or until the timeout."""
    short_scaling: Literal["keep", "revert"] = "keep"
    """DesiredCopyCount after a scaling that found no room: as asked, or back to what runs."""
    zero_instances: Literal["accept", "refuse"] = "accept"
    """MinInstanceCount 0: both were seen, by region (observed)."""

    # Updates

    batch_rule: Literal["enforce", "clamp"] = "enforce"
    """MaximumBatchSize outside of 5..50 % (API:InferenceComponentRollingUpdatePolicy): refused, or cut."""
    single_copy: Literal["refuse", "round-up", "plain"] = "refuse"
    """One copy has no batch of 50 %: refused, a batch of one, or as without a DeploymentConfig."""
    zero_copies: Literal["accept", "refuse"] = "accept"
    """A batch of a component of no copies, of which nothing is 5..50 %."""
    percent_rounding: Literal["up", "down"] = "down"
    """Copies of a CAPACITY_PERCENT; never less than one."""
    plain_update: Literal["blue-green", "in-place"] = "blue-green"
    """Without a DeploymentConfig: all new copies beside the old ones (AWS sample), or after them."""
    order: Literal["surge", "drain-first"] = "surge"
    """drain-first is no SageMaker: the control that must lose requests."""
    alarm_at_start: Literal["rollback", "refuse", "ignore"] = "rollback"
    """An alarm in ALARM when the update begins; ignored until it has been OK."""
    alarm_insufficient: Literal["tolerate", "rollback"] = "tolerate"
    alarm_missing: Literal["refuse", "inert"] = "inert"
    """An alarm that does not exist. One that the endpoint's role may not read is inert (SM:deployment-guardrails)."""
    alarms_watched: Literal["bake", "always"] = "bake"
    alarm_poll: float = 15.0
    default_timeout: float | None = 28800.0
    """MaximumExecutionTimeoutInSeconds where the update names none; None: never."""
    after_timeout: Literal["rollback", "failed"] = "rollback"
    """An update that took too long: taken back, or left where it is, Failed."""
    rollback_room: Literal["replace", "surge"] = "replace"
    """Old copies that find no room: new ones go first, or the rollback fails."""
    failed_rollback: Literal["failed", "in-service"] = "failed"
    """The end of a rollback that could not restore every copy."""

    # What is shown

    spec_while_updating: Literal["old", "new"] = "old"
    config_recorded: Literal["accepted", "finished"] = "accepted"
    """When LastDeploymentConfig changes."""
    config_after_rollback: Literal["kept", "restored"] = "kept"
    modified_when_accepted: bool = True
    """LastModifiedTime moves at the end (AWS sample), and perhaps when the request is taken."""
    reason_after_success: Literal["sticky", "cleared"] = "sticky"
    """FailureReason stays after a later success (AWS's own tests)."""
    reason_on_rollback: Literal["text", "blank"] = "text"
    alarm_text: str = "The update was rolled back because alarm {alarm} is in ALARM."
    timeout_text: str = "The update was rolled back because it took longer than {seconds:.0f} seconds."
    startup_text: str = "The container for {name} did not pass the ping health check. Please check CloudWatch logs."
    """SageMaker's own words for these three are not known."""

    # Requests

    partial_spec: Literal["merge", "replace"] = "merge"
    """A Specification that lacks members: they stay, or go."""
    busy_code: str = "ValidationException"
    update_of_failed: Literal["refuse", "accept"] = "refuse"
    writes_while_endpoint_updates: Literal["accept", "refuse"] = "accept"
    parallel_updates: Literal["accept", "refuse"] = "accept"
    """Updates of two components of one endpoint at once."""
    endpoint_delete: Literal["refuse", "orphan"] = "refuse"
    """Deleting an endpoint that has components: both were seen (AWS sample, observed)."""
    adapter_config: Literal["refuse", "ignore"] = "ignore"
    """A DeploymentConfig for an adapter, which has no copies of its own."""
    calls_per_second: float | None = None
    """Rate of each operation, beyond it ThrottlingException; None: unlimited."""

    # Serving

    latency: float = 0.5
    slow_factor: float = 20.0
    concurrency: int = 4
    """Requests that a copy works on at once."""
    backlog: int = 8
    """Requests that wait at a copy; the next ones are turned away."""
    metric_lag: float = 0.0
    """Seconds from a minute's end until its metrics are there."""
    scale_in_minutes: int = 15
    """How long fewer copies must do before auto scaling takes some out (AWS sample: 90 points of 10 s)."""
    simulate_principal: Literal["answer", "refuse"] = "answer"
    """iam:SimulatePrincipalPolicy: answered from the policies, or AccessDenied."""


class InferenceChange(NamedTuple):
    """What the model tells its listener: an endpoint or a component took a status."""

    kind: Literal["endpoint", "component"]
    at: float
    name: str
    status: str


class MetricValue(NamedTuple):
    """One minute of one metric: its statistics, as CloudWatch takes them."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    at: float
    total: float
    samples: float
    low: float
    high: float
    unit: str


Document = Mapping[str, Any]
"""A structure in the API's own spelling."""


@dataclass(frozen=True, slots=True, eq=False)
class Spec:
    """A specification, or one for each instance type, and what follows from it."""

    document: Document
    """The specification, or the first of several."""
    behaviour: Behaviour
    startup_timeout: float
    needs: Mapping[str | None, Room]
    """What a copy takes, by instance type; None: on every type."""
    binpack: bool = False
    several: tuple[Document, ...] = ()
    """The specifications, where there is one for each instance type."""

    def needs_on(self, instance_type: str) -> Room | None:
        """What a copy takes on an instance of a type; None: it does not run there."""
        return self.needs.get(instance_type, self.needs.get(None))

    @property
    def model(self) -> str | None:
        """The model that it names."""
        return self.document.get("ModelName")

    @property
    def runs(self) -> str:
        """What it runs: its model, or its image."""
        return str(self.model or (self.document.get("Container") or {}).get("Image", ""))

    @property
    def base(self) -> str | None:
        """The component that it adapts."""
        return self.document.get("BaseInferenceComponentName")


def spec_of(
    document: Document, models: Mapping[str, Document], default_timeout: float, several: tuple[Document, ...] = ()
) -> Spec:
    """What a specification means; a model that does not exist is refused. Of several, the first says how good it is."""
    for each in several or (document,):
        model = each.get("ModelName")
        if model is not None and model not in models:
            raise InferenceRefusedError(f'Could not find model "{model}".')
    environment: dict[str, str] = {}
    model = document.get("ModelName")
    if model is not None:
        for container in (models[model].get("PrimaryContainer"), *(models[model].get("Containers") or ())):
            environment.update((container or {}).get("Environment") or {})
    own = (document.get("Container") or {}).get("Environment") or {}
    if len(own) > LONGEST_ENVIRONMENT:
        raise InferenceRefusedError(f"Environment must have at most {LONGEST_ENVIRONMENT} entries, not {len(own)}.")
    environment.update(own)
    startup = document.get("StartupParameters") or {}
    scheduling = document.get("SchedulingConfig") or {}
    return Spec(
        document,
        behaviour_of(environment),
        float(startup.get("ContainerStartupHealthCheckTimeoutInSeconds", default_timeout)),
        {each.get("InstanceType"): _needs(each) for each in several or (document,)},
        scheduling.get("PlacementStrategy") == "BINPACK",
        several,
    )


def _needs(document: Document) -> Room:
    needs = document.get("ComputeResourceRequirements") or {}
    return Room(
        float(needs.get("NumberOfAcceleratorDevicesRequired", 0)),
        float(needs.get("NumberOfCpuCoresRequired", 0)),
        float(needs.get("MinMemoryRequiredInMb", 0)),
    )
