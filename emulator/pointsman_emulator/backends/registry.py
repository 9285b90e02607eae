"""Putting our backends in the places of moto's, for as long as an emulator runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import moto.sqs.models
from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.awslambda_simple.models import lambda_simple_backends
from moto.batch.models import batch_backends
from moto.cloudformation import parsing
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.base_backend import BackendDict
from moto.events.models import events_backends
from moto.iam.models import iam_backends
from moto.sagemaker.models import sagemaker_backends
from moto.stepfunctions.models import stepfunctions_backends

from pointsman_emulator.backends.applicationautoscaling.models import EmulatorAutoScalingBackend
from pointsman_emulator.backends.awslambda.models import EmulatorLambdaBackend
from pointsman_emulator.backends.batch import cloudformation as batch_types
from pointsman_emulator.backends.batch.models import EmulatorBatchBackend
from pointsman_emulator.backends.cloudwatch import cloudformation as cloudwatch_types
from pointsman_emulator.backends.cloudwatch.models import EmulatorCloudWatchBackend
from pointsman_emulator.backends.events.models import EmulatorEventsBackend
from pointsman_emulator.backends.iam.models import EmulatorIAMBackend
from pointsman_emulator.backends.sagemaker import cloudformation as sagemaker_types
from pointsman_emulator.backends.sagemaker.models import EmulatorSageMakerBackend
from pointsman_emulator.backends.sqs.models import EmulatorQueue
from pointsman_emulator.backends.stepfunctions import cloudformation as stepfunctions_types
from pointsman_emulator.backends.stepfunctions.models import EmulatorStepFunctionsBackend

TYPES = (
    *batch_types.TYPES,
    cloudwatch_types.AlarmResource,
    *sagemaker_types.TYPES,
)
"""The CloudFormation types that moto learns from us, by being subclasses of its model."""


@contextmanager
def registered() -> Iterator[None]:
    """Inside, moto's Batch, CloudWatch, EventBridge, IAM, Lambda, SageMaker and SQS are ours."""
    _forget()
    for cache in (parsing.get_model_list, parsing.get_model_map, parsing.get_name_type_map):
        cache.cache_clear()
    with (
        mock.patch.object(applicationautoscaling_backends, "backend", EmulatorAutoScalingBackend),
        mock.patch.object(batch_backends, "backend", EmulatorBatchBackend),
        mock.patch.object(cloudwatch_backends, "backend", EmulatorCloudWatchBackend),
        mock.patch.object(events_backends, "backend", EmulatorEventsBackend),
        mock.patch.object(iam_backends, "backend", EmulatorIAMBackend),
        mock.patch.object(sagemaker_backends, "backend", EmulatorSageMakerBackend),
        mock.patch.object(lambda_simple_backends, "backend", EmulatorLambdaBackend),
        mock.patch.object(moto.sqs.models, "Queue", EmulatorQueue),
        mock.patch.object(stepfunctions_backends, "backend", EmulatorStepFunctionsBackend),
        stepfunctions_types.completed(),
    ):
        yield
    _forget()


def _forget() -> None:
    """Backends are built when they are first asked for: what another built must go."""
    BackendDict.reset()
    applicationautoscaling_backends.clear()
    batch_backends.clear()
    cloudwatch_backends.clear()
    events_backends.clear()
    iam_backends.clear()
    sagemaker_backends.clear()
    lambda_simple_backends.clear()
    stepfunctions_backends.clear()
