"""The classifier's table, row for row, and what counts as evidence that SageMaker took an attempt."""

import pytest

from pointsman.rollouts.classify import Accepted, Expected, Sent, Verdict, accepted, classify
from pointsman.rollouts.observations import Absent, Seen, Status
from tests.unit.rollouts.build import NEW, NOW, OLD, OTHER, attempt, component

RUNNING, OVER = NOW + 60, NOW - 60  # when the lease ends, for a read that begins at NOW
OURS, NO_SIGN = {"mark": 3601}, {"mark": 3600}
MOVED, REASON = {"modified": 11.0}, {"failure": "no capacity"}


def view(status: Status = Status.IN_SERVICE, **changes: object) -> Seen:
    return component(status=status, **changes)


TABLE = [
    ("an update with our mark is in flight", view(Status.UPDATING, **OURS), OVER, Verdict.IN_FLIGHT),
    (
        "an update without it is in flight, whose ever it is",
        view(Status.UPDATING, spec=NEW),
        RUNNING,
        Verdict.IN_FLIGHT,
    ),
    ("an update to something else is in flight", view(Status.UPDATING, spec=OTHER), RUNNING, Verdict.IN_FLIGHT),
    ("the new spec in service is applied, with our mark", view(spec=NEW, **OURS), RUNNING, Verdict.APPLIED),
    ("the new spec in service is applied, without a sign", view(spec=NEW), RUNNING, Verdict.APPLIED),
    ("the old spec with our mark was rolled back", view(**OURS), OVER, Verdict.ROLLED_BACK),
    ("it was rolled back though the lease runs", view(**OURS), RUNNING, Verdict.ROLLED_BACK),
    ("a new failure reason says it was rolled back", view(**NO_SIGN, **REASON), OVER, Verdict.ROLLED_BACK),
    ("a moved modification time says it was rolled back", view(**NO_SIGN, **MOVED), OVER, Verdict.ROLLED_BACK),
    ("a weak sign is not believed while the lease runs", view(**NO_SIGN, **MOVED), RUNNING, Verdict.UNKNOWN),
    ("the old spec without a sign after the lease was not applied", view(**NO_SIGN), OVER, Verdict.NOT_APPLIED),
    ("the old spec without a sign in the lease is unknown", view(**NO_SIGN), RUNNING, Verdict.UNKNOWN),
    ("a read that began as the lease ended proves nothing", view(**NO_SIGN), NOW, Verdict.UNKNOWN),
    ("another spec is drift", view(spec=OTHER, **OURS), OVER, Verdict.DRIFT),
    ("Failed is failed, on the old spec", view(Status.FAILED), OVER, Verdict.FAILED),
    ("Failed is failed, on the new spec", view(Status.FAILED, spec=NEW), RUNNING, Verdict.FAILED),
    ("a component that is gone is drift", Absent.NOT_FOUND, OVER, Verdict.DRIFT),
    ("a component that goes is drift", view(Status.DELETING), OVER, Verdict.DRIFT),
    ("what cannot be read is unknown", Absent.UNREADABLE, OVER, Verdict.UNKNOWN),
]


@pytest.mark.parametrize("seen,lease_until,verdict", [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_verdicts_on_an_attempt(seen: Seen, lease_until: float, verdict: Verdict) -> None:
    assert classify(seen, Expected(OLD.digest, NEW.digest), Sent(attempt(), lease_until), NOW) is verdict


BACKWARDS = [
    ("the old spec is applied", view(spec=OLD, **OURS), Verdict.APPLIED),
    ("the new spec with our mark was rolled back", view(spec=NEW, **OURS), Verdict.ROLLED_BACK),
    ("the new spec without a sign was not applied", view(spec=NEW, **NO_SIGN), Verdict.NOT_APPLIED),
    ("another spec is drift", view(spec=OTHER), Verdict.DRIFT),
]


@pytest.mark.parametrize("seen,verdict", [row[1:] for row in BACKWARDS], ids=[row[0] for row in BACKWARDS])
def test_verdicts_on_a_way_back(seen: Seen, verdict: Verdict) -> None:
    assert classify(seen, Expected(NEW.digest, OLD.digest), Sent(attempt(), OVER), NOW) is verdict


def test_only_the_mark_is_proof() -> None:
    assert accepted(component(mark=3601), attempt()) is Accepted.PROVEN
    assert accepted(component(mark=3602, modified=11.0), attempt()) is Accepted.LIKELY
    assert accepted(component(mark=None), attempt()) is Accepted.NO_SIGN


def test_a_stale_failure_reason_is_no_sign() -> None:
    assert accepted(component(failure="old news"), attempt(failure="old news")) is Accepted.NO_SIGN
