"""What a pass over a long queue reads: a twentieth of the longest queue, and so a twentieth of what that may cost."""

import math
from typing import Any

import pytest

from bench.load import Load
from bench.observing import observing
from pointsman.queues.kinds import QueueKind

PART = 20
JOBS, PAGES, READ_UNITS = 100_000 // PART, math.ceil(25 / PART), 3_000 // PART


@pytest.mark.parametrize(
    "kind, shares",
    [(QueueKind.FAIR_SHARE, 1), (QueueKind.FAIR_SHARE, 10), (QueueKind.QUOTA_SHARE, 10)],
    ids=["fair share", "ten shares", "quota shares"],
)
def test_a_pass_reads_no_more_of_the_index_than_was_promised(kind: QueueKind, shares: int) -> None:
    told: dict[str, Any] = observing(Load(JOBS, 200, kind, shares))
    assert told["waiting"] == JOBS
    assert told["pages"] <= PAGES
    assert told["read_units"] <= READ_UNITS
    assert (told["described"], told["listed"]) == (0, 0)  # what agrees with the snapshot is asked for nothing more
