"""`pointsman dlq` on the emulated AWS: dead letters of every kind, seen, sent back, and handled this time."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman_cli.access import Target
from pointsman_cli.letter_box import LetterBox
from pointsman_cli.main import cli
from tests.flow.day import QUEUE, opened
from tests.flow.test_failure_paths import Broken, alarm_event


class Deployed(Broken):
    """The command on the day's deployment."""

    @contextmanager
    def letters(self, target: Target) -> Iterator[LetterBox]:  # type: ignore[override]  # noqa: ARG002
        yield LetterBox(self.aws.client("sqs"), self.aws.client("lambda"), self.stack.outputs)

    def run(self, *words: str) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(cli, ["dlq", *words], obj=self)

    def shown(self) -> dict[str, Any]:
        """What each letter says, by the edge that it came by and whether it is poison."""
        told = json.loads(self.run("show", "--json").stdout)["letters"]
        return {f"{'poison of ' if each['poison'] else ''}{each['from']}": each for each in told}

    def break_everything(self) -> None:
        """Something fails for good on every edge, and all of it is mended."""
        function = self.stack.function
        self.send("JobEventsUrl", "no event")
        self.pass_minutes(1)
        with self.raising("RelayAlarmFunction"), self.raising("PrioritizeQueueFunction"):
            with self.raising("RecordJobsFunction"), self.gone(function("WakeDueFunction")):
                self.pass_minutes(1)
            with self.raising("RecordJobsFunction"):
                alarm_event(self)
                self.terminate("prod-unheard")
                self.pass_minutes(75)


@pytest.fixture(scope="module")
def day() -> Iterator[Deployed]:
    """Something of every edge has failed for good, and works again."""
    with opened() as plain:
        plain.apply()
        day = Deployed(plain.aws, plain.stack, plain.wiring, plain.ids)
        day.fired = set()
        day.submit("prod-unheard", minutes=600)
        day.pass_minutes(2)
        day.break_everything()
        yield day


def test_each_letter_is_shown_with_its_edge_and_nothing_is_taken_away(day: Deployed) -> None:
    found = day.shown()
    assert {"alarms", "ticks", "job-events", "queue-wakes"} <= set(found)
    assert found["queue-wakes"]["concerns"] == f"queue {QUEUE}"
    assert found["job-events"]["concerns"] == f"job prod-unheard in {QUEUE}"
    assert found["alarms"]["concerns"].startswith("alarm ")
    assert found["alarms"]["reason"] == "RetriesExhausted: RuntimeError: broken for the test"
    assert found["ticks"]["reason"].startswith("NO_RESOURCE")
    assert set(day.shown()) == set(found)


def test_a_letter_whose_deletion_fails_was_sent_and_is_still_there(day: Deployed) -> None:
    letter = day.shown()["alarms"]
    woken = len(day.log("RelayAlarmFunction", "woken"))
    day.aws.fail_next("sqs", "DeleteMessage", "ServiceUnavailable", 5, status=503)
    assert day.run("redrive", letter["id"]).exit_code == 3
    day.pass_minutes(3)
    assert len(day.log("RelayAlarmFunction", "woken")) > woken, "sent first"
    assert day.shown()["alarms"]["id"], "deleted only then"


def test_all_of_them_go_back_are_handled_and_are_no_letters_any_more(day: Deployed) -> None:
    passes, woken = len(day.passes()), len(day.log("RelayAlarmFunction", "woken"))
    ticks, recorded = len(day.log("WakeDueFunction", "woken")), len(day.log("RecordJobsFunction", "recorded"))
    result = day.run("redrive", "--all")
    assert result.exit_code in {0, 1}
    day.pass_minutes(15)  # a wake that failed a moment ago hides those behind it for as long as it is hidden
    assert len(day.passes()) > passes
    assert len(day.log("RelayAlarmFunction", "woken")) > woken
    assert len(day.log("WakeDueFunction", "woken")) > ticks + 15, "the clock's own, and those that were sent back"
    assert len(day.log("RecordJobsFunction", "recorded")) > recorded
    while (left := json.loads(day.run("show", "--json").stdout)["letters"]) and not all(x["poison"] for x in left):
        assert day.run("redrive", "--all").exit_code in {0, 1}  # a group of wakes shows ten at a time
    assert day.job("prod-unheard").finished


def test_poison_is_kept_and_by_force_comes_back_as_what_it_is(day: Deployed) -> None:
    day.send("JobEventsUrl", "no event")
    day.pass_minutes(1)
    letter = day.shown()["poison of job-events"]
    kept = day.run("redrive", letter["id"])
    assert kept.exit_code == 1
    assert "can never be read" in kept.stderr
    assert day.run("redrive", letter["id"], "--force").exit_code == 0
    day.pass_minutes(1)
    again = day.shown()["poison of job-events"]
    assert again["id"] != letter["id"]
    assert (again["body"], again["place"]) == ("no event", "body")
