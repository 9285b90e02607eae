"""IAM on the wire: moto's, and SimulatePrincipalPolicy."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.exceptions import NotFoundException
from moto.iam.responses import IamResponse
from werkzeug.exceptions import HTTPException

from pointsman_emulator.backends.iam.models import EmulatorIAMBackend, decide, find_role
from pointsman_emulator.gateway import refusal


class NotAuthorizedError(HTTPException):
    """The caller may not do that; IAM's model has no shape for this error, and so moto has none."""

    def __init__(self, action: str, resource: str) -> None:
        message = f"User is not authorized to perform: {action} on resource: {resource}"
        self.code, self.headers, body = refusal("iam", "AccessDenied", message, 403)
        super().__init__(str(body))

    def get_headers(self, *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
        """The headers of the answer."""
        return list(self.headers.items())


class EmulatorIAMResponse(IamResponse):
    """moto's answers, and what a role may do."""

    def simulate_principal_policy(self) -> ActionResult:
        """SimulatePrincipalPolicy, for roles: identity policies only, without conditions' context."""
        arn = self._get_param("PolicySourceArn")
        world = EmulatorIAMBackend.world
        if world is not None and world.simulate_principal == "refuse":
            raise NotAuthorizedError("iam:SimulatePrincipalPolicy", arn)
        role = find_role(arn)
        if role is None:
            raise NotFoundException(f"The role with ARN {arn} cannot be found.")
        results: list[dict[str, Any]] = [
            {
                "EvalActionName": action,
                "EvalResourceName": resource,
                "EvalDecision": decide(role, action, resource),
                "MatchedStatements": [],
                "MissingContextValues": [],
            }
            for action in self._get_param("ActionNames", [])
            for resource in self._get_param("ResourceArns", ["*"])
        ]
        return ActionResult({"EvaluationResults": results, "IsTruncated": False})
