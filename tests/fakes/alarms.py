"""Alarms in memory."""

from fnmatch import fnmatchcase

from pointsman.queues.effects import AlarmTransition
from tests.fakes.faults import Faulty, can_fail


class FakeAlarms(Faulty):
    """Alarms whose states a test sets; their history is complete and never late."""

    def __init__(self) -> None:
        super().__init__()
        self._moves: list[tuple[str, str, float]] = []

    def set_state(self, alarm: str, state: str, at: float) -> None:
        """Move the alarm into this state (OK, ALARM or INSUFFICIENT_DATA) at this time."""
        self._moves.append((alarm, state, at))

    def delete(self, alarm: str) -> None:
        """Delete the alarm, and with it its history."""
        self._moves = [move for move in self._moves if move[0] != alarm]

    @can_fail
    def transitions(self, pattern: str, since: float) -> tuple[AlarmTransition, ...]:
        found: list[AlarmTransition] = []
        for alarm in dict.fromkeys(name for name, _, _ in self._moves if fnmatchcase(name, pattern)):
            before, stands = "INSUFFICIENT_DATA", 0.0
            for state, at in sorted(((s, a) for name, s, a in self._moves if name == alarm), key=lambda move: move[1]):
                if at >= since and state == "ALARM" != before:
                    found.append(AlarmTransition(alarm, float(int(at))))
                elif at >= since and before == "ALARM" != state and found and found[-1].alarm == alarm:
                    found[-1] = AlarmTransition(alarm, found[-1].at, at)
                elif state == "ALARM" != before:
                    stands = at
                before = state
            if before == "ALARM" and not (found and found[-1].alarm == alarm):
                found.append(AlarmTransition(alarm, float(int(stands))))
        return tuple(sorted(found, key=lambda move: (move.at, move.alarm)))
