"""Errors, named by what the caller should do.

PointsmanError
├── UserMistake      tell the person: what is wrong, where, and the remedy
├── Poison           dead-letter the message with this reason; another try would fail the same way
├── Transient        try again later: throttled, a service fault, a time-out
├── Conflict         someone else wrote first: read again and decide again
├── Gone             the job is no longer there, or no longer in a state that can be changed: leave it out
├── Refused          the service will not do it, at least not now: keep its words, and look again
└── Misconfigured    the operator mends the deployment or the queue; a retry does not help
    └── Unreadable   so it is with one stored item, which is named; nothing else suffers from it
"""


class PointsmanError(Exception):
    """Root of every error that Pointsman raises on purpose."""


class UserMistake(PointsmanError):
    """A person's input is wrong: `problem` at `place`, with the `remedy`."""

    def __init__(self, problem: str, *, place: str, remedy: str = "") -> None:
        """Say the three parts as one message."""
        self.problem, self.place, self.remedy = problem, place, remedy
        super().__init__(f"{place}: {problem}{f' ({remedy})' if remedy else ''}")


class Poison(PointsmanError):
    """A message that can never be processed; `place` names the part that is wrong."""

    def __init__(self, reason: str, *, place: str) -> None:
        """Keep reason and place apart, for the dead letter's attributes."""
        self.reason, self.place = reason, place
        super().__init__(f"{place}: {reason}")


class Transient(PointsmanError):
    """A throttled call, a service fault or a time-out; the same call may go through later."""


class Conflict(PointsmanError):
    """A conditional write lost: someone else wrote first."""


class Gone(PointsmanError):
    """The job is unknown to Batch, or in a state in which it cannot be changed."""


class Refused(PointsmanError):
    """The service answered that it does not do this; its words are for people, and prove nothing."""


class Misconfigured(PointsmanError):
    """A queue or a deployment that cannot work as it is; the message names what to mend."""


class Unreadable(Misconfigured):
    """A stored item is damaged, or another release wrote it; the message has its key and what helps."""
