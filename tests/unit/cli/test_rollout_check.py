"""A request that is wrong is told with its place in the file, before anything is asked."""

import json
from pathlib import Path

import pytest

from pointsman.rollout_documents import parse_request
from pointsman_cli.check import checked
from tests.unit.cli.rollout_harness import REQUEST, RolloutCommand

ROOT = Path(__file__).parents[3]

MISTAKES = [
    ("a key that nobody knows", "bake: 5m", "bakee: 5m", "7:1: unknown key `bakee` (did you mean `bake`?)"),
    ("a duration without a unit", "wait: 1m", "wait: 60", "6:1: 60 is not a duration"),
    ("a target of two kinds", "{prefix: m}", "{prefix: m, endpoint: e1}", "3:11: a target is one of component"),
    ("a target twice", "{prefix: m}", "{prefix: m}, {prefix: m}", "3:24: the same target is given twice"),
    ("nothing changed", "{model: ranker-v2}", "{}", "4:1: nothing is changed"),
    ("a wave that shrinks", "[1, 100%]", "[50%, 25%]", "5:14: waves are totals reached"),
    ("trying without a person", "wait: 1m", "capacity: try", "6:1: somebody must answer for this"),
    ("a key twice", "wait: 1m", "bake: 5m", "7:1: the key `bake` is there twice, first on line 6"),
    ("what is not built", "wait: 1m", "calendar: holidays", "6:1: `calendar` is not built yet"),
]


@pytest.mark.parametrize("before,after,said", [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
@pytest.mark.parametrize("verb", ["plan", "start"])
def test_a_mistake_is_told_with_its_line(verb: str, before: str, after: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "rollout.yaml"
    file.write_text(REQUEST.replace(before, after))
    command = RolloutCommand()
    result = command.run("rollout", verb, str(file))
    assert result.exit_code == 1, result.output
    assert f"{file}:{said}" in result.stderr
    assert command.world.table.rollouts(1) == ()


def test_a_moment_with_its_zone_needs_no_quotes_and_one_without_is_told(tmp_path: Path) -> None:
    file = tmp_path / "rollout.yaml"
    file.write_text(f"{REQUEST}freezes: [{{from: 2026-12-24T18:00:00Z, until: 2026-12-27T06:00:00+01:00}}]\n")
    found = checked(file, parse_request)
    assert found.stated is not None, found.findings
    assert [(f.since, f.until) for f in found.stated.freezes] == [(1798135200.0, 1798347600.0)]
    file.write_text(f"{REQUEST}freezes: [{{from: 2026-12-24T18:00:00, until: 2026-12-27T06:00:00Z}}]\n")
    assert [str(f) for f in checked(file, parse_request).findings] == [
        f"{file}:10:12: 2026-12-24T18:00:00 does not say its time zone; end it with Z or +01:00"
    ]


def test_mistakes_are_one_object_for_scripts(tmp_path: Path) -> None:
    file = tmp_path / "rollout.yaml"
    file.write_text(REQUEST.replace("bake: 5m", "bakee: 5m"))
    result = RolloutCommand().run("rollout", "plan", str(file), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["problems"][0] == {
        "file": str(file),
        "line": 7,
        "column": 1,
        "path": ["bakee"],
        "message": "unknown key `bakee`",
        "remedy": "did you mean `bake`?",
    }


def test_a_request_of_300_kb_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rollout.yaml"
    file.write_text(REQUEST + "#" * 300_000)
    result = RolloutCommand().run("rollout", "plan", str(file))
    assert result.exit_code == 1
    assert "bytes are too many" in result.stderr


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    result = RolloutCommand().run("rollout", "plan", str(tmp_path / "nowhere.yaml"))
    assert (result.exit_code, "there is no such file" in result.stderr) == (2, True)


def test_the_example_is_a_request() -> None:
    found = checked(ROOT / "examples" / "rollout.yaml", parse_request)
    assert found.findings == ()
    assert found.stated is not None


def test_the_schema_is_printed() -> None:
    result = RolloutCommand().run("rollout", "schema")
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    assert set(schema["required"]) == {"version", "rollout", "targets", "change"}
