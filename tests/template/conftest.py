"""The template as it is written, and as CloudFormation gets it."""

from collections.abc import Iterator
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from tests.template.stack import ROOT, Stack, expand


@pytest.fixture(scope="session")
def written() -> dict[str, Any]:
    """The template as it is written, before SAM's transform."""
    parsed: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())
    return parsed


@pytest.fixture(scope="session")
def template_lines() -> list[str]:
    """The template line by line, comments and all."""
    return (ROOT / "template.yaml").read_text().splitlines()


@pytest.fixture(scope="session", autouse=True)
def _region() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")  # SAM's transform wants one
        yield


@pytest.fixture(scope="session")
def stack(_region: None) -> Stack:
    """The expanded template with every parameter at its default."""
    return expand()
