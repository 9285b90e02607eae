"""A slice of a trace is read whole or refused in one sentence that names the place and the remedy."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman_simulator.traces import (
    CLASSES,
    TraceError,
    TraceJob,
    Window,
    job_name,
    parse_window,
    read_trace,
    split_by_capacity,
)

PHILLY = "submit_s,duration_s,gpus,vc,derived_class"
ITP = "submit_s,duration_s,gpus,cluster,derived_class"
OPENB = "submit_s,wait_s,duration_s,gpus,gpu_milli,qos,phase,derived_class"
HOUR_LONG = Window(1000.0, 4600.0)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.csv"


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refusal(path: Path, window: Window = HOUR_LONG) -> str:
    with pytest.raises(TraceError) as refused:
        read_trace(path, window)
    return str(refused.value)


def test_a_philly_row_becomes_a_job_of_its_virtual_cluster_timed_from_the_window(trace: Path) -> None:
    write(trace, PHILLY, "400,60,1,0e4a51,sweep", "1234,3600,8,7f04ca,production")
    job = TraceJob(name="prod-7f04ca-2", submit=234.0, seconds=3600.0, gpus=8, team="7f04ca", job_class="production")
    assert read_trace(trace, HOUR_LONG).jobs == (job,)
    assert job.instances == 8
    assert job.tags == {"team": "7f04ca", "purpose": "release"}


def test_an_itp_row_takes_its_cluster_as_team(trace: Path) -> None:
    write(trace, ITP, "1000,5,1,c07,research")
    assert [(job.name, job.team) for job in read_trace(trace, HOUR_LONG).jobs] == [("research-c07-1", "c07")]


def test_openb_pods_are_one_team_a_shared_gpu_is_a_whole_one_and_pods_never_scheduled_are_counted(trace: Path) -> None:
    write(trace, OPENB, "1000,4,90,1,460,LS,Running,production", "1001,,,1,1000,BE,Pending,sweep")
    read = read_trace(trace, HOUR_LONG)
    assert [(job.name, job.team, job.gpus, job.seconds) for job in read.jobs] == [("prod-all-1", "all", 1, 90.0)]
    assert (read.never_started, read.without_gpu) == (1, 0)


def test_part_of_a_gpu_takes_a_whole_one_and_jobs_without_a_gpu_are_counted_and_left_out(trace: Path) -> None:
    write(trace, PHILLY, "1000,5,0.5,a,sweep", "1001,5,2.25,a,sweep", "1002,5,0,a,sweep")
    read = read_trace(trace, HOUR_LONG)
    assert [job.gpus for job in read.jobs] == [1, 3]
    assert read.without_gpu == 1


def test_the_window_holds_its_start_and_not_its_end(trace: Path) -> None:
    write(trace, PHILLY, *(f"{submit},5,1,a,sweep" for submit in (999, 1000, 4599, 4600)))
    assert [job.submit for job in read_trace(trace, HOUR_LONG).jobs] == [0.0, 3599.0]


def test_extra_columns_other_orders_blanks_and_a_byte_order_mark_are_no_matter(trace: Path) -> None:
    lines = [
        "\ufeffvc, derived_class ,note,gpus,submit_s,duration_s",
        "a,sweep,hello,1,1005,7,surplus",
        "",
        " b ,sweep,,2, 1001 ,8",
    ]
    jobs = read_trace(write(trace, *lines), HOUR_LONG).jobs
    assert [(job.name, job.submit, job.gpus) for job in jobs] == [("sweep-b-2", 1.0, 2), ("sweep-a-1", 5.0, 1)]


def test_a_mistake_outside_the_window_is_nobodys_concern(trace: Path) -> None:
    write(trace, PHILLY, "5,long,many,a,sweep", "1000,5,1,a,sweep")
    assert len(read_trace(trace, HOUR_LONG).jobs) == 1


@pytest.mark.parametrize(
    "row,place,remedy",
    [
        ("soon,5,1,a,sweep", 'column submit_s: "soon" is not a number', "give seconds"),
        ("nan,5,1,a,sweep", 'column submit_s: "nan" is not a number', "give seconds"),
        ("1000,long,1,a,sweep", 'column duration_s: "long" is not a number', "give seconds, or take the row out"),
        ("1000,inf,1,a,sweep", 'column duration_s: "inf" is not a number', "give seconds"),
        ("1000,-5,1,a,sweep", "column duration_s: -5 is negative", "give 0 or more seconds"),
        ("1000,5,two,a,sweep", 'column gpus: "two" is not a number', "give GPUs"),
        ("1000,5,-1,a,sweep", "column gpus: -1 is negative", "give 0 or more GPUs"),
        ("1000,,1,a,sweep", "column duration_s: the cell is empty", "give seconds, or take the row out"),
        ("1000,5,1,,sweep", "column vc: the cell is empty", "name the team"),
        ("1000,5,1,a", 'column derived_class: "" is no class', "use one of production, research, sweep"),
        ("1000,5,1,a,urgent", 'column derived_class: "urgent" is no class', "use one of production, research, sweep"),
        ('1000,5,1,"a,sweep', "not CSV", "mend the line or take it out"),
    ],
)
def test_a_bad_row_is_refused_with_file_line_column_and_remedy(trace: Path, row: str, place: str, remedy: str) -> None:
    write(trace, PHILLY, "1000,5,1,a,sweep", row)
    message = refusal(trace)
    assert message.startswith(f"{trace}, line 3")
    assert place in message
    assert remedy in message.split(";")[-1]


def test_the_classes_may_be_those_of_any_policy(trace: Path) -> None:
    write(trace, PHILLY, "1000,5,1,a,urgent work", "1001,5,1,a,sweep")
    jobs = read_trace(trace, HOUR_LONG, ("urgent work", "sweep")).jobs
    assert [(job.job_class, job.name) for job in jobs] == [("urgent work", "urgent-work-a-1"), ("sweep", "sweep-a-2")]
    assert jobs[0].tags == {"team": "a", "purpose": "urgent work"}


def test_a_class_that_the_policy_does_not_have_is_refused_with_those_it_has(trace: Path) -> None:
    write(trace, PHILLY, "1000,5,1,a,sweep")
    with pytest.raises(TraceError, match='"sweep" is no class; use one of urgent, rest'):
        read_trace(trace, HOUR_LONG, ("urgent", "rest"))


def test_a_job_keeps_its_own_name_with_its_row(trace: Path) -> None:
    write(trace, PHILLY + ",name", "1000,5,1,a,sweep,train_daily", "1001,5,1,a,sweep,a b/c", "1002,5,1,a,sweep,")
    assert [job.name for job in read_trace(trace, HOUR_LONG).jobs] == ["train_daily-1", "a-b-c-2", "sweep-a-3"]


@pytest.mark.parametrize(
    "header,column",
    [
        ("duration_s,gpus,vc,derived_class", "submit_s"),
        ("submit_s,gpus,vc,derived_class", "duration_s"),
        ("submit_s,duration_s,vc,derived_class", "gpus"),
        ("submit_s,duration_s,gpus,vc", "derived_class"),
        ("submit_s,duration_s,gpus,derived_class", "team or vc or cluster"),
        ("", "submit_s"),
    ],
)
def test_a_missing_column_is_named_with_what_was_found(trace: Path, header: str, column: str) -> None:
    message = refusal(write(trace, header))
    found = ", ".join(header.split(",")) or "nothing"
    assert message == f"{trace}, line 1, column {column}: missing (found: {found}); add it to the header line"


def test_a_window_without_a_job_says_what_it_left_out(trace: Path) -> None:
    message = refusal(write(trace, PHILLY, "1000,5,0,a,sweep", "9000,5,1,a,sweep"))
    assert message == (
        f"{trace}, column submit_s: no job to run in 1000 <= submit_s < 4600 "
        "(1 ask for no GPU, 0 never started); choose another window"
    )


def test_no_such_file_and_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        message = refusal(path)
        assert message.startswith(f"{path}: ")
        assert message.endswith("; name a trace file (CSV) that can be read")


def test_a_packed_file_is_refused_by_its_first_bad_byte(trace: Path) -> None:
    trace.write_bytes(b"\x1f\x8b\x08\x00 gz")
    assert refusal(trace) == f"{trace}, byte 1: not UTF-8 text; unpack it, or save it as CSV in UTF-8"


@pytest.mark.parametrize(
    "text,problem",
    [
        ("2381359", "is not a window"),
        ("", "is not a window"),
        ("a:b", "an end that is not a number"),
        ("1:2:3", "an end that is not a number"),
        ("5:", "an end that is not a number"),
        ("10:10", "is empty"),
        ("20:10", "is empty"),
        ("nan:10", "is empty"),
        ("0:inf", "is empty"),
    ],
)
def test_what_is_not_a_window_is_refused_with_an_example(text: str, problem: str) -> None:
    with pytest.raises(TraceError, match=r'write "A:B" in seconds of submit_s with A below B') as refused:
        parse_window(text)
    assert problem in str(refused.value)


def test_a_window_is_two_numbers_of_seconds() -> None:
    assert parse_window("2381359:2556095") == Window(2381359.0, 2556095.0)
    assert parse_window(" 0 : 1.5 ") == Window(0.0, 1.5)


def test_jobs_larger_than_the_capacity_are_set_aside_and_none_is_lost() -> None:
    jobs = [TraceJob(f"prod-a-{gpus}", 0.0, 1.0, gpus, "a", "production") for gpus in (1, 9, 8, 64)]
    split = split_by_capacity(jobs, 8)
    assert [job.gpus for job in split.fitting] == [1, 8]
    assert [job.gpus for job in split.too_large] == [9, 64]
    with pytest.raises(TraceError, match="capacity 0 holds no job; give the number of one-GPU instances"):
        split_by_capacity(jobs, 0)


@given(st.sampled_from(list(CLASSES)), st.text(max_size=200), st.integers(min_value=1, max_value=10**7))
def test_a_job_name_is_one_that_batch_accepts_whatever_the_team_is_called(job_class: str, team: str, row: int) -> None:
    name = job_name(job_class, team, row)
    assert len(name) <= 128
    assert all(character.isascii() and (character.isalnum() or character == "-") for character in name)
    assert name.startswith(CLASSES[job_class].prefix + "-")


good_row = st.tuples(
    st.integers(1000, 4599),
    st.integers(0, 10**6),
    st.integers(1, 64),
    st.sampled_from("abc"),
    st.sampled_from(list(CLASSES)),
)
bad_cell = st.one_of(
    st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from(["x", "", "nan", "-inf", "1,5", "0x10", "1e999"])),
    st.tuples(st.sampled_from([1, 2]), st.integers(max_value=-1).map(str)),
    st.tuples(st.just(4), st.sampled_from(["", "Production", "none"])),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(good_row, min_size=1, max_size=20))
def test_every_good_row_is_one_job_and_the_jobs_come_in_order(trace: Path, rows: list[tuple[object, ...]]) -> None:
    write(trace, PHILLY, *(",".join(map(str, row)) for row in rows))
    jobs = read_trace(trace, HOUR_LONG).jobs
    assert sorted((job.submit + 1000, job.seconds, job.gpus, job.team, job.job_class) for job in jobs) == sorted(rows)
    assert [job.submit for job in jobs] == sorted(job.submit for job in jobs)
    assert len({job.name for job in jobs}) == len(rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(good_row, min_size=1, max_size=8), bad=bad_cell, data=st.data())
def test_one_bad_cell_anywhere_is_refused_at_its_own_line_and_column(
    trace: Path, rows: list[tuple[object, ...]], bad: tuple[int, str], data: st.DataObject
) -> None:
    column, cell = bad
    at = data.draw(st.integers(0, len(rows) - 1))
    cells = [[f'"{value}"' for value in row] for row in rows]
    cells[at][column] = f'"{cell}"'
    message = refusal(write(trace, PHILLY, *(",".join(row) for row in cells)))
    assert message.startswith(f"{trace}, line {at + 2}, column {PHILLY.split(',')[column]}: ")
    assert "; " in message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=300))
def test_no_content_whatever_fails_in_another_way(trace: Path, content: bytes) -> None:
    trace.write_bytes(f"{PHILLY}\n".encode() + content)
    problem = ""
    try:
        read_trace(trace, HOUR_LONG)
    except TraceError as refused:
        problem = str(refused)
    assert not problem or problem.startswith(str(trace))
