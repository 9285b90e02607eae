"""`pointsman policy apply` and `show`: what is stored, what is refused, what is warned of."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pointsman.errors import Conflict, Transient
from pointsman.ports import QueueRecord
from pointsman.queues.kinds import QueueKind
from pointsman.queues.quota import QuotaShare
from tests.unit.cli.harness import POLICY, Command


def test_a_policy_is_stored_and_its_queue_due_at_once(command: Command, policy_file: Path) -> None:
    result = command.run("policy", "apply", str(policy_file))
    line = "search-training: version 1 applied; mode act; the next pass is due now\n"
    assert (result.stdout, result.stderr, result.exit_code) == (line, "", 0)
    stored = command.deployment.control.policies["search-training"][-1]
    assert (stored.applied_at, stored.applied_by) == (1_800_000_000.0, "arn:aws:iam::123456789012:user/ada")
    assert command.deployment.jobs.queues["search-training"].next_wake_at == 1_800_000_000.0


def test_json_of_an_applied_policy(command: Command, policy_file: Path) -> None:
    command.deployment.control.stop()
    assert json.loads(command.run("policy", "apply", "--json", str(policy_file)).stdout) == {
        "ok": True,
        "queue": "search-training",
        "version": 1,
        "applied_at": "2027-01-15T08:00:00Z",
        "applied_by": "arn:aws:iam::123456789012:user/ada",
        "mode": "act",
        "changed": True,
        "due": True,
        "warnings": ["everything is stopped: every queue only observes"],
    }


def test_the_same_policy_again_makes_no_new_version(command: Command, policy_file: Path) -> None:
    command.run("policy", "apply", str(policy_file))
    result = command.run("policy", "apply", str(policy_file))
    assert "version 1 rules already, nothing is changed" in result.stdout
    assert len(command.deployment.control.policies["search-training"]) == 1


def test_a_policy_with_problems_is_not_applied(command: Command, policy_file: Path) -> None:
    policy_file.write_text(POLICY + "spread: -6h\nfoo: 1\n")
    result = command.run("policy", "apply", str(policy_file))
    assert (result.stdout, result.exit_code) == ("", 1)
    assert result.stderr.splitlines() == [
        "Error: the policy is not applied",
        f"{policy_file}:12:1: -6h is negative; a duration is not",
        (
            f"{policy_file}:13:1: unknown key `foo` (known here: version, queue, mode, share, across_shares, "
            "classes, default, spread, reservation, preemption, respect_human, on_alarm, windows)"
        ),
    ]
    assert command.deployment.control.policies == {}


REFUSED = {
    "a FIFO queue": (
        QueueKind.FIFO,
        (
            "search-training is a FIFO queue: nothing in it can be moved, it is measured only; submit to a "
            "SageMaker queue with a fair-share scheduling policy (its kind is for life: create a scheduling policy "
            "with a fairsharePolicy and a second queue with it on the same service environment, let submitters name "
            "that queue and a shareIdentifier, and delete search-training once it has run empty) (--measure-only "
            "applies the policy all the same)"
        ),
    ),
    "a container queue": (
        QueueKind.CONTAINER,
        (
            "search-training is a container queue: nothing in it can be moved, it is measured only; submit to a "
            "SageMaker queue with a fair-share scheduling policy (--measure-only applies the policy all the same)"
        ),
    ),
}


@pytest.mark.parametrize("kind, message", REFUSED.values(), ids=REFUSED.keys())
def test_a_queue_in_which_nothing_moves_is_refused(
    command: Command, policy_file: Path, kind: QueueKind, message: str
) -> None:
    command.deployment.batch.add_queue("search-training", kind=kind)
    result = command.run("policy", "apply", str(policy_file))
    assert (result.stderr, result.exit_code) == (f"Error: {policy_file}:2: {message}\n", 2)
    assert command.deployment.control.policies == {}


def test_a_queue_in_which_nothing_moves_can_be_measured_where_that_is_wanted(
    command: Command, policy_file: Path
) -> None:
    command.deployment.batch.add_queue("search-training", kind=QueueKind.FIFO)
    result = command.run("policy", "apply", "--measure-only", str(policy_file))
    assert result.exit_code == 0
    assert "warning: search-training is a FIFO queue" in result.stderr


def test_a_queue_that_is_not_there_is_refused(command: Command, policy_file: Path) -> None:
    command.deployment.batch.queues.clear()
    result = command.run("policy", "apply", str(policy_file))
    message = f"Error: {policy_file}:2: there is no job queue search-training (create it, or name another)\n"
    assert (result.stderr, result.exit_code) == (message, 2)


WARNED = {
    "a share that the scheduling policy does not list": (
        QueueKind.FAIR_SHARE,
        ("team-a", "team-b*"),
        (
            "share all is not in the queue's scheduling policy (its shares: team-a, team-b*): Batch gives jobs of such "
            "a share the weight 1; is the name right?"
        ),
    ),
}


@pytest.mark.parametrize("kind, shares, warning", WARNED.values(), ids=WARNED.keys())
def test_a_doubtful_fit_is_applied_with_a_warning(
    command: Command, policy_file: Path, kind: QueueKind, shares: tuple[str, ...], warning: str
) -> None:
    command.deployment.batch.add_queue("search-training", kind=kind, shares=shares)
    result = command.run("policy", "apply", str(policy_file))
    assert (result.stderr, result.exit_code) == (f"warning: {warning}\n", 0)


EVICTING = ("default: {name: sweep}\n", "default: {name: sweep, preemptible: true}\npreemption: {}\n")
LENDING = ('alarm: "ranker-drift-*", boost: production, by: 12h', "alarm: gpu-low, share: all, borrow_limit: 200")
WEIGHING = ("default:", "across_shares: weights\ndefault:")
ALL = (QuotaShare("all", "arn:all", ()),)
TEAMS = (QuotaShare("team-a", "arn:a", ()), QuotaShare("team-b", "arn:b", ()))
UNFIT = {
    "evictions where nothing can be evicted": (
        EVICTING,
        None,
        "preemption",
        "search-training is a fair-share queue: nothing in it can be evicted",
        "take it out, or use a queue with quota shares",
    ),
    "a borrow limit of shares that borrow nothing": (
        LENDING,
        None,
        "on_alarm",
        "search-training is a fair-share queue: its shares borrow nothing",
        "take `borrow_limit` out, or use a queue with quota shares",
    ),
    "a share that the queue does not have": (
        ("share: all", "share: research-*"),
        TEAMS,
        "share",
        "no share of search-training is like research-*",
        "its shares: team-a, team-b",
    ),
    "evictions where in-share preemption is off": (
        EVICTING,
        ALL,
        "preemption",
        "in-share preemption is off in every share like all: nothing can be evicted",
        "turn it on for a share, or say `how: switch`",
    ),
    "a share that does not borrow": (
        LENDING,
        ALL,
        "on_alarm",
        "share all of search-training does not borrow",
        "give it the strategy LEND_AND_BORROW, or take the rule out",
    ),
    "weights of quota shares": (
        WEIGHING,
        ALL,
        "across_shares",
        "search-training is a queue with quota shares: its shares have no weights",
        "take the weights out, or use a queue with a fair-share scheduling policy",
    ),
}


@pytest.mark.parametrize("change, shares, key, message, remedy", UNFIT.values(), ids=UNFIT.keys())
@pytest.mark.parametrize("verb", ["apply", "check"])
def test_a_policy_that_its_queue_cannot_obey_is_refused_with_what_to_change(
    command: Command,
    policy_file: Path,
    verb: str,
    change: tuple[str, str],
    shares: tuple[QuotaShare, ...] | None,
    key: str,
    message: str,
    remedy: str,
) -> None:
    text = policy_file.read_text().replace(*change)
    if key == "across_shares":
        text = text.replace('match: {job_name: "prod-*"}', 'match: {share: all, job_name: "prod-*"}, weight: 1')
    policy_file.write_text(text)
    batch = command.deployment.batch
    if shares is not None:
        described = batch.add_queue("search-training", kind=QueueKind.QUOTA_SHARE)
        batch.queues["search-training"] = replace(described, quota_shares=shares)
    result = command.run("policy", verb, str(policy_file), "--stack", "prod")
    line = next(n for n, each in enumerate(text.splitlines(), 1) if each.startswith(key))
    told = [each for each in result.output.splitlines() if each.startswith(str(policy_file))]
    assert result.exit_code == 1
    assert told == [f"{policy_file}:{line}:1: {message} ({remedy})"]
    assert command.deployment.control.policies == {}


def test_a_policy_that_fits_its_queue_says_so_and_warns_as_apply_does(command: Command, policy_file: Path) -> None:
    result = command.run("policy", "check", str(policy_file), "--stack", "prod")
    assert (result.exit_code, result.stderr) == (0, "")
    command.deployment.batch.add_queue("search-training", shares=("team-a",))
    result = command.run("policy", "check", str(policy_file), "--stack", "prod")
    assert result.exit_code == 0
    assert "warning: share all is not in the queue's scheduling policy" in result.stderr
    command.deployment.batch.add_queue("search-training", kind=QueueKind.FIFO)
    result = command.run("policy", "check", str(policy_file), "--stack", "prod")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "search-training is a FIFO queue: nothing in it can be moved (say `mode: observe`, or" in result.stdout
    command.deployment.batch.queues.clear()
    result = command.run("policy", "check", str(policy_file), "--stack", "prod")
    assert result.exit_code == 1
    assert "there is no job queue search-training (create it, or name another)" in result.stdout


def test_a_queue_that_cannot_be_reached_does_not_spoil_the_check_of_the_file(
    command: Command, policy_file: Path
) -> None:
    command.deployment.batch.fail_next("describe_queue", Transient("throttled"))
    result = command.run("policy", "check", str(policy_file), "--stack", "prod")
    assert (result.exit_code, result.stderr) == (0, "warning: the queue was not looked at: throttled\n")


def test_a_share_that_a_listed_prefix_covers_is_no_doubt(command: Command, policy_file: Path) -> None:
    command.deployment.batch.add_queue("search-training", shares=("al*",))
    assert command.run("policy", "apply", str(policy_file)).stderr == ""


def test_a_wake_record_that_others_write_is_made_due_in_the_next_try(command: Command, policy_file: Path) -> None:
    command.deployment.jobs.fail_next("save_queue", Conflict("a pass was faster"), times=3)
    assert "due now" in command.run("policy", "apply", str(policy_file)).stdout
    assert command.deployment.jobs.queues["search-training"].next_wake_at == 1_800_000_000.0


def test_a_pass_that_runs_is_not_disturbed(command: Command, policy_file: Path) -> None:
    now = command.deployment.clock.now()
    taken = command.deployment.jobs.save_queue(QueueRecord("search-training", owner="a pass", lease_until=now + 60))
    result = command.run("policy", "apply", str(policy_file))
    assert "a pass is running, the next one goes by it" in result.stdout
    assert command.deployment.jobs.queues["search-training"] == taken


def test_a_lease_that_ran_out_is_no_pass_that_runs(command: Command, policy_file: Path) -> None:
    now = command.deployment.clock.now()
    taken = command.deployment.jobs.save_queue(QueueRecord("search-training", owner="killed", lease_until=now - 1))
    command.run("policy", "apply", str(policy_file))
    due = replace(taken, next_wake_at=now, version=2)
    assert command.deployment.jobs.queues["search-training"] == due


def test_a_policy_that_is_stored_counts_though_its_queue_cannot_be_made_due(
    command: Command, policy_file: Path
) -> None:
    command.deployment.jobs.fail_next("save_queue", Transient("throttled"))
    result = command.run("policy", "apply", str(policy_file))
    assert result.exit_code == 0
    assert "the next pass comes by itself (it could not be made due now: throttled)" in result.stdout


def test_two_people_at_once_are_told_to_try_again(command: Command, policy_file: Path) -> None:
    command.deployment.control.fail_next("put_policy", Conflict("version 2 is there"))
    result = command.run("policy", "apply", str(policy_file))
    message = "Error: someone else wrote at the same moment, try again: version 2 is there\n"
    assert (result.stderr, result.exit_code) == (message, 3)


def test_a_policy_is_shown_as_it_was_applied(ruled: Command, tmp_path: Path) -> None:
    result = ruled.run("policy", "show", "search-training")
    head = "# version 1, applied 2027-01-15 08:00:00 UTC by arn:aws:iam::123456789012:user/ada"
    assert (result.stdout.splitlines()[0], result.exit_code) == (head, 0)
    again = tmp_path / "again.yaml"
    again.write_text(result.stdout)
    assert "version 1 rules already, nothing is changed" in ruled.run("policy", "apply", str(again)).stdout


def test_an_older_version_is_shown_as_one_that_no_longer_rules(ruled: Command, policy_file: Path) -> None:
    policy_file.write_text(policy_file.read_text().replace("mode: act", "mode: observe"))
    ruled.run("policy", "apply", str(policy_file))
    shown = ruled.run("policy", "show", "search-training", "--version", "1")
    assert shown.stdout.splitlines()[0].endswith("; version 2 rules")
    assert "mode: act" in shown.stdout


def test_what_needed_quotes_is_shown_in_quotes(command: Command, policy_file: Path, tmp_path: Path) -> None:
    policy_file.write_text(
        POLICY.replace("purpose: explore", 'purpose: "true", day: "2026-01-31", "1": "10", e: "é: #"')
    )
    command.run("policy", "apply", str(policy_file))
    again = tmp_path / "again.yaml"
    again.write_text(command.run("policy", "show", "search-training").stdout)
    assert command.run("policy", "check", str(again)).stdout.endswith("with 3 classes; mode act\n")
    assert "nothing is changed" in command.run("policy", "apply", str(again)).stdout


def test_json_of_a_policy(ruled: Command) -> None:
    shown = json.loads(ruled.run("policy", "show", "--json", "search-training").stdout)
    document = shown.pop("document")
    assert shown == {
        "queue": "search-training",
        "version": 1,
        "applied_at": "2027-01-15T08:00:00Z",
        "applied_by": "arn:aws:iam::123456789012:user/ada",
        "rules": True,
        "stop": None,
    }
    assert document["classes"][0]["head_start"] == "24h"


def test_a_queue_without_a_policy_is_the_askers_mistake(ruled: Command) -> None:
    result = ruled.run("policy", "show", "other")
    message = "Error: other: this queue has no policy (queues with one: search-training)\n"
    assert (result.stderr, result.exit_code) == (message, 2)
