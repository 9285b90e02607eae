"""What an inference component runs, and what of it makes one version differ from another."""

import hashlib
import json
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Compute:
    """What one copy reserves of an instance."""

    accelerators: float = 0.0
    cores: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Spec:
    """A component's specification; `image` is the one that was specified, not the digest it resolved to.

    `rest` holds the members that the core does not judge (start-up, scheduling, caching) as JSON text: a whole
    specification is sent, never a part, and these travel along unchanged.
    """

    model: str | None = None
    image: str | None = None
    artifact: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    compute: Compute = Compute()
    rest: str = ""

    @property
    def digest(self) -> str:
        """A hash over model, specified image, artifact, environment and compute; copies are no part of it.

        >>> Spec(model="a", environment=(("x", "1"), ("y", "2"))).digest == Spec(
        ...     model="a", environment=(("y", "2"), ("x", "1"))
        ... ).digest
        True
        """
        compute = (float(self.compute.accelerators), float(self.compute.cores), float(self.compute.memory_mb))
        parts = (self.model or "", self.image or "", self.artifact or "", sorted(self.environment), compute)
        return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Change:
    """What a rollout changes of a specification: what is None stays; a variable of value None is taken out."""

    model: str | None = None
    image: str | None = None
    artifact: str | None = None
    environment: tuple[tuple[str, str | None], ...] = ()
    compute: Compute | None = None

    def applied_to(self, old: Spec) -> Spec:
        """The whole new specification."""
        environment: dict[str, str] = dict(old.environment)
        for key, value in self.environment:
            if value is None:
                environment.pop(key, None)
            else:
                environment[key] = value
        return replace(
            old,
            model=self.model if self.model is not None else old.model,
            image=self.image if self.image is not None else old.image,
            artifact=self.artifact if self.artifact is not None else old.artifact,
            environment=tuple(sorted(environment.items())),
            compute=self.compute if self.compute is not None else old.compute,
        )
