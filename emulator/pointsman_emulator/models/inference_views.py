"""How SageMaker describes what the model holds: no free room, no placement, no versions, no progress but the counts."""

from __future__ import annotations

import hashlib
from typing import Any

from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.models.inference_parts import Component, Endpoint, plain
from pointsman_emulator.models.inference_values import Document, InferenceSettings

ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}"


def component_view(component: Component, settings: InferenceSettings) -> dict[str, Any]:
    """DescribeInferenceComponent."""
    spec = component.spec
    if component.change is not None and settings.spec_while_updating == "new":
        spec = component.change.towards or spec
    view: dict[str, Any] = {
        **component_summary(component),
        "RuntimeConfig": {"DesiredCopyCount": component.desired, "CurrentCopyCount": component.current},
    }
    if spec.several:
        view["Specifications"] = [_specification(each, None) for each in spec.several]
    else:
        view["Specification"] = _specification(spec.document, component.resolved_at)
    if len(component.variant.pools) > 1:
        view["RuntimeConfig"]["PlacementStatus"] = [
            {
                "InstanceType": pool.instance_type,
                "CurrentCopyCount": sum(
                    it.instance is not None and it.instance.pool is pool for it in component.serving
                ),
            }
            for pool in component.variant.pools
        ]
    if component.failure_reason:
        view["FailureReason"] = component.failure_reason[:1024]
    if component.last_config is not None:
        view["LastDeploymentConfig"] = plain(component.last_config)
    return view


def component_summary(component: Component) -> dict[str, Any]:
    """One line of ListInferenceComponents: no spec, no counts, no reason."""
    return {
        "InferenceComponentName": component.name,
        "InferenceComponentArn": f"{ARN}:inference-component/{component.name}",
        "EndpointName": component.endpoint.name,
        "EndpointArn": f"{ARN}:endpoint/{component.endpoint.name}",
        "VariantName": component.variant.name,
        "InferenceComponentStatus": component.status,
        "CreationTime": component.created_at,
        "LastModifiedTime": component.modified_at,
    }


def _specification(document: Document, resolved_at: float | None) -> dict[str, Any]:
    """A specification as it is described: the image is told as what was asked for and what it was resolved to.

    Where there is one for each instance type, it is not told at all (seen in us-west-2).
    """
    shown = plain(document)
    container = shown.get("Container")
    if container and "Image" in container:
        image = container.pop("Image")
        if resolved_at is None:
            return shown
        digest = hashlib.sha256(image.encode()).hexdigest()
        container["DeployedImage"] = {
            "SpecifiedImage": image,
            "ResolvedImage": f"{image.partition('@')[0].rpartition(':')[0] or image}@sha256:{digest}",
            "ResolutionTime": resolved_at,
        }
    needs = shown.get("ComputeResourceRequirements") or {}
    for name in ("NumberOfAcceleratorDevicesRequired", "NumberOfCpuCoresRequired"):
        if name in needs:
            needs[name] = float(needs[name])
    return shown


def endpoint_view(endpoint: Endpoint) -> dict[str, Any]:
    """DescribeEndpoint."""
    variants = []
    for variant in endpoint.variants.values():
        shown: dict[str, Any] = {
            "VariantName": variant.name,
            "CurrentWeight": 1.0,
            "DesiredWeight": 1.0,
            "CurrentInstanceCount": variant.current,
            "DesiredInstanceCount": variant.desired,
        }
        for name in ("ManagedInstanceScaling", "RoutingConfig"):
            if name in variant.document:
                shown[name] = plain(variant.document[name])
        if variant.document.get("InstancePools"):
            shown["InstancePools"] = [
                {
                    "InstanceType": pool.instance_type,
                    "CurrentInstanceCount": sum(it.ready and it.pool is pool for it in variant.instances),
                }
                for pool in variant.pools
            ]
        stock = variant.pools[0].stock
        if stock.reservation is not None:
            shown["CapacityReservationConfig"] = {
                **variant.document["CapacityReservationConfig"],
                "TotalInstanceCount": stock.total,
                "AvailableInstanceCount": (stock.total or 0) - stock.used,
                "UsedByCurrentEndpoint": len(variant.instances),
            }
        variants.append(shown)
    view: dict[str, Any] = {
        **endpoint_summary(endpoint),
        "EndpointConfigName": endpoint.config,
        "ProductionVariants": variants,
    }
    if endpoint.failure_reason:
        view["FailureReason"] = endpoint.failure_reason
    return view


def endpoint_summary(endpoint: Endpoint) -> dict[str, Any]:
    """One line of ListEndpoints."""
    return {
        "EndpointName": endpoint.name,
        "EndpointArn": f"{ARN}:endpoint/{endpoint.name}",
        "EndpointStatus": endpoint.status,
        "CreationTime": endpoint.created_at,
        "LastModifiedTime": endpoint.modified_at,
    }


def config_view(config: Document) -> dict[str, Any]:
    """DescribeEndpointConfig."""
    shown = plain(config)
    shown.pop("Tags", None)
    return {**shown, "EndpointConfigArn": f"{ARN}:endpoint-config/{config['EndpointConfigName']}"}


def model_view(model: Document) -> dict[str, Any]:
    """DescribeModel."""
    shown = plain(model)
    shown.pop("Tags", None)
    return {**shown, "ModelArn": f"{ARN}:model/{model['ModelName']}"}
