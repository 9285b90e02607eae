"""Hostile input: whatever people, AWS or a stored item say, only the documented errors; no name is more than a name."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.aws import job_items
from pointsman.decision_log import PowertoolsLog
from pointsman.documents import InvalidDocument, fraction, seconds
from pointsman.errors import Poison, UserMistake
from pointsman.inbound import Message
from pointsman.policy_documents import parse_policy, stored_policy
from pointsman.queues.jobs import Status
from pointsman.rollout_documents import amount, parse_request
from pointsman.rollout_inbound import command
from pointsman.wall_clock import moment, weekly
from pointsman_cli.screen import screen, table
from pointsman_cli.yaml_file import read_yaml
from tests.unit.loops.world import POLICY, QUEUE, World

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
REQUEST = {
    "version": 1,
    "name": "chat-v2",
    "targets": [{"component": "chat"}],
    "to": {"model": "chat-v2"},
    "guards": [],
}
MEANT = ("24h", "-1h", "1e9h", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-24T18:00:00Z", "70%", "0%", "")


def nearly(sample: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The sample with one of its values something else, or with a key more."""
    keys = st.sampled_from(sorted(sample)) | st.text(max_size=8)
    return st.tuples(keys, anything).map(lambda pair: sample | {pair[0]: pair[1]})


PARSERS: list[tuple[Callable[[Any], object], tuple[type[Exception], ...]]] = [
    (parse_policy, (InvalidDocument,)),
    (parse_request, (InvalidDocument,)),
    (command, (Poison,)),
    (seconds, (ValueError,)),
    (fraction, (ValueError,)),
    (amount, (ValueError,)),
    (weekly, (ValueError,)),
    (moment, (ValueError,)),
]


@pytest.mark.parametrize("parse, errors", PARSERS, ids=lambda one: getattr(one, "__name__", ""))
@settings(max_examples=40, deadline=None)
@given(said=anything | nearly(POLICY) | nearly(REQUEST) | st.sampled_from(MEANT) | st.text(max_size=40))
def test_whatever_is_said_it_is_read_or_refused_by_the_documented_error(
    parse: Callable[[Any], object], errors: tuple[type[Exception], ...], said: object
) -> None:
    with suppress(*errors):
        parse(said)


@pytest.mark.parametrize("key", ["", "Guards", "max-batch", "guards2", "\x1b[2J"])
def test_a_key_of_any_letters_is_named_where_no_request_has_it(key: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_request({"version": 1, key: 1})
    assert key in [place for problem in caught.value.problems for place in problem.path]


def test_an_invocation_with_nothing_at_all_is_poison() -> None:
    for nothing in (None, 7, []):
        with pytest.raises(Poison):
            command(nothing)  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60) | anything.map(json.dumps))
def test_a_stored_policy_that_is_none_is_an_invalid_document(text: str) -> None:
    with pytest.raises(InvalidDocument):
        stored_policy(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=120) | st.text(max_size=120).map(lambda text: text.encode("utf-8", "replace")))
def test_whatever_bytes_a_policy_file_has_it_is_read_with_its_troubles(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(content)
    with suppress(UserMistake):
        read_yaml(file)


HOSTILE = (
    'x"}\n{"level": "ERROR", "message": "forged"}',
    "\x1b[2J\x1b]0;owned\x07",
    "../../control#QUEUE#search-training",
    "${jndi:ldap://x}{{7*7}}%s%n",
    "a' OR 1=1; #b :x",
    "<script>alert(1)</script>[bold]",
    "\u202eesrever\u2028next\x9b31m",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_field_of_one_log_line_and_no_dimension(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pointsman")
    lines = io.StringIO()
    world = World()
    world.log = PowertoolsLog(Logger(service=f"hostile-{HOSTILE.index(name)}", stream=lines))  # type: ignore[assignment]
    world.apply()
    world.submit("job-1", name=name)
    world.alarms.set_state("drift-" + name, "ALARM", world.clock.now())
    world.pass_()
    world.recorder().record([Message("m", json.dumps({"source": name, "detail-type": name})), Message("n", name)])
    said = [json.loads(line) for line in lines.getvalue().split("\n") if line]
    assert {line["message"] for line in said} >= {"decided"}
    assert not [line for line in said if line["message"] == "forged"]
    for line in filter(None, capsys.readouterr().out.split("\n")):
        metrics = json.loads(line)
        keys = {key for each in metrics["_aws"]["CloudWatchMetrics"] for keys in each["Dimensions"] for key in keys}
        assert keys <= {"queue", "class", "service"}
        assert name not in [metrics[key] for key in keys]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_id_is_the_value_of_its_own_key_and_comes_back_as_it_was(name: str) -> None:
    world = World()
    row = world.batch.add_job(name, QUEUE, Status.RUNNABLE, name=name, share=name, tags={name: name})
    world.clock.advance(5)
    world.tell(name)
    stored = world.jobs.jobs[name]
    item = job_items.encode(stored)
    assert {"S": f"JOB#{name}"} in job_items.key(name).values()
    assert job_items.decode(item, QUEUE).job_id == row.job_id


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_printed_and_not_obeyed_by_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = screen()
    out.print(f"job {name}")
    out.print(table(("job",), [(name,)]))
    shown = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert "[bold]" in shown or "[bold]" not in name
