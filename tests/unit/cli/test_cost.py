"""`pointsman cost`: the bill by formula, and the page that shows it."""

import json
import re
import shlex
from pathlib import Path

import pytest
from samtranslator.yaml_helper import yaml_parse

from pointsman_cli.cost import ALARMS, DASHBOARDS, LARGE, PRICES, SMALL, WINDOW, Load, bill, passes
from tests.unit.cli.harness import Command

ROOT = Path(__file__).parents[3]
SHOWN = dict(re.findall(r"^\$ pointsman (cost .*)\n((?:.+\n)+)", (ROOT / "docs" / "cost.md").read_text(), re.MULTILINE))


@pytest.mark.parametrize("words, text", SHOWN.items(), ids=SHOWN.keys())
def test_the_bills_that_the_page_shows_are_those_that_are_printed(command: Command, words: str, text: str) -> None:
    printed = [line.rstrip() for line in command.run(*shlex.split(words)).stdout.splitlines()]

    assert printed == text.removesuffix("```\n").splitlines()


def test_the_page_shows_an_idle_month_and_three_sizes() -> None:
    assert len(SHOWN) == 4


def test_more_of_anything_never_costs_less() -> None:
    load = Load(100_000)
    less = sum(line.dollars(PRICES) for line in bill(load))
    for more in (Load(200_000), Load(100_000, queues=2), Load(100_000, rollouts=20), Load(100_000, waiting=500)):
        assert sum(line.dollars(PRICES) for line in bill(more)) > less


def test_a_queue_is_never_passed_over_more_often_than_every_half_minute() -> None:
    assert passes(Load(1e12, queues=3)) == pytest.approx(3 * 86_400)


def test_what_is_counted_once_is_what_the_template_has() -> None:
    template = yaml_parse((ROOT / "template.yaml").read_text())
    kinds = [one["Type"] for one in template["Resources"].values()]
    functions = [one["Properties"] for one in template["Resources"].values() if "Function" in one["Type"]]
    sizes = {one["MemorySize"] / 1024 for one in functions if "MemorySize" in one}

    assert (kinds.count("AWS::CloudWatch::Alarm"), kinds.count("AWS::CloudWatch::Dashboard")) == (ALARMS, DASHBOARDS)
    assert template["Globals"]["Function"]["MemorySize"] / 1024 == SMALL
    assert sizes == {LARGE}
    assert template["Resources"]["RecordJobsSource"]["Properties"]["MaximumBatchingWindowInSeconds"] == WINDOW


def test_prices_of_another_region_are_taken_from_a_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"cloudwatch.alarm": 1.0}))

    told = json.loads(command.run("cost", "--events", "0", "--prices", str(file), "--json").stdout)

    (alarms,) = (line for line in told["lines"] if line["what"] == "alarms")
    assert alarms["dollars"] == ALARMS
    assert told["total"] == pytest.approx(sum(line["dollars"] for line in told["lines"]))


@pytest.mark.parametrize("text", ["{", "[]", '{"lambda.request": "free"}', '{"lambda.wish": 1}'])
def test_a_file_that_has_no_prices_is_a_mistake(command: Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)

    result = command.run("cost", "--events", "0", "--prices", str(file))

    assert (result.exit_code, str(file) in result.stderr.replace("\n", "")) == (2, True)
