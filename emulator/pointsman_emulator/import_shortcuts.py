"""Each function imports the layers' modules anew; what Python makes of their text is made once.

The modules, their classes and what they keep are still new: only code objects, which never change, are shared.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any
from unittest import mock

_get_code = SourceFileLoader.get_code
_kept: dict[str, CodeType | None] = {}


def _code_of(loader: SourceFileLoader, fullname: str) -> CodeType | None:
    path = loader.path
    if path not in _kept:
        _kept[path] = _get_code(loader, fullname)
    return _kept[path]


@functools.lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<string>", "exec")


def _execute(text: str, *namespaces: Any) -> None:
    """In place of the `exec` by which `dataclasses` writes the methods of a class."""
    exec(_compiled(text), *namespaces)  # noqa: S102 - what dataclasses would execute


@contextmanager
def imports_taken() -> Iterator[None]:
    """Inside, a module that is imported again is not compiled again."""
    with (
        mock.patch.object(SourceFileLoader, "get_code", _code_of),
        mock.patch.object(dataclasses, "exec", _execute, create=True),
    ):
        yield
