"""`pointsman policy versions | diff | rollback`."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pointsman.queues.kinds import QueueKind
from tests.unit.cli.harness import POLICY, Command

QUEUE, ADA = "search-training", "arn:aws:iam::123456789012:user/ada"
LONGER = POLICY.replace("head_start: 24h", "head_start: 12h").replace("mode: act", "mode: observe")


@pytest.fixture
def twice(command: Command, policy_file: Path) -> Command:
    """Version 1 acts; an hour later, version 2 observes and gives production less."""
    assert command.run("policy", "apply", str(policy_file)).exit_code == 0
    command.deployment.clock.advance(3600)
    policy_file.write_text(LONGER)
    assert command.run("policy", "apply", str(policy_file)).exit_code == 0
    return command


def test_versions_are_listed_the_newest_first_with_who_and_which_rules(twice: Command) -> None:
    twice.run("policy", "rollback", QUEUE)
    result = twice.run("policy", "versions", QUEUE)
    assert result.stdout.splitlines() == [
        f"version 3, applied 2027-01-15 09:00:00 UTC by {ADA}, rules, the same as 1",
        f"version 2, applied 2027-01-15 09:00:00 UTC by {ADA}",
        f"version 1, applied 2027-01-15 08:00:00 UTC by {ADA}",
    ]
    listed = json.loads(twice.run("policy", "versions", QUEUE, "--limit", "1", "--json").stdout)["versions"]
    assert [(line["version"], line["rules"]) for line in listed] == [(3, True)]


def test_diff_shows_the_lines_and_says_what_changes_in_effect(twice: Command) -> None:
    result = twice.run("policy", "diff", QUEUE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "--- version 1",
        "+++ version 2",
        "@@ -1,12 +1,12 @@",
        " version: 1",
        " queue: search-training",
        "-mode: act",
        "+mode: observe",
        " share: all",
        " classes:",
        " - name: production",
        "   match:",
        "     job_name: prod-*",
        "-  head_start: 24h",
        "+  head_start: 12h",
        "   max_wait: 1h",
        " - name: research",
        "   match:",
        "",
        "in effect:",
        "  It only observes: nothing is moved any more.",
        "  production: its head start is shorter, 12.0 h, no longer 24.0 h.",
    ]


def test_diff_takes_two_versions_in_any_order_and_one_against_the_ruling(twice: Command) -> None:
    turned = json.loads(twice.run("policy", "diff", QUEUE, "2", "1", "--json").stdout)
    assert (turned["from"], turned["to"], turned["same"]) == (2, 1, False)
    assert turned["in_effect"] == [
        "It acts: priorities are set.",
        "production: its head start is longer, 24.0 h, no longer 12.0 h.",
    ]
    assert twice.run("policy", "diff", QUEUE, "2").stdout == f"{QUEUE}: version 2 and version 2 are the same\n"


def test_diff_of_a_file_is_against_the_version_that_rules(twice: Command, policy_file: Path) -> None:
    policy_file.write_text(LONGER.replace("default: {name: sweep}", "default: {name: sweep, ceiling: 60%}"))
    found = json.loads(twice.run("policy", "diff", QUEUE, "--file", str(policy_file), "--json").stdout)
    assert (found["from"], found["to"]) == (2, None)
    assert found["in_effect"] == ["sweep: its ceiling is 60% of the pool, no longer none."]
    policy_file.write_text(LONGER.replace("head_start: 12h", "head_start: 720m"))
    found = json.loads(twice.run("policy", "diff", QUEUE, "--file", str(policy_file), "--json").stdout)
    assert found["in_effect"] == ["Nothing: it is written otherwise, and says the same."]


def test_a_file_that_is_no_policy_or_another_queues_is_refused(twice: Command, policy_file: Path) -> None:
    policy_file.write_text(LONGER + "spread: -1h\n")
    wrong = twice.run("policy", "diff", QUEUE, "--file", str(policy_file))
    assert (wrong.exit_code, "-1h is negative" in wrong.stderr) == (1, True)
    policy_file.write_text(LONGER.replace(QUEUE, "other"))
    other = twice.run("policy", "diff", QUEUE, "--file", str(policy_file))
    assert (other.exit_code, f"it is a policy of queue other, not of {QUEUE}" in other.stderr) == (2, True)


def test_rollback_makes_a_new_version_of_the_one_before_and_the_queue_is_due(twice: Command) -> None:
    result = twice.run("policy", "rollback", QUEUE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"{QUEUE}: version 3 says what version 1 said; mode act; the next pass is due now",
        "  It acts: priorities are set.",
        "  production: its head start is longer, 24.0 h, no longer 12.0 h.",
    ]
    versions = twice.deployment.control.policies[QUEUE]
    assert versions[2].document == versions[0].document
    assert twice.deployment.jobs.queue(QUEUE).next_wake_at == twice.deployment.clock.now()
    same = twice.run("policy", "rollback", QUEUE, "1")
    assert "nothing is changed" in same.stdout
    assert len(versions) == 3


def test_a_version_that_this_release_does_not_take_is_not_applied(twice: Command) -> None:
    control = twice.deployment.control
    control.put_policy(QUEUE, '{"version": 1, "queue": "search-training", "auction": true}', 0.0, "later")
    control.put_policy(QUEUE, control.policies[QUEUE][1].document, 0.0, "ana")
    result = twice.run("policy", "rollback", QUEUE, "3")
    assert result.exit_code == 2
    assert "version 3 is none that this version of Pointsman takes, so it is not applied" in result.stderr
    assert control.policies[QUEUE][-1].number == 4
    assert "in effect:\n  Not known: version 3" in twice.run("policy", "diff", QUEUE, "3").stdout


def test_what_the_queue_cannot_obey_by_now_is_not_applied(twice: Command) -> None:
    document = json.loads(twice.deployment.control.policies[QUEUE][0].document)
    evicting = json.dumps(
        document | {"preemption": {"patience": "1h"}, "default": {"name": "sweep", "preemptible": True}}
    )
    twice.deployment.control.put_policy(QUEUE, evicting, 0.0, "ana")
    twice.deployment.control.put_policy(QUEUE, json.dumps(document), 0.0, "ana")
    result = twice.run("policy", "rollback", QUEUE)
    assert result.exit_code == 2
    assert "the queue cannot obey version 3, so it is not applied" in result.stderr
    assert twice.deployment.control.policies[QUEUE][-1].number == 4


def test_a_measured_queue_is_rolled_back_with_a_warning(command: Command, policy_file: Path) -> None:
    command.deployment.batch.add_queue(QUEUE, kind=QueueKind.FIFO)
    for text in (POLICY, LONGER):
        policy_file.write_text(text)
        assert command.run("policy", "apply", str(policy_file), "--measure-only").exit_code == 0
    result = command.run("policy", "rollback", QUEUE)
    assert (result.exit_code, "is a FIFO queue: nothing in it can be moved" in result.stderr) == (0, True)


def test_of_two_people_at_once_the_one_who_rolls_back_is_told(twice: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    control, batch = twice.deployment.control, twice.deployment.batch
    describe = batch.describe_queue

    def someone_applies(name: str) -> object:
        control.put_policy(QUEUE, control.policies[QUEUE][0].document, 0.0, "ben")
        return describe(name)

    monkeypatch.setattr(batch, "describe_queue", someone_applies)
    result = twice.run("policy", "rollback", QUEUE)
    assert result.exit_code == 3
    assert "someone else applied a policy to search-training at the same moment" in result.stderr
    assert [version.applied_by for version in control.policies[QUEUE]][2:] == ["ben"]


def test_there_is_nothing_before_the_first_version_and_no_version_that_never_was(
    command: Command, policy_file: Path
) -> None:
    none = command.run("policy", "versions", QUEUE)
    assert (none.exit_code, "this queue has no policy" in none.stderr) == (2, True)
    command.run("policy", "apply", str(policy_file))
    first = command.run("policy", "rollback", QUEUE)
    assert (first.exit_code, "there is no version before the first" in first.stderr) == (2, True)
    ninth = command.run("policy", "diff", QUEUE, "9")
    assert (ninth.exit_code, "there is no version 9 (the newest is 1)" in ninth.stderr) == (2, True)


@pytest.mark.parametrize("document", ["{", "[" * 100_000, '{"version": NaN}', "null", "7"])
def test_a_stored_document_that_is_none_is_said_in_words_by_every_verb(command: Command, document: str) -> None:
    control, now = command.deployment.control, command.deployment.clock.now()
    for each in ("{}", document):
        control.put_policy("search-training", each, now, "ada")
    for words in (("show",), ("show", "--json"), ("diff",), ("versions",), ("rollback",)):
        result = command.run("policy", *words, "search-training")
        assert result.exit_code in (0, 1, 2, 4), result.output
    for verb in ("show", "plan", "history"):
        assert command.run("queue", verb, "search-training").exit_code in (0, 1, 4)


def test_a_stored_name_that_a_terminal_would_obey_is_escaped_and_means_the_same(command: Command) -> None:
    document = {"queue": "search-training", "classes": [{"match": {"job_name": "\u202eprod-\x9b31m*é"}}]}
    control, now = command.deployment.control, command.deployment.clock.now()
    control.put_policy("search-training", json.dumps(document), now, "ada")
    shown = command.run("policy", "show", "search-training").stdout
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert YAML(typ="safe", pure=True).load(shown) == document
