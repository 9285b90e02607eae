"""The contract of the rollouts' table: notices, and being done with a rollout once they are sent."""

from dataclasses import replace

from pointsman.rollout_ports import RolloutTable, StoredRollout
from pointsman.rollouts.commands import pause, rollback
from pointsman.rollouts.decision import Decision
from pointsman.rollouts.phase import Phase
from pointsman.rollouts.reasons import Notice
from tests.contract.rollout_tables import ANA, asked
from tests.unit.rollouts.build import NOW


def noticed(stored: StoredRollout, *notices: Notice) -> Decision:
    return replace(pause(stored.record, ANA), notices=notices)


def test_a_notice_is_there_until_it_was_sent_and_once_only(table: RolloutTable) -> None:
    stored = asked(table)
    table.sent("r1", "r1/started")
    notice = Notice("r1/hold", "It is held.")
    stored = table.commit(stored, noticed(stored, notice), NOW + 5, 1)
    assert table.notices("r1") == (notice,)
    table.sent("r1", "r1/hold")

    resumed = replace(stored, record=replace(stored.record, holds=()))
    table.commit(stored, noticed(resumed, notice), NOW + 6, 1)
    assert table.notices("r1") == ()


def test_more_notices_than_a_transaction_holds_are_told_as_fewer(table: RolloutTable) -> None:
    stored = asked(table)
    many = tuple(Notice(f"r1/n{number:03d}", f"Sentence {number}.") for number in range(98))
    table.commit(stored, noticed(stored, *many), NOW + 5, 1)

    text = " ".join(notice.sentence for notice in table.notices("r1"))
    assert all(f"Sentence {number}." in text for number in range(98))


def test_a_rollout_that_has_ended_is_done_with_once_its_notices_are_sent(table: RolloutTable) -> None:
    stored = asked(table)
    ended = table.commit(stored, rollback(stored.record, ANA), NOW + 5, 1)
    assert ended.record.phase is Phase.REJECTED
    assert [line.unsent for line in table.open()] == [2]

    table.settle("r1", 1)
    assert [line.unsent for line in table.open()] == [2]
    table.close("r1")
    assert [line.unsent for line in table.open()] == [2]
    table.settle("r1", 2)
    assert [(line.unsent, line.phase) for line in table.open()] == [(0, Phase.REJECTED)]
    table.close("r1")
    assert table.open() == ()
    assert table.load("r1").record == ended.record


def test_an_open_rollout_stays_open_when_its_notices_are_sent(table: RolloutTable) -> None:
    asked(table)
    table.settle("r1", 1)
    table.close("r1")

    assert [line.unsent for line in table.open()] == [0]


def test_an_alarm_after_the_end_is_told_of_once(table: RolloutTable) -> None:
    stored = asked(table)
    notice = Notice("r1/late", "Too late.")
    table.late("r1", notice)
    assert [n.key for n in table.notices("r1")] == ["r1/started"]
    table.commit(stored, replace(rollback(stored.record, ANA), notices=()), NOW + 5, 1)
    table.sent("r1", "r1/started")
    table.settle("r1", 1)

    table.late("r1", notice)
    table.late("r1", notice)
    assert table.notices("r1") == (notice,)
    (line,) = table.open()
    table.sent("r1", "r1/late")
    table.settle("r1", line.unsent)
    table.late("r1", notice)
    assert table.notices("r1") == ()
    assert table.load("r1").unsent == 0


def test_an_alarm_after_the_end_is_told_of_though_others_were_just_being_sent(table: RolloutTable) -> None:
    """Whoever sent the notices of the end had looked for them before the alarm's was there."""
    stored = asked(table)
    table.commit(stored, rollback(stored.record, ANA), NOW + 5, 1)
    (line,) = table.open()
    table.late("r1", Notice("r1/late", "Too late."))
    table.settle("r1", line.unsent)
    (line,) = table.open()
    assert line.unsent
    table.late("r1", Notice("r1/later", "Later still."))
    table.settle("r1", line.unsent)
    assert table.open()[0].unsent
