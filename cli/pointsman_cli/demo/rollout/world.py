"""Builds a scenario's world in the embedded AWS, by the calls that a team would make."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from pointsman.errors import UserMistake
from pointsman_cli.demo.rollout.scenario import WARM_UP, Alarm, Component, Endpoint, Scenario
from pointsman_emulator.emulator import Emulator

START = datetime(2026, 3, 2, 9, tzinfo=UTC)  # a Monday
ROLE = "endpoints"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
STORE = "models"  # the repository and the bucket
VARIANT = "all"
LONGEST_BIRTH = 7200.0


def build(aws: Emulator, scenario: Scenario) -> None:
    """Create all of it, wait until it serves, and let requests come until the alarms have judged them."""
    role = _role(aws)
    sagemaker = aws.client("sagemaker")
    aws.client("ecr").create_repository(repositoryName=STORE)
    aws.client("s3").create_bucket(Bucket=STORE)
    for name, environment in scenario.models.items():
        container = {**_pushed(aws, name), "Environment": dict(environment)}
        sagemaker.create_model(ModelName=name, ExecutionRoleArn=role, PrimaryContainer=container)
    for endpoint in scenario.endpoints:
        _endpoint(aws, endpoint, role)
    _until(aws, lambda: all(_serves(aws, e.name) for e in scenario.endpoints))
    for component in scenario.components:
        _component(aws, component)
    _until(aws, lambda: all(aws.inference_model.components[c.name].settled for c in scenario.components))
    for alarm in scenario.alarms:
        _alarm(aws, alarm)
    for component in scenario.with_traffic:
        aws.inference_model.start_traffic(component.name, component.rate)
    aws.run_for(WARM_UP)


def _role(aws: Emulator) -> str:
    iam = aws.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    arn = str(iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=_policy(trust))["Role"]["Arn"])
    allowed = {"Effect": "Allow", "Action": "cloudwatch:DescribeAlarms", "Resource": "*"}
    iam.put_role_policy(RoleName=ROLE, PolicyName="alarms", PolicyDocument=_policy(allowed))
    return arn


def _pushed(aws: Emulator, model: str) -> Mapping[str, str]:
    """A model's image and its artifact, where they are looked for."""
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": {"digest": model}, "layers": []})
    pushed = aws.client("ecr").put_image(repositoryName=STORE, imageManifest=manifest, imageTag=model)["image"]
    aws.client("s3").put_object(Bucket=STORE, Key=f"{model}.tar.gz", Body=b"")
    image = f"{pushed['registryId']}.dkr.ecr.{aws.client('ecr').meta.region_name}.amazonaws.com/{STORE}:{model}"
    return {"Image": image, "ModelDataUrl": f"s3://{STORE}/{model}.tar.gz"}


def _policy(statement: Mapping[str, object]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _endpoint(aws: Emulator, endpoint: Endpoint, role: str) -> None:
    sagemaker = aws.client("sagemaker")
    scaling = {"Status": "ENABLED", "MinInstanceCount": endpoint.instances, "MaxInstanceCount": endpoint.most}
    variant: dict[str, object] = {
        "VariantName": VARIANT,
        "InstanceType": endpoint.instance_type,
        "InitialInstanceCount": endpoint.instances,
        "ManagedInstanceScaling": scaling,
    }
    if endpoint.reservation is not None:
        variant["CapacityReservationConfig"] = {
            "CapacityReservationPreference": "capacity-reservations-only",
            "MlReservationArn": endpoint.reservation,
        }
    config = f"{endpoint.name}-1"
    sagemaker.create_endpoint_config(EndpointConfigName=config, ExecutionRoleArn=role, ProductionVariants=[variant])
    sagemaker.create_endpoint(EndpointName=endpoint.name, EndpointConfigName=config)


def _serves(aws: Emulator, endpoint: str) -> bool:
    return aws.inference_model.endpoints[endpoint].status == "InService"


def _component(aws: Emulator, component: Component) -> None:
    needs = {
        "NumberOfAcceleratorDevicesRequired": component.accelerators,
        "MinMemoryRequiredInMb": component.memory_mb,
    }
    aws.client("sagemaker").create_inference_component(
        InferenceComponentName=component.name,
        EndpointName=component.endpoint,
        VariantName=VARIANT,
        Specification={"ModelName": component.model, "ComputeResourceRequirements": needs},
        RuntimeConfig={"CopyCount": component.copies},
        Tags=[{"Key": key, "Value": value} for key, value in component.tags.items()],
    )


def _alarm(aws: Emulator, alarm: Alarm) -> None:
    aws.client("cloudwatch").put_metric_alarm(
        AlarmName=alarm.name,
        Namespace="AWS/SageMaker",
        MetricName=alarm.metric,
        Dimensions=[{"Name": "InferenceComponentName", "Value": alarm.component}],
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=alarm.minutes,
        DatapointsToAlarm=alarm.minutes,
        Threshold=alarm.threshold,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
    )


def _until(aws: Emulator, ready: Callable[[], bool]) -> None:
    if not aws.run_until(ready, aws.now + LONGEST_BIRTH):
        raise UserMistake("the scenario's world did not come to life", place="demo rollout")
