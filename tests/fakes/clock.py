"""A clock that moves when it is told to."""


class FakeClock:
    """Epoch seconds; it stands still until `advance`."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        self._now += seconds
        return self._now

    def set(self, now: float) -> None:
        self._now = now
