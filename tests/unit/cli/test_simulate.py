"""`pointsman simulate` and `pointsman demo`: what is wrong is said of the option that is to be changed."""

from pathlib import Path

import pytest

from tests.unit.cli.harness import Command

TRACE = """\
submit_s,duration_s,gpus,vc,derived_class
100,600,4,blue,sweep
"""
GIVEN = {"--trace": "trace.csv", "--window": "100:200", "--capacity": "4"}


def words_of(given: dict[str, str]) -> list[str]:
    return [word for option in given.items() for word in option]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trace.csv").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", ["simulate", "demo"])
@pytest.mark.parametrize(
    "option, value, told",
    [
        ("--trace", "none.csv", "No such file"),
        ("--window", "100", "is not a window"),
        ("--window", "100:x", "not a number"),
        ("--window", "200:100", "is empty"),
        ("--window", "300:400", "no job to run"),
        ("--capacity", "3", "no job"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_played_names_the_option_to_change(
    command: Command, verb: str, option: str, value: str, told: str
) -> None:
    result = command.run(verb, *words_of({**GIVEN, option: value}))

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {option}: ")
    assert told in result.stderr


@pytest.mark.usefixtures("here")
def test_a_rule_for_classes_that_is_none_is_a_mistake_of_that_option(command: Command) -> None:
    result = command.run("simulate", *words_of({**GIVEN, "--classes": "people:ada"}))

    assert (result.exit_code, result.stderr.partition('"')[0]) == (2, "Error: --classes: classes ")
