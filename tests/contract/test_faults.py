"""What the caller is told to do about each error of AWS."""

import subprocess
import sys
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from pointsman.aws.clients import Clients
from pointsman.aws.faults import Translated
from pointsman.errors import Conflict, Gone, Misconfigured, Transient


def answered(code: str, status: int = 400, reasons: tuple[str, ...] = ()) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "ThrottlingException ConditionalCheckFailedException"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(response, "Any")


MEANT = {
    "Batch throttles": (answered("TooManyRequestsException", 429), Transient),
    "an unknown code with status 429": (answered("SlowYourself", 429), Transient),
    "Batch fails": (answered("ServerException", 500), Transient),
    "an unknown fault of a service": (answered("", 503), Transient),
    "DynamoDB throttles": (answered("ProvisionedThroughputExceededException"), Transient),
    "EC2 throttles": (answered("RequestLimitExceeded", 503), Transient),
    "CloudWatch throttles": (answered("Throttling"), Transient),
    "the endpoint is not reached": (EndpointConnectionError(endpoint_url="https://x"), Transient),
    "connecting takes too long": (ConnectTimeoutError(endpoint_url="https://x"), Transient),
    "the answer takes too long": (ReadTimeoutError(endpoint_url="https://x"), Transient),
    "a condition fails": (answered("ConditionalCheckFailedException"), Conflict),
    "a condition in a transaction fails": (
        answered("TransactionCanceledException", reasons=("None", "ConditionalCheckFailed")),
        Conflict,
    ),
    "a transaction meets another": (
        answered("TransactionCanceledException", reasons=("TransactionConflict",)),
        Conflict,
    ),
    "a transaction is throttled": (answered("TransactionCanceledException", reasons=("ThrottlingError",)), Transient),
    "Batch refuses": (answered("ClientException"), Gone),
    "the role lacks a permission": (answered("AccessDeniedException", 403), Misconfigured),
    "the table is not there": (answered("ResourceNotFoundException"), Misconfigured),
    "there are no credentials": (NoCredentialsError(), Misconfigured),
}


@pytest.mark.parametrize("error, meant", MEANT.values(), ids=MEANT.keys())
def test_an_error_is_named_by_what_to_do_about_it(error: Exception, meant: type[Exception]) -> None:
    with pytest.raises(meant), Translated("ClientException"):
        raise error


@pytest.mark.parametrize("error", [answered("ValidationException"), ParamValidationError(report="x"), KeyError("x")])
def test_a_mistake_of_ours_stays_what_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, Translated("ClientException"):
        raise error
    assert raised.value is error


def test_a_code_that_means_gone_does_so_only_where_it_was_said() -> None:
    with pytest.raises(ClientError), Translated():
        raise answered("ClientException")


def test_a_service_that_does_not_answer_is_transient() -> None:
    nowhere = Clients("http://127.0.0.1:9", "eu-west-1").sqs

    with pytest.raises(Transient), Translated():
        nowhere.list_queues()


def test_the_adapters_load_nothing_heavier_than_boto3() -> None:
    modules = "alarms batch clients control_table faults instance_types job_table messages table"
    check = (
        f"import sys, importlib; [importlib.import_module(f'pointsman.aws.{{m}}') for m in '{modules}'.split()];"
        "sys.exit(' '.join({'pydantic', 'moto', 'yaml'} & set(sys.modules)) or 0)"
    )

    ran = subprocess.run([sys.executable, "-c", check], check=False, capture_output=True, text=True)  # noqa: S603 - ours
    assert (ran.returncode, ran.stderr) == (0, "")
