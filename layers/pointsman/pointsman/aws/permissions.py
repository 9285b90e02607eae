"""What another role may do, as IAM simulates it."""

from collections.abc import Sequence
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone, Misconfigured
from pointsman.rollouts.observations import Answer


class IamPermissions:
    """Roles of one account; alarms are those of `region`."""

    def __init__(self, iam: Any, region: str) -> None:
        """Use this client."""
        self._iam = iam
        self._region = region

    def reads_alarms(self, role: str, alarms: Sequence[str]) -> Answer:
        """Whether the role may describe these alarms, by name."""
        parts = role.split(":")
        if len(parts) < 6:
            return Answer.UNKNOWN
        partition, account = parts[1], parts[4]
        prefix = f"arn:{partition}:cloudwatch:{self._region}:{account}:alarm"
        return self.simulate(role, "cloudwatch:DescribeAlarms", [f"{prefix}:{name}" for name in alarms])

    def updates(self, role: str, components: Sequence[str]) -> Answer:
        """Whether the role may update these inference components, by name."""
        parts = role.split(":")
        if len(parts) < 6:
            return Answer.UNKNOWN
        prefix = f"arn:{parts[1]}:sagemaker:{self._region}:{parts[4]}:inference-component"
        return self.simulate(role, "sagemaker:UpdateInferenceComponent", [f"{prefix}/{name}" for name in components])

    def exists(self, role: str) -> Answer:
        """Whether there is such a role; `UNKNOWN` when we may not ask."""
        try:
            with Translated("NoSuchEntity", "NoSuchEntityException"):
                self._iam.get_role(RoleName=role.rpartition("/")[2])
        except Gone:
            return Answer.NO
        except Misconfigured:
            return Answer.UNKNOWN
        return Answer.YES

    @understood
    def simulate(self, role: str, action: str, resources: Sequence[str]) -> Answer:
        """Whether the role may do this to all of these; `UNKNOWN` when we may not ask."""
        request: dict[str, Any] = {"PolicySourceArn": role, "ActionNames": [action]}
        request |= {"ResourceArns": list(resources)} if resources else {}
        answer = Answer.YES
        while True:
            try:
                with Translated("NoSuchEntity", "NoSuchEntityException", "InvalidInput", "ValidationError"):
                    page = self._iam.simulate_principal_policy(**request)
            except (Gone, Misconfigured):
                return Answer.UNKNOWN
            if any(result["EvalDecision"] != "allowed" for result in page["EvaluationResults"]):
                answer = Answer.NO
            if not page.get("IsTruncated"):
                return answer
            request["Marker"] = page["Marker"]
