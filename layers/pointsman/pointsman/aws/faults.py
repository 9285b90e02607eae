"""Errors of AWS as errors of ours: by code and status, never by their text."""

from types import TracebackType

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - the name that botocore gave it
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError

from pointsman.errors import Conflict, Gone, Misconfigured, PointsmanError, Transient

TOO_MANY_REQUESTS = 429
SERVER_FAULT = 500

_TRANSIENT = frozenset(
    {
        "EC2ThrottledException",
        "InternalFailure",
        "InternalServerError",
        "InternalServiceError",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServerException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
_CONFLICT = frozenset(
    {"ConditionalCheckFailed", "ConditionalCheckFailedException", "TransactionConflict", "TransactionConflictException"}
)
_MISCONFIGURED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "AWS.SimpleQueueService.NonExistentQueue",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KmsAccessDenied",
        "MissingAuthenticationToken",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
_NETWORK = (ConnectionError, HTTPClientError, IncompleteReadError, ResponseParserError, CredentialRetrievalError)


def code_of(error: ClientError) -> str:
    """The error's code as the service gave it."""
    return str(error.response.get("Error", {}).get("Code", ""))


def ours(error: Exception, gone: frozenset[str] = frozenset()) -> PointsmanError | None:
    """What the caller should do about this error of AWS; None for one that only a mend of the code helps.

    `gone` are the codes that mean, for this call, that the thing asked for is not there.
    """
    if isinstance(error, ClientError):
        return _answered(error, gone)
    if isinstance(error, _NETWORK):
        return Transient(str(error))
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return Misconfigured(str(error))
    return None


def _answered(error: ClientError, gone: frozenset[str]) -> PointsmanError | None:
    code = code_of(error)
    codes = {code} | {str(reason.get("Code")) for reason in error.response.get("CancellationReasons", ())}
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if codes & gone:
        return Gone(str(error))
    if codes & _CONFLICT:
        return Conflict(str(error))
    if codes & _TRANSIENT or status == TOO_MANY_REQUESTS or status >= SERVER_FAULT:
        return Transient(str(error))
    if codes & _MISCONFIGURED:
        return Misconfigured(str(error))
    return None


class Translated:
    """A block in which errors of AWS leave as errors of ours."""

    __slots__ = ("_gone",)

    def __init__(self, *gone: str) -> None:
        """Take the codes that mean here that the thing is gone."""
        self._gone = frozenset(gone)

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise what the error means to the caller."""
        if isinstance(error, ClientError | BotoCoreError | ResponseParserError):
            meant = ours(error, self._gone)
            if meant is not None:
                raise meant from error
