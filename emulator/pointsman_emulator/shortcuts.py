"""What moto and botocore do for each call and need not do here: the same answers, in half the time.

Measured on a day of 250 jobs: name conversions and method lists were computed anew for each call, random characters
drawn one by one, requests signed for nobody, and each answer's members looked up under every spelling.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any
from unittest import mock
from urllib.parse import parse_qsl

import moto.core.responses
import moto.sqs.models
from botocore import xform_name
from botocore.loaders import JSONFileLoader
from botocore.signers import RequestSigner
from moto.cloudformation.models import Stack as CloudFormationStack
from moto.core.serialize import AttributePicker, AttributePickerContext, BaseJSONSerializer
from moto.core.utils import camelcase_to_underscores, method_names_from_class
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.moto_api._internal import mock_random

from pointsman_emulator.import_shortcuts import imports_taken
from pointsman_emulator.table_shortcuts import tables_taken

_spelled = functools.lru_cache(maxsize=None)(camelcase_to_underscores)
_methods = functools.lru_cache(maxsize=None)(lambda cls: frozenset(method_names_from_class(cls)))
_pick = AttributePicker.__call__
_load = functools.lru_cache(maxsize=None)(JSONFileLoader.load_file)
_loader = JSONFileLoader()
_parse_template = CloudFormationStack.parse_template
_structure = BaseJSONSerializer._serialize_type_structure
_cast: Any = DynamoType.cast_value.fget  # type: ignore[attr-defined]
_AS_IT_IS = frozenset({"S", "N", "BOOL", "NULL", "SS", "NS"})
LARGEST_ITEM = 405_000
"""As moto has it: between 409 and 410 KB in AWS, which speaks of 400."""


def _request_id(headers: dict[str, Any] | None = None) -> str:
    made = f"{mock_random.getrandbits(208):052X}"
    if isinstance(headers, dict):
        headers["x-amzn-requestid"] = made
    return made


def _receipt_handle() -> str:
    return f"{mock_random.getrandbits(740):0185x}"


def _load_file(_: JSONFileLoader, file_path: str) -> Any:
    """A service's model, read once: each function has clients of its own, and reading it is slow."""
    return _load(_loader, file_path)


def _pick_member(picker: AttributePicker, context: AttributePickerContext) -> Any:
    """A member of an answer that is a plain dict is there under its name, or in small letters, or not at all."""
    answer = context.obj
    if type(answer) is dict and not picker.response_transformers:
        key = context.key
        return answer[key] if key in answer else answer.get(xform_name(key))
    return _pick(picker, context)


def _plain(value: Any) -> Any:
    """An attribute value of DynamoDB as JSON; KeyError where it holds bytes."""
    if isinstance(value, DynamoType):
        kind, inner = value.type, value.value
    else:
        ((kind, inner),) = value.items()
    if kind in _AS_IT_IS:
        return {kind: inner}
    if kind == "M":
        return {kind: {name: _plain(member) for name, member in inner.items()}}
    if kind == "L":
        return {kind: [_plain(member) for member in inner]}
    raise KeyError(kind)


def _serialize_structure(serializer: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
    """An attribute value is written at once, not by trying each of its ten possible members."""
    if shape.name == "AttributeValue" and key:
        try:
            serializer._default_serialize(serialized, _plain(value), shape, key)
        except (KeyError, ValueError, AttributeError, TypeError):
            _structure(serializer, serialized, value, shape, key)
    else:
        _structure(serializer, serialized, value, shape, key)


def _make_item(item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]) -> None:
    """An item whose size is computed once, not again for each of its attributes."""
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict({key: DynamoType(value) for key, value in attrs.items()})
    if item.size() > LARGEST_ITEM:
        raise ItemSizeTooLarge


def _size(item: Item) -> int:
    """The size of an item, of which most is texts and numbers."""
    return sum(
        len(name) + (len(value.value) if value.type in ("S", "N") else value.size())
        for name, value in item.attrs.items()
    )


def _cast_value(value: DynamoType) -> Any:
    """The Python value of an attribute: most are texts and numbers."""
    if value.type == "S":
        return value.value
    return Decimal(value.value) if value.type == "N" else _cast(value)


def _equal(value: DynamoType, other: object) -> bool:
    """Whether two attributes are of one type and value."""
    if not isinstance(other, DynamoType) or value.type != other.type:
        return False
    return bool(value.value == other.value) if value.type == "S" else bool(value.cast_value == other.cast_value)


def _form_fields(body: str, *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
    """A body of JSON is no form."""
    return [(body, "")] if body[:1] == "{" else parse_qsl(body, *args, **kwargs)


def _template(text: str) -> Any:
    """A template that is JSON is not read as the YAML that it is too."""
    return json.loads(text) if text[:1] == "{" else _parse_template(text)


@contextmanager
def taken() -> Iterator[None]:
    """Inside, the shortcuts are taken."""
    with ExitStack() as stack:
        stack.enter_context(imports_taken())
        for module in (moto.core.responses, moto.sqs.models):
            stack.enter_context(mock.patch.object(module, "camelcase_to_underscores", _spelled))
        stack.enter_context(mock.patch.object(moto.core.responses, "method_names_from_class", _methods))
        stack.enter_context(mock.patch.object(moto.core.responses, "gen_amzn_requestid_long", _request_id))
        stack.enter_context(mock.patch.object(moto.sqs.models, "generate_receipt_handle", _receipt_handle))
        stack.enter_context(mock.patch.object(CloudFormationStack, "parse_template", staticmethod(_template)))
        stack.enter_context(mock.patch.object(JSONFileLoader, "load_file", _load_file))
        stack.enter_context(mock.patch.object(AttributePicker, "__call__", _pick_member))
        stack.enter_context(tables_taken())
        stack.enter_context(mock.patch.object(moto.core.responses, "parse_qsl", _form_fields))
        stack.enter_context(mock.patch.object(BaseJSONSerializer, "_serialize_type_structure", _serialize_structure))
        stack.enter_context(mock.patch.object(Item, "__init__", _make_item))
        stack.enter_context(mock.patch.object(Item, "size", _size))
        stack.enter_context(mock.patch.object(DynamoType, "cast_value", property(_cast_value)))
        stack.enter_context(mock.patch.object(DynamoType, "__eq__", _equal))
        stack.enter_context(mock.patch.object(RequestSigner, "sign", return_value=None))
        yield
