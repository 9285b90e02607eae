"""The class and the kind of many jobs: what jobs have in common is looked at once."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import translate

from pointsman.queues.estimates import Kind, name_pattern
from pointsman.queues.jobs import Detail
from pointsman.queues.policy import TEAM, JobClass, Policy

_Named = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Classifier:
    """Says of each job what `Policy.classify` says, and gives jobs that are alike one and the same `Kind`."""

    policy: Policy
    _tags: tuple[str, ...] = field(init=False)
    _open: dict[tuple[str | None, ...], tuple[tuple[_Named | None, JobClass], ...]] = field(default_factory=dict)
    _kinds: dict[tuple[object, ...], Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note which tags the policy reads."""
        object.__setattr__(self, "_tags", tuple({key: None for c in self.policy.classes for key, _ in c.match.tags}))

    def job_class(self, name: str, detail: Detail) -> JobClass:
        """The first class that covers a job of this name."""
        said = (detail.share, *[detail.tags.get(key) for key in self._tags])
        classes = self._open.get(said)
        if classes is None:
            classes = self._open[said] = self._open_to(detail)
        return next(c for named, c in classes if named is None or named(name))

    def _open_to(self, detail: Detail) -> tuple[tuple[_Named | None, JobClass], ...]:
        """The classes that a job of these tags and this share may be of, each with what its name must be like."""
        return tuple(
            (None if c.match.job_name is None else re.compile(translate(c.match.job_name)).match, c)
            for c in self.policy.classes
            if replace(c.match, job_name=None).covers("", detail.tags, detail.share)
        )

    def kind(self, name: str, detail: Detail, job_class: JobClass) -> Kind:
        """What the job is alike to; its team is its `team` tag, or else its share."""
        team = detail.tags.get(TEAM) or detail.share or ""
        of = (team, name_pattern(name), detail.size, job_class.name, detail.types)
        kind = self._kinds.get(of)
        if kind is None:
            kind = self._kinds[of] = Kind(*of)
        return kind
