"""Borrow limits and weights under an alarm: noted before, changed, and given back whatever dies."""

from dataclasses import replace
from typing import Any

import pytest

from pointsman.errors import Transient
from pointsman.queues.kinds import QueueKind
from tests.unit.loops.quota_world import QuotaWorld, borrower, share
from tests.unit.loops.world import QUEUE, World

LENDING: dict[str, Any] = {"alarm": "gpu-underused", "share": "all", "borrow_limit": 200}


def lending(**more: Any) -> QuotaWorld:
    world = QuotaWorld(borrower(), share("other", 8))
    world.rule(on_alarm=[{**LENDING, **more}])
    world.submit("a", size=2)
    world.clock.advance(5)
    world.pass_()
    return world


def raise_alarm(world: World, state: str = "ALARM") -> None:
    world.alarms.set_state("gpu-underused", state, world.clock.now())


def test_an_alarm_widens_what_a_share_may_borrow_and_its_end_gives_it_back() -> None:
    world = lending()
    assert world.now_of().borrow_limit == 100
    raise_alarm(world)
    world.pass_()
    assert world.now_of().borrow_limit == 200
    assert world.now_of().limits == borrower().limits, "never the limits: that evicts owners"
    raise_alarm(world, "OK")
    world.pass_()
    assert world.now_of().borrow_limit == 100
    assert world.shares.share_changes(QUEUE) == ()


def test_what_an_alarm_changed_of_a_share_is_left_while_the_alarm_cannot_be_read() -> None:
    world = lending()
    raise_alarm(world)
    world.pass_()
    raise_alarm(world, "OK")
    world.alarms.fail_next("transitions", Transient("Rate exceeded"))
    world.pass_()
    assert world.now_of().borrow_limit == 200
    assert "what alarms gpu-underused change of share all is left as it is: Rate exceeded" in world.record.problem
    world.pass_()
    assert world.now_of().borrow_limit == 100
    assert world.log.failures == []


def test_without_a_time_it_lasts_for_as_long_as_its_alarm_does() -> None:
    world = lending()
    raise_alarm(world)
    world.pass_()
    for _ in range(2):
        world.pass_(after=8 * 86_400)
    assert world.now_of().borrow_limit == 200
    raise_alarm(world, "OK")
    world.pass_()
    assert world.now_of().borrow_limit == 100


def test_it_ends_with_its_time_as_well() -> None:
    world = lending(**{"for": "1h"})
    raise_alarm(world)
    world.pass_()
    assert world.now_of().borrow_limit == 200
    world.pass_(after=3700)
    assert world.now_of().borrow_limit == 100


def test_it_is_set_once_and_not_in_every_pass() -> None:
    world = lending()
    raise_alarm(world)
    for _ in range(5):
        world.pass_()
    assert len(world.batch.shares_set) == 1


def test_what_someone_else_set_meanwhile_is_told_and_not_overwritten() -> None:
    world = lending()
    raise_alarm(world)
    world.pass_()
    world.pass_()
    world.batch.change_share("arn:all", borrow_limit=50)
    world.pass_()
    assert world.now_of().borrow_limit == 50
    assert "someone else set the borrow limit of share all to 50" in world.record.problem
    raise_alarm(world, "OK")
    world.pass_()
    assert world.now_of().borrow_limit == 50
    assert "it is not set back to 100" in world.record.problem
    world.pass_()
    assert world.record.problem == ""


def test_while_batch_carries_out_a_change_nothing_more_is_changed() -> None:
    world = lending()
    world.batch.change_share("arn:all", settled=False)
    raise_alarm(world)
    world.pass_()
    assert world.now_of().borrow_limit == 100


@pytest.mark.parametrize("call", ["set_borrow_limit", "quota_shares"])
def test_a_fault_of_batch_is_told_and_the_next_pass_goes_on(call: str) -> None:
    world = lending()
    raise_alarm(world)
    world.batch.fail_next(call, Transient("429"))
    world.pass_()
    assert "429" in world.record.problem
    world.pass_(after=60)
    assert world.now_of().borrow_limit == 200


def test_a_queue_that_stopped_acting_says_what_is_not_given_back() -> None:
    world = lending()
    raise_alarm(world)
    world.pass_()
    world.control.stop()
    raise_alarm(world, "OK")
    world.pass_()
    assert world.now_of().borrow_limit == 200
    assert "the borrow limit of share all was 100 and is 200" in world.record.problem
    world.control.resume()
    world.pass_()
    assert world.now_of().borrow_limit == 100


# Weights

WEIGHTED: dict[str, Any] = {
    "share": "team*",
    "across_shares": "weights",
    "classes": [
        {"name": "a", "match": {"share": "teamA"}, "weight": 1},
        {"name": "b", "match": {"share": "teamB"}, "weight": 4},
    ],
    "on_alarm": [{"alarm": "drift-*", "share": "teamB", "weight": 0.5}],
}


def weighted(*others: str) -> World:
    world = World()
    weights = (("teamA", 1.0), ("teamB", 1.0), ("guests", 2.0))
    world.batch.add_queue(QUEUE, 8, QueueKind.FAIR_SHARE, ("teamA", "teamB", "guests"), weights=weights)
    world.batch.change_queue(QUEUE, policy="arn:policy", others=others)
    world.apply(**WEIGHTED)
    world.submit("a", size=9, share="teamA")
    world.clock.advance(5)
    return world


def weights(world: World) -> dict[str, float]:
    return dict(world.batch.queues[QUEUE].weights)


def test_the_weights_that_the_policy_states_are_kept_and_written_only_where_they_differ() -> None:
    world = weighted()
    for _ in range(3):
        world.pass_()
    assert weights(world) == {"teamA": 1.0, "teamB": 4.0, "guests": 2.0}
    assert len(world.batch.weights_set) == 1


def test_an_alarm_changes_a_weight_and_its_end_gives_it_back() -> None:
    world = weighted()
    world.pass_()
    world.alarms.set_state("drift-x", "ALARM", world.clock.now())
    world.pass_()
    assert weights(world)["teamB"] == 0.5
    world.alarms.set_state("drift-x", "OK", world.clock.now())
    world.pass_()
    assert weights(world)["teamB"] == 4.0


def test_weights_are_left_while_an_alarm_that_changes_them_cannot_be_read() -> None:
    world = weighted()
    world.alarms.fail_next("transitions", Transient("Rate exceeded"))
    world.pass_()
    assert (world.batch.weights_set, world.log.failures) == ([], [])
    assert "the weights of its shares are left as they are: Rate exceeded" in world.record.problem
    world.pass_()
    assert len(world.batch.weights_set) == 1


@pytest.mark.parametrize("wanted, kept", [(0.3, 0.30000001192092896), (0.33333, 0.3333), (999.9999, 999.9998779296875)])
def test_a_weight_as_batch_keeps_it_is_not_written_again_and_again(wanted: float, kept: float) -> None:
    world = weighted()
    classes = [{**WEIGHTED["classes"][0]}, {**WEIGHTED["classes"][1], "weight": wanted}]
    world.apply(**{**WEIGHTED, "classes": classes})
    world.batch.change_queue(QUEUE, weights=(("teamA", 1.0), ("teamB", kept)))
    world.pass_()
    assert world.batch.weights_set == []


def test_weights_that_an_alarm_changed_are_told_of_while_everything_is_stopped() -> None:
    world = weighted()
    world.alarms.set_state("drift-x", "ALARM", world.clock.now())
    world.pass_()
    world.control.stop()
    world.alarms.set_state("drift-x", "OK", world.clock.now())
    world.pass_()
    assert weights(world)["teamB"] == 0.5
    assert (
        "its weights are not those of its policy until the queue acts: teamB 0.5 instead of 4" in world.record.problem
    )
    world.control.resume()
    world.pass_()
    assert weights(world)["teamB"] == 4.0


def test_weights_and_borrow_limits_wait_for_the_budget_of_calls() -> None:
    lender, weigher = lending(), weighted()
    raise_alarm(lender)
    for world in (lender, weigher):
        without_budget(world, "the budget of Batch calls is used up")
    assert lender.now_of().borrow_limit == 100
    assert weights(weigher)["teamB"] == 1.0
    for world in (lender, weigher):
        world.pass_(after=60)
    assert lender.now_of().borrow_limit == 200
    assert weights(weigher)["teamB"] == 4.0


def without_budget(world: World, told: str) -> None:
    """A pass looks, and then the account's calls are used up."""
    real, left = world.jobs.take_budget, [False]
    world.jobs.take_budget = lambda wanted, now: 0 if left[0] else real(wanted, now)  # type: ignore[method-assign]
    record = world.control.record

    def after_acting(moves: Any) -> None:
        left[0] = True
        record(moves)

    world.control.record = after_acting  # type: ignore[method-assign]
    world.pass_()
    assert told in world.record.problem
    world.control.record, world.jobs.take_budget = record, real  # type: ignore[method-assign]


def lent_and_over() -> QuotaWorld:
    """What an alarm changed of a share is to be given back: the alarm is over."""
    world = lending()
    raise_alarm(world)
    world.pass_()
    raise_alarm(world, "OK")
    return world


def left_of_budget(world: World, calls: int) -> None:
    """All but so many calls of the account's budget are used up."""
    world.clock.advance(30)
    most = world.jobs.take_budget(100_000, world.clock.now())
    assert most > calls
    world.jobs._tokens = calls  # others take what would refill meanwhile
    world.loop().run(QUEUE)


def test_a_pass_that_had_no_calls_left_to_see_the_shares_forgets_no_change_of_them() -> None:
    world = lent_and_over()
    left_of_budget(world, 0)
    assert [note.before for note in world.shares.share_changes(QUEUE)] == [100]
    world.pass_()
    assert (world.now_of().borrow_limit, world.shares.share_changes(QUEUE)) == (100, ())


def test_a_share_that_an_old_look_does_not_have_keeps_what_is_noted_of_it() -> None:
    world = lending()
    raise_alarm(world)
    world.pass_()
    world.pass_()
    raise_alarm(world, "OK")
    record = world.record
    assert record.description is not None
    of_before = replace(record.description, quota_shares=(share("other", 8),))
    world.jobs.save_queue(replace(record, description=of_before))
    left_of_budget(world, 0)
    assert world.shares.share_changes(QUEUE)
    world.pass_()
    assert (world.now_of().borrow_limit, world.shares.share_changes(QUEUE)) == (100, ())


def test_calls_too_few_to_describe_a_queue_are_enough_to_see_its_shares() -> None:
    world = lent_and_over()
    left_of_budget(world, 2)
    assert "the borrow limit of share all is set in a later pass" in world.record.problem, "it was seen"
    world.pass_()
    assert (world.now_of().borrow_limit, world.record.problem) == (100, "")


def test_a_policy_of_several_queues_is_left_alone_and_said() -> None:
    world = weighted("other-queue")
    world.pass_()
    assert world.batch.weights_set == []
    assert "its scheduling policy is also that of other-queue" in world.record.problem
