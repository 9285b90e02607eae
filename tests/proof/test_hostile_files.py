"""Whatever files and words people give the command, it does it or says in a sentence what is wrong, and where."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.documents import InvalidDocument
from pointsman.errors import UserMistake
from pointsman.policy_documents import parse_policy
from pointsman_cli.check import check
from pointsman_cli.export import COLUMNS, read, write
from pointsman_cli.failures import FAULT
from pointsman_cli.main import cli
from pointsman_cli.yaml_file import read_yaml
from pointsman_simulator.traces import TraceError, Window, parse_window, read_trace
from tests.proof.hostile import HOSTILE, nearly, nearly_text
from tests.proof.test_hostile_messages import POLICY, REQUEST
from tests.unit.cli.harness import POLICY as APPLIED
from tests.unit.cli.harness import Command, in_memory

EXAMPLES = 30
IN_A_FOLDER = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TRACE = (
    "submit_s,duration_s,gpus,team,derived_class,name\n"
    "0,3600,1,a,production,prod-1\n10,60,2,b,sweep,\n20,5,0,b,sweep,x\n"
)
ROW = '1.0,60.0,8,a,sweep,sweep-1,30.0,1,all,"{""team"": ""a""}",job-1'
EXPORT = f"{','.join(COLUMNS)}\n{ROW}\n"
CELLS = st.sampled_from(["", "-1", "nan", "inf", "1e400", "1" * 400, '"', "\x00", "٣", "{}", "[1]", "null", *HOSTILE])


def texts(sample: str) -> st.SearchStrategy[str]:
    """The file cut or changed, or with a cell that is something else."""

    def other(change: tuple[int, str]) -> str:
        cells = sample.split(",")
        cells[change[0] % len(cells)] = change[1]
        return ",".join(cells)

    return nearly_text(sample) | st.tuples(st.integers(0, 60), CELLS).map(other)


def put(file: Path, text: str) -> Path:
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return file


@IN_A_FOLDER
@given(text=texts(TRACE) | st.text(max_size=80))
def test_a_trace_is_read_or_its_error_names_the_file(tmp_path: Path, text: str) -> None:
    file = put(tmp_path / "trace.csv", text)
    try:
        jobs = read_trace(file, Window(0.0, 100.0)).jobs
    except TraceError as error:
        said = str(error)
    else:
        assert all(job.gpus > 0 and job.seconds >= 0 and job.name.isascii() for job in jobs)
        return
    assert said.startswith(str(file))


@settings(max_examples=EXAMPLES, deadline=None)
@given(text=nearly_text("0:100") | st.sampled_from(["nan:nan", "0:inf", "-inf:0", "1e999:2", ":", "::", *HOSTILE]))
def test_a_window_is_read_or_refused(text: str) -> None:
    with suppress(TraceError):
        parse_window(text)


@IN_A_FOLDER
@given(text=texts(EXPORT))
def test_an_export_goes_on_from_its_file_or_says_that_it_is_none(tmp_path: Path, text: str) -> None:
    file = put(tmp_path / "past.csv", text)
    try:
        jobs = read(file)
    except UserMistake as error:
        said = error
    else:
        write(file, jobs.values(), parse_policy(POLICY))
        assert read(file) == jobs
        return
    assert said.place == str(file)


def written(document: object) -> str:
    return json.dumps(document, default=repr, ensure_ascii=False)


YAMLS = st.one_of(
    nearly(POLICY).map(written), nearly(REQUEST).map(written), texts(written(POLICY)), st.text(max_size=60)
) | st.sampled_from(["a: &a [*a]", "? [x]\n: y", "{a: 1, a: 2}", "!!python/object:os.system {}", "[" * 3000,
                     "a: 1\n---\nb",
                     "version: 0o7_7", "- " * 2000, "a: !!binary x", "a: 2026-99-99", "<<: [1]"])  # fmt: skip


@IN_A_FOLDER
@given(text=YAMLS)
def test_a_policy_file_is_checked_with_the_line_of_what_is_wrong(tmp_path: Path, text: str) -> None:
    file = put(tmp_path / "policy.yaml", text)
    checked = check(file)
    found = CliRunner().invoke(cli, ["policy", "check", str(file)])
    assert found.exit_code == (0 if checked.stated is not None else 1), found.output
    if checked.stated is None:
        assert "policy.yaml:" in found.output


@IN_A_FOLDER
@given(text=YAMLS)
def test_a_yaml_file_is_values_or_troubles(tmp_path: Path, text: str) -> None:
    found = read_yaml(put(tmp_path / "request.yaml", text))
    assert found.troubles or () in found.places


@IN_A_FOLDER
@given(data=st.data())
def test_prices_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    sample = {"lambda.request": 2e-7}
    text = data.draw(nearly(sample).map(written) | texts(written(sample)) | st.just("[" * 100_000))
    file = put(tmp_path / "prices.json", text)
    found = CliRunner().invoke(cli, ["cost", "--prices", str(file), "--json"])
    assert found.exit_code in (0, 2), found.output


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    made = in_memory()
    file = tmp_path_factory.mktemp("words") / "policy.yaml"
    file.write_text(APPLIED)
    assert made.run("policy", "apply", str(file)).exit_code == 0
    batch, now = made.deployment.batch, made.deployment.clock.now()
    for n in range(3):
        batch.add_job(f"s-{n}", "search-training", name=f"sweep-{n}", created=now - 3600)
    return made


VERBS = [
    ("queue", "show"), ("queue", "plan"), ("queue", "history"), ("queue", "explain", "search-training"),
    ("queue", "pin", "search-training"), ("queue", "demote", "search-training"), ("queue", "unpin", "search-training"),
    ("queue", "export"), ("policy", "show"), ("policy", "rollback"), ("policy", "history"), ("policy", "apply"),
    ("rollout", "schema"), ("rollout", "plan"), ("report",), ("simulate",), ("cost",), ("demo", "rollout"), ("no",),
]  # fmt: skip
WORDS = st.sampled_from(
    ["search-training", "sweep-1", "s-0", "--json", "--for", "2h", "-1h", "nan", "--since", "--last", "0", "-1", "1e9",
     "--out", "/nonexistent/x.csv", "/dev", "", "--to", "--days", "--window", "0:1", "--capacity", "--trace", "9" * 30,
     "--policy", "--", "--weeks", "10000d", *HOSTILE]
) | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)  # fmt: skip


@settings(max_examples=6 * EXAMPLES, deadline=None)
@given(verb=st.sampled_from(VERBS), words=st.lists(WORDS, max_size=4))
def test_whatever_is_typed_there_is_an_answer_and_no_fault_of_the_command(
    command: Command, verb: tuple[str, ...], words: list[str]
) -> None:
    found = command.run(*verb, *words)
    assert found.exit_code != FAULT, found.output
    assert found.exit_code in (0, 1, 2, 3, 4), found.output
    assert "Traceback" not in found.output


def test_a_document_that_is_refused_is_refused_in_words() -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_policy({"version": 1, "queue": HOSTILE[1]})
    assert str(caught.value)
