"""Waiting jobs in lines: whatever happens to them, a decision sees what a plain walk over all of them would see."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.queues.decide import decide
from pointsman.queues.estimates import Finished, History, Kind
from pointsman.queues.jobs import Due, WaitingJob
from pointsman.queues.pins import Pin, PinKind
from pointsman.queues.waiting import Line, Waiting, age
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, busy, view, waiting

few = settings(max_examples=60, deadline=None)

SHARES = ("a", "b")
jobs = st.builds(
    lambda n, c, size, waited, priority, own, foreign, share, due, crashes, team: replace(
        waiting(f"{n:02}", c, size=size, waited=waited, priority=priority if size == 1 else own,
                submitted_priority=own, foreign=foreign, share=share, team=team),
        due=due,
        crashes=crashes,
    ),
    n=st.integers(0, 40),
    c=st.sampled_from(("production", "research", "sweep")),
    size=st.sampled_from((1, 1, 2, 4, 40)),
    waited=st.integers(0, 20 * 3600).map(float),
    priority=st.sampled_from((0, 0, 0, 4600, 4997, 4999)),
    own=st.sampled_from((0, 0, 0, 7)),
    foreign=st.sampled_from((False, False, False, True)),
    share=st.sampled_from(SHARES),
    due=st.sampled_from((None, None, None, Due(NOW + HOUR), Due(None, "noon"))),
    crashes=st.sampled_from((0, 0, 0, 1, 3)),
    team=st.sampled_from("xy"),
)  # fmt: skip
news = st.lists(st.tuples(st.sampled_from(("put", "put", "put", "drop")), jobs), max_size=60)


def after(told: Iterable[tuple[str, WaitingJob]]) -> tuple[Waiting, dict[str, WaitingJob]]:
    """The lines after these news, and what waits then as a plain dictionary has it."""
    lines, plain = Waiting(), dict[str, WaitingJob]()
    for what, job in told:
        if what == "put":
            lines.put(job)
            plain[job.job_id] = job
        else:
            assert lines.drop(job.job_id) == plain.pop(job.job_id, None)
    return lines, plain


def shape(line: Line) -> tuple[object, ...]:
    return (line.share, line.kind, line.jobs, line.moved, line.raised, line.foreign, line.due, line.crashed)


@few
@given(news)
def test_lines_that_were_kept_up_are_those_that_are_made_anew(told: list[tuple[str, WaitingJob]]) -> None:
    kept, plain = after(told)
    anew = Waiting(plain.values())
    assert [*kept] == [*plain.values()] == [*anew]
    assert {(line.share, line.kind): shape(line) for line in kept.lines} == {
        (line.share, line.kind): shape(line) for line in anew.lines
    }


@few
@given(news)
def test_every_job_stands_in_the_line_of_its_share_and_kind_the_oldest_first(
    told: list[tuple[str, WaitingJob]],
) -> None:
    kept, plain = after(told)
    assert sorted((job for line in kept.lines for job in line.jobs), key=age) == sorted(plain.values(), key=age)
    for line in kept.lines:
        assert line.jobs == sorted(line.jobs, key=age)
        assert {(job.share, job.kind) for job in line.jobs} == {(line.share, line.kind)}


@few
@given(news)
def test_what_sets_jobs_apart_is_found_without_looking_at_the_others(told: list[tuple[str, WaitingJob]]) -> None:
    kept, plain = after(told)
    everyone = plain.values()
    assert {*map(age, kept.moved)} == {age(job) for job in everyone if job.priority != job.submitted_priority}
    assert {*kept.shares} == {job.share for job in everyone}
    ids = [job_id for n, job_id in enumerate(plain) if n % 3 == 0]
    assert sorted(map(age, kept.found(ids))) == sorted(age(plain[job_id]) for job_id in ids)
    for share in SHARES:
        theirs = [job for job in everyone if job.share == share]
        heads = [job for line in kept.lines if line.share == share for job in line.heads]
        if theirs:
            assert min(heads, key=batch_order) == min(theirs, key=batch_order)


def batch_order(job: WaitingJob) -> tuple[float, ...]:
    return (-job.priority, job.submitted, float(job.job_id))


@few
@given(news, st.sets(st.integers(0, 40)))
def test_parts_by_share_are_what_is_ours_the_share_of_the_oldest_first(
    told: list[tuple[str, WaitingJob]], left_out: set[int]
) -> None:
    kept, plain = after(told)
    without = {f"{n:02}" for n in left_out}
    ours = sorted((j for j in plain.values() if not j.foreign and j.job_id not in without), key=age)
    parts = kept.by_share(without)
    assert [*parts] == [*dict.fromkeys(job.share for job in ours)]
    for share, part in parts.items():
        found = sorted((job for line in part.lines for job in line.ours(without)), key=age)
        assert found == [job for job in ours if job.share == share]


@few
@given(news, st.sampled_from((POLICY, UNLIMITED)), st.booleans())
def test_a_decision_is_the_same_on_lines_that_were_kept_up(
    told: list[tuple[str, WaitingJob]], policy: object, crashed: bool
) -> None:
    kept, plain = after(told)
    looping = [Finished(Kind("x", "sweep-#", 1, "sweep"), 9.0, crashed=True)] * (3 if crashed else 0)
    pins = [Pin("03", NOW + 60, PinKind.FIRST, "me"), Pin("04", NOW + 60, PinKind.LAST, "me")]
    of = view(busy=[busy("runs", 3)], used=3, capacity=12, pins=pins, history=History().learn(looping))
    shuffled = sorted(plain.values(), key=lambda job: job.job_id[::-1])
    assert decide(replace(of, waiting=kept), policy) == decide(replace(of, waiting=shuffled), policy)  # type: ignore[arg-type]
