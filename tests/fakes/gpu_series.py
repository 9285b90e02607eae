"""What hosts say of their GPUs, in memory."""

from collections.abc import Mapping, Sequence

from tests.fakes.faults import Faulty, can_fail


class FakeGpuSeries(Faulty):
    """`told` has the per cent of each host, summed over its GPUs."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, float] = {}
        self.asked: list[tuple[str, ...]] = []

    @can_fail
    def latest(self, hosts: Sequence[str], now: float) -> Mapping[str, float]:  # noqa: ARG002 - the port's signature
        self.asked.append(tuple(hosts))
        return {host: self.told[host] for host in hosts if host in self.told}
