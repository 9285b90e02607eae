"""What holds in the Batch model under quota management, whatever is submitted, changed and chosen among settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman_emulator.models.batch import BatchModel, BatchSettings, QuotaShare, ServiceJob
from tests.emulator.batch_models import A10G, H100, put, quota

CHOICES = st.builds(
    BatchSettings,
    head_of_line=st.sampled_from(["strict", "share", "skip"]),
    victim_rule=st.sampled_from(["lowest", "longest", "shortest", "random"]),
    borrowers_first=st.booleans(),
    equal_priority_evicts=st.booleans(),
    reclaim=st.sampled_from(["any", "whole"]),
    share_visit=st.sampled_from(["created", "name", "rotating"]),
    idle_key=st.sampled_from(["job", "share"]),
    unassigned_capacity=st.sampled_from(["idle", "lendable"]),
    preemption_stop=st.sampled_from([0.0, 20.0, 120.0]),
    stopping_run=st.sampled_from(["stops", "ends"]),
    scheduled_dwell=st.sampled_from([0.0, 30.0]),
)
SHARE = st.builds(
    QuotaShare,
    st.fixed_dictionaries({A10G: st.integers(1, 4)}, optional={H100: st.integers(1, 2)}),
    st.sampled_from(["RESERVE", "LEND", "LEND_AND_BORROW"]),
    in_share_preemption=st.booleans(),
)
SHARES = st.lists(SHARE, min_size=1, max_size=4)
JOBS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([{A10G: n} for n in (1, 2, 3, 4)] + [{H100: 1}, {A10G: 2, H100: 1}]),
        st.integers(0, 3),
        st.integers(0, 600),
        st.integers(10, 400),
    ),
    max_size=25,
)
Job = tuple[int, dict[str, int], int, int, int]
Move = tuple[int, int, int]
MOVES = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 3), st.integers(0, 600)), max_size=8)
RUNS = {"max_examples": 40, "deadline": None}


def check(model: BatchModel, shares: dict[str, QuotaShare], capacity: dict[str, int]) -> None:
    held: dict[str, Counter[str]] = {name: Counter() for name in shares}
    for job in model.jobs.values():
        if job.holding:
            held[job.quota_share or ""].update(job.needs)
    seen = model.snapshot("q")
    assert {name: dict(usage) for name, usage in seen.share_usage.items()} == {n: dict(h) for n, h in held.items() if h}
    assert model.capacity_in_use("q") == sum(usage.total() for usage in held.values())
    for unit, cap in capacity.items():
        assert sum(usage[unit] for usage in held.values()) <= cap
        limits = {name: share.limits.get(unit, 0) for name, share in shares.items()}
        excess, idle = 0, max(0, cap - sum(limits.values()))
        for name, share in shares.items():
            above = held[name][unit] - limits[name]
            assert above <= 0 or (share.borrows and limits[name])
            excess += max(0, above)
            idle += max(0, -above) if share.lends else 0
        assert excess <= idle
    assert model.queues["q"].choose(model.now) is None


def play(
    choices: BatchSettings,
    values: list[QuotaShare],
    spare: int,
    jobs: list[Job],
    moves: list[Move],
) -> tuple[BatchModel, dict[str, QuotaShare], dict[str, int]]:
    shares = {f"s{number}": value for number, value in enumerate(values)}
    capacity = {unit: sum(value.limits.get(unit, 0) for value in values) + spare for unit in (A10G, H100)}
    capacity = {unit: cap for unit, cap in capacity.items() if cap}
    model = quota(capacity, shares, choices)
    put_in = [
        put(
            model,
            f"s{share % len(values)}",
            f"{number}",
            sum(groups.values()),
            priority,
            at=at,
            seconds=seconds,
            instance_groups=groups,
        )
        for number, (share, groups, priority, at, seconds) in enumerate(jobs)
    ]
    for which, priority, at in sorted(moves, key=lambda move: move[2]):
        while (due := model.next_event_at) is not None and due <= at:
            model.advance(due)
            check(model, shares, capacity)
        model.advance(at)
        if put_in and put_in[which % len(put_in)].job_id in model.jobs:
            job = put_in[which % len(put_in)]
            if not job.finished:
                model.set_priority(job.job_id, priority)
    return model, shares, capacity


@given(CHOICES, SHARES, st.integers(0, 2), JOBS, MOVES)
@settings(**RUNS)  # type: ignore[arg-type]
def test_use_never_exceeds_the_environment_the_limits_or_what_is_lent(
    choices: BatchSettings,
    values: list[QuotaShare],
    spare: int,
    jobs: list[Job],
    moves: list[Move],
) -> None:
    model, shares, capacity = play(choices, values, spare, jobs, moves)
    events = 0
    while (due := model.next_event_at) is not None:
        model.advance(due)
        check(model, shares, capacity)
        events += 1
        assert events < 20_000
    for job in model.jobs.values():
        assert job.finished or not job.holding


@given(CHOICES, SHARES, JOBS)
@settings(**RUNS)  # type: ignore[arg-type]
def test_jobs_of_one_instance_all_end_whatever_evicts_them(
    choices: BatchSettings, values: list[QuotaShare], jobs: list[Job]
) -> None:
    small = [(share, {A10G: 1}, priority, at, seconds) for share, _, priority, at, seconds in jobs]
    model, _, _ = play(choices, values, 0, small, [])
    model.advance(1e6)
    assert all(job.status == "SUCCEEDED" for job in model.jobs.values())


@given(CHOICES, SHARES, JOBS, MOVES)
@settings(**RUNS)  # type: ignore[arg-type]
def test_the_same_seed_gives_the_same_day(
    choices: BatchSettings,
    values: list[QuotaShare],
    jobs: list[Job],
    moves: list[Move],
) -> None:
    days = []
    for _ in range(2):
        model, _, _ = play(choices, values, 1, jobs, moves)
        model.advance(1e5)
        days.append([(job.job_id, job.history, job.preempted_count) for job in model.jobs.values()])
    assert days[0] == days[1]


WORLDS = st.builds(
    replace,
    CHOICES,
    bounce_rate=st.sampled_from([0.0, 0.3]),
    bounce_dwell=st.just(40.0),
    bounce_pause=st.sampled_from([0.0, 25.0]),
    timeout_from=st.sampled_from(["started", "scheduled"]),
    snapshot_lag=st.just(0.0),
)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.integers(0, 1), st.integers(1, 4), st.integers(0, 3)),
        st.tuples(st.just("move"), st.integers(0, 30), st.integers(0, 3)),
        st.tuples(st.just("terminate"), st.integers(0, 30)),
        st.tuples(st.just("share"), st.integers(0, 1), SHARE),
        st.tuples(st.just("environment"), st.integers(1, 9), st.booleans()),
        st.tuples(st.just("wait"), st.integers(0, 90)),
    ),
    max_size=60,
)


def happen(model: BatchModel, event: tuple[Any, ...], jobs: list[ServiceJob]) -> None:
    match event:
        case ("submit", share, instances, priority):
            name = f"{len(jobs)}"
            jobs.append(
                put(model, f"s{share}", name, instances, priority, seconds=70, attempt_seconds=60, max_attempts=2)
            )
        case ("move", which, priority) if jobs and not jobs[which % len(jobs)].finished:
            model.set_priority(jobs[which % len(jobs)].job_id, priority)
        case ("terminate", which) if jobs:
            model.terminate(jobs[which % len(jobs)].job_id, "not wanted")
        case ("share", which, share):
            model.update_share("q", f"s{which}", share)
        case ("environment", capacity, enabled):
            model.update_environment("gpus", capacity={A10G: capacity, H100: 2}, enabled=enabled)
        case ("wait", seconds):
            model.advance(model.now + seconds)


@given(WORLDS, EVENTS)
@settings(**RUNS)  # type: ignore[arg-type]
def test_whatever_is_changed_the_use_is_that_of_the_jobs_and_with_room_for_all_of_them_they_end(
    choices: BatchSettings, events: list[tuple[Any, ...]]
) -> None:
    model = quota({A10G: 8, H100: 2}, {"s0": QuotaShare({A10G: 4}), "s1": QuotaShare({A10G: 4})}, choices)
    jobs: list[ServiceJob] = []
    for event in events:
        happen(model, event, jobs)
        held = Counter(share for job in jobs if job.holding for share in [job.quota_share] * job.instances)
        assert dict(model.snapshot("q").shares) == dict(held)
        assert len(model.jobs_in("q", ["RUNNABLE"])) == len([job for job in jobs if job.status == "RUNNABLE"])
    happen(model, ("environment", 9, True), jobs)
    for name in ("s0", "s1"):
        model.update_share("q", name, QuotaShare({A10G: 4}))
    model.advance(model.now + 1e6)
    assert all(job.finished for job in jobs)
