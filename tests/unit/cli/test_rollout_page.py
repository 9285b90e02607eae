"""The page on rollouts says what the product takes."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pointsman.rollout_documents import NOT_BUILT, GuardDocument, RequestDocument, parse_request
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.record import HoldKind
from pointsman_cli.demo.rollout.scenarios import SCENARIOS
from pointsman_cli.rollout import rollout

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "rollouts.md").read_text()


def test_every_request_that_is_shown_is_a_request() -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert shown
    least = {"version": 1, "rollout": "r1", "targets": [{"prefix": "m"}], "change": {"model": "m-2"}}
    for text in shown:  # a part of one stands for the whole
        parse_request({**least, **YAML(typ="safe", pure=True).load(text)})


@pytest.mark.parametrize(
    "names",
    [
        RequestDocument.model_fields,
        GuardDocument.model_fields,
        [key for keys in NOT_BUILT.values() for key in keys],
        [phase.value for phase in Phase],
        [kind.value for kind in HoldKind],
        SCENARIOS,
    ],
    ids=["keys", "keys of a guard", "what is not built", "phases", "holds", "scenarios"],
)
def test_the_page_names_all(names: list[str]) -> None:
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_the_page_names_every_verb() -> None:
    assert [verb for verb in rollout.commands if not re.search(rf"[` ]{verb}\b", PAGE)] == []
