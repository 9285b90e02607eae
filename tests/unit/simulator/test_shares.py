"""Where the policy's share is a pattern, each team has a share of its own, with the weight or the quota that it has."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from ruamel.yaml import YAML

from pointsman.policy_documents import parse_policy
from pointsman.queues.policy import Policy
from pointsman_emulator.models.batch import FairShare
from pointsman_simulator.measures import Run
from pointsman_simulator.replay import Replay, World, from_trace
from pointsman_simulator.shares import quotas_of, share_of, weights_of
from pointsman_simulator.steered import STEERED, pointsman, pointsman_quota
from pointsman_simulator.traces import TraceError, TraceJob
from pointsman_simulator.workload import DEMO_CAPACITY, generate
from tests.unit.docs.test_snippets import POLICIES

HOUR = 3600.0
CLASSES = ("production", "research", "batch-inference", "sweep")


def job(name: str, team: str, submit: float = 0.0, seconds: float = HOUR, gpus: int = 4) -> TraceJob:
    return TraceJob(name, submit, seconds, gpus, team, "sweep")


def policy(share: str, **more: object) -> Policy:
    return parse_policy({"version": 1, "queue": "q", "share": share, "default": {"name": "sweep"}, **more})


def weighed(vision: float, ranking: float) -> Policy:
    classes = [
        {"name": team, "match": {"share": team}, "weight": weight}
        for team, weight in (("vision", vision), ("ranking", ranking))
    ]
    return policy("*", across_shares="weights", classes=classes)


def rivals() -> Replay:
    """Two teams with more work than the pool can do in the window, submitted in turn."""
    jobs = [job(f"{team}-{n}", team, n * 10.0, gpus=1) for n in range(40) for team in ("vision", "ranking")]
    return Replay(tuple(jobs), 0, 10, HOUR)


def mean(run: Run, team: str) -> float:
    return fmean(job.waited for job in run.jobs if job.team == team)


@pytest.mark.parametrize("text", POLICIES.values(), ids=POLICIES.keys())
@pytest.mark.parametrize("name", STEERED)
def test_every_policy_that_is_shown_can_be_played_to_the_end(name: str, text: str) -> None:
    stated = parse_policy(YAML(typ="safe", pure=True).load(text))
    last = stated.classes[-1].name
    jobs = tuple(replace(job, job_class=last) for job in generate(4, jobs=100))
    run = STEERED[name](Replay(jobs, 0, DEMO_CAPACITY, 24 * HOUR), World(), stated)
    assert len(run.jobs) == len(jobs)


@pytest.mark.parametrize("share", ["*", "t*", "team-?", "[a-z]*"])
def test_under_a_pattern_each_team_has_a_share_and_else_all_are_in_the_one(share: str) -> None:
    assert share_of(job("j", "team-a"), policy(share)) == "team-a"
    assert share_of(job("j", "team-a"), policy("all")) == "all"


def test_a_job_whose_share_the_file_names_is_in_that_one(tmp_path: Path) -> None:
    file = tmp_path / "past.csv"
    file.write_text("submit_s,duration_s,gpus,team,derived_class,share\n1,9,1,a,sweep,team7\n2,9,1,a,sweep,\n")
    jobs = from_trace(file, "0:9", 4, "derived_class", CLASSES).jobs
    assert [share_of(job, policy("*")) for job in jobs] == ["team7", "a"]


def test_the_share_of_lower_weight_waits_less() -> None:
    run = pointsman(rivals(), World(), weighed(vision=1, ranking=9))
    assert mean(run, "vision") < 0.9 * mean(run, "ranking")
    run = pointsman(rivals(), World(), weighed(vision=9, ranking=1))
    assert mean(run, "ranking") < 0.9 * mean(run, "vision")


def test_without_weights_shares_are_alike() -> None:
    assert weights_of(policy("*")) == FairShare({})
    run = pointsman(rivals(), World(), policy("*"))
    assert mean(run, "vision") == pytest.approx(mean(run, "ranking"), rel=0.1)


def test_quota_shares_are_equal_parts_of_the_pool_and_one_has_all_of_it() -> None:
    replay = Replay((job("x", "a"), job("y", "b"), job("z", "c")), 0, 8, HOUR)
    assert quotas_of(replay, policy("*")) == {"a": 3, "b": 3, "c": 2}
    assert quotas_of(replay, policy("all")) == {"all": 8}


def test_a_quota_share_borrows_what_the_others_leave() -> None:
    replay = Replay((job("wide", "a", gpus=8), job("later", "b", submit=2 * HOUR, gpus=1)), 0, 8, HOUR)
    run = pointsman_quota(replay, World(), policy("*"))
    assert [(job.name, job.waited) for job in run.jobs] == [("wide", 0.0), ("later", 0.0)]


@pytest.mark.parametrize(
    "teams, capacity, why",
    [(21, 64, "21 teams would need a quota share each, and a queue has 20 at most"),
     (3, 2, "3 teams would need a quota share each, and 2 instances make 2 at most")],
)  # fmt: skip
def test_more_shares_than_there_can_be_are_refused_with_the_remedy(teams: int, capacity: int, why: str) -> None:
    replay = Replay(tuple(job(f"j{n}", f"t{n}", gpus=1) for n in range(teams)), 0, capacity, HOUR)
    with pytest.raises(TraceError) as refused:
        pointsman_quota(replay, World(), policy("t*"))
    remedy = "let the policy name one share, such as `share: all`, or play it as `pointsman`"
    assert str(refused.value) == f"{why}; {remedy}"


def test_a_deadline_within_a_time_of_submission_puts_a_job_before_those_without() -> None:
    dated = policy("all", classes=[{"name": "dated", "match": {"job_name": "d*"}, "deadline": "2h30m"}])
    others = (job("running", "a", gpus=1), job("older", "a", 60, gpus=1))
    late = replace(job("late", "a", 120, gpus=1), job_class="dated")
    run = pointsman(Replay((*others, late), 0, 1, HOUR), World(), dated)
    starts = {job.name: job.spans[0][0] for job in run.jobs}
    assert starts["late"] < starts["older"]
