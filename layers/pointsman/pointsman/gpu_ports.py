"""What the use of GPUs needs of the outside world."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class GpuSeries(Protocol):
    """What the hosts of training jobs say of their GPUs."""

    def latest(self, hosts: Sequence[str], now: float) -> Mapping[str, float]:
        """Each host's use in the last minutes, per cent summed over its GPUs; a host that said nothing is left out."""
        ...
