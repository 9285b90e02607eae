"""The short path of a call: from boto3's serialized request to moto's response class, past the rest of HTTP.

It is taken by the calls that make up a day, as long as nothing is to go wrong with them. A call that shall fail or be
throttled takes the long way, where botocore tries again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from werkzeug.datastructures import Headers

from pointsman_emulator.gateway import Gateway

QUICK = frozenset({"batch", "cloudwatch", "dynamodb", "eventbridge", "sagemaker", "sfn", "sqs"})
ERRORS_FROM = 300

_make_request = BaseClient._make_request


class Request:
    """As much of an HTTP request as moto's responses look at."""

    content_encoding = None
    form: Mapping[str, str] = {}
    files: Mapping[str, Any] = {}
    values: Mapping[str, str] = {}
    from_wsgi_server = False

    def __init__(self, method: str, url: str, headers: Mapping[str, str], body: Any) -> None:
        self.method = method
        self.raw_url = url
        host, _, path = url.split("//", 1)[1].partition("/")
        self.path = self.raw_path = f"/{path}".partition("?")[0]
        self.headers = Headers([*headers.items(), ("Host", host)])
        self.content_type = self.headers.get("Content-Type")
        self.data = body if isinstance(body, bytes) else str(body or "").encode()


class Response:
    """What botocore asks of an HTTP response that was parsed already."""

    def __init__(self, status: int, headers: HTTPHeaders) -> None:
        self.status_code = status
        self.headers = headers


@contextmanager
def opened(gateway: Gateway) -> Iterator[None]:
    """Inside, calls may take the short path."""
    parsers: dict[str, Any] = {}

    def make_request(client: Any, model: Any, request: dict[str, Any], context: Any) -> tuple[Any, dict[str, Any]]:
        service = client._service_model.service_id.hyphenize()
        if service not in QUICK or gateway.interferes(service, model.name) or not _of_aws(request["url"]):
            return _make_request(client, model, request, context)  # type: ignore[no-any-return]
        sent = Request(request["method"], request["url"], request["headers"], request["body"])
        status, given, body = gateway.answer(service, model.name, request["url"], lambda: sent)
        headers = HTTPHeaders()
        for name, value in given.items():
            headers[name] = str(value)
        content = body if isinstance(body, bytes) else body.encode()
        answer = {"headers": headers, "status_code": status, "body": content, "context": {"operation_name": model.name}}
        protocol = model.service_model.resolved_protocol
        if protocol not in parsers:
            parsers[protocol] = client._endpoint._response_parser_factory.create_parser(protocol)
        parsed = parsers[protocol].parse(answer, model.output_shape)
        if status >= ERRORS_FROM:
            client._endpoint._add_modeled_error_fields(answer, parsed, model, parsers[protocol])
        parsed["ResponseMetadata"]["RetryAttempts"] = 0
        return Response(status, headers), parsed

    with mock.patch.object(BaseClient, "_make_request", make_request):
        yield


def _of_aws(url: str) -> bool:
    return ".amazonaws.com/" in url
