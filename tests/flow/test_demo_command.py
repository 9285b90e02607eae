"""`pointsman demo` on a trace of a few jobs: the object that it prints, and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pointsman_cli.main import cli
from tests.flow.test_wiring import copied, without

TRACE = """\
submit_s,duration_s,gpus,vc,derived_class
90,60,1,early,sweep
100,1800,4,blue,sweep
101,600,1,blue,sweep
102,600,2,red,research
103,300,9,red,sweep
104,600,1,blue,production
200,60,1,late,sweep
"""
SLICE = ("--window", "100:200", "--capacity", "4")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    return file


def demo(*words: object) -> Result:
    return CliRunner().invoke(cli, ["demo", *map(str, words)])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("demo") / "trace.csv"
    file.write_text(TRACE)
    result = demo("--trace", file, *SLICE, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_slice_has_the_jobs_of_the_window_that_fit(told: dict[str, Any]) -> None:
    assert (told["jobs"], told["left_out"], told["teams"], told["capacity"]) == (4, 1, 2, 4)
    assert told["events"] == 1.0


def test_the_day_is_told_beside_fifo_and_fifo_that_skips(told: dict[str, Any]) -> None:
    assert [run["name"] for run in told["runs"]] == ["FIFO", "FIFO that skips", "pointsman"]
    for run in told["runs"]:
        assert run["finished"] == 4
        assert 0 < run["utilisation"] <= 1
        assert {*run["wait_hours"]} == {"production", "research", "sweep", "all"}
        assert {*run["wait_hours"]["all"]} == {"jobs", "mean", "median", "longest"}
        assert all(hours >= 0 for hours in run["idle_gpu_hours"].values())
    assert sum(figures["jobs"] for name, figures in told["runs"][2]["wait_hours"].items() if name != "all") == 4


def test_no_job_is_lost_and_none_runs_twice(told: dict[str, Any]) -> None:
    assert told["end_state"] == {
        "digest": "935f621d4ebc",  # of the four jobs' names, ends and attempts
        "succeeded_once": 4,
        "run_twice": 0,
        "lost": 0,
        "dead_letters": 0,
        "failures": 0,
    }
    assert told["wiring"] == {"ok": True, "faults": []}


def test_calls_are_counted_and_decisions_are_shown_with_their_reasons(told: dict[str, Any]) -> None:
    assert {*told["api_calls"]} == {
        "UpdateServiceJob",
        "DescribeServiceJob",
        "GetJobQueueSnapshot",
        "ListServiceJobs",
    }
    assert told["api_calls_per_job"]["DescribeServiceJob"] == told["api_calls"]["DescribeServiceJob"] / 4
    assert told["passes"] > 0
    assert 0 < len(told["decisions"]) <= 10
    for decision in told["decisions"]:
        assert {*decision} == {"at", "job", "class", "priority", "reason", "sentence", "outcome"}
        assert decision["job"] in decision["sentence"]
    assert told["alarm"] is None  # a trace has none


def test_with_no_event_delivered_the_jobs_still_end(trace: Path) -> None:
    result = demo("--trace", trace, *SLICE, "--events", "0%", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["end_state"]["succeeded_once"] == 4


def test_without_json_a_person_is_told_in_words(trace: Path) -> None:
    result = demo("--trace", trace, *SLICE)
    assert result.exit_code == 0
    assert "4 jobs of 2 teams" in result.stdout
    assert "Wiring: every kind of event reached its target." in result.stdout


def test_with_the_job_state_rule_deleted_it_exits_with_1_and_names_the_fault(trace: Path, tmp_path: Path) -> None:
    template = copied(tmp_path, without("JobStateRule"))
    result = demo("--trace", trace, *SLICE, "--template", template, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["end_state"]["succeeded_once"] == 4
    assert not found["wiring"]["ok"]
    assert any("Batch Service Job State Change" in f and "JobEventsQueue" in f for f in found["wiring"]["faults"])


@pytest.mark.parametrize(
    "words, said",
    [
        (("--window", "200:100", "--capacity", "4"), "is empty"),
        (("--window", "noon", "--capacity", "4"), "is not a window"),
        (("--window", "a:b", "--capacity", "4"), "not a number"),
        (("--window", "5000:6000", "--capacity", "4"), "no job to run"),
        (("--window", "100:200"), "--capacity"),
        (("--capacity", "4"), "--window"),
        (("--window", "100:200", "--capacity", "0"), "0"),
        (("--window", "100:200", "--capacity", "4", "--events", "often"), "percentage"),
        (("--window", "100:200", "--capacity", "4", "--events", "5"), "percentage"),
        (("--window", "100:200", "--capacity", "4", "--events", "nan%"), "between"),
        (("--window", "100:200", "--capacity", "4", "--events", "-1%"), "between"),
        (("--window", "100:200", "--capacity", "4", "--policy", "nowhere.yaml"), "nowhere.yaml"),
        (("--window", "100:200", "--capacity", "4", "--template", "nowhere.yaml"), "nowhere.yaml"),
        (("--window", "103:104", "--capacity", "4"), "no job fits"),
    ],
)
def test_what_cannot_be_played_is_one_message_and_exit_code_2(trace: Path, words: tuple[str, ...], said: str) -> None:
    refused(demo("--trace", trace, *words), said)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "submit_s"),
        ("submit_s,duration_s,gpus,vc\n", "derived_class"),
        ("submit_s,duration_s,gpus,vc,derived_class\n100,long,1,blue,sweep\n", "line 2, column duration_s"),
        ("submit_s,duration_s,gpus,vc,derived_class\n100,10,1,blue,hobby\n", "line 2, column derived_class"),
    ],
)
def test_a_trace_that_is_none_is_one_message_that_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(text)
    refused(demo("--trace", file, *SLICE), said)


def test_a_trace_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    refused(demo("--trace", tmp_path / "nowhere.csv", *SLICE), "nowhere.csv")


def test_a_window_without_a_trace_is_refused() -> None:
    refused(demo("--window", "0:10"), "--window belongs to --trace")


@pytest.mark.parametrize(
    "text, said",
    [
        ("Resources: [", "line 1"),
        ("- a list", "no Resources"),
        ("Resources: {Queue: {Type: AWS::SQS::Queue}}", "JobsTable"),
        (
            "Transform: AWS::Serverless-2016-10-31\nResources: {F: {Type: AWS::Serverless::Function, Properties: 7}}",
            "F",
        ),
    ],
)
def test_a_template_that_is_none_is_one_message(trace: Path, tmp_path: Path, text: str, said: str) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(text)
    result = demo("--trace", trace, *SLICE, "--template", template)
    refused(result, "template.yaml")
    assert said in result.stderr


def refused(result: Result, said: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("Error") == 1
