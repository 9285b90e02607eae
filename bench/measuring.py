"""Time and memory, each measured in a process of its own."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gives, and the seconds of CPU that it took."""
    began = process_time()
    result = work()
    return result, process_time() - began


def grown() -> float:
    """The most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def base_seconds() -> float:
    """How fast this machine is now: seconds of CPU to sort 100,000 pairs of a number and a text, the best of five."""
    random = Random(7)
    pairs = [(random.random(), f"job-{n}") for n in range(100_000)]
    return min(timed(lambda: sorted(pairs))[1] for _ in range(5))


def apart(part: str, timeout: float, **asked: Any) -> dict[str, Any] | None:
    """What `python -m bench.part` says of this part; None when it takes longer than that."""
    words = [sys.executable, "-m", "bench.part", part, json.dumps(asked)]
    try:
        ran = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True, timeout=timeout)  # noqa: S603
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{part} {asked}: {error.stderr}") from None
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return told
