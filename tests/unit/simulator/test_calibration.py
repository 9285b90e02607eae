"""Expected starts are held against what came."""

from pointsman_simulator.calibration import calibrate
from tests.unit.simulator.test_steered import POLICY, day


def test_of_the_jobs_that_wait_four_of_five_start_before_the_p90_that_they_were_told() -> None:
    """One quiet day, so that the test is fast; `make calibrate` counts twenty."""
    found = calibrate(7, day(7), POLICY)
    assert found.first.jobs > 50
    assert found.first.before_p90 >= 0.8 * found.first.jobs
    assert found.middle.before_p90 >= 0.8 * found.middle.jobs
    assert 0.2 * found.first.jobs < found.first.before_p50 < found.first.before_p90
