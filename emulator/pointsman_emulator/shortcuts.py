"""What moto and botocore do for each call and need not do here: the same answers, in half the time.

Measured on a day of 250 jobs: name conversions and method lists were computed anew for each call, random characters
drawn one by one, requests signed for nobody, and each answer's members looked up under every spelling.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import moto.core.responses
import moto.sqs.models
from botocore import xform_name
from botocore.signers import RequestSigner
from moto.core.serialize import AttributePicker, AttributePickerContext
from moto.core.utils import camelcase_to_underscores, method_names_from_class
from moto.moto_api._internal import mock_random

from pointsman_emulator.table_shortcuts import tables_taken

_spelled = functools.lru_cache(maxsize=None)(camelcase_to_underscores)
_methods = functools.lru_cache(maxsize=None)(lambda cls: frozenset(method_names_from_class(cls)))
_pick = AttributePicker.__call__


def _request_id(headers: dict[str, Any] | None = None) -> str:
    made = f"{mock_random.getrandbits(208):052X}"
    if isinstance(headers, dict):
        headers["x-amzn-requestid"] = made
    return made


def _receipt_handle() -> str:
    return f"{mock_random.getrandbits(740):0185x}"


def _pick_member(picker: AttributePicker, context: AttributePickerContext) -> Any:
    """A member of an answer that is a plain dict is there under its name, or in small letters, or not at all."""
    answer = context.obj
    if type(answer) is dict and not picker.response_transformers:
        key = context.key
        return answer[key] if key in answer else answer.get(xform_name(key))
    return _pick(picker, context)


@contextmanager
def taken() -> Iterator[None]:
    """Inside, the shortcuts are taken."""
    with ExitStack() as stack:
        for module in (moto.core.responses, moto.sqs.models):
            stack.enter_context(mock.patch.object(module, "camelcase_to_underscores", _spelled))
        stack.enter_context(mock.patch.object(moto.core.responses, "method_names_from_class", _methods))
        stack.enter_context(mock.patch.object(moto.core.responses, "gen_amzn_requestid_long", _request_id))
        stack.enter_context(mock.patch.object(moto.sqs.models, "generate_receipt_handle", _receipt_handle))
        stack.enter_context(mock.patch.object(AttributePicker, "__call__", _pick_member))
        stack.enter_context(tables_taken())
        stack.enter_context(mock.patch.object(RequestSigner, "sign", return_value=None))
        yield
