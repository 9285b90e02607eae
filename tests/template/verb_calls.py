"""Every verb on a rollout in each of its phases, and what each end leads to."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from pointsman.aws.rollout_index import item_key
from pointsman.aws.rollout_table import DynamoRolloutTable
from pointsman.errors import Gone
from pointsman.rollout_inbound import Verb
from pointsman.rollouts.phase import Phase
from pointsman_emulator import Emulator, Stack
from tests.template.calls import Recorder
from tests.template.rollout_calls import Hours

# The last two turn a rollout; of one that has ended, they begin others.
VERBS: dict[Verb, dict[str, Any]] = {
    Verb.PAUSE: {},
    Verb.RESUME: {},
    Verb.APPROVE: {"wave": 1},
    Verb.WAIVE: {"hold": "inconclusive", "reason": "seen to"},
    Verb.ADOPT: {"component": "one", "reason": "seen to"},
    Verb.ABORT: {},
    Verb.RETRY: {},
    Verb.ROLLBACK: {},
}
LINKED = {Verb.RETRY: "again", Verb.ROLLBACK: "back"}


class Desk(Hours):
    """People who try every verb wherever a rollout is."""

    def __init__(self, aws: Emulator) -> None:
        super().__init__(aws)
        self._dynamodb, self._table = aws.client("dynamodb"), self.stack.outputs["ControlTable"]
        self.rollouts = DynamoRolloutTable(self._dynamodb, self._table)
        self.tried: set[tuple[Phase, Verb]] = set()

    def request(self, rollout: str, model: str) -> None:
        """Ask for a rollout of the component `one`, whose first pass is still to come."""
        asked = {"version": 1, "rollout": rollout, "targets": [{"component": "one"}], "change": {"model": model}}
        waits = {"wait": "1m", "bake": "5m", "final_bake": "5m", "waves": ["100%"]}
        guards = [{"alarm": "llm-errors"}]
        self.command(Verb.REQUEST, rollout, request={**asked, **waits, "guards": guards})

    def until(self, rollout: str, *phases: Phase) -> None:
        """Let time pass until the rollout is in one of these phases."""
        assert self.aws.run_until(lambda: self.phase(rollout) in phases, self.aws.now + 4 * 3600), self.phase(rollout)

    def phase(self, rollout: str) -> Phase:
        return self.rollouts.load(rollout).record.phase

    def age(self, rollout: str, days: float) -> None:
        """Let a rollout have ended so long ago."""
        self._dynamodb.update_item(
            TableName=self._table,
            Key=item_key(rollout),
            UpdateExpression="SET next_wake_at = next_wake_at - :age",
            ExpressionAttributeValues={":age": {"N": str(days * 86400)}},
        )

    def every_verb(self, rollout: str, phase: Phase) -> None:
        """Each verb on the rollout as it is; what one does to an open one is undone before the next."""
        assert self.phase(rollout) is phase
        for verb, more in VERBS.items():
            self.tried.add((phase, verb))
            if phase.terminal:
                linked = {"new_rollout": f"{rollout}-{LINKED[verb]}"} if verb in LINKED else {}
                self.command(verb, rollout, **more, **linked)
            else:
                with self._undone():
                    self.command(verb, rollout, **more)

    @contextmanager
    def _undone(self) -> Iterator[None]:
        before = self._items()
        yield
        after = self._items()
        for key, item in after.items():
            if key not in before:
                self._dynamodb.delete_item(TableName=self._table, Key={name: item[name] for name in ("pk", "sk")})
        for key, item in before.items():
            if after.get(key) != item:
                self._dynamodb.put_item(TableName=self._table, Item=item)

    def _items(self) -> dict[tuple[str, str], Any]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table)
        return {(item["pk"]["S"], item["sk"]["S"]): item for page in pages for item in page["Items"]}


ENDS = [phase for phase in Phase if phase.terminal]


def play(aws: Emulator, recorder: Recorder) -> Stack:
    """Every verb in every phase."""
    recorder.scenario = "every verb"
    desk = Desk(aws)
    recorder.machine = desk.stack.outputs["RolloutStateMachine"]
    desk.command(Verb.PAUSE, "nobody-knows-it")
    refused(desk)
    succeeds(desk)
    stopped(desk)
    taken_back_in_part(desk)
    desk.age("given-up", days=2)
    desk.go_on(2)
    assert desk.tried == set(product(Phase, VERBS))
    assert set(VERBS) == set(Verb) - {Verb.REQUEST}
    return desk.stack


def refused(desk: Desk) -> None:
    desk.request("given-up", "v2")
    desk.every_verb("given-up", Phase.PLANNED)
    desk.command(Verb.ABORT, "given-up")
    desk.every_verb("given-up", Phase.REJECTED)
    desk.go_on(2)


def succeeds(desk: Desk) -> None:
    """To the new version, and back by linked rollouts."""
    desk.request("good", "v2")
    desk.aws.fail_next("cloudwatch", "PutMetricAlarm", "Throttling", times=3)
    for phase in (Phase.PREFLIGHT, Phase.RUNNING, Phase.FINAL_BAKE, Phase.SUCCEEDED):
        desk.until("good", phase)
        desk.every_verb("good", phase)
    desk.every_verb("good-back", Phase.ROLLING_BACK)
    desk.until("good-back", Phase.ROLLED_BACK)
    desk.every_verb("good-back", Phase.ROLLED_BACK)
    desk.until("good-back-back", *ENDS)
    desk.until("good-back-again", *ENDS)


def stopped(desk: Desk) -> None:
    desk.request("halted", "v2")
    desk.aws.fail_next("sagemaker", "UpdateInferenceComponentRuntimeConfig", "ValidationException")
    desk.until("halted", Phase.RUNNING)
    desk.go_on(3)
    desk.command(Verb.ABORT, "halted")
    desk.every_verb("halted", Phase.STOPPING)
    desk.until("halted", Phase.STOPPED)
    desk.every_verb("halted", Phase.STOPPED)
    for linked in ("halted-again", "halted-back"):
        with_end(desk, linked)


def taken_back_in_part(desk: Desk) -> None:
    """Someone else changes a component in the middle of a rollout, which is then taken back."""
    desk.request("odd", "v1")
    desk.until("odd", Phase.FINAL_BAKE)
    desk.go_on(3)
    compute = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 8_192}
    desk.aws.client("sagemaker").update_inference_component(
        InferenceComponentName="one",
        Specification={"ModelName": "v2", "ComputeResourceRequirements": compute},
    )
    desk.go_on(20)
    desk.command(Verb.ROLLBACK, "odd")
    desk.until("odd", Phase.ROLLBACK_INCOMPLETE)
    desk.every_verb("odd", Phase.ROLLBACK_INCOMPLETE)
    for linked in ("odd-again", "odd-back"):
        with_end(desk, linked)


def with_end(desk: Desk, rollout: str) -> None:
    """Until a linked rollout has ended, where it was begun."""
    try:
        desk.until(rollout, *ENDS)
    except Gone:
        return
