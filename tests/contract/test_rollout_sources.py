"""Images in ECR and artifacts in S3, on moto; and what AWS answers where moto does not."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, UnsupportedS3ArnError

from pointsman.aws.clients import Clients
from pointsman.aws.permissions import IamPermissions
from pointsman.aws.sagemaker_specs import model_of
from pointsman.aws.sources import EcrS3Sources
from pointsman.rollout_ports import ModelFacts
from pointsman.rollouts.observations import Answer

HERE = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def sources(aws: Clients) -> EcrS3Sources:
    aws.ecr.create_repository(repositoryName="search/llm")
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": {"digest": "a"}, "layers": []})
    aws.ecr.put_image(repositoryName="search/llm", imageManifest=manifest, imageTag="1.0")
    aws.s3.create_bucket(Bucket="artifacts")
    for key in ("llm/1.tar.gz", "llm/1.tar.gz.sha256", "tuned/weights/0.safetensors"):
        aws.s3.put_object(Bucket="artifacts", Key=key, Body=b"")
    return EcrS3Sources(aws)


@pytest.mark.parametrize(
    "uri,answer",
    [
        (f"{HERE}/search/llm:1.0", Answer.YES),
        (f"{HERE}/search/llm:2.0", Answer.NO),
        (f"{HERE}/search/llm", Answer.NO),
        (f"{HERE}/search/llm@{DIGEST}", Answer.NO),
        (f"{HERE}/search/other:1.0", Answer.NO),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws.com/search/llm:1.0", Answer.UNKNOWN),
        ("registry.example.com/search/llm:1.0", Answer.UNKNOWN),
    ],
)
def test_whether_an_image_is_in_its_repository_is_known_where_we_can_look(
    sources: EcrS3Sources, uri: str, answer: Answer
) -> None:
    assert sources.image(uri) is answer


@pytest.mark.parametrize(
    "uri,answer",
    [
        ("s3://artifacts/llm/1.tar.gz", Answer.YES),
        ("s3://artifacts/llm/1.tar", Answer.NO),
        ("s3://artifacts/llm/2.tar.gz", Answer.NO),
        ("s3://artifacts/tuned/weights/", Answer.YES),
        ("s3://artifacts/tuned/lost/", Answer.NO),
        ("s3://nowhere-at-all/llm/1.tar.gz", Answer.NO),
        ("https://example.com/llm.tar.gz", Answer.UNKNOWN),
        ("s3://Not a bucket/llm.tar.gz", Answer.UNKNOWN),
    ],
)
def test_whether_an_artifact_is_in_its_bucket_is_known(sources: EcrS3Sources, uri: str, answer: Answer) -> None:
    assert sources.artifact(uri) is answer


@pytest.mark.parametrize("code", ["AccessDenied", "AccessDeniedException", "KmsException"])
def test_what_we_may_not_ask_is_unknown(code: str) -> None:
    def refuses(**_: Any) -> Any:
        raise ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 403}}, "x")

    client = SimpleNamespace(
        meta=SimpleNamespace(region_name="us-east-1"), batch_get_image=refuses, list_objects_v2=refuses
    )
    sources = EcrS3Sources(SimpleNamespace(ecr=client, s3=client))
    assert sources.image(f"{HERE}/search/llm:1.0") is Answer.UNKNOWN
    assert sources.artifact("s3://artifacts/llm/1.tar.gz") is Answer.UNKNOWN


def test_an_artifact_that_cannot_be_asked_for_is_unknown() -> None:
    def refuses(**_: Any) -> Any:
        raise UnsupportedS3ArnError(arn="arn:aws:s3:::models")

    sources = EcrS3Sources(SimpleNamespace(s3=SimpleNamespace(list_objects_v2=refuses)))
    assert sources.artifact("s3://arn:aws:s3:::models/llm.tar.gz") is Answer.UNKNOWN


def test_a_role_that_we_may_not_ask_for_is_unknown() -> None:
    def refuses(**_: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "x")

    permissions = IamPermissions(SimpleNamespace(get_role=refuses, simulate_principal_policy=refuses), "us-east-1")
    assert permissions.exists("arn:aws:iam::123456789012:role/r") is Answer.UNKNOWN
    assert permissions.updates("arn:aws:iam::123456789012:role/r", ["llm"]) is Answer.UNKNOWN
    assert permissions.updates("no role", ["llm"]) is Answer.UNKNOWN


def test_a_model_of_several_containers_tells_each_image_and_artifact_once() -> None:
    prefix = {"S3DataSource": {"S3Uri": "s3://a/weights", "S3DataType": "S3Prefix", "CompressionType": "None"}}
    containers = [
        {"Image": "one", "ModelDataUrl": "s3://a/1.tar.gz"},
        {"Image": "one", "ModelDataSource": prefix},
        {"ModelPackageName": "a-package"},
    ]
    told = model_of({"ExecutionRoleArn": "role", "Containers": containers})
    assert told == ModelFacts(Answer.YES, "role", ("one",), ("s3://a/1.tar.gz", "s3://a/weights/"))
