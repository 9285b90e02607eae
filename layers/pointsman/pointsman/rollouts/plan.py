"""The plan: frozen before anything changes, printed by `rollout plan`, and obeyed by every pass."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pointsman.rollouts.batches import Batch, copies_of
from pointsman.rollouts.capacity import GiveWay, Room, room_for, with_copies
from pointsman.rollouts.gate import Watch
from pointsman.rollouts.observations import EndpointView, Occupant
from pointsman.rollouts.record import Direction
from pointsman.rollouts.request import Request
from pointsman.rollouts.specs import Spec

LAUNCH = 300.0  # what an added instance is expected to take
LEAST_TIMEOUT = 3600  # that an update is given by us; SageMaker takes 600 at the least
LONGEST_TIMEOUT = 28800  # what SageMaker takes as MaximumExecutionTimeoutInSeconds
MOST_PLACES, MOST_TOLD = 3, 8  # of a refusal that goes into one message
MARKS = 32  # attempts of one component, at most: each has a timeout of its own, so the base stays that far below


class Level(StrEnum):
    """What a finding means for the rollout."""

    REFUSED = "refused"
    WARNED = "warned"
    NOTED = "noted"


class Check(StrEnum):
    """What was found; the codes are API."""

    UNKNOWN_COMPONENT = "unknown_component"
    UNKNOWN_ENDPOINT = "unknown_endpoint"
    NO_TARGET = "no_target"
    UNREADABLE = "unreadable"
    TWICE = "twice"
    TOO_MANY = "too_many"
    SAME_SPEC = "same_spec"
    NO_WAY_BACK = "no_way_back"
    WAY_BACK_UNCHECKED = "way_back_unchecked"
    NO_SUCH_MODEL = "no_such_model"
    MODEL_UNCHECKED = "model_unchecked"
    BAKE_TOO_SHORT = "bake_too_short"
    WAIT_TOO_SHORT = "wait_too_short"
    ALARM_MISSING = "alarm_missing"
    ALARM_FIRING = "alarm_firing"
    ALARM_WAIVED = "alarm_waived"
    ALARM_UNREADABLE = "alarm_unreadable"
    ALARM_UNCHECKED = "alarm_unchecked"
    TOO_MANY_ALARMS = "too_many_alarms"
    NO_GUARD = "no_guard"
    LOCKED = "locked"
    BUSY = "busy"
    ADAPTER = "adapter"
    SEVERAL_SPECIFICATIONS = "several_specifications"
    SINGLE_COPY = "single_copy"
    NO_COPIES = "no_copies"
    BATCH_TOO_SMALL = "batch_too_small"
    BATCH_TOO_LARGE = "batch_too_large"
    TOO_LONG = "too_long"
    NO_CAPACITY = "no_capacity"
    WAITS_FOR_CAPACITY = "waits_for_capacity"
    CAPACITY_TRIED = "capacity_tried"
    GIVES_WAY = "gives_way"
    YIELDING = "yielding"
    ASSUMED = "assumed"
    SHARED_ROOM = "shared_room"
    MEMORY_ASSUMED = "memory_assumed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's outcome: about what, one sentence, and the remedy."""

    check: Check
    level: Level
    place: str
    sentence: str
    remedy: str = ""

    def __str__(self) -> str:
        """As one line."""
        return f"{self.place}: {self.sentence}{f' ({self.remedy})' if self.remedy else ''}"


@dataclass(frozen=True, slots=True)
class Member:
    """One component of the plan; `timeout` is the base to which an attempt's number is added."""

    name: str
    endpoint: str
    wave: int
    copies: int
    old: Spec
    new: Spec
    batch: Batch
    rollback_batch: Batch
    natives: tuple[str, ...] = ()
    timeout: int = 3600
    seconds: float = 0.0

    @property
    def single(self) -> bool:
        """Whether it has one copy, and so goes to two while it is rolled."""
        return self.copies == 1


@dataclass(frozen=True, slots=True)
class Need:
    """What one component's surge, or its way back, needs of its endpoint."""

    component: str
    endpoint: str
    wave: int
    direction: Direction
    copies: int
    room: Room

    @property
    def sentence(self) -> str:
        """The numbers, as people read them."""
        what = "to roll" if self.direction is Direction.FORWARD else "to take back"
        more = f"{copies_of(self.copies)} more"
        room = self.room
        return (
            f"{self.endpoint} needs {room.needed} instances {what} {self.component} with {more}; "
            f"{room.there} are there and {room.most} is the most"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rollout will do; `waves` are the members' names, `seconds` what each wave is expected to take.

    `approvals` are the waves (from 1) that begin only after a person's approval.
    """

    request: Request
    made_at: float
    members: tuple[Member, ...] = ()
    waves: tuple[tuple[str, ...], ...] = ()
    approvals: tuple[int, ...] = ()
    watches: tuple[Watch, ...] = ()
    needs: tuple[Need, ...] = ()
    gives: tuple[GiveWay, ...] = ()
    findings: tuple[Finding, ...] = ()
    seconds: tuple[float, ...] = ()

    @property
    def rollout(self) -> str:
        """The rollout's id."""
        return self.request.rollout

    @property
    def refused(self) -> tuple[Finding, ...]:
        """What forbids the rollout."""
        return tuple(finding for finding in self.findings if finding.level is Level.REFUSED)

    @property
    def refusal(self) -> str:
        """The same as a person is told it: what is true of several is said once, and of very much only a part."""
        found = together(self.refused)
        told = [f"{finding}." for finding in found[:MOST_TOLD]]
        more = len(found) - MOST_TOLD
        return " ".join([*told, *([f"And {more} more, as `pointsman rollout plan` tells."] if more > 0 else [])])

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The endpoints that it touches, sorted: the order in which they are locked."""
        return tuple(sorted({member.endpoint for member in self.members}))

    @property
    def duration(self) -> float:
        """What the whole is expected to take."""
        return sum(self.seconds) + self.request.final_bake

    def member(self, name: str) -> Member:
        """The member of this name."""
        return next(member for member in self.members if member.name == name)

    def watched(self, touched: Iterable[str]) -> tuple[Watch, ...]:
        """The fleet's alarms, and the own ones of these components."""
        names = set(touched)
        return tuple(watch for watch in self.watches if not watch.components or names & set(watch.components))


def together(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, with one for all the places of which the same is said."""
    alike: dict[Finding, list[str]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, place=""), []).append(finding.place)
    return tuple(replace(finding, place=_places(list(dict.fromkeys(where)))) for finding, where in alike.items())


def _places(where: Sequence[str]) -> str:
    more = len(where) - MOST_PLACES
    return ", ".join(where[:MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def needs_on(endpoint: EndpointView, members: Sequence[Member], occupants: tuple[Occupant, ...]) -> tuple[Need, ...]:
    """What the members on one endpoint need, one after the other: the surge forward, and the batch of the way back.

    The two are not needed at once where SageMaker, short of room, drops a batch's new copies before it adds old ones,
    which nobody has written down: `room_for_both` is what is needed where it does not.
    """
    needs: list[Need] = []
    for member in members:
        copies = _rolled(member, occupants)
        old = with_copies(occupants, member.name, copies, member.old.compute)
        new = with_copies(occupants, member.name, copies, member.new.compute)
        forward = room_for(endpoint, old, member.batch.copies, member.new.compute)
        back = room_for(endpoint, new, member.rollback_batch.copies, member.old.compute)
        needs += [
            Need(member.name, endpoint.name, member.wave, Direction.FORWARD, member.batch.copies, forward),
            Need(member.name, endpoint.name, member.wave, Direction.BACK, member.rollback_batch.copies, back),
        ]
        occupants = with_copies(occupants, member.name, member.copies, member.new.compute)
    return tuple(needs)


def _rolled(member: Member, occupants: Iterable[Occupant]) -> int:
    """The copies that it has while it is rolled: two at least where it had one, and more where someone scaled it."""
    present = next((o.copies for o in occupants if o.component == member.name), 0)
    return max(2, present) if member.single else present


def room_for_both(endpoint: EndpointView, member: Member, occupants: tuple[Occupant, ...]) -> Room:
    """What a way back in the middle of a batch needs if the batch's new copies stay until the old ones are there."""
    copies = _rolled(member, occupants)
    old = with_copies(occupants, member.name, copies, member.old.compute)
    new = Occupant(f"{member.name}, new", member.batch.copies, member.new.compute)
    return room_for(endpoint, (*old, new), member.rollback_batch.copies, member.old.compute)


def seconds_to_roll(member: Member, request: Request, launches: int) -> float:
    """What one component's update is expected to take: each batch starts up and is watched; a launch happens once."""
    copies = 2 if member.single else member.copies
    batches = math.ceil(copies / max(1, member.batch.copies))
    return batches * (request.start_up + request.wait) + (LAUNCH if launches else 0.0)


def seconds_of_wave(members: Sequence[Member], request: Request) -> float:
    """What a wave takes: endpoints side by side, within one endpoint one after the other; then the bake."""
    lines: dict[str, float] = {}
    for member in members:
        lines[member.endpoint] = lines.get(member.endpoint, 0.0) + member.seconds
    lanes = [0.0] * max(1, min(request.concurrency, len(lines)))
    for line in sorted(lines.values(), reverse=True):
        lanes[lanes.index(min(lanes))] += line
    return max(lanes) + request.bake
