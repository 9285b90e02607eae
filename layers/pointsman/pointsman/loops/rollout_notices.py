"""What people are told of rollouts beside the passes."""

from dataclasses import dataclass

from pointsman.errors import Misconfigured, Transient
from pointsman.rollout_log_ports import RolloutLog
from pointsman.rollout_ports import RolloutNotices, RolloutTable, StoredRollout
from pointsman.rollouts.decision import alarm_after_end


@dataclass(frozen=True, slots=True)
class Teller:
    """Sends the notices that commits have left."""

    table: RolloutTable
    notices: RolloutNotices
    log: RolloutLog

    def tell_of(self, rollout: str) -> None:
        """The same of a rollout that is not read yet. Raises `Gone` when there is none."""
        self.tell(self.table.load(rollout))

    def late_alarm(self, rollout: str, alarm: str) -> None:
        """Keep one notice of an alarm that fired after the rollout's end. Raises `Gone` when there is none."""
        notice = alarm_after_end(self.table.load(rollout).record, alarm)
        if notice is not None:
            self.table.late(rollout, notice)

    def tell(self, stored: StoredRollout) -> None:
        """Send the notices that were not sent; what fails is sent by a later pass, or by the clock."""
        if not stored.unsent:
            return
        rollout = stored.record.rollout
        try:
            for notice in self.table.notices(rollout):
                self.notices.send(notice)
                self.table.sent(rollout, notice.key)
            self.table.settle(rollout, stored.unsent)
        except (Transient, Misconfigured) as error:
            self.log.stumbled(rollout, f"notices: {error}", known=True)
