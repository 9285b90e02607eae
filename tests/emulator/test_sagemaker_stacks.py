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
