"""What the doctor reads of a stack: every page of it, and AWS's clock by the way."""

from typing import Any

import pytest

from pointsman.errors import Misconfigured
from pointsman.rollouts.observations import Answer
from pointsman_cli.examiner import Clients, Examiner
from tests.contract.answers import Client, refuses
from tests.fakes.clock import FakeClock

NOON = 1_796_126_400.0  # 2026-12-01T12:00:00Z


class Clocked:
    """A deployment of which only the clock is asked."""

    def __init__(self, now: float) -> None:
        self.clock = FakeClock()
        self.clock.set(now)


def examiner(now: float, answers: Any) -> Examiner:
    nobody = Client()
    clients = Clients(Client(list_stack_resources=answers), nobody, nobody, nobody)
    wiring: Any = Clocked(now)
    return Examiner("pointsman", wiring, clients, {}, lambda *_: Answer.UNKNOWN)


def page(*names: str, date: str | None = "Tue, 01 Dec 2026 12:00:00 GMT", more: str = "") -> dict[str, Any]:
    summaries = [{"LogicalResourceId": name, "ResourceType": "T", "PhysicalResourceId": f"x-{name}"} for name in names]
    headers = {"date": date} if date else {}
    told = {"StackResourceSummaries": summaries, "ResponseMetadata": {"HTTPHeaders": headers}}
    return {**told, **({"NextToken": more} if more else {})}


@pytest.mark.parametrize("ahead", [-90.0, 0.0, 400.0])
def test_our_clock_is_held_against_the_date_of_the_answer(ahead: float) -> None:
    _, skew = examiner(NOON + ahead, lambda **_: page("A"))._resources()
    assert skew == ahead


def test_an_answer_without_a_date_tells_nothing_of_clocks() -> None:
    assert examiner(NOON, lambda **_: page("A", date=None))._resources()[1] is None


def test_a_stack_of_more_than_a_page_is_read_whole() -> None:
    def answers(**request: Any) -> dict[str, Any]:
        return page("B") if request.get("NextToken") == "t" else page("A", more="t")

    assert examiner(NOON, answers)._resources()[0] == {"A": ("T", "x-A"), "B": ("T", "x-B")}


def test_a_stack_that_may_not_be_read_is_refused_in_words_of_ours() -> None:
    with pytest.raises(Misconfigured):
        examiner(NOON, refuses("AccessDenied"))._resources()
