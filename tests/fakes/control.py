"""The control table in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pointsman.errors import Conflict
from pointsman.ports import RecordedMove, Standstill, StoredPolicy, Write
from pointsman.queues.effects import Effect
from pointsman.queues.notices import QueueNotice
from pointsman.queues.pins import Pin
from tests.fakes.faults import Faulty, can_fail


class FakeControl(Faulty):
    """Policies with every version, effects, writes, the history of moves, and the stop switch.

    `stop` and `resume` throw it by hand.
    """

    def __init__(self) -> None:
        super().__init__()
        self.policies: dict[str, list[StoredPolicy]] = {}
        self._effects: dict[str, dict[tuple[str, float, str], Effect]] = {}
        self._pins: dict[tuple[str, str], Pin] = {}
        self._writes: dict[str, Write] = {}
        self._moves: dict[tuple[str, int, str, str], RecordedMove] = {}
        self._standstill: Standstill | None = None
        self._notices: dict[tuple[str, str], QueueNotice] = {}

    @can_fail
    def policy(self, queue: str) -> StoredPolicy | None:
        return self.policies[queue][-1] if queue in self.policies else None

    @can_fail
    def policy_version(self, queue: str, number: int) -> StoredPolicy | None:
        return next((version for version in self.policies.get(queue, ()) if version.number == number), None)

    @can_fail
    def put_policy(self, queue: str, document: str, now: float, by: str, *, after: int | None = None) -> StoredPolicy:
        versions = self.policies.setdefault(queue, [])
        if after is not None and after != len(versions):
            raise Conflict(f"version {len(versions)} rules, not {after}")
        versions.append(StoredPolicy(queue, len(versions) + 1, document, now, by))
        return versions[-1]

    @can_fail
    def queues(self) -> tuple[str, ...]:
        return tuple(sorted(self.policies))

    @can_fail
    def effects(self, queue: str) -> tuple[Effect, ...]:
        return tuple(sorted(self._effects.get(queue, {}).values(), key=lambda e: (e.since, e.alarm, e.boost)))

    @can_fail
    def put_effect(self, queue: str, effect: Effect) -> None:
        stored = self._effects.setdefault(queue, {})
        key = (effect.alarm, effect.since, effect.boost)
        if key not in stored or (stored[key].ended is None and effect.ended is not None):
            stored[key] = replace(effect)

    @can_fail
    def pins(self, queue: str) -> tuple[Pin, ...]:
        return tuple(pin for (ruled, _), pin in sorted(self._pins.items()) if ruled == queue)

    @can_fail
    def put_pin(self, queue: str, pin: Pin) -> None:
        self._pins[queue, pin.job_id] = pin

    @can_fail
    def remove_pin(self, queue: str, job_id: str) -> None:
        self._pins.pop((queue, job_id), None)

    @can_fail
    def writes(self, job_ids: Iterable[str]) -> Mapping[str, Write]:
        return {job_id: self._writes[job_id] for job_id in job_ids if job_id in self._writes}

    @can_fail
    def put_writes(self, writes: Sequence[Write], before: Mapping[str, Write]) -> None:
        if any(self._at(write.job_id, self._writes) != self._at(write.job_id, before) for write in writes):
            raise Conflict("another write is stored")
        self._writes |= {write.job_id: write for write in writes}

    @staticmethod
    def _at(job_id: str, writes: Mapping[str, Write]) -> float | None:
        return writes[job_id].at if job_id in writes else None

    @can_fail
    def record(self, moves: Sequence[RecordedMove]) -> None:
        for line in moves:
            self._moves[line.queue, round(line.at * 1000), line.move.job_id, line.move.reason.value] = line

    @can_fail
    def moves(self, queue: str, since: float, limit: int) -> tuple[RecordedMove, ...]:
        newest = sorted(self._moves.items(), reverse=True)
        return tuple(line for _, line in newest if line.queue == queue and line.at >= since)[: max(0, limit)]

    @can_fail
    def notices(self, queue: str) -> tuple[QueueNotice, ...]:
        return tuple(notice for (ruled, _), notice in sorted(self._notices.items()) if ruled == queue)

    @can_fail
    def put_notice(self, queue: str, notice: QueueNotice, before: QueueNotice | None) -> None:
        there = self._notices.get((queue, notice.key))
        state = None if there is None else (there.since, there.sent, there.over)
        if state != (None if before is None else (before.since, before.sent, before.over)):
            raise Conflict(f"another notice {notice.key} is stored")
        self._notices[queue, notice.key] = notice

    @can_fail
    def stopped(self) -> bool:
        return self._standstill is not None

    @can_fail
    def standstill(self) -> Standstill | None:
        return self._standstill

    @can_fail
    def stand_still(self, wanted: Standstill) -> Standstill:
        self._standstill = self._standstill or wanted
        return self._standstill

    @can_fail
    def go_on(self, at: float, by: str, reason: str) -> Standstill | None:  # noqa: ARG002 - only the table keeps it
        ended, self._standstill = self._standstill, None
        return ended

    def stop(self) -> None:
        self._standstill = Standstill(0.0)

    def resume(self) -> None:
        self._standstill = None
