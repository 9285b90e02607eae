"""The pins: complete, hashed, from nowhere in particular, and the same here as in Lambda."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.template.stack import ROOT

LAYER = ROOT / "layers/dependencies/requirements.txt"
PINNED = [*sorted(ROOT.glob("requirements/*.txt")), LAYER]
PIN = re.compile(r"^([a-z0-9-]+)(?:\[[^]]*])?==(\S+)", re.MULTILINE)


def pins(file: Path) -> dict[str, str]:
    return dict(PIN.findall(file.read_text()))


@pytest.mark.parametrize("file", PINNED, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_pin_is_a_version_and_its_hashes_and_names_no_place(file: Path) -> None:
    text = file.read_text()
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host", text)
    blocks = re.split(r"\n(?=\S)", text.split("make pin\n", 1)[1].strip())
    assert blocks
    assert all("==" in block and "--hash=sha256:" in block for block in blocks)


def test_lambda_gets_the_versions_that_the_tests_ran_with() -> None:
    here, there = pins(ROOT / "requirements/dev.txt"), pins(LAYER)
    assert there
    assert there == {name: here[name] for name in there}


def test_the_layer_holds_the_runtime_dependencies_and_what_they_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[<>=\[]", dependency)[0] for dependency in project["dependencies"]}
    brought = {
        "annotated-types",
        "botocore",
        "jmespath",
        "pydantic-core",
        "python-dateutil",
        "s3transfer",
        "six",
        "typing-extensions",
        "typing-inspection",
        "urllib3",
    }
    assert set(pins(LAYER)) == asked | brought


def test_the_build_backend_is_pinned_so_that_setting_up_needs_no_isolation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    backend = re.split(r"[<>=]", project["build-system"]["requires"][0])[0]
    assert backend in pins(ROOT / "requirements/dev.txt")
