"""Plays a scenario: through the deployed stack on the embedded AWS, and under baselines on the same Batch model."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from pointsman.errors import UserMistake
from pointsman.ports import RecordedMove
from pointsman.queues.effects import Effect
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_cli.checkout import shipped
from pointsman_cli.demo.scenario import DAY, DEMO_SEED, QUEUE, SHARE, Scenario, demo_day
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.faults import Faults
from pointsman_emulator.models.batch import BatchModel, BatchSettings, ServiceJob
from pointsman_emulator.templates import TemplateError
from pointsman_emulator.wiring import WiringReport
from pointsman_simulator.traces import TraceJob

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
INSTANCE_TYPE = "ml.g5.xlarge"  # one GPU
METRIC_EVERY = 300.0
CALM, DRIFTING = 0.08, 0.31  # the ranker's prediction drift; the alarm's threshold lies between
LIMIT = 60 * DAY  # no day takes longer to drain

Progress = Callable[[float, int], None]
"""Told now and then: seconds into the day, and jobs that have ended."""


@dataclass(frozen=True, slots=True)
class JobTimes:
    """One job as it went; times are seconds after the day's start."""

    name: str
    job_class: str
    instances: int
    submitted: float
    held: float
    started: float
    stopped: float
    attempts: int
    succeeded: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """One decision, as the function logged it: when, and why instances stayed idle."""

    at: float
    idle: dict[str, int]
    backfills: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Played:
    """What one run left: every job's times, and under Pointsman its decisions and its calls."""

    name: str
    jobs: tuple[JobTimes, ...]
    unfinished: int
    passes: tuple[Pass, ...] = ()
    moves: tuple[RecordedMove, ...] = ()
    effects: tuple[Effect, ...] = ()
    alarm_events: tuple[dict[str, Any], ...] = ()
    calls: dict[str, int] = field(default_factory=dict)
    wiring: WiringReport | None = None
    dead_letters: int = 0
    failures: tuple[str, ...] = ()


def baseline(scenario: Scenario, name: str, *, skip: bool) -> Played:
    """The same day in a queue without a scheduling policy; with `skip`, a head that does not fit is passed over."""
    model = BatchModel(_settings(scenario, skip=skip), scenario.seed)
    start = START.timestamp()
    model.advance(start)
    model.add_environment("gpus", scenario.capacity)
    model.add_queue(QUEUE, "gpus")
    jobs = [
        (model.submit(QUEUE, job.name, job.instances, job.seconds, at=start + job.submit), job) for job in scenario.jobs
    ]
    model.advance(start + LIMIT)
    return _played(name, jobs, start)


@dataclass(slots=True)
class Stage:
    """The embedded AWS with Pointsman deployed and the day's submissions on their way."""

    scenario: Scenario
    aws: Emulator
    wiring: Wiring
    dead_letters_url: str
    submitted: list[tuple[str, TraceJob]] = field(default_factory=list)
    alarm_events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start(self) -> float:
        """Epoch seconds of the day's start."""
        return START.timestamp()

    def ended(self) -> int:
        """Jobs that have ended."""
        jobs = self.aws.batch_model.jobs
        return sum(jobs[job_id].finished for job_id, _ in self.submitted)

    def finish(self, progress: Progress) -> Played:
        """Play until every job has ended, and until the queue has been looked at once more."""
        step = 600.0
        while self.ended() < len(self.scenario.jobs) and self.aws.now < self.start + LIMIT:
            self.aws.run_for(step)
            progress(self.aws.now - self.start, self.ended())
        self.aws.run_for(step)
        return self._facts()

    def _facts(self) -> Played:
        jobs = self.aws.batch_model.jobs
        played = _played("pointsman", [(jobs[job_id], job) for job_id, job in self.submitted], self.start)
        control = self.wiring.control
        moves = tuple(reversed(control.moves(QUEUE, self.start, 10 * len(self.scenario.jobs) + 100)))
        passes = tuple(
            Pass(line["at"] - self.start, line["idle"], line["backfills"], line["waiting"])
            for line in self._lines()
            if line.get("message") == "decided"
        )
        operations = ("UpdateServiceJob", "DescribeServiceJob", "GetJobQueueSnapshot", "ListServiceJobs")
        return Played(
            name=played.name,
            jobs=played.jobs,
            unfinished=played.unfinished,
            passes=passes,
            moves=moves,
            effects=control.effects(QUEUE),
            alarm_events=tuple(self.alarm_events),
            calls={name: self.aws.count("batch", name) for name in operations},
            wiring=self.aws.wiring.check(),
            dead_letters=self._dead_letters(),
            failures=(
                *(f"{name}: {error!r}" for name, error in self.aws.failures),
                *(f"pass: {line['why']}" for line in self._lines() if line.get("message") == "pass failed"),
            ),
        )

    def _lines(self) -> list[dict[str, Any]]:
        return self.aws.logs.get("PrioritizeQueueFunction", [])

    def _dead_letters(self) -> int:
        answer = self.aws.client("sqs").get_queue_attributes(
            QueueUrl=self.dead_letters_url, AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])


@contextmanager
def opened(scenario: Scenario) -> Iterator[Stage]:
    """Deploy the template and the example queue, apply the policy, and let the day begin."""
    faults = Faults(deliver=scenario.events)
    with Emulator(scenario.seed, START, _settings(scenario, skip=False), faults) as aws:
        settings = _deployed(aws, scenario.template)
        aws.deploy(shipped("examples/batch.yaml"), "search", {"MaxInstances": str(scenario.capacity)})
        stage = Stage(scenario, aws, Wiring(settings), settings.dead_letters_url)
        aws.watch(lambda event: _keep_alarm(stage, event))
        stage.wiring.control.put_policy(QUEUE, json.dumps(scenario.document), aws.now, "demo")
        for job in scenario.jobs:
            aws.at(stage.start + job.submit, partial(_submit, stage, job))
        if scenario.drift is not None:
            _feed_drift(stage, scenario.drift)
        yield stage


def _deployed(aws: Emulator, template: Path) -> Settings:
    try:
        outputs = aws.deploy(template, "pointsman", {}).outputs
    except (TemplateError, OSError) as error:
        raise UserMistake(str(error), place="--template") from None
    names = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")
    if missing := [name for name in names if name not in outputs]:
        raise UserMistake(f"{template} has no output {', '.join(missing)}", place="--template")
    return Settings(*(outputs[name] for name in names))


@contextmanager
def played_to(seconds: float) -> Iterator[Wiring]:
    """The demo's day played to this many seconds after its start, to look at."""
    policy, template = shipped("examples/policy.yaml"), shipped("template.yaml")
    with opened(demo_day(DEMO_SEED, None, policy, 1.0, template)) as stage:
        stage.aws.run(stage.start + seconds)
        yield stage.wiring


def play(scenario: Scenario, progress: Progress) -> Played:
    """The day under Pointsman."""
    with opened(scenario) as stage:
        return stage.finish(progress)


def _settings(scenario: Scenario, *, skip: bool) -> BatchSettings:
    scheduled, starting = scenario.dwell
    return BatchSettings(head_of_line="skip" if skip else "strict", scheduled_dwell=scheduled, starting_dwell=starting)


def _submit(stage: Stage, job: TraceJob) -> None:
    payload = {
        "TrainingJobName": job.name[:23],
        "RoleArn": "arn:aws:iam::123456789012:role/training",
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://models/out"},
        "ResourceConfig": {"InstanceType": INSTANCE_TYPE, "InstanceCount": job.instances, "VolumeSizeInGB": 50},
        "StoppingCondition": {"MaxRuntimeInSeconds": 2419200},
        "Environment": {"EMULATED_SECONDS": str(job.seconds)},
    }
    answer = stage.aws.client("batch").submit_service_job(
        jobName=job.name,
        jobQueue=QUEUE,
        shareIdentifier=SHARE,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(payload),
        tags=job.tags,
    )
    stage.submitted.append((answer["jobId"], job))


def _keep_alarm(stage: Stage, event: Mapping[str, Any]) -> None:
    if event["detail-type"] == "CloudWatch Alarm State Change" and event["detail"]["state"]["value"] == "ALARM":
        stage.alarm_events.append(dict(event))


def _feed_drift(stage: Stage, drift: tuple[float, float]) -> None:
    begins, ends = drift

    def put() -> None:
        seconds = stage.aws.now - stage.start
        value = DRIFTING if begins <= seconds < ends else CALM
        stage.aws.put_metric("Search/Models", "PredictionDrift", value, Model="ranker")
        if stage.ended() < len(stage.scenario.jobs):
            stage.aws.at(stage.aws.now + METRIC_EVERY, put)

    stage.aws.at(stage.start, put)


def _played(name: str, jobs: list[tuple[ServiceJob, TraceJob]], start: float) -> Played:
    done = [(job, spec) for job, spec in jobs if job.started_at is not None and job.stopped_at is not None]
    return Played(
        name=name,
        jobs=tuple(
            JobTimes(
                name=job.name,
                job_class=spec.job_class,
                instances=job.instances,
                submitted=job.created_at - start,
                held=(job.scheduled_at or job.started_at or 0.0) - start,
                started=(job.started_at or 0.0) - start,
                stopped=(job.stopped_at or 0.0) - start,
                attempts=len(job.attempts),
                succeeded=job.status == "SUCCEEDED",
            )
            for job, spec in done
        ),
        unfinished=len(jobs) - len(done),
    )
