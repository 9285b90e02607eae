"""All that a few worlds decided, as it is logged and stored: `python -m tests.proof.same_bytes` prints it.

The order of a set or of a hash must not show in it, so that every process prints the same, whatever its hash seed.
"""

import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from aws_lambda_powertools import Logger

from pointsman.aws import control_table, job_items
from pointsman.aws.job_table import DynamoJobTable
from pointsman.aws.rollout_items import written
from pointsman.aws.stored_values import pack
from pointsman.decision_log import PowertoolsLog
from pointsman.loops import rollout
from pointsman.rollout_log import PowertoolsRolloutLog
from pointsman.rollout_log_ports import RolloutPass
from pointsman.rollouts.decision import Decision
from tests.proof.queues.loop import play
from tests.proof.rollouts.profiles import drawn
from tests.proof.rollouts.world import World
from tests.unit.loops.world import QUEUE

QUEUES = ((1, "one-share"), (2, "shares"), (1, "levels"), (4, "lending"), (5, "people"))
ROLLOUTS = ((1, "calm"), (1, "lost replies"), (2, "crowded"), (3, "bad version"))


def logged(tell: Callable[[Logger], None], name: str) -> Iterator[str]:
    """The lines that are logged, but for when and where in the code."""
    stream = io.StringIO()
    with mock.patch("pointsman.decision_log.measure"), mock.patch("pointsman.rollout_log.measure"):
        tell(Logger(service=name, stream=stream))
    for line in stream.getvalue().splitlines():
        told = json.loads(line)
        yield json.dumps({key: value for key, value in told.items() if key not in {"timestamp", "location"}})


class Kept:
    """A client of DynamoDB that keeps what is put."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []

    def put_item(self, **request: Any) -> None:
        self.items.append(request["Item"])


def queue(seed: int, profile: str) -> Iterator[str]:
    """The decisions of a queue's world as they are logged, and what it stored of them."""
    world = play(seed, profile)

    def tell(logger: Logger) -> None:
        for _, report in world.truth.reports:
            PowertoolsLog(logger).passed(report)

    yield from logged(tell, f"queue {seed} {profile}")
    kept = Kept()
    for record in world.jobs.queues.values():
        DynamoJobTable(kept, "jobs").save_queue(record)
    items = [*kept.items, *map(job_items.encode, world.jobs.jobs.values())]
    items += map(control_table._line, world.control.moves(QUEUE, 0.0, 10_000))
    yield from map(json.dumps, items)


def fleet(seed: int, profile: str) -> Iterator[str]:
    """The decisions of a rollout's world: the record, the journal's line, the acts and the notices of each."""
    decisions: list[Decision] = []
    decide = rollout.decide

    def kept(*seen: Any) -> Decision:
        decisions.append(decide(*seen))
        return decisions[-1]

    with mock.patch.object(rollout, "decide", kept):
        World(drawn(seed, profile)).run()

    def tell(logger: Logger) -> None:
        for decision in decisions:
            PowertoolsRolloutLog(logger).advanced(RolloutPass("r1", 1, decision, ("done",) * len(decision.acts)))

    yield from logged(tell, f"rollout {seed} {profile}")
    for decision in decisions:
        journal = decision.journal and {**pack(decision.journal)} if decision.journal else None
        acts = [[type(act).__name__, pack(act)] for act in decision.acts]
        yield json.dumps([written(decision.record), journal, acts, pack(decision.notices), decision.next_wake_at])


def main() -> None:
    """Print all of it."""
    for seed, profile in QUEUES:
        sys.stdout.writelines(f"{line}\n" for line in queue(seed, profile))
    for seed, profile in ROLLOUTS:
        sys.stdout.writelines(f"{line}\n" for line in fleet(seed, profile))


if __name__ == "__main__":
    main()
