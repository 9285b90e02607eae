"""Which operation an HTTP request means, told by its signature's scope and the service's own model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from werkzeug.datastructures import Headers

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


def scope_of(headers: Headers, path: str) -> tuple[str, str]:
    """The region that a request is signed for, and boto3's name of the service."""
    found = SCOPE.search(headers.get("Authorization", ""))
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
    length: int
    operation: str


class Operations:
    """The operations of one service, found by what a request says."""

    def __init__(self, model: Any) -> None:
        self.names = frozenset(model.operation_names)
        self._routes = [self._route(model.operation_model(name)) for name in model.operation_names]
        self._routes.sort(key=lambda route: -route.length)

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
        for route in self._routes:
            if route.method == method and route.path.fullmatch(path):
                return route.operation
        raise UnaddressedError(f"There is no operation at {method} {path}")

    @staticmethod
    def _route(operation: Any) -> _Route:
        template = operation.http.get("requestUri", "/").partition("?")[0]
        pieces = re.split(r"(\{[^}]+\})", template)
        pattern = "".join(_piece(piece) for piece in pieces).removesuffix("/")
        fixed = sum(len(piece) for piece in pieces if not piece.startswith("{"))
        return _Route(operation.http.get("method", "POST"), re.compile(pattern + "/?"), fixed, operation.name)


def _piece(piece: str) -> str:
    if not piece.startswith("{"):
        return re.escape(piece)
    return ".+" if piece.endswith("+}") else "[^/]+"
