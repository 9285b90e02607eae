"""SageMaker's inference components and their endpoints."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from pointsman.aws.faults import Translated, code_of
from pointsman.aws.sagemaker_specs import deployment, model_of, specification, view_of
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone, Misconfigured, Refused
from pointsman.rollout_ports import EndpointFacts, ModelFacts, Shapes
from pointsman.rollouts.decision import SubmitUpdate
from pointsman.rollouts.observations import Answer, ComponentView, Pool
from pointsman.rollouts.specs import Compute

PAGE = 100
UNKNOWN = ("ValidationException", "ResourceNotFound")  # what SageMaker answers to a name that it does not know
_REFUSALS = frozenset(
    {
        "ValidationException",
        "ResourceLimitExceeded",
        "ResourceInUse",
        "ResourceNotFound",
        "ConflictException",
        "AccessDeniedException",
        "AccessDenied",
    }
)


class SageMakerFleet:
    """The components of one account and region; `once` is a client that repeats nothing."""

    def __init__(self, sagemaker: Any, once: Any, shapes: Shapes) -> None:
        """Use these clients."""
        self._sagemaker = sagemaker
        self._once = once
        self._shapes = shapes
        self._configs: dict[str, Mapping[str, Any]] = {}  # an endpoint's configuration never changes under its name

    @understood
    def component(self, name: str) -> ComponentView:
        """The component as described, without its tags; raises `Gone` when there is none."""
        with Translated(*UNKNOWN):
            described = self._sagemaker.describe_inference_component(InferenceComponentName=name)
        return view_of(described)

    @understood
    def endpoint(self, name: str) -> EndpointFacts:
        """The endpoint as described; raises `Gone` when there is none."""
        with Translated(*UNKNOWN):
            endpoint = self._sagemaker.describe_endpoint(EndpointName=name)
        config = self._config(endpoint["EndpointConfigName"])
        types = {v["VariantName"]: v.get("InstanceType", "") for v in config.get("ProductionVariants", ())}
        variants = endpoint.get("ProductionVariants", ())
        pools = tuple(pool for v in variants for pool in self._pools(v, types.get(v["VariantName"], "")))
        return EndpointFacts(
            name=name,
            in_service=endpoint["EndpointStatus"] == "InService",
            pools=pools,
            most=sum(map(_most, variants)),
            role=config.get("ExecutionRoleArn", ""),
        )

    @understood
    def components(self, *, endpoint: str | None = None, prefix: str | None = None) -> tuple[str, ...]:
        """Names of the components on this endpoint, or beginning so, or of all, sorted."""
        request: dict[str, Any] = {"MaxResults": PAGE}
        request |= {"EndpointNameEquals": endpoint} if endpoint is not None else {}
        request |= {"NameContains": prefix} if prefix else {}
        names: list[str] = []
        while True:
            with Translated():
                try:
                    page = self._sagemaker.list_inference_components(**request)
                except ClientError as error:
                    if endpoint is not None and code_of(error) in UNKNOWN:
                        return ()
                    raise
            names += [line["InferenceComponentName"] for line in page["InferenceComponents"]]
            if not page.get("NextToken"):
                return tuple(sorted(name for name in names if name.startswith(prefix or "")))
            request["NextToken"] = page["NextToken"]

    @understood
    def tags(self, component: str) -> tuple[tuple[str, str], ...]:
        """A component's tags, sorted; raises `Gone` when there is no such component."""
        request: dict[str, Any] = {}
        tags: list[tuple[str, str]] = []
        with Translated(*UNKNOWN):
            described = self._sagemaker.describe_inference_component(InferenceComponentName=component)
            while True:
                page = self._sagemaker.list_tags(ResourceArn=described["InferenceComponentArn"], **request)
                tags += [(tag["Key"], tag["Value"]) for tag in page["Tags"]]
                if not page.get("NextToken"):
                    return tuple(sorted(tags))
                request = {"NextToken": page["NextToken"]}

    @understood
    def model(self, name: str) -> ModelFacts:
        """What is known of the model."""
        try:
            with Translated(*UNKNOWN):
                return model_of(self._sagemaker.describe_model(ModelName=name))
        except Gone:
            return ModelFacts(Answer.NO)
        except Misconfigured:
            return ModelFacts(Answer.UNKNOWN)

    def update(self, act: SubmitUpdate) -> None:
        """Ask for the update, by one call that nothing repeats; never with a number of copies."""
        self._change(
            self._once.update_inference_component,
            InferenceComponentName=act.component,
            Specification=specification(act.spec),
            DeploymentConfig=deployment(act),
        )

    def set_copies(self, component: str, copies: int) -> None:
        """Ask for so many copies."""
        self._change(
            self._once.update_inference_component_runtime_config,
            InferenceComponentName=component,
            DesiredRuntimeConfig={"CopyCount": copies},
        )

    @staticmethod
    def _change(operation: Any, **request: Any) -> None:
        with Translated():
            try:
                operation(**request)
            except ClientError as error:
                if (code := code_of(error)) in _REFUSALS:
                    said = str(error.response.get("Error", {}).get("Message", ""))
                    raise Refused(f"SageMaker refused it ({code}): {said}"[:1000]) from error
                raise

    def _config(self, name: str) -> Mapping[str, Any]:
        if name not in self._configs:
            with Translated(*UNKNOWN):
                self._configs[name] = self._sagemaker.describe_endpoint_config(EndpointConfigName=name)
        return self._configs[name]

    def _pools(self, variant: Mapping[str, Any], instance_type: str) -> list[Pool]:
        named = [(pool["InstanceType"], pool["CurrentInstanceCount"]) for pool in variant.get("InstancePools", ())]
        found = named or [(instance_type, variant.get("CurrentInstanceCount", 0))]
        return [Pool(kind, count, self._shape(kind)) for kind, count in found if kind]

    def _shape(self, instance_type: str) -> Compute:
        shape = self._shapes.shape(instance_type)
        if shape is None:
            raise Misconfigured(f"EC2 does not know what an instance of {instance_type} holds")
        return shape


def _most(variant: Mapping[str, Any]) -> int:
    """The most instances that a variant may have: by managed scaling, and by what is reserved for it."""
    there = int(variant.get("CurrentInstanceCount", 0))
    scaling, reserved = variant.get("ManagedInstanceScaling", {}), variant.get("CapacityReservationConfig", {})
    most = int(scaling.get("MaxInstanceCount", there)) if scaling.get("Status") == "ENABLED" else there
    if "AvailableInstanceCount" in reserved:
        most = min(most, there + int(reserved["AvailableInstanceCount"]))
    return max(most, there)
