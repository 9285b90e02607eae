"""The page of the emulator names every setting of Batch, and the tests that it names exist."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from pointsman_emulator import BatchSettings

HERE = Path(__file__).parent
PAGE = (HERE.parent.parent / "docs" / "emulator.md").read_text()
BATCH = PAGE[PAGE.index("## Batch: the API") : PAGE.index("## Inference components")]


def test_every_setting_of_batch_is_on_the_page() -> None:
    assert [field.name for field in fields(BatchSettings) if f"`{field.name}`" not in BATCH] == []


def test_every_test_that_the_page_names_exists() -> None:
    tests = "".join(path.read_text() for path in HERE.glob("test_batch_*.py"))
    assert [name for name in re.findall(r"`(test_\w+)`", BATCH) if f"def {name}(" not in tests] == []
