"""`pointsman policy check`: every bad input is one clear message with its place."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.harness import POLICY, Command

HEAD = "version: 1\nqueue: q\nshare: all\ndefault: {name: sweep}\n"

PROBLEMS = {
    "an empty file": ("", "1:1: the file is empty (start with `version: 1`)"),
    "only a comment": ("# later\n", "1:1: the file is empty (start with `version: 1`)"),
    "a list": ("- version: 1\n", "1:1: a policy is a mapping of keys (start with `version: 1`)"),
    "a single word": ("observe\n", "1:1: a policy is a mapping of keys (start with `version: 1`)"),
    "nothing but null": ("~\n", "1:1: a policy is a mapping of keys (start with `version: 1`)"),
    "a bracket that is never closed": (
        HEAD + "classes: [\n  {name: a",
        "6:11: not YAML: while parsing a flow mapping: expected ',' or '}', but got '<stream end>'",
    ),
    "a quote that is never closed": (
        'version: 1\nqueue: "q\nshare: all\n',
        "4:1: not YAML: while scanning a quoted scalar: found unexpected end of stream (it began on line 2)",
    ),
    "a tab for indentation": (
        "version: 1\ndefault:\n\tname: a\n",
        "3:1: not YAML: while scanning for the next token: found character '\\t' that cannot start any token",
    ),
    "two colons on a line": ("version: 1: 2\n", "1:11: not YAML: mapping values are not allowed here"),
    "two documents in one file": (
        HEAD + "---\n" + HEAD,
        "5:1: not YAML: expected a single document in the stream: but found another document (it began on line 1)",
    ),
    "a control character": (
        "version: 1\nqueue: a\x00b\n",
        "2:9: not YAML: the character '\\x00' is not allowed (take it out)",
    ),
    "an alias of nothing": ("version: *one\n", "1:10: not YAML: found undefined alias 'one'"),
    "an alias of what it is part of": (
        HEAD + "classes: &all [*all]\n",
        "5:10: an alias that stands for what it is part of (write it out)",
    ),
    "a tag": (HEAD + "mode: !python/name act\n", "5:7: the tag `!python/name` means nothing here (take it out)"),
    "a tag of YAML that we have no use for": (
        HEAD + "mode: !!binary act\n",
        "5:7: the tag `!!binary` means nothing here (take it out)",
    ),
    "a list for a key": (HEAD + "? [a, b]\n: 1\n", "5:3: a key is one word (write the key as plain text)"),
    "a key that is there twice": (
        HEAD + "share: other\n",
        "5:1: the key `share` is there twice, first on line 3 (take one out)",
    ),
    "a key that is there twice, deep inside": (
        HEAD + "classes:\n  - {name: a, match: {job_name: a, job_name: b}}\n",
        "6:36: the key `job_name` is there twice, first on line 6 (take one out)",
    ),
    "a date where text is meant": (
        "version: 1\nqueue: 2026-01-31\nshare: all\ndefault: {name: sweep}\n",
        "2:1: YAML takes `2026-01-31` for a date (for text, put it in quotes)",
    ),
    "a date where a duration is meant": (
        HEAD + "spread: 2026-01-31\n",
        "5:1: '2026-01-31' is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "a boolean where text is meant": (
        "version: 1\nqueue: q\nshare: true\ndefault: {name: sweep}\n",
        "3:1: YAML takes `true` for a boolean (for text, put it in quotes)",
    ),
    "a number where text is meant": (
        HEAD + "classes:\n  - {name: a, match: {tag: {cost: 12}}}\n",
        "6:29: YAML takes `12` for a number (for text, put it in quotes)",
    ),
    "a sexagesimal number of old YAML": (
        "%YAML 1.1\n---\n" + HEAD + "spread: 10:30\n",
        "7:1: '10:30' is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "minutes and seconds": (
        HEAD + "spread: 10:30\n",
        "5:1: '10:30' is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "a number without a unit": (
        HEAD + "spread: 24\n",
        "5:1: 24 is not a duration; write a number and a unit, as 24h, 90m or 1h30m",
    ),
    "a negative duration": (HEAD + "spread: -6h\n", "5:1: -6h is negative; a duration is not"),
    "an unknown key": (
        "version: 1\nqueue: q\nshare: all\ndefault: {name: sweep, headstart: 1h}\n",
        "4:24: unknown key `headstart` (did you mean `head_start`?)",
    ),
    "evictions where nothing may be evicted": (
        HEAD + "preemption: {patience: 60m}\n",
        "5:1: no class may be evicted (say `preemptible: true` of one, or take it out)",
    ),
    "a window that is none": (
        HEAD + "windows:\n  - {when: Mon 20:00, set: {sweep: {head_start: 6h}}}\n",
        "6:6: 'Mon 20:00' is not a window; write it as `Mon-Fri 20:00-06:00 Europe/Madrid`",
    ),
    "a part of the pool that is a bare number": (
        HEAD + "classes:\n  - {name: a, match: {job_name: a}, ceiling: 60}\n",
        "6:37: 60 is not a part of the pool; write a percentage over 0% and up to 100%, as 70%",
    ),
    "a key that is missing": (
        "version: 1\nqueue: q\nshare: all\ndefault:\n  head_start: 1h\n",
        "4:1: `name` is missing (add it)",
    ),
    "a class nothing can reach": (
        HEAD + "classes:\n  - {name: a, match: {job_name: 'a*'}}\n  - {name: b, match: {job_name: 'ab*'}}\n",
        ("7:5: nothing can reach class b: every job that it matches is already a "
        "(put it before a, or narrow the match of a)"),
    ),
    "a queue without a name": (
        'version: 1\nqueue: ""\nshare: all\ndefault: {name: sweep}\n',
        ("2:1: '' cannot stand here "
        "(the queue's name, not its ARN: letters, digits, hyphens and underscores, 128 at most)"),
    ),
    "a class that matches nothing": (
        HEAD + "classes:\n  - {name: a, match: {job_name: ''}}\n",
        "6:23: this is empty (write at least one character, or take the key out)",
    ),
    "an alarm that boosts no class": (
        HEAD + "on_alarm:\n  - {alarm: drift, boost: prod, by: 1h}\n",
        "6:20: no class is named prod (one of: sweep)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, message", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_bad_file_is_one_message_with_its_place(command: Command, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    result = command.run("policy", "check", str(file))
    assert (result.stdout, result.stderr, result.exit_code) == (f"{file}:{message}\n", "", 1)


BYTES = {
    "not UTF-8": (b"version: 1\nqueue: caf\xe9\n", "2:11: not UTF-8: byte 0xe9 (save the file as UTF-8)"),
    "UTF-16": ("version: 1".encode("utf-16"), "1:1: not UTF-8: byte 0xff (save the file as UTF-8)"),
    "far too long": (b"#" * 300_000, "1:1: 300000 bytes are too many for one document (262144 are allowed)"),
    "nested too deeply": (b"version: " + b"[" * 5000, "1:1: nested too deeply (four levels are enough)"),
    "aliases that expand without end": (
        b"a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c, c, b", ".join([b"*%c" % (c - 1)] * 10)) for c in b"bcdefgh"),
        "1:1: its aliases expand to more than 20000 values (write them out)",
    ),
}


@pytest.mark.parametrize("raw, message", BYTES.values(), ids=BYTES.keys())
def test_bytes_that_are_no_policy_are_one_message(command: Command, tmp_path: Path, raw: bytes, message: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(raw)
    result = command.run("policy", "check", str(file))
    assert (result.stdout, result.exit_code) == (f"{file}:{message}\n", 1)


def test_every_problem_of_a_file_is_told_in_the_order_of_its_lines(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("queue: 2026-01-31\nmode: Act\nshare: all\nshare: b\ndefault: {name: sweep, ceiling: 3}\n")
    result = command.run("policy", "check", str(file))
    lines = [line.removeprefix(f"{file}:").split(":")[0] for line in result.stdout.splitlines()]
    assert (lines, result.exit_code) == (["1", "1", "2", "4", "5"], 1)


def test_a_file_that_is_not_there_is_the_askers_mistake(command: Command, tmp_path: Path) -> None:
    result = command.run("policy", "check", str(tmp_path / "no.yaml"))
    assert (result.stderr, result.exit_code) == (f"Error: {tmp_path}/no.yaml: there is no such file\n", 2)


def test_a_folder_is_the_askers_mistake(command: Command, tmp_path: Path) -> None:
    result = command.run("policy", "check", str(tmp_path))
    assert (result.stderr, result.exit_code) == (f"Error: {tmp_path}: this is a folder, not a file\n", 2)


def test_a_good_file_is_one_line(command: Command, policy_file: Path) -> None:
    result = command.run("policy", "check", str(policy_file))
    line = f"{policy_file}: a policy of queue search-training with 3 classes; mode act\n"
    assert (result.stdout, result.stderr, result.exit_code) == (line, "", 0)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + POLICY.replace("\n", "\r\n").encode())
    assert command.run("policy", "check", str(file)).exit_code == 0


def test_json_of_a_good_file(command: Command, policy_file: Path) -> None:
    result = command.run("policy", "check", "--json", str(policy_file))
    told = {"ok": True, "problems": [], "windows": [], "warnings": []}
    assert (json.loads(result.stdout), result.exit_code) == (told, 0)


def test_the_next_times_of_a_window_are_shown_by_the_clock_of_the_place_and_in_utc(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock there is put on an hour in the night to 2026-03-29."""
    monkeypatch.setattr("pointsman_cli.policy.time", lambda: 1_774_659_600.0)  # 2026-03-28 01:00 UTC
    file = tmp_path / "policy.yaml"
    file.write_text(HEAD + "windows:\n  - {when: 'daily 22:00-02:30 Europe/Madrid', set: {sweep: {head_start: 6h}}}\n")
    result = command.run("policy", "check", str(file))
    first, *openings = result.stdout.splitlines()[1:]
    assert first == "window daily 22:00-02:30 Europe/Madrid, open now"
    assert [line.strip().replace(":00 UTC", "Z") for line in openings] == [
        "Fri 2026-03-27 22:00 CET to Sat 2026-03-28 02:30 CET  (2026-03-27 21:00Z to 2026-03-28 01:30Z)",
        "Sat 2026-03-28 22:00 CET to Sun 2026-03-29 03:00 CEST  (2026-03-28 21:00Z to 2026-03-29 01:00Z)",
        "Sun 2026-03-29 22:00 CEST to Mon 2026-03-30 02:30 CEST  (2026-03-29 20:00Z to 2026-03-30 00:30Z)",
    ]
    (shown,) = json.loads(command.run("policy", "check", "--json", str(file)).stdout)["windows"]
    assert (shown["when"], shown["open"], len(shown["next"])) == ("daily 22:00-02:30 Europe/Madrid", True, 3)
    assert shown["next"][1] == {
        "since": "2026-03-28T21:00:00Z",
        "until": "2026-03-29T01:00:00Z",
        "since_there": "Sat 2026-03-28 22:00 CET",
        "until_there": "Sun 2026-03-29 03:00 CEST",
    }


def test_json_of_a_bad_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(HEAD + "classes:\n  - {name: a, match: {job_name: a}, headstart: 1h}\n")
    result = command.run("policy", "check", "--json", str(file))
    problem = {
        "file": str(file),
        "line": 6,
        "column": 37,
        "path": ["classes", 0, "headstart"],
        "message": "unknown key `headstart`",
        "remedy": "did you mean `head_start`?",
    }
    told = {"ok": False, "problems": [problem], "windows": [], "warnings": []}
    assert (json.loads(result.stdout), result.exit_code) == (told, 1)


def test_the_schema_is_printed_as_json(command: Command) -> None:
    result = command.run("policy", "schema")
    assert result.exit_code == 0
    assert {"version", "queue", "share", "default"} <= set(json.loads(result.stdout)["properties"])


def test_a_check_imports_neither_aws_nor_the_emulator(policy_file: Path) -> None:
    code = (
        "import sys; from pointsman_cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = {'boto3', 'botocore', 'moto', 'rich', 'pointsman.wiring', 'pointsman_emulator'} & set(sys.modules)\n"
        "sys.exit(f'{code} {sorted(heavy)}' if code or heavy else 0)"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, on our own words
        [sys.executable, "-c", code, "policy", "check", str(policy_file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
