"""What `pointsman local` deploys: the product, a queue to fill, an endpoint to roll; all of it alive at the start."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pointsman.errors import Misconfigured
from pointsman_cli.checkout import shipped
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.stacks import Stack

BIRTH = 1800.0  # seconds; an endpoint and its copies come to life in less, and the alarms have judged them
STORE = "models"  # the bucket and the repository of what examples/inference.yaml serves
MANIFEST = '{"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json"}'
COMPONENT = "llm"
ROLE = "training"


@dataclass(frozen=True, slots=True)
class World:
    """The stacks as they were deployed, and the role that training jobs run under."""

    product: Stack
    queue: Stack
    endpoint: Stack
    role_arn: str


def begun(now: float) -> datetime:
    """When a world must begin that is to be alive at `now` (epoch seconds)."""
    return datetime.fromtimestamp(now - BIRTH, UTC)


def build(aws: Emulator, instances: int, requests: float) -> World:
    """Deploy it, and let it come to life; `requests` are what the component gets in a second."""
    product = aws.deploy(shipped("template.yaml"), "pointsman")
    queue = aws.deploy(shipped("examples/batch.yaml"), "search-training", {"MaxInstances": str(instances)})
    endpoint = aws.deploy(shipped("examples/inference.yaml"), "chat", _stored(aws))
    component = aws.inference_model.components[COMPONENT]
    if not aws.run_until(lambda: component.settled, aws.now + BIRTH):
        raise Misconfigured(f"examples/inference.yaml: {COMPONENT} did not come to life")
    aws.inference_model.start_traffic(COMPONENT, requests)
    return World(product, queue, endpoint, _role(aws))


def environments(world: World, url: str) -> dict[str, dict[str, str]]:
    """Each function's environment, by its logical id, for a container that finds AWS at `url`.

    SAM's command gives a container the logical ids of tables and queues, and no ENDPOINT_URL: it leaves out a variable
    whose value is an `!If` with `AWS::NoValue` (aws-sam-cli 1.170).
    """
    return {name: {**function.environment, "ENDPOINT_URL": url} for name, function in world.product.functions.items()}


def _role(aws: Emulator) -> str:
    """A role that may do everything: SageMaker's Python SDK asks before it submits."""
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    iam = aws.client("iam")
    arn = str(iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=_policy(trust))["Role"]["Arn"])
    iam.put_role_policy(RoleName=ROLE, PolicyName="everything", PolicyDocument=_policy(everything))
    return arn


def _policy(statement: Mapping[str, object]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _stored(aws: Emulator) -> dict[str, str]:
    """The image and both artifacts of the model, where a rollout looks for its way back."""
    registry, store = aws.client("ecr"), aws.client("s3")
    repository = registry.create_repository(repositoryName=STORE)["repository"]["repositoryUri"]
    registry.put_image(repositoryName=STORE, imageManifest=MANIFEST, imageTag="1")
    store.create_bucket(Bucket=STORE)
    for version in (1, 2):
        store.put_object(Bucket=STORE, Key=f"chat-{version}.tar.gz", Body=b"")
    artifacts = {f"ArtifactV{version}": f"s3://{STORE}/chat-{version}.tar.gz" for version in (1, 2)}
    return {"Image": f"{repository}:1", **artifacts}
