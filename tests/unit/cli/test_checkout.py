"""What runs from a checkout only says so elsewhere, with the way out; what needs none of its files runs anywhere."""

import re
from pathlib import Path

import pytest

from pointsman_cli import checkout
from tests.unit.cli.harness import Command

ROOT = Path(__file__).parents[3]
TRACE = ("--window", "0:10", "--capacity", "4")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no checkout, with a trace in it."""
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text("submit_s,duration_s,gpus,vc,derived_class\n1,600,1,blue,sweep\n")
    return tmp_path


NEEDS = {
    "demo": (("demo",), "examples/policy.yaml", "name another by --policy; "),
    "demo of a policy": (("demo", "--policy", "p.yaml"), "template.yaml", "name another by --template; "),
    "demo rollout": (("demo", "rollout", "single-gpu"), "template.yaml", ""),
    "simulate": (("simulate", "--trace", "trace.csv", *TRACE), "examples/quota-policy.yaml",
                 "name another by --policy; "),
    "calibrate": (("calibrate", "--seeds", "1"), "examples/policy.yaml", "name another by --policy; "),
    "local": (("local", "--port", "0"), "template.yaml", ""),
}  # fmt: skip


@pytest.mark.parametrize("words, name, other", NEEDS.values(), ids=NEEDS.keys())
@pytest.mark.usefixtures("elsewhere")
def test_a_file_that_only_a_checkout_has_is_missed_by_its_name(
    command: Command, words: tuple[str, ...], name: str, other: str
) -> None:
    result = command.run(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    message = f"{name}: it is not here, since this command does not run from a checkout ({other}{checkout.SETUP})"
    assert result.stderr.splitlines()[-1] == f"Error: {message}"


def test_the_day_of_the_demo_is_missed_too(elsewhere: Path) -> None:
    from pointsman.errors import UserMistake
    from pointsman_cli.demo.day import played_to

    with pytest.raises(UserMistake, match=r"examples/policy.yaml: it is not here"), played_to(0.0):
        raise AssertionError(elsewhere)


def test_a_policy_that_is_named_is_all_that_a_replay_needs(command: Command, elsewhere: Path) -> None:
    (elsewhere / "p.yaml").write_text((ROOT / "examples" / "policy.yaml").read_text())
    result = command.run("simulate", "--trace", "trace.csv", *TRACE, "--policy", "p.yaml", "--runs", "fifo_strict")
    assert (result.exit_code, result.stderr) == (0, "")


def test_only_one_place_looks_for_the_checkout() -> None:
    upwards = re.compile(r"parents\[|\.parent\.parent")
    sources = {file.name for file in (ROOT / "cli").rglob("*.py") if upwards.search(file.read_text())}
    assert sources == {"checkout.py"}


def test_no_page_and_no_message_tells_to_install_a_package() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "cli").rglob("*.py")]
    assert [page.name for page in pages if re.search(r"install .?pointsman", page.read_text())] == []
