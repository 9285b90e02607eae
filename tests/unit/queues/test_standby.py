"""The standby list: small jobs that take what is freed between two passes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.queues.decide import decide
from pointsman.queues.estimates import History
from pointsman.queues.jobs import WaitingJob
from pointsman.queues.ranking import ranks_at
from pointsman.queues.standby import HIGHEST, LOWEST, STANDBY_JOBS, stand_by, stands_by
from pointsman.queues.view import QueueView
from tests.unit.queues.build import HOUR, NOW, POLICY, UNLIMITED, after_moves, view, waiting


def listed(jobs: Sequence[WaitingJob]) -> dict[str, int]:
    """The list as it should stand, the best first, with everyone's number."""
    return {job.job_id: n for job, n in stand_by(jobs, ranks_at(UNLIMITED, (), NOW), History(), NOW)}


def sweeps(count: int, *, waited: float = 0.0) -> list[WaitingJob]:
    return [waiting(f"s{n:03}", waited=waited + count - n) for n in range(count)]


def standing(jobs: Sequence[WaitingJob]) -> list[WaitingJob]:
    """The jobs once the list is written."""
    numbers = listed(jobs)
    return [replace(job, priority=numbers.get(job.job_id, job.priority)) for job in jobs]


def test_a_full_queue_gets_a_list_of_its_best_small_jobs_each_with_a_number_of_its_own() -> None:
    numbers = listed([waiting("s", waited=9), waiting("p", "production"), waiting("r", "research")])
    assert list(numbers) == ["p", "r", "s"]
    assert HIGHEST >= numbers["p"] > numbers["r"] > numbers["s"] >= LOWEST


def test_an_empty_list_is_filled_to_its_cap_and_no_further() -> None:
    assert list(listed(sweeps(100))) == [f"s{n:03}" for n in range(STANDBY_JOBS)]


def test_those_who_stand_keep_their_numbers() -> None:
    jobs = standing(sweeps(100))
    assert listed(jobs) == {job.job_id: job.priority for job in jobs if stands_by(job)}


def test_a_vacancy_goes_to_the_best_of_those_who_do_not_stand() -> None:
    jobs = standing(sweeps(40))[5:]
    assert set(listed(jobs)) == {f"s{n:03}" for n in range(5, 35)}


def test_one_who_clearly_outranks_the_last_joins_a_full_list_before_those_it_outranks() -> None:
    jobs = [*standing(sweeps(40)), waiting("p", "production")]
    numbers = listed(jobs)
    assert next(iter(numbers)) == "p"
    assert len(numbers) == STANDBY_JOBS + 1
    assert numbers["p"] > numbers["s001"]


def test_one_who_outranks_the_last_by_little_waits_for_a_vacancy() -> None:
    jobs = [*standing(sweeps(40)), waiting("older", waited=HOUR)]
    assert "older" not in listed(jobs)


def test_a_crowd_that_outranks_the_list_is_capped_too() -> None:
    crowd = [waiting(f"p{n:03}", "production", waited=n) for n in range(100)]
    assert len(listed([*standing(sweeps(40)), *crowd])) == 2 * STANDBY_JOBS


def test_a_job_submitted_with_a_number_of_the_list_does_not_stand_on_it() -> None:
    assert not stands_by(waiting("a", priority=4500, submitted_priority=4500))
    assert stands_by(waiting("a", priority=4500))


def test_one_who_is_outranked_clearly_by_a_later_one_is_numbered_behind_it() -> None:
    upside_down = [waiting("s", priority=4997), waiting("p", "production", priority=4993)]
    numbers = listed(upside_down)
    assert list(numbers) == ["p", "s"]
    assert numbers["p"] > numbers["s"]


def test_numbers_stay_apart_when_many_join_in_one_place() -> None:
    jobs: list[WaitingJob] = []
    for n in range(40):  # each newcomer ranks before all who came before
        jobs = standing([*jobs, waiting(f"p{n:02}", "production", waited=2 * n * HOUR)])
    numbers = sorted(job.priority for job in jobs if stands_by(job))
    assert len(set(numbers)) == len(numbers)
    assert LOWEST <= numbers[0] <= numbers[-1] <= HIGHEST


def started_next(of: QueueView) -> str:
    """Whom Batch starts when one instance is freed after this pass."""
    jobs = after_moves(of.waiting, decide(of, UNLIMITED).moves)
    return min(jobs, key=lambda j: (-j.priority, j.submitted)).job_id


@pytest.mark.parametrize(
    "case, jobs, wanted",
    [
        ("production before an older sweep", [waiting("s", waited=HOUR), waiting("p", "production")], "p"),
        ("production before sweeps that stand already", [*standing(sweeps(40)), waiting("p", "production")], "p"),
        ("a sweep a day older before production", [waiting("s", waited=25 * HOUR), waiting("p", "production")], "s"),
        ("the small one before a big one that does not fit one instance",
         [waiting("big", "production", size=4, waited=HOUR), waiting("s")], "s"),
    ],
)  # fmt: skip
def test_an_instance_freed_between_passes_goes_to(case: str, jobs: list[WaitingJob], wanted: str) -> None:
    assert started_next(view(*jobs, used=8)) == wanted, case


def test_nobody_is_put_on_the_list_while_a_place_is_held_and_those_on_it_are_left() -> None:
    jobs = (waiting("big", size=4, waited=3 * HOUR), waiting("new", waited=9), waiting("on", priority=4997))
    decision = decide(view(*jobs, used=8), UNLIMITED)
    assert [(move.job_id, move.after) for move in decision.moves] == [("big", 4998)]


def test_newcomers_of_a_class_in_the_middle_move_few_of_the_others() -> None:
    """Production, then sweeps stand already; research comes one by one between them."""
    jobs = standing([*[waiting(f"p{n}", "production", waited=9 - n) for n in range(5)], *sweeps(20)])
    moved = 0
    for n in range(5):
        before = {job.job_id: job.priority for job in jobs if stands_by(job)}
        jobs = standing([*jobs, waiting(f"r{n}", "research", waited=9 - n)])
        after = {job.job_id: job.priority for job in jobs if stands_by(job)}
        moved += sum(after[job_id] != number for job_id, number in before.items())
        assert after["p4"] > after[f"r{n}"] > after["s000"]
    assert moved <= 5


def test_newcomers_who_outrank_the_first_never_reach_the_number_of_the_held_place() -> None:
    jobs = [waiting("s")]
    for n in range(30):
        jobs = standing([*jobs, waiting(f"p{n:02}", "production", waited=2 * n * HOUR)])
        numbers = [job.priority for job in sorted(jobs, key=lambda job: job.submitted)]
        assert max(numbers) <= HIGHEST
        assert numbers[:-1] == sorted(numbers[:-1], reverse=True)
        assert len(set(numbers)) == len(numbers)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["production", "research", "sweep"]),
            st.floats(0, 40 * HOUR),
            st.none() | st.integers(LOWEST, HIGHEST),
        ),
        max_size=90,
    )
)
def test_numbers_fall_and_stay_in_their_range_whoever_stands_and_joins(
    jobs: list[tuple[str, float, int | None]],
) -> None:
    there = [
        waiting(f"j{n}", job_class, waited=waited, priority=number or 0)
        for n, (job_class, waited, number) in enumerate(jobs)
    ]
    numbers = list(listed(there).values())

    assert numbers == sorted(set(numbers), reverse=True)
    assert all(LOWEST <= number <= HIGHEST for number in numbers)


def test_while_a_place_is_held_who_has_waited_too_long_joins_before_those_who_stand_and_nobody_else_does() -> None:
    held = waiting("held", "research", size=6, waited=3 * HOUR, priority=4998)
    stands = waiting("stands", waited=HOUR, priority=4800)
    late = waiting("late", "production", waited=2 * HOUR + 1)
    of = view(held, stands, late, waiting("new", waited=HOUR), used=8)
    moves = {move.job_name: move.after for move in decide(of, POLICY).moves}
    assert list(moves) == ["production-late"]
    assert HIGHEST >= moves["production-late"] > stands.priority
