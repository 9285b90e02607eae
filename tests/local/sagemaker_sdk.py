"""What a user of SageMaker's Python SDK does, run by the SDK's own environment; prints what he sees as JSON.

The training queue is the SDK's `TrainingQueue`; endpoint and inference components are sagemaker-core's resources.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from sagemaker.core.helper.session_helper import Session
from sagemaker.core.resources import Endpoint, InferenceComponent
from sagemaker.core.shapes import (
    InferenceComponentComputeResourceRequirements,
    InferenceComponentRuntimeConfig,
    InferenceComponentSpecification,
)
from sagemaker.core.training.configs import Compute, OutputDataConfig, SourceCode
from sagemaker.train import ModelTrainer
from sagemaker.train.aws_batch.training_queue import TrainingQueue


def queue(name: str, role: str) -> dict[str, Any]:
    """Submit a job with its source, find it, raise it, end it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text("print('trained')\n")
        trainer = ModelTrainer(
            sagemaker_session=Session(default_bucket="models"),
            training_image="123456789012.dkr.ecr.us-east-1.amazonaws.com/models:1",
            source_code=SourceCode(source_dir=folder, entry_script="train.py"),
            role=role,
            compute=Compute(instance_type="ml.g5.xlarge", instance_count=1),
            output_data_config=OutputDataConfig(s3_output_path="s3://models/out"),
            base_job_name="ranker",
        )
        training = TrainingQueue(name)
        job = training.submit(trainer, inputs=None, job_name="prod-by-sdk", share_identifier="all", priority=3)
    told = job.describe()
    found = [each.job_name for each in training.list_jobs(job_name="prod-by-sdk")]
    job.update(7)
    raised = job.describe()["schedulingPriority"]
    job.terminate("seen enough")
    channels = {it["ChannelName"] for it in json.loads(told["serviceRequestPayload"])["InputDataConfig"]}
    return {
        "submitted": [told["jobName"], told["shareIdentifier"], told["schedulingPriority"]],
        "channels": sorted(channels),
        "found": found,
        "got": training.get_job("prod-by-sdk").job_arn == job.job_arn,
        "raised": raised,
        "ended": job.describe()["status"],
    }


def components(model: str, new: str) -> dict[str, Any]:
    """Look at the endpoint and its component, and create, update and delete another one."""
    first = InferenceComponent.get("llm")
    needs = InferenceComponentComputeResourceRequirements(
        number_of_cpu_cores_required=1, min_memory_required_in_mb=1024
    )
    small = InferenceComponent.create(
        inference_component_name="by-sdk",
        endpoint_name=first.endpoint_name,
        variant_name=first.variant_name,
        specification=InferenceComponentSpecification(model_name=model, compute_resource_requirements=needs),
        runtime_config=InferenceComponentRuntimeConfig(copy_count=1),
    )
    small.wait_for_status("InService", poll=1)
    names = {each.inference_component_name for each in InferenceComponent.get_all(endpoint_name_equals="chat")}
    small.update_runtime_configs(desired_runtime_config=InferenceComponentRuntimeConfig(copy_count=2))
    small.wait_for_status("InService", poll=1)
    small.refresh()
    copies = small.runtime_config.desired_copy_count
    small.update(specification=InferenceComponentSpecification(model_name=new, compute_resource_requirements=needs))
    small.wait_for_status("InService", poll=1)
    small.refresh()
    rolled = small.specification.model_name
    small.delete()
    return {
        "endpoint": Endpoint.get(first.endpoint_name).endpoint_status,
        "created": names >= {"llm", "by-sdk"},
        "copies": copies,
        "rolled": rolled,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"queue": queue(*sys.argv[1:3]), "components": components(*sys.argv[3:5])}))
