"""The IAM backend, and what the policies of a role allow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.iam.models import IAMBackend, Role, iam_backends

from pointsman_emulator.backends.bound import Bound
from pointsman_emulator.environment import ACCOUNT
from pointsman_emulator.models.inference import InferenceSettings

GLOBAL = "aws"  # moto's region of what has none
Decision = Literal["allowed", "explicitDeny", "implicitDeny"]


class EmulatorIAMBackend(Bound, IAMBackend):
    """moto's backend, which answers SimulatePrincipalPolicy unless it is told to refuse."""

    home = iam_backends
    place = GLOBAL
    world: ClassVar[InferenceSettings | None] = None


def find_role(arn: str) -> Role | None:
    """A role by its ARN."""
    roles = iam_backends[ACCOUNT][GLOBAL].roles.values()
    return next((role for role in roles if role.arn == arn), None)


def decide(role: Role, action: str, resource: str) -> Decision:
    """What a role's policies say of an action on a resource: a deny wins, silence is no."""
    results = [IAMPolicy(document).is_action_permitted(action, resource) for document in _policies(role)]
    if PermissionResult.DENIED in results:
        return "explicitDeny"
    return "allowed" if PermissionResult.PERMITTED in results else "implicitDeny"


def allowed(role_arn: str, action: str, resource: str) -> bool:
    """Whether a role may do something; a role that nobody created here may."""
    role = find_role(role_arn)
    return role is None or decide(role, action, resource) == "allowed"


def _policies(role: Role) -> Iterator[object]:
    inline: Iterable[object] = role.policies.values()  # from a template a mapping each, by the API a text
    for document in inline:
        yield document if isinstance(document, str) else json.dumps(document)
    yield from role.managed_policies.values()
