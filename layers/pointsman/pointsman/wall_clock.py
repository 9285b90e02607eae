"""Times as people say them: moments with their zone, and windows of the week on the clock of a place.

A place changes its clock twice a year. A window there is open from the first time that the clock on the wall shows
its beginning until the last time that it shows its end: where an hour is doubled, the whole of it counts. A time that
is skipped counts as the moment of the change. Everything here is a pure function of its arguments.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = f"(?:{'|'.join(DAYS)})"
_TIME = "([0-2][0-9]:[0-5][0-9])"
WINDOW = f"^(daily|{_DAY}(?:-{_DAY})?(?:,{_DAY}(?:-{_DAY})?)*) {_TIME}-{_TIME} ([A-Za-z0-9_+/-]+)$"
_WINDOW = re.compile(WINDOW)
_MIDNIGHT = 24 * 60
_AROUND = (-2, 9)  # days around a moment whose windows may be open at it, or be the next to open


def moment(value: object) -> float:
    """A moment such as `2026-12-24T18:00:00Z` as epoch seconds; raises ValueError for one without its zone.

    >>> moment("2026-12-24T18:00:00Z")
    1798135200.0
    """
    try:
        read = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a moment; write it as 2026-12-24T18:00:00Z") from None
    if read.tzinfo is None:
        raise ValueError(f"{value} does not say its time zone; end it with Z or +01:00")
    return read.timestamp()


@dataclass(frozen=True, slots=True)
class Weekly:
    """A window that opens on some days of the week (0 is Monday), in minutes after local midnight.

    One whose `end` is not after its `begin` ends on the day after.
    """

    days: frozenset[int]
    begin: int
    end: int
    zone: str

    def __str__(self) -> str:
        """The window as it may be written."""
        named = "daily" if len(self.days) == len(DAYS) else ",".join(DAYS[day] for day in sorted(self.days))
        begin, end = (f"{minutes // 60:02}:{minutes % 60:02}" for minutes in (self.begin, self.end))
        return f"{named} {begin}-{end} {self.zone}"

    def open(self, at: float) -> bool:
        """Whether the window is open at this moment."""
        return any(begin <= at < end for begin, end in self._around(at))

    def following(self, at: float) -> Iterator[tuple[float, float]]:
        """The beginnings and ends of the next week that end after this moment, in their order."""
        return (span for span in self._around(at) if span[1] > at)

    def next_edge(self, at: float) -> float:
        """When the window next opens or closes; infinity where it does not within a week."""
        return min((edge for span in self._around(at) for edge in span if edge > at), default=float("inf"))

    def _around(self, at: float) -> tuple[tuple[float, float], ...]:
        today = datetime.fromtimestamp(at, _zone(self.zone)).date()
        return tuple(span for n in range(*_AROUND) if (span := _span(self, today + timedelta(days=n))) is not None)


def weekly(text: object) -> Weekly:
    """A window as people write it; raises ValueError with what is wrong.

    >>> weekly("Mon-Fri 20:00-06:00 Europe/Madrid").next_edge(1_798_135_200.0) - 1_798_135_200.0
    3600.0
    """
    found = _WINDOW.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{str(text)[:80]!r} is not a window; write it as `Mon-Fri 20:00-06:00 Europe/Madrid`")
    days, (begin, end), zone = found[1], map(_minutes, found.group(2, 3)), found[4]
    if begin in (end, _MIDNIGHT):
        raise ValueError(f"{str(text)[:80]!r} begins when it ends; a whole day is 00:00-24:00")
    try:
        _zone(zone)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{zone!r} is not a time zone; write it as Europe/Madrid or UTC") from None
    return Weekly(frozenset(_days(days)), begin, end, zone)


def local(at: float, zone: str) -> str:
    """A moment as the clock of a place shows it.

    >>> local(1_798_135_200.0, "Europe/Madrid")
    'Thu 2026-12-24 19:00 CET'
    """
    there = datetime.fromtimestamp(at, _zone(zone))
    return f"{DAYS[there.weekday()]} {there:%Y-%m-%d %H:%M %Z}"


def _minutes(text: str) -> int:
    minutes = int(text[:2]) * 60 + int(text[3:])
    if minutes > _MIDNIGHT:
        raise ValueError(f"{text!r} is no time of a day")
    return minutes


def _days(text: str) -> Iterator[int]:
    if text == "daily":
        yield from range(len(DAYS))
        return
    for part in text.split(","):
        first, _, last = part.partition("-")
        begin = DAYS.index(first)
        length = (DAYS.index(last or first) - begin) % len(DAYS)
        yield from ((begin + n) % len(DAYS) for n in range(length + 1))


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@cache
def _span(window: Weekly, day: date) -> tuple[float, float] | None:
    """When the window opens and closes that begins on this local day, if one does and the clock shows any of it."""
    if day.weekday() not in window.days:
        return None
    ends = day if window.end > window.begin else day + timedelta(days=1)
    span = (_instants(day, window.begin, window.zone)[0], _instants(ends, window.end, window.zone)[1])
    return span if span[0] < span[1] else None


def _instants(day: date, minutes: int, zone: str) -> tuple[float, float]:
    """When the clock there first and last shows this time; where it skips it, the moment of the change, twice."""
    if minutes == _MIDNIGHT:
        day, minutes = day + timedelta(days=1), 0
    wall = datetime.combine(day, time(minutes // 60, minutes % 60))
    first, last = (wall.replace(tzinfo=_zone(zone), fold=fold).timestamp() for fold in (0, 1))
    if first <= last:
        return first, last
    before = _offset(last, zone)  # skipped: read by the new offset it lies before the change, by the old one after it
    low, high = last, first
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if _offset(middle, zone) == before else (low, middle)
    return float(round(high)), float(round(high))


def _offset(at: float, zone: str) -> timedelta | None:
    return datetime.fromtimestamp(at, UTC).astimezone(_zone(zone)).utcoffset()
