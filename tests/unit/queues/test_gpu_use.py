"""How busy GPUs are: by instance, idle ones as zero, unknown ones as neither."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.queues.gpu_use import GpuUse, gpu_use
from tests.unit.queues.build import busy

EIGHT = replace(busy("a", 2), gpus=16)
ONE = busy("b", 1, job_class="production")


@pytest.mark.parametrize(
    "case, jobs, readings, idle, use",
    [
        ("per cent are summed over a host's GPUs", [EIGHT], {"a": [800.0, 400.0]}, 0, 0.75),
        ("idle instances count as zero", [EIGHT], {"a": [800.0, 800.0]}, 2, 0.5),
        ("an instance counts one, however many GPUs it has", [EIGHT, ONE], {"a": [800.0, 800.0], "b": [40.0]}, 0, 0.8),
        ("an empty queue uses nothing", [], {}, 4, 0.0),
        ("a queue without instances has no use", [], {}, 0, None),
        ("who says nothing is neither busy nor idle", [EIGHT, ONE], {"b": [60.0]}, 0, 0.6),
        ("where nobody says anything nothing is known", [EIGHT], {}, 6, None),
        ("a figure of more GPUs than we know of tells nothing", [ONE], {"b": [640.0]}, 3, None),
        ("what does not run yet is not there", [busy("c", 4, ran=None)], {}, 4, 0.0),
        ("nor is a job without GPUs", [replace(ONE, gpus=0)], {}, 1, 0.0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_use_of_a_queue(case: str, jobs: list, readings: dict, idle: int, use: float | None) -> None:  # type: ignore[type-arg]
    found = gpu_use(jobs, readings, idle)
    assert found.queue == (None if use is None else pytest.approx(use)), case


def test_classes_are_apart_and_idle_instances_belong_to_none() -> None:
    use = gpu_use([EIGHT, ONE], {"a": [800.0], "b": [50.0]}, 5)
    assert use == GpuUse(pytest.approx(1.5 / 7), (("production", 0.5), ("sweep", 1.0)), 1)


@given(st.lists(st.tuples(st.integers(1, 4), st.lists(st.floats(0, 2000), max_size=4)), max_size=5), st.integers(0, 9))
def test_use_is_between_nothing_and_everything(jobs: list[tuple[int, list[float]]], idle: int) -> None:
    held = [replace(busy(str(n), size), gpus=8 * size) for n, (size, _) in enumerate(jobs)]
    use = gpu_use(held, {str(n): told[: jobs[n][0]] for n, (_, told) in enumerate(jobs)}, idle)
    assert use.queue is None or 0 <= use.queue <= 1
    assert 0 <= use.unmeasured <= sum(size for size, _ in jobs)
