"""Asking for a pass over a queue at once."""

from dataclasses import replace

from pointsman.errors import Conflict, Transient
from pointsman.ports import JobTable

TRIES = 5  # to make a wake record due while others write it


def make_due(jobs: JobTable, queue: str, now: float) -> tuple[bool, str]:
    """Ask for a pass at once. A pass that is running is not disturbed: it would lose its lease."""
    try:
        for _ in range(TRIES):
            record = jobs.queue(queue)
            if record.lease_until > now:
                return False, "a pass is running, the next one goes by it"
            try:
                jobs.save_queue(replace(record, next_wake_at=now))
            except Conflict:
                continue
            return True, "the next pass is due now"
    except Transient as error:
        return False, f"the next pass comes by itself (it could not be made due now: {error})"
    return False, "the next pass comes by itself"
