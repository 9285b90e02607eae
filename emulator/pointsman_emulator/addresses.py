"""Which operation an HTTP request means, told by its signature's scope and the service's own model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from werkzeug.datastructures import Headers

from pointsman_emulator.environment import REGION

SCOPE = re.compile(r"Credential=[^/]+/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")
NAMES = {
    "events": "events",
    "monitoring": "cloudwatch",
    "states": "stepfunctions",
}
"""boto3's names of the services that sign with another one."""
RPC = re.compile(r"/service/[^/]+/operation/(?P<operation>\w+)$")


class UnaddressedError(Exception):
    """A request that is no call of AWS: unsigned, or for an operation that the service does not have."""


def scope_of(headers: Headers, path: str, query: str) -> tuple[str, str]:
    """The region that a request is signed for, in a header or in its query, and boto3's name of the service."""
    found = SCOPE.search(headers.get("Authorization") or unquote(query))
    if found is None and "AWSAccessKeyId=" in query:  # a presigned address of S3, as boto3 makes it by default
        return REGION, "s3"
    if found is None:
        raise UnaddressedError("The request is not signed as the AWS CLI and the SDKs sign theirs")
    service = found["service"]
    if service == "sagemaker" and path.endswith("/invocations"):
        service = "sagemaker-runtime"
    return found["region"], NAMES.get(service, service)


@dataclass(frozen=True, slots=True)
class _Route:
    method: str
    path: re.Pattern[str]
    needs: frozenset[str]
    """What of the query and the headers tells it from another operation at its path."""
    length: int
    operation: str


class Operations:
    """The operations of one service, found by what a request says."""

    def __init__(self, model: Any) -> None:
        self._name = model.service_name
        self.names = frozenset(model.operation_names)
        self._routes = [self._route(model.operation_model(name)) for name in model.operation_names]
        self._routes.sort(key=lambda route: (-len(route.needs), -route.length))

    def find(self, method: str, path: str, headers: Headers, query: str, body: bytes) -> str:
        """The operation of a request, in whichever of AWS's protocols it comes."""
        target = headers.get("X-Amz-Target", "").rpartition(".")[2]
        if target in self.names:
            return target
        if (found := RPC.search(path)) and found["operation"] in self.names:
            return found["operation"]
        form = headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
        action = parse_qs(body.decode("utf-8", "replace") if form else query).get("Action", [""])[0]
        if action in self.names:
            return action
        said = {
            *query.split("&"),
            *(piece.partition("=")[0] for piece in query.split("&")),
            *map(str.lower, headers.keys()),
        }
        for route in self._routes:
            if route.method == method and route.needs <= said and route.path.fullmatch(path):
                return route.operation
        raise UnaddressedError(f"{self._name} has no operation at {method} {path}")

    @staticmethod
    def _route(operation: Any) -> _Route:
        template, _, query = operation.http.get("requestUri", "/").partition("?")
        template = operation.http.get("authPath", template)  # whole, where a client has taken the bucket out
        pieces = re.split(r"(\{[^}]+\})", template)
        pattern = "".join(_piece(piece) for piece in pieces).removesuffix("/")
        fixed = sum(len(piece) for piece in pieces if not piece.startswith("{"))
        needs = frozenset({*query.split("&")} - {""}) | _told_beside(operation.input_shape)
        return _Route(operation.http.get("method", "POST"), re.compile(pattern + "/?"), needs, fixed, operation.name)


def _told_beside(shape: Any) -> frozenset[str]:
    """What a request must say in its query and its headers."""
    told = [shape.members[name].serialization for name in shape.required_members] if shape else []
    return frozenset(
        each["name"].lower() if each["location"] == "header" else each["name"]
        for each in told
        if each.get("location") in {"header", "querystring"}
    )


def _piece(piece: str) -> str:
    if not piece.startswith("{"):
        return re.escape(piece)
    return ".+" if piece.endswith("+}") else "[^/]+"
