"""Which class a job belongs to, and whose shares a policy rules."""

from collections.abc import Mapping

import pytest

from pointsman.queues.policy import JobClass, Match, Policy

POLICY = Policy(
    "training",
    (
        JobClass("production", Match("prod-*")),
        JobClass("research", Match(tags=(("purpose", "explore"),))),
        JobClass("scoring", Match("score-*", (("team", "r*"), ("stage", "?")))),
        JobClass("sweep"),
    ),
    share="all",
)


@pytest.mark.parametrize(
    "case, name, tags, wanted",
    [
        ("by its name", "prod-1", {}, "production"),
        ("the first match wins", "prod-1", {"purpose": "explore"}, "production"),
        ("by a tag", "x", {"purpose": "explore", "more": "1"}, "research"),
        ("a tag of another value does not match", "x", {"purpose": "exploration"}, "sweep"),
        ("all that is given must match", "score-1", {"team": "ranker", "stage": "1"}, "scoring"),
        ("one tag missing is not all", "score-1", {"team": "ranker"}, "sweep"),
        ("case counts", "Prod-1", {}, "sweep"),
        ("a name of no class is of the default", "", {}, "sweep"),
    ],
)
def test_a_job_is_classed(case: str, name: str, tags: Mapping[str, str], wanted: str) -> None:
    assert POLICY.classify(name, tags).name == wanted, case


def test_a_policy_rules_its_own_share_and_no_other_and_no_job_without_one() -> None:
    assert POLICY.rules("all")
    assert not POLICY.rules("other")
    assert not POLICY.rules(None)
