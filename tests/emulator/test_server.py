"""The emulator at an address: what other programs reach there, whose time it is, and what it refuses."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
import time_machine
from botocore.config import Config
from botocore.exceptions import ClientError

from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_emulator import Emulator, EmulatorServer
from pointsman_emulator.server import wall_clock

LIMITS = [{"capacityUnit": "NUM_INSTANCES", "maxCapacity": 3}]

SIGNED = "AWS4-HMAC-SHA256 Credential=x/20260302/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"


def client(server: EmulatorServer, service: str = "batch", region: str = "us-east-1") -> Any:
    return boto3.client(service, endpoint_url=server.url, region_name=region)


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator(seed=7) as aws:
        yield aws


@pytest.fixture
def server(emulator: Emulator) -> Iterator[EmulatorServer]:
    with EmulatorServer(emulator) as running:
        yield running


def test_a_client_at_the_address_and_one_in_the_process_see_the_same_world(
    emulator: Emulator, server: EmulatorServer
) -> None:
    client(server).create_service_environment(
        serviceEnvironmentName="gpus", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=LIMITS
    )
    (found,) = emulator.client("batch").describe_service_environments()["serviceEnvironments"]
    assert found["serviceEnvironmentName"] == "gpus"
    assert emulator.count("batch", "CreateServiceEnvironment") == 1


@pytest.mark.parametrize(
    "service,operation,request_,listed",
    [
        ("batch", "list_tags_for_resource", {"resourceArn": "ENVIRONMENT"}, "tags"),
        ("cloudwatch", "describe_alarms", {}, "MetricAlarms"),
        ("dynamodb", "list_tables", {}, "TableNames"),
        ("ec2", "describe_instance_types", {"InstanceTypes": ["g5.xlarge"]}, "InstanceTypes"),
        ("events", "list_event_buses", {}, "EventBuses"),
        ("iam", "list_roles", {}, "Roles"),
        ("lambda", "list_functions", {}, "Functions"),
        ("sagemaker", "list_endpoints", {}, "Endpoints"),
        ("stepfunctions", "list_state_machines", {}, "stateMachines"),
        ("s3", "list_buckets", {}, "Buckets"),
        ("sns", "list_topics", {}, "Topics"),
        ("sts", "get_caller_identity", {}, "Account"),
        ("sqs", "create_queue", {"QueueName": "q"}, "QueueUrl"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_protocol_of_aws_is_understood(
    server: EmulatorServer, service: str, operation: str, request_: dict[str, Any], listed: str
) -> None:
    if service == "batch":
        request_ = {
            "resourceArn": client(server).create_service_environment(
                serviceEnvironmentName="gpus", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=LIMITS
            )["serviceEnvironmentArn"]
        }
    assert listed in getattr(client(server, service), operation)(**request_)


def test_files_are_put_looked_at_and_got_by_path_and_by_a_presigned_address(server: EmulatorServer) -> None:
    store = client(server, "s3")
    store.create_bucket(Bucket="models")
    store.put_object(Bucket="models", Key="chat/1", Body=b"weights")
    assert store.head_object(Bucket="models", Key="chat/1")["ContentLength"] == 7
    assert [found["Key"] for found in store.list_objects_v2(Bucket="models")["Contents"]] == ["chat/1"]
    address = store.generate_presigned_url("get_object", Params={"Bucket": "models", "Key": "chat/1"})
    with urllib.request.urlopen(address, timeout=60) as got:  # noqa: S310 - our own address
        assert got.read() == b"weights"


def test_a_bucket_in_the_host_is_refused_with_the_address_to_take(server: EmulatorServer) -> None:
    host = f"models.localhost:{server.url.rsplit(':', 1)[1]}"
    asked = urllib.request.Request(f"{server.url}/chat", headers={"Authorization": SIGNED.format("s3"), "Host": host})  # noqa: S310 - our own
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(asked, timeout=60)  # noqa: S310 - our own address
    assert f"take {server.url} as the endpoint" in error.value.read().decode()


@pytest.mark.parametrize(
    "service,operation,request_,named",
    [
        ("batch", "describe_jobs", {"jobs": ["a"]}, "batch DescribeJobs"),
        ("cloudwatch", "put_composite_alarm", {"AlarmName": "a", "AlarmRule": "b"}, "cloudwatch PutCompositeAlarm"),
        ("ec2", "describe_vpcs", {}, "ec2 DescribeVpcs"),
        ("iam", "list_users", {}, "iam ListUsers"),
        ("rds", "describe_db_instances", {}, "rds DescribeDBInstances"),
        ("s3", "get_bucket_acl", {"Bucket": "models"}, "s3 GetBucketAcl"),
        ("sns", "list_platform_applications", {}, "sns ListPlatformApplications"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_page_does_not_list_is_refused_by_name(
    server: EmulatorServer, service: str, operation: str, request_: dict[str, Any], named: str
) -> None:
    with pytest.raises(ClientError, match=rf"{named}: see docs/emulator\.md") as error:
        getattr(client(server, service), operation)(**request_)
    assert error.value.response["Error"]["Code"] == "NotImplemented"


def test_other_processes_ask_the_emulator_what_time_it_is(emulator: Emulator, server: EmulatorServer) -> None:
    clock = Wiring(Settings("j", "c", "w", "d", server.url)).clock
    before = clock.now()
    server.run_for(3600)
    assert (before, clock.now()) == (emulator.now - 3600, emulator.now)


def test_faults_and_rates_hold_for_who_comes_by_the_address_too(emulator: Emulator, server: EmulatorServer) -> None:
    emulator.fail_next("batch", "DescribeServiceEnvironments", "ClientException", status=400)
    with pytest.raises(ClientError, match="Injected"):
        client(server).describe_service_environments()


def test_virtual_time_stands_still_until_it_is_moved(emulator: Emulator, server: EmulatorServer) -> None:
    before = emulator.now
    client(server).describe_service_environments()
    assert emulator.now == before
    server.run_for(3600)
    assert emulator.now == before + 3600


def test_with_a_speed_time_passes_by_itself(emulator: Emulator) -> None:
    ran: list[float] = []
    start = emulator.now
    emulator.at(start + 3600, lambda: ran.append(emulator.now))
    with EmulatorServer(emulator, speed=100_000):
        deadline = time_machine.escape_hatch.time.time() + 20
        while not ran and time_machine.escape_hatch.time.time() < deadline:
            socket.socket().close()
    assert ran == [start + 3600]


def test_at_speed_one_its_clock_is_this_machines() -> None:
    with Emulator(start=datetime.fromtimestamp(wall_clock(), UTC)) as aws, EmulatorServer(aws, speed=1.0) as server:
        told = Wiring(Settings("j", "c", "w", "d", server.url)).clock.now()
        assert told == pytest.approx(wall_clock(), abs=10)


def test_calls_are_answered_though_the_clock_cannot_keep_up(emulator: Emulator) -> None:
    def often() -> None:
        emulator.at(emulator.now + 1 / 64, often)

    start, began = emulator.now, time_machine.escape_hatch.time.time()
    emulator.at(start, often)
    with EmulatorServer(emulator, speed=1e6) as server:
        client(server).describe_service_environments()
        passed = time_machine.escape_hatch.time.time() - began
    assert start < emulator.now < start + passed * 1e6


def test_one_call_that_breaks_the_emulator_is_a_fault_of_the_service_and_ends_no_other(
    emulator: Emulator, server: EmulatorServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> None:
        raise TypeError("a fault of ours")

    emulator.before("batch", "DescribeServiceEnvironments", broken)
    once = boto3.client("batch", endpoint_url=server.url, config=Config(retries={"total_max_attempts": 1}))
    with pytest.raises(ClientError, match="a fault of ours") as error:
        once.describe_service_environments()
    assert error.value.response["Error"]["Code"] == "InternalFailure"
    assert "Traceback" in capsys.readouterr().err
    assert once.describe_service_environments()["serviceEnvironments"] == []


def test_a_long_poll_takes_no_time_along_where_time_flows_by_itself(emulator: Emulator) -> None:
    with EmulatorServer(emulator, speed=0.001) as server:
        queue = client(server, "sqs").create_queue(QueueName="q")["QueueUrl"]
        before = emulator.now
        assert "Messages" not in client(server, "sqs").receive_message(QueueUrl=queue, WaitTimeSeconds=20)
        assert emulator.now < before + 1


@pytest.mark.parametrize("speed", [0, -1.0])
def test_a_speed_that_gets_nowhere_is_refused(emulator: Emulator, speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        EmulatorServer(emulator, speed=speed)


def test_what_kills_a_world_that_flows_by_itself_comes_out_when_it_stops(emulator: Emulator) -> None:
    def kill() -> None:
        raise KeyboardInterrupt

    emulator.at(emulator.now, kill)
    running = EmulatorServer(emulator, speed=1.0)
    running.start()
    for thread in running._threads[1:]:
        thread.join(20)
    with pytest.raises(KeyboardInterrupt):
        running.stop()


def test_it_answers_on_the_loopback_interface_only(server: EmulatorServer) -> None:
    assert server._server is not None
    assert server._server.socket.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_an_error_at_once(emulator: Emulator, server: EmulatorServer) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    with pytest.raises(OSError, match="in use"):
        EmulatorServer(emulator, port=port).start()


def test_another_region_is_refused_with_the_one_that_is_there(server: EmulatorServer) -> None:
    with pytest.raises(ClientError, match="emulator is in us-east-1"):
        client(server, region="eu-west-1").describe_service_environments()


@pytest.mark.parametrize(
    "signed,path,message",
    [
        ("", "/v1/describejobqueues", "not signed"),
        ("Bearer token", "/v1/describejobqueues", "not signed"),
        (SIGNED.format("nothing"), "/", "no service nothing"),
        (SIGNED.format("batch"), "/v1/nothing", "batch has no operation at POST /v1/nothing"),
    ],
    ids=["by nobody", "in another way", "for no service", "for no operation"],
)
def test_a_request_that_is_no_call_of_aws_is_refused(
    server: EmulatorServer, signed: str, path: str, message: str
) -> None:
    request = urllib.request.Request(f"{server.url}{path}", b"{}", {"Authorization": signed})  # noqa: S310 - our own
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=60)  # noqa: S310 - our own address
    assert error.value.code == 400
    assert message in error.value.read().decode()


def test_after_its_end_nobody_answers_and_time_is_given_back(emulator: Emulator) -> None:
    before = time.time()
    with EmulatorServer(emulator) as server:
        url = server.url
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)  # noqa: S310 - our own address
    assert time.time() == before
