"""Specifications of inference components: as SageMaker describes them, and as it takes them."""

import json
from collections.abc import Mapping
from typing import Any

from pointsman.errors import Refused
from pointsman.rollout_ports import ModelFacts
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.observations import Answer, ComponentView, Status
from pointsman.rollouts.specs import Compute, Spec

SEVERAL = "Specifications"  # one for each of several instance types
_ACCELERATORS, _CORES, _MEMORY = (
    "NumberOfAcceleratorDevicesRequired",
    "NumberOfCpuCoresRequired",
    "MinMemoryRequiredInMb",
)


def view_of(described: Mapping[str, Any]) -> ComponentView:
    """A component as described."""
    runtime, several = described.get("RuntimeConfig", {}), described.get(SEVERAL) or ()
    specification = described.get("Specification") or (several[0] if several else {})
    policy = described.get("LastDeploymentConfig", {}).get("RollingUpdatePolicy", {})
    return ComponentView(
        name=described["InferenceComponentName"],
        endpoint=described["EndpointName"],
        status=Status(described["InferenceComponentStatus"]),
        spec=spec_of(specification, several=len(several)),
        desired=int(runtime.get("DesiredCopyCount", 0)),
        current=int(runtime.get("CurrentCopyCount", 0)),
        modified=described["LastModifiedTime"].timestamp(),
        failure=described.get("FailureReason", ""),
        mark=policy.get("MaximumExecutionTimeoutInSeconds"),
        base=specification.get("BaseInferenceComponentName") or None,
        several=bool(several),
    )


def spec_of(described: Mapping[str, Any], *, several: int = 0) -> Spec:
    """A specification as described: the image is the one that was asked for, whatever it was resolved to."""
    container, needs = dict(described.get("Container", {})), dict(described.get("ComputeResourceRequirements", {}))
    deployed = container.pop("DeployedImage", {})
    image = container.pop("Image", None) or deployed.get("SpecifiedImage")
    model, artifact = described.get("ModelName"), container.pop("ArtifactUrl", None)
    environment = tuple(sorted(container.pop("Environment", {}).items()))
    compute = Compute(*(float(needs.pop(name, 0.0)) for name in (_ACCELERATORS, _CORES, _MEMORY)))
    known = {"ModelName", "Container", "ComputeResourceRequirements"}
    rest: dict[str, Any] = {name: value for name, value in described.items() if name not in known}
    rest |= {"Container": container} if container else {}
    rest |= {"ComputeResourceRequirements": needs} if needs else {}
    rest |= {SEVERAL: several} if several else {}
    return Spec(model, image, artifact, environment, compute, json.dumps(rest, sort_keys=True) if rest else "")


def model_of(described: Mapping[str, Any]) -> ModelFacts:
    """A model as described; one that is a package of the registry shows nothing of what it is made of."""
    first = described.get("PrimaryContainer")
    containers = [*([first] if first else ()), *described.get("Containers", ())]
    images = tuple(each["Image"] for each in containers if each.get("Image"))
    artifacts: list[str] = []
    for each in containers:
        source = each.get("ModelDataSource", {}).get("S3DataSource", {})
        if uri := source.get("S3Uri") or each.get("ModelDataUrl"):
            artifacts.append(f"{uri.rstrip('/')}/" if source.get("S3DataType") == "S3Prefix" else uri)
    role = described.get("ExecutionRoleArn", "")
    return ModelFacts(Answer.YES, role, tuple(dict.fromkeys(images)), tuple(dict.fromkeys(artifacts)))


def specification(spec: Spec) -> dict[str, Any]:
    """The whole specification as a request; what the core does not judge travels along."""
    rest: dict[str, Any] = json.loads(spec.rest) if spec.rest else {}
    if SEVERAL in rest:
        raise Refused("it has a specification for each of several instance types, which cannot be rolled")
    container, needs = rest.pop("Container", {}), rest.pop("ComputeResourceRequirements", {})
    for name, text in (("Image", spec.image), ("ArtifactUrl", spec.artifact)):
        if text is not None:
            container[name] = text
    if spec.environment:
        container["Environment"] = dict(spec.environment)
    if spec.compute.accelerators:
        needs[_ACCELERATORS] = spec.compute.accelerators
    if spec.compute.cores:
        needs[_CORES] = spec.compute.cores
    if spec.compute.memory_mb:
        needs[_MEMORY] = int(spec.compute.memory_mb)
    whole = {"ModelName": spec.model, "Container": container, "ComputeResourceRequirements": needs}
    return {**rest, **{name: value for name, value in whole.items() if value}}


def deployment(act: SubmitUpdate) -> dict[str, Any]:
    """How the update goes: its batches, its wait, its mark, and the alarms that turn it back."""
    attempt = act.attempt
    config: dict[str, Any] = {
        "RollingUpdatePolicy": {
            "MaximumBatchSize": {"Type": "COPY_COUNT", "Value": attempt.batch.copies},
            "RollbackMaximumBatchSize": {"Type": "COPY_COUNT", "Value": attempt.rollback_batch.copies},
            "WaitIntervalInSeconds": round(act.wait),
            "MaximumExecutionTimeoutInSeconds": attempt.mark,
        }
    }
    if act.alarms:
        config["AutoRollbackConfiguration"] = {"Alarms": [{"AlarmName": name} for name in act.alarms]}
    return config
