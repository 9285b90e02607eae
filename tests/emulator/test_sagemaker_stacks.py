"""Endpoints and components of a template."""

from __future__ import annotations

from pointsman_emulator import Emulator
from tests.emulator.worlds import HERE


def test_a_template_deploys_an_endpoint_and_a_component_on_it() -> None:
    with Emulator(seed=7) as aws:
        stack = aws.deploy(HERE / "inference.yaml", "inference", {"Copies": "3"})
        assert stack.outputs["Component"].endswith(":inference-component/llm")
        sagemaker = aws.client("sagemaker")
        told = sagemaker.describe_inference_component(InferenceComponentName="llm")
        assert told["InferenceComponentStatus"] == "Creating"
        aws.run_for(600)
        told = sagemaker.describe_inference_component(InferenceComponentName="llm")
        assert told["InferenceComponentStatus"] == "InService"
        assert told["RuntimeConfig"]["CurrentCopyCount"] == 3
        role = sagemaker.describe_endpoint_config(EndpointConfigName="config")["ExecutionRoleArn"]
        assert role.endswith(":role/endpoints")


def test_what_a_role_of_a_template_may_do_is_simulated_from_its_policies() -> None:
    with Emulator(seed=7) as aws:
        aws.deploy(HERE / "inference.yaml", "inference", {})
        answer = aws.client("iam").simulate_principal_policy(
            PolicySourceArn="arn:aws:iam::123456789012:role/endpoints",
            ActionNames=["cloudwatch:DescribeAlarms", "cloudwatch:DeleteAlarms"],
        )
        decisions = {it["EvalActionName"]: it["EvalDecision"] for it in answer["EvaluationResults"]}
        assert decisions == {"cloudwatch:DescribeAlarms": "allowed", "cloudwatch:DeleteAlarms": "implicitDeny"}
