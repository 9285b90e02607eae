"""Every answer of Batch, held to the service's own model as it is on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import botocore.session
from botocore.validate import ParamValidator

from pointsman_emulator.gateway import Answer, Gateway

MODEL = botocore.session.get_session().get_service_model("batch")
ERRORS = {"ClientException", "ServerException", "TooManyRequestsException", "NotImplemented"}
_answer = Gateway.answer


def faults_of(operation: str, body: dict[str, Any]) -> list[str]:
    """What is wrong with an answer: members that are missing, of another type, or not in the model at all."""
    shape = MODEL.operation_model(operation).output_shape
    report = ParamValidator().validate(body, shape)
    found = [report.generate_report()] if report.has_errors() else []
    if operation == "DescribeServiceJob":  # it requires startedAt, which a job has not that never ran
        found = [text for text in found if text.strip() != 'Missing required parameter in input: "startedAt"']
    return found + sorted(_unknown(shape, body))


def _unknown(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    if shape is None:
        yield from (f"{path}: nothing was expected" for _ in [value] if value)
    elif shape.type_name == "structure":
        for name, inner in value.items():
            if name not in shape.members:
                yield f"{path}.{name} is not in the model"
            else:
                yield from _unknown(shape.members[name], inner, f"{path}.{name}")
                if getattr(shape.members[name], "enum", None) and inner not in shape.members[name].enum:
                    yield f"{path}.{name} is {inner}, which is none of {shape.members[name].enum}"
    elif shape.type_name == "list":
        for inner in value:
            yield from _unknown(shape.member, inner, f"{path}[]")
    elif shape.type_name == "map":
        for key, inner in value.items():
            yield from _unknown(shape.value, inner, f"{path}.{key}")


@contextmanager
def held_to_the_model() -> Iterator[None]:
    """Inside, an answer of Batch that the service's model would not take fails the call."""

    def answer(gateway: Gateway, service: str, operation: str, url: str, request: Any) -> Answer:
        status, headers, body = _answer(gateway, service, operation, url, request)
        if service == "batch":
            told = json.loads(body or "{}")
            if status == 200:
                assert faults_of(operation, told) == [], f"{operation} answered {told}"
            else:
                code = headers.get("x-amzn-errortype") or told.get("code") or told.get("__type")
                assert code in ERRORS, f"{operation} answered {status} {headers} {told}"
                assert told["message"], f"{operation} failed without a word"
        return status, headers, body

    with mock.patch.object(Gateway, "answer", answer):
        yield
