"""Things that happen in the middle of a call."""

from collections.abc import Callable
from functools import partial
from typing import Any


class Interfered:
    """A client some of whose operations go through another function first, which gets the real one."""

    def __init__(self, client: Any, **operations: Callable[..., Any]) -> None:
        self._client = client
        self._operations = operations

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._client, name)
        return partial(self._operations[name], real) if name in self._operations else real
