"""Faults of the fakes come when they are told to."""

import pytest

from pointsman.errors import Gone, Transient
from tests.fakes.batch import FakeBatchQueues
from tests.fakes.clock import FakeClock


def test_a_fake_fails_as_often_as_told_and_does_nothing_meanwhile() -> None:
    batch = FakeBatchQueues(FakeClock())
    batch.add_queue("search")
    batch.add_job("job-1", "search")
    batch.fail_next("set_priority", Transient("throttled"), times=2)
    batch.fail_next("set_priority", Gone("ended"))

    for error in (Transient, Transient, Gone):
        with pytest.raises(error):
            batch.set_priority("job-1", 4999)
    assert batch.priorities == []
    batch.set_priority("job-1", 4999)
    assert batch.priorities == [("job-1", 4999)]


def test_a_fake_refuses_to_fail_in_what_is_no_call_of_its_port() -> None:
    with pytest.raises(TypeError):
        FakeBatchQueues(FakeClock()).fail_next("add_queue", Transient("throttled"))
