"""A query of a moto table that touches the items it answers with, not the whole table; the same answers.

moto sorts every item of the table for each query, copies deeply what it found, and projects by way of plain Python
values.
With some thousand jobs in a table that is a second a query.

An update's expression is read three times, and copied deeply each time; here it is read once, and kept.
"""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import moto.dynamodb.models.table
import moto.dynamodb.parsing.validators
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.ast_nodes import UpdateExpression  # type: ignore[attr-defined] # a file without types
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined] # likewise

INDEX_NAME = 6
"""Where the index's name stands among the arguments of a query that follow the hash key."""

_query = Table.query
_project = Item.project
_read = UpdateExpressionParser.make


def _narrowed_query(table: Table, hash_key: Any, *args: Any, **kwargs: Any) -> Any:
    """Ask moto with only those items in sight that have the wanted hash key."""
    index_name = args[INDEX_NAME] if len(args) > INDEX_NAME else kwargs.get("index_name")
    conditions: list[Any] = kwargs.get("hash_key_conditions") or []
    whole: Any = table.items
    if index_name is None:
        names = {hash_key} & whole.keys()
        narrow = {name: whole[name] for name in names}
    elif table.range_key_attr is None and len(conditions) == 1:
        ((name, value),) = conditions
        narrow = {key: item for key, item in whole.items() if name in item.attrs and item.attrs[name] == value}
    else:
        return _query(table, hash_key, *args, **kwargs)
    table.items = narrow  # type: ignore[assignment]
    try:
        return _query(table, hash_key, *args, **kwargs)
    finally:
        table.items = whole


def _project_plainly(item: Item, projection_expressions: list[list[str]]) -> Item:
    """Attributes named at the top level are taken over as they are."""
    if any(len(expression) != 1 for expression in projection_expressions):
        return _project(item, projection_expressions)
    names = [expression[0] for expression in projection_expressions]
    if any("[" in name for name in names):
        return _project(item, projection_expressions)
    projected = Item(hash_key=item.hash_key, range_key=item.range_key, attrs={})
    dict.update(projected.attrs, {name: item.attrs[name] for name in names if name in item.attrs})  # sizes were checked
    return projected


def _deepcopy(value: Any) -> Any:
    """What a query found is answered at once and never changed: a list of it needs no deep copy."""
    if type(value) is list and value and isinstance(value[0], Item):
        return list(value)
    return copy.deepcopy(value)


class _Kept(UpdateExpression):  # type: ignore[misc] # likewise
    """An update's expression as it was read, and how to have it again to work on."""

    def __init__(self, read: UpdateExpression) -> None:
        self.__dict__ = read.__dict__
        self._pickled = pickle.dumps(read)


@functools.lru_cache(maxsize=256)
def _kept(text: str) -> Any:
    return _Kept(_read(text))


def _copied(value: Any) -> Any:
    return pickle.loads(value._pickled) if isinstance(value, _Kept) else copy.deepcopy(value)  # noqa: S301 - our own


@contextmanager
def tables_taken() -> Iterator[None]:
    """Inside, queries are narrow."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(Table, "query", _narrowed_query))
        stack.enter_context(mock.patch.object(Item, "project", _project_plainly))
        shim = SimpleNamespace(deepcopy=_deepcopy, copy=copy.copy)
        stack.enter_context(mock.patch.object(moto.dynamodb.models.table, "copy", shim))
        stack.enter_context(mock.patch.object(UpdateExpressionParser, "make", staticmethod(_kept)))
        stack.enter_context(mock.patch.object(moto.dynamodb.parsing.validators, "deepcopy", _copied))
        yield
