"""What the documentation shows is what the product takes."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pointsman.policy_documents import parse_policy
from pointsman.policy_models import AlarmDocument, ClassDocument, PolicyDocument, PreemptionDocument
from pointsman.queues.jobs import Detail, Sighting, Status, merge
from pointsman_cli import simulate
from pointsman_cli.demo.day import START
from pointsman_cli.demo.scenario import DEMO_SEED
from pointsman_simulator.workload import DEMO_CAPACITY, generate
from tests.unit.cli.harness import FakeDeployment, in_memory

ROOT = Path(__file__).parents[3]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if page.exists()]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text()
        for found in BLOCK.finditer(text):
            if found[1] == language:
                yield f"{page.name}:{text.count(chr(10), 0, found.start()) + 2}", found[2]


POLICIES = {place: text for place, text in blocks("yaml") if text.startswith("version:")}
COMMANDS: dict[str, list[str]] = {}
for place, text in blocks("console"):
    lines = [line for line in text.splitlines() if line.startswith("$ pointsman policy ")]
    COMMANDS.setdefault(place.split(":")[0], []).extend(line.removeprefix("$ pointsman ") for line in lines)


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES.keys())
def test_a_policy_that_is_shown_is_a_policy(text: str) -> None:
    parse_policy(YAML(typ="safe", pure=True).load(text))


@pytest.mark.parametrize("lines", COMMANDS.values(), ids=COMMANDS.keys())
def test_the_commands_that_are_shown_run(lines: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One after the other, where the reader has the example as `policy.yaml` too, and the queue that it names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "policy.yaml").symlink_to(ROOT / "examples" / "policy.yaml")
    command = in_memory()
    for line in lines:
        result = command.run(*shlex.split(line))
        assert (result.exit_code, result.stderr) == (0, ""), line


TRIED = [
    line.removeprefix("$ pointsman ")
    for place, text in blocks("console")
    for line in text.splitlines()
    if place.startswith("simulate.md") and line.startswith("$ pointsman ")
]


def test_a_policy_is_tried_as_the_page_on_simulating_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its commands one after the other, on a queue with the demo's day behind it; the window is the one shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simulate, "simulated", lambda tasks, *world: [simulate._run(task, *world) for task in tasks])
    (tmp_path / "policy.yaml").symlink_to(ROOT / "examples" / "policy.yaml")
    command = in_memory()
    assert command.run("policy", "apply", "policy.yaml").exit_code == 0
    lived(command.deployment)
    assert {line.split()[0] for line in TRIED} == {"queue", "simulate"}
    for line in TRIED:
        result = command.run(*shlex.split(line))
        assert (result.exit_code, result.stderr) == (0, ""), line
        proposed = re.search(r"--window \S+ --capacity \d+", result.stdout)
        assert not proposed or all(proposed[0] in shown for shown in TRIED if shown.startswith("simulate"))
    assert "<h1>search-training: a policy, tried</h1>" in (tmp_path / "page.html").read_text()


def lived(deployment: FakeDeployment) -> None:
    """The demo's day, two days ago, in the table of a queue of the demo's capacity."""
    batch, start = deployment.batch, START.timestamp()
    deployment.clock.set(start + 47 * 3600)
    batch.change_queue("search-training", capacity=DEMO_CAPACITY)
    for n, job in enumerate(generate(DEMO_SEED)):
        ended = Sighting(
            f"job-{n}", Status.SUCCEEDED, start + job.submit, "search-training", job.name, start + job.submit,
            started=start + job.submit, stopped=start + job.submit + job.seconds,
            detail=Detail(job.gpus, job.gpus, "all", 0, job.tags),
        )  # fmt: skip
        batch.jobs[ended.job_id] = ended
        record = merge(None, ended)
        assert record is not None
        deployment.jobs.save(record)


PROGRAMS = dict(blocks("python"))


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_that_is_shown_runs_at_the_repositorys_root(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(text, "snippet", "exec"), {})  # noqa: S102 - our own page
    assert "no rule" not in capsys.readouterr().out


def test_the_readme_shows_the_example_policy_as_it_is() -> None:
    shown = next(text for place, text in POLICIES.items() if place.startswith("README.md"))
    assert shown in (ROOT / "examples" / "policy.yaml").read_text()


def test_the_page_on_policies_names_every_key() -> None:
    text = (ROOT / "docs" / "policy.md").read_text()
    models = (PolicyDocument, ClassDocument, AlarmDocument, PreemptionDocument)
    keys = {field.alias or name for model in models for name, field in model.model_fields.items()} - {"match"}
    assert {key for key in keys if f"`{key}`" not in text} == set()
