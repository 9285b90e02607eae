"""Whether a person may do something: who they are for IAM, and what the names that a stack tells are for it."""

from collections.abc import Callable
from typing import Protocol

from pointsman.rollouts.observations import Answer


class Simulates(Protocol):
    """IAM's simulation of a principal's policies."""

    def simulate(self, role: str, action: str, resources: list[str]) -> Answer:
        """Whether the principal may do this to all of these."""
        ...


def principal(caller: str) -> str:
    """The user or role that IAM knows behind a caller's ARN: a session of a role is the role, whose path is not told.

    >>> principal("arn:aws:sts::123456789012:assumed-role/Operators/ada")
    'arn:aws:iam::123456789012:role/Operators'
    """
    head, found, rest = caller.partition(":assumed-role/")
    return f"{head.replace(':sts:', ':iam:')}:role/{rest.split('/')[0]}" if found else caller


def resource(action: str, name: str, partition: str, region: str, account: str) -> str:
    """The ARN of a table, a function, or a queue that is told by its address; `*` for no name."""
    if not name:
        return "*"
    service = action.split(":", maxsplit=1)[0]
    last = name.rsplit("/", 1)[-1]
    path = {"dynamodb": f"table/{last}", "lambda": f"function:{last}"}.get(service, last)
    return f"arn:{partition}:{service}:{region}:{account}:{path}"


def allowed(iam: Simulates, caller: str, region: str) -> Callable[[str, str], Answer]:
    """Answers whether the caller may do something to something; `UNKNOWN` for whoever has no policies to ask about."""
    who = principal(caller)
    parts = who.split(":")
    if len(parts) < 6 or parts[2] != "iam" or parts[5] == "root":
        return lambda *_: Answer.YES if parts[-1] == "root" else Answer.UNKNOWN

    def may(action: str, name: str) -> Answer:
        return iam.simulate(who, action, [resource(action, name, parts[1], region, parts[4])])

    return may
