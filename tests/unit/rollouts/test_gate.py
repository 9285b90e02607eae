"""The judge: pass only on positive evidence, fail on any excursion in the window, unknown for the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.rollouts.gate import LAG, Judgement, Verdict, Watch, Why, Window, judge, least_bake, worst
from pointsman.rollouts.observations import AlarmState, AlarmView
from pointsman.rollouts.request import Metric
from tests.unit.rollouts.build import NOW, alarm

SETTLED = NOW - 600
WINDOW = Window(since=NOW - 900, settled=SETTLED, read=NOW)
IN_DOUBT = AlarmState.INSUFFICIENT_DATA
WAS = NOW - 300
FED = {"samples": (SETTLED + 60, SETTLED + 120)}


def one(view: AlarmView | None, window: Window = WINDOW, **watch: object) -> Judgement:
    rule = Watch("a", **watch)  # type: ignore[arg-type]
    return judge([rule], {} if view is None else {"a": view}, window)[0]


CASES = [
    ("OK with samples passes", alarm("a", **FED), {}, Verdict.PASS, Why.WATCHED),
    ("in ALARM fails", alarm("a", state=AlarmState.ALARM, **FED), {}, Verdict.FAIL, Why.IN_ALARM),
    ("ALARM in the window fails, OK now or not", alarm("a", entered=(WAS,), **FED), {}, Verdict.FAIL, Why.WAS_IN_ALARM),
    ("ALARM as the window begins fails", alarm("a", entered=(NOW - 900,), **FED), {}, Verdict.FAIL, Why.WAS_IN_ALARM),
    ("ALARM before the window is no matter", alarm("a", entered=(NOW - 901,), **FED), {}, Verdict.PASS, Why.WATCHED),
    ("ALARM fails even when the alarm was edited", alarm("a", entered=(NOW - 1,), settings="y", **FED),
     {"settings": "x"}, Verdict.FAIL, Why.WAS_IN_ALARM),
    ("too few samples is unknown", alarm("a", **FED), {"min_samples": 3}, Verdict.UNKNOWN, Why.NO_TRAFFIC),
    ("samples of before the update are none", alarm("a", samples=(SETTLED - 1,)), {}, Verdict.UNKNOWN, Why.NO_TRAFFIC),
    ("insufficient data is unknown", alarm("a", state=IN_DOUBT, **FED), {}, Verdict.UNKNOWN, Why.NO_DATA),
    ("partial data is unknown", alarm("a", problem="partial data", **FED), {}, Verdict.UNKNOWN, Why.EVALUATION),
    ("an alarm that is gone is unknown", None, {}, Verdict.UNKNOWN, Why.MISSING),
    ("an alarm edited since the plan is unknown", alarm("a", settings="y", **FED), {"settings": "x"}, Verdict.UNKNOWN,
     Why.EDITED),
    ("an alarm that had no time to fire is unknown", alarm("a", period=300, evaluation_periods=2, **FED), {},
     Verdict.UNKNOWN, Why.TOO_EARLY),
]  # fmt: skip


@pytest.mark.parametrize("view,watch,verdict,why", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_one_alarm(view: AlarmView | None, watch: dict[str, object], verdict: Verdict, why: Why) -> None:
    judgement = one(view, **watch)
    assert (judgement.verdict, judgement.why) == (verdict, why)
    assert "a" in judgement.sentence


def test_a_gate_that_saw_no_traffic_names_what_it_counted() -> None:
    judgement = one(alarm("a"), traffic=(Metric("Search", "Served"),))
    assert judgement.why is Why.NO_TRAFFIC
    assert "0 of the 1 samples of Search/Served that it needs" in judgement.sentence


def test_nothing_passes_before_it_settled() -> None:
    assert one(alarm("a", **FED), Window(NOW - 900, None, NOW)).why is Why.TOO_EARLY


def test_a_read_must_begin_after_the_alarm_could_have_fired() -> None:
    least = least_bake(60.0, 1)
    assert one(alarm("a", **FED), Window(NOW - 900, NOW - least + 1, NOW)).verdict is Verdict.UNKNOWN
    fed = alarm("a", samples=(NOW - 1,))
    assert one(fed, Window(NOW - 900, NOW - least, NOW)).verdict is Verdict.PASS


def test_a_gate_without_alarms_passes() -> None:
    assert worst([]) is Verdict.PASS


@given(st.lists(st.sampled_from(list(Verdict)), max_size=5))
def test_the_worst_verdict_counts(verdicts: list[Verdict]) -> None:
    result = worst(Judgement("a", verdict, Why.WATCHED, "") for verdict in verdicts)
    assert (result is Verdict.FAIL) == (Verdict.FAIL in verdicts)
    assert (result is Verdict.PASS) == (set(verdicts) <= {Verdict.PASS})


@given(
    at=st.floats(0, 10_000),
    reads=st.lists(st.floats(1, 9_999), min_size=1, max_size=6, unique=True).map(sorted),
    late=st.floats(0, LAG),
)
def test_windows_tile_so_that_no_excursion_falls_between_two(at: float, reads: list[float], late: float) -> None:
    """An excursion that is written to the history up to the lag late is in the window of some read after that."""
    since, caught = 0.0, False
    for read in [*reads, 20_000.0]:
        rows = (at,) if at + late <= read else ()
        caught = caught or one(alarm("a", entered=rows, **FED), Window(since, None, read)).verdict is Verdict.FAIL
        since = read - LAG
    assert caught


def test_a_window_that_began_at_the_commit_would_miss_what_came_before_it() -> None:
    """What tiling is for: read at 100, an excursion at 110 that is over, committed at 120."""
    fired = alarm("a", entered=(110.0,), **FED)
    assert one(fired, Window(100.0 - LAG, None, 200.0)).verdict is Verdict.FAIL
    assert one(fired, Window(120.0, None, 200.0)).verdict is not Verdict.FAIL
