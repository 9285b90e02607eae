"""CloudWatch alarms: when they went into ALARM, and when they left it again."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.queues.effects import AlarmTransition

TYPES = ["MetricAlarm", "CompositeAlarm"]
PAGE = 100
_GLOB = re.compile(r"[*?\[]")


class CloudWatchAlarms:
    """The alarms of one account and region."""

    def __init__(self, cloudwatch: Any) -> None:
        """Use this client."""
        self._cloudwatch = cloudwatch

    @understood
    def transitions(self, pattern: str, since: float) -> tuple[AlarmTransition, ...]:
        """Moves into ALARM since then, from the history of the alarms whose names match the glob, oldest first.

        An alarm that stands in ALARM without its history saying so (it may lag, and is forgotten in time) counts by its
        own time stamp, however long ago. Times are cut to whole seconds, so that both sources name one move alike.
        """
        found: list[AlarmTransition] = []
        for alarm in self._matching(pattern):
            changed, moves = _changed(alarm), list[AlarmTransition]()
            if changed is None or changed >= since:  # to ask for that of every alarm of a wide glob is one call each
                moves = self._history(alarm["AlarmName"], since)
            if alarm.get("StateValue") == "ALARM" and changed is not None and not _shown(moves, _second(changed)):
                moves.append(AlarmTransition(alarm["AlarmName"], _second(changed)))
            found += moves
        return tuple(sorted(found, key=lambda move: (move.at, move.alarm)))

    def _matching(self, pattern: str) -> Iterator[dict[str, Any]]:
        request: dict[str, Any] = {"AlarmTypes": TYPES, "MaxRecords": PAGE}
        if prefix := _GLOB.split(pattern, maxsplit=1)[0]:
            request["AlarmNamePrefix"] = prefix
        for page in pages(self._cloudwatch.describe_alarms, request):
            for alarm in (*page.get("MetricAlarms", ()), *page.get("CompositeAlarms", ())):
                if fnmatchcase(alarm["AlarmName"], pattern):
                    yield alarm

    def _history(self, alarm: str, since: float) -> list[AlarmTransition]:
        request = {
            "AlarmName": alarm,
            "AlarmTypes": TYPES,
            "HistoryItemType": "StateUpdate",
            "StartDate": datetime.fromtimestamp(since, UTC),
            "ScanBy": "TimestampAscending",
            "MaxRecords": PAGE,
        }
        moves: list[AlarmTransition] = []
        for page in pages(self._cloudwatch.describe_alarm_history, request):
            for item in page["AlarmHistoryItems"]:
                at = item["Timestamp"].timestamp()
                before, after = states(item.get("HistoryData", ""))
                if at < since or before == after:
                    continue
                if after == "ALARM":
                    moves.append(AlarmTransition(alarm, _second(at)))
                elif before == "ALARM" and moves and moves[-1].left is None:
                    moves[-1] = AlarmTransition(alarm, moves[-1].at, at)
        return moves


def _second(moment: float) -> float:
    return float(int(moment))


def _changed(alarm: dict[str, Any]) -> float | None:
    """When the alarm came into the state it is in."""
    moment: datetime | None = alarm.get("StateTransitionedTimestamp") or alarm.get("StateUpdatedTimestamp")
    return None if moment is None else moment.timestamp()


def _shown(moves: list[AlarmTransition], second: float) -> bool:
    """Whether the history shows the move of this second, or that the alarm still stands where it went before."""
    return bool(moves) and (moves[-1].left is None or moves[-1].at >= second)


def states(history_data: str) -> tuple[str | None, str | None]:
    """The states before and after, as far as the item's own JSON says."""
    try:
        data = json.loads(history_data)
        return data["oldState"]["stateValue"], data["newState"]["stateValue"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, None


def pages(operation: Any, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every page of an answer of CloudWatch; raises `Transient` and `Misconfigured`."""
    token: dict[str, str] = {}
    while True:
        with Translated():
            page: dict[str, Any] = operation(**request, **token)
        yield page
        if not page.get("NextToken"):
            return
        token = {"NextToken": page["NextToken"]}
