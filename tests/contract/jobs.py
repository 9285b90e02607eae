"""Jobs for the tests of this folder."""

from typing import Any

from pointsman.queues.jobs import Detail, JobRecord, Status

T0 = 1_800_000_000.123
QUEUE = "search-training"


def job_id(number: int) -> str:
    """An id as Batch gives them."""
    return f"0a1b2c3d-4e5f-4a6b-8c7d-{number:012x}"


def job(number: int = 1, status: Status = Status.RUNNABLE, **fields: Any) -> JobRecord:
    """A described job of one instance, first seen."""
    detail = Detail(1, 8, "all", 0, {"team": "ranking", "purpose": "explore"})
    known = {"queue": QUEUE, "name": f"sweep-{number}", "at": T0 + 2, "created": T0, "detail": detail}
    return JobRecord(**{"job_id": job_id(number), "status": status, "submitted_priority": 0, **known, **fields})
