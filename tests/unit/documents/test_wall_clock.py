"""Windows of the week on the clock of a place, also on the nights when that clock is changed."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.wall_clock import local, moment, weekly

HOUR = 3600.0


def at(text: str) -> float:
    return moment(text)


@pytest.mark.parametrize(
    "case, window, moment_, wanted",
    [
        ("in the evening", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-01T20:00:00+01:00", True),
        ("not a second before", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-01T19:59:59+01:00", False),
        ("past midnight", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-02T05:59:59+01:00", True),
        ("not in the second in which it ends", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-02T06:00:00+01:00", False),
        ("on Saturday's morning, since Friday's evening began it",
         "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-05T03:00:00+01:00", True),
        ("not on Saturday's evening", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-05T21:00:00+01:00", False),
        ("not on Monday's morning", "Mon-Fri 20:00-06:00 Europe/Madrid", "2026-12-07T03:00:00+01:00", False),
        ("all day long", "Sat,Sun 00:00-24:00 UTC", "2026-12-06T23:59:59Z", True),
        ("days that go round the week's end", "Fri-Mon 10:00-11:00 UTC", "2026-12-06T10:30:00Z", True),
        ("every day", "daily 10:00-11:00 Asia/Tokyo", "2026-12-02T01:30:00Z", True),
        ("until midnight", "Tue 22:00-00:00 UTC", "2026-12-01T23:59:00Z", True),
    ],
)  # fmt: skip
def test_a_window_is_open(case: str, window: str, moment_: str, wanted: bool) -> None:
    assert weekly(window).open(at(moment_)) is wanted, case


# In Madrid the clock goes from 02:00 to 03:00 on 2026-03-29, and from 03:00 back to 02:00 on 2026-10-25.
@pytest.mark.parametrize(
    "case, window, before, begins, ends",
    [
        ("a night that is an hour short", "daily 20:00-06:00 Europe/Madrid", "2026-03-28T12:00:00Z",
         "2026-03-28T19:00:00Z", "2026-03-29T04:00:00Z"),
        ("a night that is an hour long", "daily 20:00-06:00 Europe/Madrid", "2026-10-24T12:00:00Z",
         "2026-10-24T18:00:00Z", "2026-10-25T05:00:00Z"),
        ("a beginning that is skipped is the moment of the change", "daily 02:30-06:00 Europe/Madrid",
         "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T04:00:00Z"),
        ("an end that is skipped is the moment of the change", "daily 01:00-02:30 Europe/Madrid",
         "2026-03-28T12:00:00Z", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
        ("a window that is skipped whole waits for the next day", "daily 02:15-02:30 Europe/Madrid",
         "2026-03-28T12:00:00Z", "2026-03-30T00:15:00Z", "2026-03-30T00:30:00Z"),
        ("of a doubled beginning the first counts", "daily 02:30-06:00 Europe/Madrid", "2026-10-24T12:00:00Z",
         "2026-10-25T00:30:00Z", "2026-10-25T05:00:00Z"),
        ("of a doubled end the last counts", "daily 01:00-02:30 Europe/Madrid", "2026-10-24T12:00:00Z",
         "2026-10-24T23:00:00Z", "2026-10-25T01:30:00Z"),
        ("a place south of the equator", "Sun 02:15-05:00 Australia/Sydney", "2026-10-03T12:00:00Z",
         "2026-10-03T16:00:00Z", "2026-10-03T18:00:00Z"),
        ("half an hour of change", "daily 01:45-03:00 Australia/Lord_Howe", "2026-04-04T12:00:00Z",
         "2026-04-04T14:45:00Z", "2026-04-04T16:30:00Z"),
    ],
)  # fmt: skip
def test_the_nights_when_the_clock_is_changed(case: str, window: str, before: str, begins: str, ends: str) -> None:
    assert next(weekly(window).following(at(before))) == (at(begins), at(ends)), case


places = st.sampled_from(("Europe/Madrid", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"))
minutes = st.integers(0, 1439).map(lambda n: f"{n // 60:02}:{n % 60:02}")
days = st.sampled_from(("daily", "Mon-Fri", "Sat,Sun", "Fri-Mon", "Wed"))
moments = st.integers(1_767_225_600, 1_830_297_600).map(float)  # 2026 and 2027


@settings(max_examples=200, deadline=None)
@given(days, minutes, minutes, places, moments)
def test_a_window_is_open_when_the_clock_on_the_wall_says_so_but_for_the_hour_of_a_change(
    named: str, begin: str, end: str, place: str, now: float
) -> None:
    if begin == end:
        return
    window = weekly(f"{named} {begin}-{end} {place}")
    _, _, day, clock = local(now, place).replace(" ", " 2 ", 1).split()[:4]
    there = datetime.fromtimestamp(now, UTC).isoformat()
    today, yesterday = ((datetime.fromisoformat(day).weekday() - n) % 7 for n in (0, 1))
    if begin < end:
        wanted = today in window.days and begin <= clock < end
    else:
        wanted = (today in window.days and clock >= begin) or (yesterday in window.days and clock < end)
    offsets = {local(now + n * HOUR, place).split()[-1] for n in range(-26, 27)}
    if len(offsets) == 1:
        assert window.open(now) is wanted, there
    elif wanted:
        assert window.open(now), "a change never closes a window while the clock shows a time in it"


@settings(max_examples=100, deadline=None)
@given(days, minutes, minutes, places, moments)
def test_nothing_opens_or_closes_between_a_moment_and_the_next_edge(
    named: str, begin: str, end: str, place: str, now: float
) -> None:
    if begin == end:
        return
    window = weekly(f"{named} {begin}-{end} {place}")
    edge = window.next_edge(now)
    assert now < edge < now + 9 * 86400
    for part in (0.25, 0.5, 0.75):
        assert window.open(now + (edge - now) * part) is window.open(now)
    spans = list(window.following(now))
    assert spans == sorted(spans)
    assert all(begin < end for begin, end in spans)


@pytest.mark.parametrize(
    "text, written",
    [
        ("Mon-Fri 20:00-06:00 Europe/Madrid", "Mon,Tue,Wed,Thu,Fri 20:00-06:00 Europe/Madrid"),
        ("Fri-Mon,Wed 00:00-24:00 UTC", "Mon,Wed,Fri,Sat,Sun 00:00-24:00 UTC"),
        ("Mon-Sun 01:05-02:30 UTC", "daily 01:05-02:30 UTC"),
    ],
)
def test_a_window_is_written_as_it_can_be_read_again(text: str, written: str) -> None:
    assert str(weekly(text)) == written
    assert weekly(written) == weekly(text)


@pytest.mark.parametrize(
    "value, words",
    [
        ("Mon", "is not a window; write it as `Mon-Fri 20:00-06:00 Europe/Madrid`"),
        (3, "'3' is not a window"),
        ("mon 20:00-06:00 UTC", "is not a window"),
        ("Mon 8:00-9:00 UTC", "is not a window"),
        ("Mon 25:00-26:00 UTC", "'25:00' is no time of a day"),
        ("Mon 08:00-08:00 UTC", "begins when it ends; a whole day is 00:00-24:00"),
        ("Mon 24:00-06:00 UTC", "begins when it ends"),
        ("Mon 20:00-06:00 Europe/Atlantis", "'Europe/Atlantis' is not a time zone"),
        ("Mon 20:00-06:00 /etc/passwd", "is not a time zone"),
    ],
)
def test_what_is_no_window_is_refused(value: object, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        weekly(value)
    assert words in str(caught.value)
