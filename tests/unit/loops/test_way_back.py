"""What a plan is told of the old version's role, image and artifact, and of our own permission."""

import pytest

from pointsman.errors import Transient
from pointsman.rollouts.observations import Answer
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.plan import Check, Level, Plan
from pointsman.rollouts.planner import make_plan
from tests.unit.loops.rollout_world import World, small


def plan(world: World) -> Plan:
    wanted = small()
    return make_plan(wanted, world.observer.survey(wanted), world.clock.now())


def test_a_way_back_that_stands_says_nothing() -> None:
    world = World()
    world.ask()
    assert world.run() is Phase.SUCCEEDED
    assert not [f for f in plan(World()).findings if f.check in {Check.NO_WAY_BACK, Check.WAY_BACK_UNCHECKED}]


@pytest.mark.parametrize("thing", ["repo/ranker:1", "repo/ranker-v1", "s3://models/ranker-v1"])
@pytest.mark.parametrize("answer", [Answer.NO, Answer.UNKNOWN])
def test_an_old_image_or_artifact_that_is_gone_refuses_and_one_that_cannot_be_asked_for_warns(
    thing: str, answer: Answer
) -> None:
    world = World()
    world.sources.answers[thing] = answer
    (found,) = [f for f in plan(world).findings if f.place.endswith(thing)]

    assert (found.check, found.level) == (
        (Check.NO_WAY_BACK, Level.REFUSED) if answer is Answer.NO else (Check.WAY_BACK_UNCHECKED, Level.WARNED)
    )
    assert found.remedy
    world.ask()
    assert world.run() is (Phase.REJECTED if answer is Answer.NO else Phase.SUCCEEDED)


def test_an_old_model_whose_role_is_gone_is_refused() -> None:
    world = World()
    world.permissions.gone = {"models-role"}
    (found,) = plan(world).refused
    assert "role models-role: it is gone" in str(found)


def test_what_our_own_role_may_not_is_refused_before_anything_is_changed() -> None:
    world = World()
    world.permissions.answers["ours"] = Answer.NO
    (found,) = plan(world).refused
    assert "our own role ours: it may not update these components" in str(found)
    assert ("ours", "sagemaker:UpdateInferenceComponent", ("m1", "m2")) in world.permissions.asked


def test_each_thing_is_asked_for_once_however_many_components_share_it() -> None:
    world = World()
    plan(world)
    assert len([asked for asked in world.permissions.asked if asked[0] == "ours"]) == 1


def test_a_repository_that_does_not_answer_holds_nothing_up() -> None:
    world = World()
    world.sources.fail_next("image", Transient("throttled"), times=2)
    assert {f.check for f in plan(world).findings if f.place.startswith("image")} == {Check.WAY_BACK_UNCHECKED}
