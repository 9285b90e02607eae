"""The same inputs give the same decision, byte for byte, in processes whose hashes are of other seeds."""

import os
import subprocess
import sys

import pytest

SEEDS = ("0", "4242")


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What each of these processes prints; they run side by side."""
    command = [sys.executable, "-m", "tests.proof.same_bytes"]
    started = [
        subprocess.Popen(  # noqa: S603 - nothing of it comes from outside
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        for seed in SEEDS
    ]
    told = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0] * len(SEEDS)
    return told


def test_what_is_decided_logged_and_stored_is_the_same_whatever_the_seed_of_hashes(printed: list[str]) -> None:
    for other in printed[1:]:
        for line, same in zip(printed[0].splitlines(), other.splitlines(), strict=True):
            assert line == same


def test_queues_moved_jobs_and_evicted_some_and_fleets_were_updated_in_it(printed: list[str]) -> None:
    text = printed[0]
    assert text.count('"message": "decided"') > 100
    assert text.count('"message": "advanced"') > 20
    assert '"outcome": "done"' in text
    assert '"progress": ' in text
    assert '["SubmitUpdate", ' in text
