"""Notices of queues: stored when something begins, sent after, and sent again by the clock when that was cut short."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from pointsman.errors import Conflict, Misconfigured, Transient
from pointsman.notice_ports import NoticeLog, NoticeTable, QueueNotices
from pointsman.queues.notices import transitions

OVERDUE = 60.0  # seconds after which the clock sends what a pass has left


def store(
    table: NoticeTable,
    queue: str,
    stands: Mapping[str, str],
    happened: Mapping[str, str],
    now: float,
    unsure: Collection[str] = (),
    fence: Callable[[], None] = lambda: None,
) -> None:
    """Store what begins and what has ended; of two passes at once each change is one's. Raises `Transient`.

    `fence` raises once another pass may know more: what has ended since this one looked would begin again.
    """
    stored = table.notices(queue)
    fence()
    for notice, before in transitions(stored, stands, happened, now, unsure):
        with suppress(Conflict):  # the other pass has stored it
            table.put_notice(queue, notice, before)


def store_failures(table: NoticeTable, queue: str, failed: Mapping[str, str], now: float) -> None:
    """The same of jobs that failed, which must be stored before those are let go; what stands is left as it is."""
    if failed:
        open_ = {notice.key: notice.sentence for notice in table.notices(queue) if not notice.over}
        store(table, queue, open_, failed, now)


@dataclass(frozen=True, slots=True)
class QueueTeller:
    """Sends the notices that passes have stored."""

    table: NoticeTable
    notices: QueueNotices
    log: NoticeLog

    def tell(self, queue: str, until: float) -> None:
        """Send what was stored up to then and not sent; what fails is sent by a later pass, or by the clock."""
        try:
            for notice in self.table.notices(queue):
                if not notice.sent and notice.since <= until:
                    self.notices.tell(queue, notice)
                    with suppress(Conflict):  # someone else has sent it too, or it has ended meanwhile
                        self.table.put_notice(queue, replace(notice, sent=True), notice)
        except (Transient, Misconfigured) as error:
            self.log.untold(queue, str(error))
