"""SageMaker inference on the wire. An operation that neither we nor moto have is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from moto.core.responses import ActionResult
from moto.sagemaker.exceptions import SagemakerClientError
from moto.sagemaker.responses import SageMakerResponse

from pointsman_emulator.backends.sagemaker.models import EmulatorSageMakerBackend
from pointsman_emulator.models.inference import InferenceModel, InferenceRefusedError
from pointsman_emulator.models.inference_values import Document
from pointsman_emulator.models.inference_views import (
    ARN,
    component_summary,
    config_view,
    endpoint_summary,
    model_view,
)

Lines = Iterable[dict[str, Any]]


class EmulatorSageMakerResponse(SageMakerResponse):
    """moto's answers, and ours for everything of inference."""

    @property
    def sagemaker_backend(self) -> EmulatorSageMakerBackend:
        """The backend, caught up with the clock."""
        backend = EmulatorSageMakerBackend.here()
        backend.catch_up()
        return backend

    def _request(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    def _do(self, action: Callable[[InferenceModel, dict[str, Any]], Document | None]) -> ActionResult:
        """Carry out a request on the model."""
        try:
            return ActionResult(action(self.sagemaker_backend.model, self._request()) or {})
        except InferenceRefusedError as error:
            raise SagemakerClientError(error.code, error.message) from None

    def _list(self, member: str, prefix: str, lines: Callable[[InferenceModel, dict[str, Any]], Lines]) -> ActionResult:
        return self._do(lambda model, request: _listed(member, prefix, request, lines(model, request)))

    # Models

    def create_model(self) -> ActionResult:
        """CreateModel."""

        def create(model: InferenceModel, request: dict[str, Any]) -> dict[str, Any]:
            model.create_model(request)
            return {"ModelArn": f"{ARN}:model/{request['ModelName']}"}

        return self._do(create)

    def describe_model(self) -> ActionResult:
        """DescribeModel."""
        return self._do(lambda model, request: model_view(model.find_model(request["ModelName"])))

    def list_models(self) -> ActionResult:
        """ListModels."""
        kept = ("ModelName", "ModelArn", "CreationTime")
        return self._list(
            "Models",
            "Model",
            lambda model, _: (
                {name: view[name] for name in kept} for view in (model_view(it) for it in model.models.values())
            ),
        )

    def delete_model(self) -> ActionResult:
        """DeleteModel."""
        return self._do(lambda model, request: model.delete_model(request["ModelName"]))

    # Endpoint configurations

    def create_endpoint_config(self) -> ActionResult:
        """CreateEndpointConfig."""

        def create(model: InferenceModel, request: dict[str, Any]) -> dict[str, Any]:
            model.create_config(request)
            return {"EndpointConfigArn": f"{ARN}:endpoint-config/{request['EndpointConfigName']}"}

        return self._do(create)

    def describe_endpoint_config(self) -> ActionResult:
        """DescribeEndpointConfig."""
        return self._do(lambda model, request: config_view(model.find_config(request["EndpointConfigName"])))

    def list_endpoint_configs(self) -> ActionResult:
        """ListEndpointConfigs."""
        kept = ("EndpointConfigName", "EndpointConfigArn", "CreationTime")
        return self._list(
            "EndpointConfigs",
            "EndpointConfig",
            lambda model, _: (
                {name: view[name] for name in kept} for view in (config_view(it) for it in model.configs.values())
            ),
        )

    def delete_endpoint_config(self) -> ActionResult:
        """DeleteEndpointConfig."""
        return self._do(lambda model, request: model.delete_config(request["EndpointConfigName"]))

    # Endpoints

    def _on_endpoint(self, action: Callable[[InferenceModel, dict[str, Any]], object]) -> ActionResult:
        def carry_out(model: InferenceModel, request: dict[str, Any]) -> dict[str, Any]:
            action(model, request)
            return {"EndpointArn": f"{ARN}:endpoint/{request['EndpointName']}"}

        return self._do(carry_out)

    def create_endpoint(self) -> ActionResult:
        """CreateEndpoint."""
        return self._on_endpoint(InferenceModel.create_endpoint)

    def describe_endpoint(self) -> ActionResult:
        """DescribeEndpoint."""
        return self._do(lambda model, request: model.describe_endpoint(request["EndpointName"]))

    def list_endpoints(self) -> ActionResult:
        """ListEndpoints."""
        return self._list(
            "Endpoints", "Endpoint", lambda model, _: (endpoint_summary(it) for it in model.endpoints.values())
        )

    def update_endpoint(self) -> ActionResult:
        """UpdateEndpoint."""
        return self._on_endpoint(InferenceModel.update_endpoint)

    def update_endpoint_weights_and_capacities(self) -> ActionResult:
        """UpdateEndpointWeightsAndCapacities."""
        return self._on_endpoint(InferenceModel.set_instances)

    def delete_endpoint(self) -> ActionResult:
        """DeleteEndpoint."""
        return self._do(lambda model, request: model.delete_endpoint(request["EndpointName"]))

    # Inference components

    def _on_component(self, action: Callable[[InferenceModel, dict[str, Any]], object]) -> ActionResult:
        def carry_out(model: InferenceModel, request: dict[str, Any]) -> dict[str, Any]:
            action(model, request)
            return {"InferenceComponentArn": f"{ARN}:inference-component/{request['InferenceComponentName']}"}

        return self._do(carry_out)

    def create_inference_component(self) -> ActionResult:
        """CreateInferenceComponent."""
        return self._on_component(InferenceModel.create_component)

    def describe_inference_component(self) -> ActionResult:
        """DescribeInferenceComponent."""
        return self._do(lambda model, request: model.describe_component(request["InferenceComponentName"]))

    def list_inference_components(self) -> ActionResult:
        """ListInferenceComponents."""
        return self._list(
            "InferenceComponents",
            "InferenceComponent",
            lambda model, _: (component_summary(it) for it in model.components.values()),
        )

    def update_inference_component(self) -> ActionResult:
        """UpdateInferenceComponent."""
        return self._on_component(InferenceModel.update_component)

    def update_inference_component_runtime_config(self) -> ActionResult:
        """UpdateInferenceComponentRuntimeConfig."""
        return self._on_component(
            lambda model, request: model.update_runtime(
                request["InferenceComponentName"], int(request["DesiredRuntimeConfig"]["CopyCount"])
            )
        )

    def delete_inference_component(self) -> ActionResult:
        """DeleteInferenceComponent."""
        return self._do(lambda model, request: model.delete_component(request["InferenceComponentName"]))

    # Tags

    def list_tags(self) -> ActionResult:
        """ListTags; of what is not ours moto knows."""
        tags = self.sagemaker_backend.tags_of(self._request()["ResourceArn"])
        return super().list_tags() if tags is None else ActionResult({"Tags": list(tags)})

    def add_tags(self) -> ActionResult:
        """AddTags."""
        request = self._request()
        tags = self.sagemaker_backend.tags_of(request["ResourceArn"])
        if tags is None:
            return super().add_tags()
        added = {tag["Key"] for tag in request["Tags"]}
        tags[:] = [tag for tag in tags if tag["Key"] not in added] + request["Tags"]
        return ActionResult({"Tags": list(tags)})

    def delete_tags(self) -> ActionResult:
        """DeleteTags."""
        request = self._request()
        tags = self.sagemaker_backend.tags_of(request["ResourceArn"])
        if tags is None:
            return super().delete_tags()
        tags[:] = [tag for tag in tags if tag["Key"] not in request["TagKeys"]]
        return ActionResult({})


_FILTERS = {
    "StatusEquals": "{}Status",
    "EndpointNameEquals": "EndpointName",
    "VariantNameEquals": "VariantName",
}
_TIMES = {
    "CreationTimeAfter": ("CreationTime", 1),
    "CreationTimeBefore": ("CreationTime", -1),
    "LastModifiedTimeAfter": ("LastModifiedTime", 1),
    "LastModifiedTimeBefore": ("LastModifiedTime", -1),
}


def _listed(member: str, prefix: str, request: dict[str, Any], lines: Lines) -> dict[str, Any]:
    """A page of lines: filtered, newest first unless asked otherwise, 10 to a page (API:ListInferenceComponents)."""
    found = [line for line in lines if request.get("NameContains", "") in line[f"{prefix}Name"]]
    for name, field in _FILTERS.items():
        if name in request:
            found = [line for line in found if line.get(field.format(prefix)) == request[name]]
    for name, (field, sign) in _TIMES.items():
        if name in request:
            found = [line for line in found if sign * line[field] >= sign * request[name]]
    keys = {"Name": f"{prefix}Name", "Status": f"{prefix}Status"}
    found.sort(key=lambda line: line[f"{prefix}Name"])
    found.sort(
        key=lambda line: line[keys.get(request.get("SortBy", ""), "CreationTime")],
        reverse=request.get("SortOrder", "Descending") == "Descending",
    )
    start, size = int(request.get("NextToken", 0) or 0), request.get("MaxResults", 10)
    page: dict[str, Any] = {member: found[start : start + size]}
    if start + size < len(found):
        page["NextToken"] = str(start + size)
    return page
