"""Options that verbs have in common: every verb takes them, and none takes what it cannot use."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pointsman_cli.access import Target
from pointsman_cli.main import cli
from tests.unit.cli.harness import Command


def verbs(group: click.Group, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        assert found is not None
        yield (*words, name), found
        if isinstance(found, click.Group):
            yield from verbs(found, *words, name)


EVERY = {" ".join(words): verb for words, verb in verbs(cli)}
RUN = {name: verb for name, verb in EVERY.items() if not isinstance(verb, click.Group) or verb.invoke_without_command}


@pytest.mark.parametrize("verb", RUN.values(), ids=RUN.keys())
def test_the_traceback_that_a_fault_tells_to_ask_for_can_be_asked_for(verb: click.Command) -> None:
    assert "debug" in [param.name for param in verb.params]


NUMBERS = {
    f"{name} {param.opts[0]}": (name.split(), param.opts[0])
    for name, verb in EVERY.items()
    for param in verb.params
    if isinstance(param.type, click.types.FloatParamType) or "Number" in type(param.type).__name__
}


def test_there_are_options_that_take_numbers() -> None:
    assert {"cost --events", "simulate --event-delay", "simulate --pass-every", "local --speed"} <= set(NUMBERS)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400"])
@pytest.mark.parametrize("verb, option", NUMBERS.values(), ids=NUMBERS.keys())
def test_what_is_no_finite_number_is_refused(command: Command, verb: list[str], option: str, value: str) -> None:
    result = command.run(*verb, option, value)

    assert result.exit_code == 2
    assert f"Invalid value for '{option}': " in result.stderr


def test_the_bill_of_more_than_anybody_has_is_still_a_number(command: Command, tmp_path: Path) -> None:
    most = [word for name in ("--events", "--rollouts", "--waiting", "--running") for word in (name, "1e15")]
    assert json.loads(command.run("cost", *most, "--json").stdout)["total"] > 0

    file = tmp_path / "prices.json"
    file.write_text('{"lambda.request": Infinity}')
    assert command.run("cost", "--events", "1", "--prices", str(file), "--json").exit_code == 2


WRITES = [
    ("local", "--env-vars"),
    ("report", "q", "--html"),
    ("queue", "export", "q", "--out"),
    ("simulate", "--trace", "t", "--window", "0:1", "--capacity", "1", "--report"),
]


@pytest.mark.parametrize("words", WRITES, ids=[words[0] for words in WRITES])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    result = command.run(*words, str(tmp_path / "none" / "file"))

    assert result.exit_code == 2
    assert f"Invalid value for '{words[-1]}': there is no folder {tmp_path / 'none'}; make it first" in result.stderr


def test_the_beginning_of_the_demos_day_is_a_time_of_it(command: Command) -> None:
    command.run("queue", "show", "search-training", "--demo-at", "0s")

    assert command.access.asked[-1] == Target(demo_at=0.0)


@pytest.mark.parametrize(
    "words", [("--json", "lending"), ("--seed", "5", "lending"), ("--seed", "4", "--json", "rollout", "single-gpu")]
)
def test_options_of_the_demos_day_are_refused_before_another_play(command: Command, words: tuple[str, ...]) -> None:
    result = command.run("demo", *words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{words[0]}" in result.stderr
    assert "would be of no use: write what" in result.stderr


def test_no_other_group_has_options_of_its_own_that_its_verbs_would_drop() -> None:
    kept = {name: [p.name for p in verb.params if p.expose_value] for name, verb in EVERY.items() if name not in RUN}
    assert [name for name, params in kept.items() if params] == []
    assert [name for name, verb in RUN.items() if isinstance(verb, click.Group)] == ["demo"]
