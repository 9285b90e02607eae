"""One boto3 client per service, made when it is first needed."""

from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config

CONNECT_SECONDS = 2
READ_SECONDS = 10
ATTEMPTS = 3  # of one call, the first among them; what still fails is the loop's to repeat


class Clients:
    """Every client of one process; `endpoint_url` replaces the addresses of AWS (None: it does not)."""

    def __init__(self, endpoint_url: str | None = None, region: str | None = None) -> None:
        """Make nothing yet."""
        self._endpoint_url = endpoint_url
        self._region = region

    @cached_property
    def _session(self) -> Any:
        return boto3.session.Session(region_name=self._region)

    def _client(self, service: str, attempts: int = ATTEMPTS) -> Any:
        config = Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            user_agent_extra="pointsman",
        )
        return self._session.client(service, endpoint_url=self._endpoint_url, config=config)

    @cached_property
    def batch(self) -> Any:
        """AWS Batch."""
        return self._client("batch")

    @cached_property
    def cloudwatch(self) -> Any:
        """Amazon CloudWatch."""
        return self._client("cloudwatch")

    @cached_property
    def dynamodb(self) -> Any:
        """Amazon DynamoDB."""
        return self._client("dynamodb")

    @cached_property
    def ec2(self) -> Any:
        """Amazon EC2."""
        return self._client("ec2")

    @cached_property
    def ecr(self) -> Any:
        """Amazon Elastic Container Registry."""
        return self._client("ecr")

    @cached_property
    def s3(self) -> Any:
        """Amazon Simple Storage Service."""
        return self._client("s3")

    @cached_property
    def sqs(self) -> Any:
        """Amazon SQS."""
        return self._client("sqs")

    @cached_property
    def autoscaling(self) -> Any:
        """Application Auto Scaling."""
        return self._client("application-autoscaling")

    @cached_property
    def iam(self) -> Any:
        """AWS Identity and Access Management."""
        return self._client("iam")

    @cached_property
    def sagemaker(self) -> Any:
        """Amazon SageMaker."""
        return self._client("sagemaker")

    @cached_property
    def sagemaker_once(self) -> Any:
        """Amazon SageMaker by a client that repeats nothing: a hidden second call would be an act without a record."""
        return self._client("sagemaker", attempts=1)

    @cached_property
    def sns(self) -> Any:
        """Amazon Simple Notification Service."""
        return self._client("sns")

    @cached_property
    def stepfunctions(self) -> Any:
        """AWS Step Functions."""
        return self._client("stepfunctions")
