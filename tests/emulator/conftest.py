"""The fixture that makes worlds; and what holds for every call of Batch in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pointsman_emulator import BatchSettings, Emulator, Faults
from tests.emulator.batch_answers import held_to_the_model
from tests.emulator.batch_stacks import Managed
from tests.emulator.worlds import HERE, Make, World


@pytest.fixture(autouse=True)
def _answers_fit_the_model() -> Iterator[None]:
    with held_to_the_model():
        yield


@pytest.fixture
def world() -> Iterator[Make]:
    """See `Make`."""
    with ExitStack() as stack:

        def make(
            seed: int = 7,
            batch: BatchSettings | None = None,
            faults: Faults | None = None,
            instances: int = 4,
            template: Path = HERE / "template.yaml",
        ) -> World:
            aws = stack.enter_context(Emulator(seed=seed, batch=batch, faults=faults))
            return World(aws, instances, template)

        yield make


@pytest.fixture
def managed() -> Iterator[Managed]:
    """A queue under quota management, three instances, shares `search` and `ads` of one each."""
    with Emulator(seed=7) as aws:
        yield Managed(aws)
