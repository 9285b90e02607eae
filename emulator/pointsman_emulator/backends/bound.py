"""What our backends share: each is bound to one emulator, for as long as that runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from moto.core.base_backend import BackendDict

from pointsman_emulator.environment import ACCOUNT, REGION


class Bound:
    """A backend of moto's that works on the parts of one emulator, its `world`.

    `home` is where moto keeps the backends of the service, `place` its region, or moto's word for a global one.
    """

    home: ClassVar[BackendDict[Any]]
    place: ClassVar[str] = REGION
    world: ClassVar[Any] = None

    @classmethod
    @contextmanager
    def bound(cls, world: Any) -> Iterator[Self]:
        """Inside, the backend has this world; it begins empty."""
        cls.world = world
        try:
            backend = cls.here()
            cls.home[ACCOUNT][cls.place].reset()
            yield backend
        finally:
            cls.world = None

    @classmethod
    def here(cls) -> Self:
        """The backend of the emulator's account and region."""
        backend = cls.home[ACCOUNT][cls.place]
        if not isinstance(backend, cls):
            raise TypeError("the emulator is not running")
        return backend


class Ticking(Bound):
    """A backend with a model of its own, which moves with the emulator's clock."""

    model: Any

    @classmethod
    @contextmanager
    def bound(cls, world: Any) -> Iterator[Self]:
        """Inside, the backend has this world, and its model moves with the clock there."""
        with super().bound(world) as backend:
            world.clock.models.append(backend.model)
            yield backend

    def catch_up(self) -> None:
        """Let the model reach the clock, but for what is due at this very moment."""
        if self.world is not None:
            self.model.catch_up(self.world.clock.now)
