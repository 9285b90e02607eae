"""A client of AWS that answers what a test wants."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

T0 = 1_800_000_000.0


def at(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC)


def refuses(code: str, status: int = 400) -> Callable[..., Any]:
    def operation(**_: Any) -> Any:
        raise ClientError(
            {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}, "x"
        )

    return operation


class Client:
    """A client whose operations are these functions."""

    def __init__(self, **operations: Callable[..., Any]) -> None:
        self.__dict__.update(operations)
