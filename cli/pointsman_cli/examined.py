"""What `pointsman doctor` has seen of a deployment: plain values, so that what it says of them needs no AWS."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pointsman.ports import QueueDescription, QueueRecord, Standstill
from pointsman.queues.policy import Policy


@dataclass(frozen=True, slots=True)
class Submission:
    """A job that has not ended: its share, and the priority that it was submitted with."""

    name: str
    share: str
    priority: int


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """One queue with a policy. `unreadable` says why its stored policy is none, and `policy` is None then.

    `description` is None for a queue that Batch does not have, and where it could not be read (`unread`). `outstanding`
    is what shares should have and do not; `no_alarms` are the patterns of the policy that no alarm's name matches.
    """

    name: str
    record: QueueRecord
    policy: Policy | None = None
    unreadable: str = ""
    description: QueueDescription | None = None
    unread: bool = False
    outstanding: tuple[str, ...] = ()
    no_alarms: tuple[str, ...] = ()
    submissions: tuple[Submission, ...] = ()


@dataclass(frozen=True, slots=True)
class RolloutSeen:
    """One rollout that is not over: when it was due, and which alarms that it watches are not there."""

    name: str
    due: float
    no_alarms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """A deployment at `now`; `skew` is by how many seconds our clock is ahead of AWS's (None: AWS did not say).

    `rules` has the state of each rule, by logical id (empty: there is none); `fired` the stack's own alarms that stand
    in ALARM; `errors` how often each function failed in the last hour. `denied` are verbs that the caller may not use,
    with what is missing; `left_out` are checks that could not be made, with the reason.
    """

    now: float
    queues: tuple[QueueSeen, ...] = ()
    rollouts: tuple[RolloutSeen, ...] = ()
    skew: float | None = None
    still: Standstill | None = None
    letters: int = 0
    rules: Mapping[str, str] = field(default_factory=dict)
    fired: tuple[str, ...] = ()
    errors: Mapping[str, int] = field(default_factory=dict)
    denied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
