"""Whether what a way back stands on is there: asked for once, before anything changes, each thing one time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pointsman.errors import Transient
from pointsman.rollout_ports import ModelFacts, Permissions, Sources
from pointsman.rollouts.observations import Answer, ComponentView, Ground, Proof


@dataclass(frozen=True, slots=True)
class WayBack:
    """Asks; `role` is the one that rollouts act under (empty: not known here, so it is not asked of)."""

    permissions: Permissions
    sources: Sources
    role: str = ""

    def proofs(self, members: Sequence[ComponentView], models: Mapping[str, ModelFacts]) -> tuple[Proof, ...]:
        """For what these components run now: our permission, the roles, the images and the artifacts."""
        views = [view for view in members if view.base is None and not view.several]  # the others are not rolled at all
        olds = [models[name] for view in views if (name := view.spec.model) is not None and name in models]
        roles = {model.role for model in olds}
        images = {image for model in olds for image in model.images} | {view.spec.image for view in views}
        artifacts = {uri for model in olds for uri in model.artifacts} | {view.spec.artifact for view in views}
        names = sorted(view.name for view in views)
        mine = {self.role} if names else set()
        return (
            *_asked(Ground.PERMISSION, mine, lambda role: self.permissions.updates(role, names)),
            *_asked(Ground.ROLE, roles, self.permissions.exists),
            *_asked(Ground.IMAGE, images, self.sources.image),
            *_asked(Ground.ARTIFACT, artifacts, self.sources.artifact),
        )


def _asked(ground: Ground, names: Iterable[str | None], ask: Callable[[str], Answer]) -> list[Proof]:
    return [Proof(ground, name, _answer(ask, name)) for name in sorted(filter(None, names))]


def _answer(ask: Callable[[str], Answer], name: str) -> Answer:
    try:
        return ask(name)
    except Transient:  # what is only asked for to be sure holds nothing up
        return Answer.UNKNOWN
