"""Names that try to be more than names: each stays one value of one place, wherever it is put."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from pointsman.aws import job_items
from pointsman.aws.state_machine import StepFunctionsExecution
from pointsman.decision_log import PowertoolsLog
from pointsman.documents import InvalidDocument
from pointsman.errors import UserMistake
from pointsman.inbound import Message
from pointsman.loops.rollout_commands import RolloutCommands
from pointsman.policy_documents import parse_policy
from pointsman.queues.jobs import Status
from pointsman.queues.pins import Pin, PinKind
from pointsman.rollout_documents import parse_request
from pointsman.rollout_log import PowertoolsRolloutLog
from pointsman_cli.export import Past, read, write
from pointsman_cli.report.weeks_page import weeks_page
from pointsman_cli.screen import screen, table
from tests.contract.answers import Client
from tests.proof.hostile import HOSTILE, MARKUP
from tests.proof.test_hostile_messages import POLICY, REQUEST
from tests.unit.cli.harness import POLICY as APPLIED
from tests.unit.cli.harness import in_memory
from tests.unit.cli.rollout_harness import RolloutCommand
from tests.unit.loops.world import QUEUE, World
from tests.unit.report.elements import elements
from tests.unit.report.two_weeks import report

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_field_of_one_log_line_and_no_dimension(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
    lines = io.StringIO()
    world = World()
    world.log = PowertoolsLog(Logger(service=f"hostile-{HOSTILE.index(name)}", stream=lines))  # type: ignore[assignment]
    world.apply()
    world.submit("job-1", name=name)
    world.alarms.set_state("drift-" + name, "ALARM", world.clock.now())
    world.pass_()
    world.recorder().record([Message("m", json.dumps({"source": name, "detail-type": name})), Message("n", name)])
    said = [json.loads(line) for line in lines.getvalue().split("\n") if line]
    assert {line["message"] for line in said} >= {"decided"}
    assert not [line for line in said if line["message"] == "forged"]
    for line in filter(None, capsys.readouterr().out.split("\n")):
        metrics = json.loads(line)
        keys = {key for each in metrics["_aws"]["CloudWatchMetrics"] for keys in each["Dimensions"] for key in keys}
        assert keys <= {"queue", "class", "service"}
        assert name not in [metrics[key] for key in keys]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_id_is_the_value_of_its_own_key_and_comes_back_as_it_was(name: str) -> None:
    world = World()
    row = world.batch.add_job(name, QUEUE, Status.RUNNABLE, name=name, share=name, tags={name: name})
    world.clock.advance(5)
    world.tell(name)
    stored = world.jobs.jobs[name]
    item = job_items.encode(stored)
    assert {"S": f"JOB#{name}"} in job_items.key(name).values()
    assert job_items.decode(item, QUEUE).job_id == row.job_id


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_printed_and_not_obeyed_by_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = screen()
    out.print(f"job {name}")
    out.print(table(("job",), [(name,)]))
    shown = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert "[bold]" in shown or "[bold]" not in name


def shows_only_letters(text: str) -> bool:
    """Whether a terminal would obey nothing of it but new lines."""
    return all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_verb_of_a_queue_prints_a_name_that_a_terminal_obeys(name: str, tmp_path: Path) -> None:
    command = in_memory()
    file = tmp_path / "policy.yaml"
    file.write_text(APPLIED)
    command.run("policy", "apply", str(file))
    found = command.deployment
    now = found.clock.now()
    for n, size in enumerate((8, 2, 1)):
        status = Status.RUNNING if n == 0 else Status.RUNNABLE
        more: dict[str, Any] = {"tags": {"team": name, name: name}, "share": name if n == 2 else "all"}
        found.batch.add_job(f"{n}{name}", QUEUE, status, name=name, size=size, created=now - 60, **more)
    found.control.put_pin(QUEUE, Pin(f"1{name}", now + 3600, PinKind.FIRST, name, now))
    found.alarms.set_state("ranker-drift-" + name, "ALARM", now)
    words = [("queue", verb, QUEUE) for verb in ("show", "plan", "history")]
    words += [("queue", verb, QUEUE, f"1{name}") for verb in ("explain", "pin", "unpin", "demote")]
    words += [("queue", "explain", QUEUE, name), ("policy", "show", QUEUE), ("policy", "history", QUEUE)]
    words += [("policy", "check", str(tmp_path / "no-such-file")), ("queue", "show", name), ("report", name)]
    for verb in words:
        for form in ((), ("--json",)):
            result = command.run(*verb, *form)
            assert shows_only_letters(result.output + result.stderr), verb
            if form and result.stdout.startswith("{"):
                json.loads(result.stdout)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_policy_file_of_hostile_keys_and_values_is_told_of_in_letters(name: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    for document in ({name: 1}, {**POLICY, "queue": name}, {**POLICY, "share": name}, {"classes": [{"name": name}]}):
        file.write_text(json.dumps(document))
        result = in_memory().run("policy", "check", str(file))
        assert result.exit_code == 1
        assert shows_only_letters(result.output + result.stderr)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_document_is_one_that_a_key_a_path_or_an_arn_could_be_made_of(name: str) -> None:
    for document in ({**POLICY, "queue": name}, {**POLICY, "default": {"name": name}}):
        with pytest.raises(InvalidDocument):
            parse_policy(document)
    for target in ("component", "endpoint", "prefix"):
        with pytest.raises(InvalidDocument):
            parse_request({**REQUEST, "targets": [{target: name}]})
    for document in ({**REQUEST, "rollout": name}, {**REQUEST, "change": {"model": name}}):
        with pytest.raises(InvalidDocument):
            parse_request(document)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_command_starts_no_execution_and_is_answered_in_letters(name: str) -> None:
    command = RolloutCommand()
    for words in (("show", name), ("pause", name), ("retry", name), ("abort", name, "--reason", name), ("watch", name)):
        result = command.run("rollout", *words)
        assert result.exit_code in (1, 2)
        assert shows_only_letters(result.output + result.stderr)
    commands: RolloutCommands = command.world.commands
    for verb in ("retry", "rollback", "approve", "adopt", "waive"):
        more = {"new_rollout": name, "component": name, "hold": name[:60], "reason": name}
        with pytest.raises(UserMistake):
            commands.receive({"verb": verb, "caller": name, "rollout": name, **more})
    assert command.world.execution.lives == {}
    assert command.world.table.kept == {}


def test_the_input_of_an_execution_is_two_fields_and_its_name_is_the_rollouts_alone() -> None:
    started: list[dict[str, Any]] = []
    execution = StepFunctionsExecution(Client(start_execution=lambda **asked: started.append(asked)), "arn")
    for name in HOSTILE:
        execution.start(name, 7)
        assert json.loads(started[-1]["input"]) == {"rollout_id": name, "generation": 7}
        assert started[-1]["name"] == f"{name}-7"


@pytest.mark.parametrize("name", HOSTILE)
def test_each_thing_that_is_logged_is_one_line_and_no_name_is_a_dimension(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: Patch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
    lines = io.StringIO()
    logger = Logger(service=f"lines-{HOSTILE.index(name)}", stream=lines)
    queues, rollouts = PowertoolsLog(logger), PowertoolsRolloutLog(logger)
    told = [
        lambda: queues.skipped(QUEUE, name), lambda: queues.failed(QUEUE, name, known=True),
        lambda: queues.poisoned(name, name), lambda: queues.woken((name,), because=name, rollouts=(name,)),
        lambda: queues.untold(QUEUE, name), lambda: queues.unreadable(name), lambda: rollouts.died(name, 1),
        lambda: rollouts.stumbled(name, name, known=True), lambda: rollouts.commanded(name, name, name, name),
        lambda: rollouts.woken((name,), because=name),
    ]  # fmt: skip
    for each in told:
        with queues.correlated(name):
            each()
    said = [line for line in lines.getvalue().split("\n") if line]
    assert len(said) == len(told)
    assert all(name in texts(json.loads(line)) for line in said)
    for line in filter(None, capsys.readouterr().out.split("\n")):
        metrics = json.loads(line)
        keys = {key for each in metrics["_aws"]["CloudWatchMetrics"] for keys in each["Dimensions"] for key in keys}
        assert name not in [metrics[key] for key in keys]


def texts(line: Any) -> list[str]:
    """Every text in a line."""
    inner = line.values() if isinstance(line, dict) else line if isinstance(line, list) else ()
    return [line] if isinstance(line, str) else [text for each in inner for text in texts(each)]


@pytest.mark.parametrize("name", MARKUP)
def test_a_page_of_weeks_has_the_same_elements_whatever_queue_class_or_command_it_is_of(
    name: str, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")
    weeks = report()
    strange = replace(weeks, queue=name, classes=(weeks.classes[0], name, *weeks.classes[2:]))
    tried = weeks_page(strange, name)
    assert elements(tried).tags == elements(weeks_page(weeks, "x")).tags
    assert not elements(tried).run
    assert html.escape(name) in tried
    for script in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', tried, flags=re.DOTALL):
        json.loads(script)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_exported_name_is_one_cell_and_no_formula(name: str, tmp_path: Path) -> None:
    file = tmp_path / "past.csv"
    past = Past("job-1", name, 1.0, 2.0, 3.0, 1, 8, name, {"team": name, name: name})
    write(file, [past], parse_policy(POLICY))
    assert read(file) == {"job-1": past}
    with file.open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert not row["team"].startswith(("=", "+", "-", "@", "\t", "\r"))
