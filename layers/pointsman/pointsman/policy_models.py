"""The keys of a policy, as people write them. JSON Schema comes from these models."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from pointsman.documents import Duration, Fraction, Glob
from pointsman.wall_clock import WINDOW, Weekly, weekly

_NAME = r"^[a-z][a-z0-9-]{0,31}$"
_SHARE = r"^[A-Za-z0-9_*?\[\]!-]{1,255}$"
_QUEUE = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"
WORDS: Mapping[str, str] = {
    _NAME: "small letters, digits and hyphens after a letter, 32 at most",
    _SHARE: "letters, digits, hyphens and underscores, with * and ? for any of them, 255 at most",
    _QUEUE: "the queue's name, not its ARN: letters, digits, hyphens and underscores, 128 at most",
}
"""What each pattern asks for."""
Name = Annotated[str, Field(pattern=_NAME)]
ShareGlob = Annotated[str, Field(pattern=_SHARE)]
Weight = Annotated[float, Field(ge=0.0001, le=999.9999)]
When = Annotated[
    Weekly,
    BeforeValidator(weekly),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": WINDOW,
            "examples": ["Mon-Fri 20:00-06:00 Europe/Madrid", "daily 00:00-24:00 UTC"],
        }
    ),
]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class MatchDocument(_Document):
    """Which jobs belong to a class; all that is given must match."""

    job_name: Glob | None = None
    tag: dict[str, Glob] = {}
    share: ShareGlob | None = None


class DeadlineDocument(_Document):
    """A job should have finished by the time that this tag of it names, in ISO 8601."""

    tag: Annotated[str, Field(min_length=1, max_length=128)]


DURATION, TAG = "as a duration", "as a mapping"  # of no key's form, so that a path can be cleared of them
Finish = Annotated[
    Annotated[Duration, Tag(DURATION)] | Annotated[DeadlineDocument, Tag(TAG)],
    Discriminator(lambda value: TAG if isinstance(value, Mapping | DeadlineDocument) else DURATION),
]


class DefaultDocument(_Document):
    """The class of every job that no other class matches."""

    name: Name
    head_start: Duration = 0.0
    max_wait: Duration | None = None
    entitlement: Fraction | None = None
    ceiling: Fraction | None = None
    deadline: Finish | None = None
    preemptible: bool = False


class ClassDocument(DefaultDocument):
    """A class of work: the higher in the list, the more urgent."""

    match: MatchDocument
    weight: Weight | None = None


class ReservationDocument(_Document):
    """Hold what is freed for a big job that has waited `after`."""

    after: Duration
    at_most: Literal[0, 1] = 1


class PreemptionDocument(_Document):
    """When a waiting job may evict others of its quota share."""

    patience: Duration = 3600.0
    protect: Duration = 1200.0
    at_most_per_job: Annotated[int, Field(ge=0, le=1000)] = 2
    how: Literal["levels", "switch"] = "levels"


class AlarmDocument(_Document):
    """What changes while such an alarm is in ALARM, for at most so long.

    Either a class gets a longer head start (`boost` and `by`), or a share another borrow limit or weight.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["boost", "by"]},
                {"required": ["share", "borrow_limit"]},
                {"required": ["share", "weight"]},
            ]
        }
    )

    alarm: Glob
    boost: Name | None = None
    by: Duration | None = None
    share: ShareGlob | None = None
    borrow_limit: Annotated[int, Field(ge=-1, le=1_000_000)] | None = None
    weight: Weight | None = None
    for_: Annotated[Duration | None, Field(alias="for")] = None


class SettingsDocument(_Document):
    """What a window changes of a class while it is open."""

    head_start: Duration | None = None
    max_wait: Duration | None = None
    entitlement: Fraction | None = None
    ceiling: Fraction | None = None


class WindowDocument(_Document):
    """A time of the week in which classes have other settings."""

    when: When
    set: Annotated[dict[Name, SettingsDocument], Field(min_length=1)]


class PolicyDocument(_Document):
    """The policy of one job queue."""

    version: Literal[1]
    queue: Annotated[str, Field(pattern=_QUEUE)]
    mode: Literal["observe", "act"] = "observe"
    share: ShareGlob
    across_shares: Literal["weights"] | None = None
    classes: list[ClassDocument] = []
    default: DefaultDocument
    spread: Duration = 0.0
    reservation: ReservationDocument | None = None
    preemption: PreemptionDocument | None = None
    respect_human: Duration | None = None
    on_alarm: list[AlarmDocument] = []
    windows: list[WindowDocument] = []
