"""EC2's instance types in memory."""

from tests.fakes.faults import Faulty, can_fail


class FakeInstanceTypes(Faulty):
    """The instance types that a test names, with their GPUs."""

    def __init__(self, **gpus: int) -> None:
        super().__init__()
        self.known: dict[str, int] = {"ml.g5.xlarge": 1, "ml.p4d.24xlarge": 8, "ml.m5.large": 0, **gpus}

    @can_fail
    def gpus(self, instance_type: str) -> int | None:
        return self.known.get(instance_type)
