"""Each function has its own copy of the layers' modules, as each has its own process in Lambda.

A setting or a client that one function keeps in a module is not seen by another, nor by the next emulator.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType


class _Stdout(io.TextIOBase):
    """One stream for the process, because a logger keeps the stream it first saw."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] | None = None
        self._rest = ""

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep whole lines."""
        if self._lines is None:
            return sys.__stdout__.write(text) if sys.__stdout__ else len(text)
        *whole, self._rest = (self._rest + text).split("\n")
        self._lines.extend(line for line in whole if line.strip())
        return len(text)

    @contextmanager
    def into(self, lines: list[str]) -> Iterator[None]:
        """What is printed inside goes to these lines."""
        outer, rest, before = self._lines, self._rest, sys.stdout
        self._lines, self._rest = lines, ""
        sys.stdout = self
        try:
            yield
        finally:
            if self._rest.strip():
                lines.append(self._rest)
            self._lines, self._rest = outer, rest
            sys.stdout = before


STDOUT = _Stdout()


@dataclass(slots=True)
class _Seen:
    count: int = -1
    names: list[str] = field(default_factory=list)


class Sandbox:
    """The modules of the layers, as one function sees them."""

    def __init__(self, layers: Iterable[Path], logger_names: Iterable[str] = ()) -> None:
        self._paths = [str(path) for path in layers]
        self._packages = {
            entry.stem
            for path in layers
            for entry in path.iterdir()
            if (entry.is_dir() and (entry / "__init__.py").is_file()) or entry.suffix == ".py"
        }
        self._loggers = tuple(logger_names)
        self._own: dict[str, ModuleType] = {}
        self._fresh = True
        self._outside, self._inside = _Seen(), _Seen()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside, an import of a layer's module finds this function's copy."""
        outside = self._taken_out(self._outside)
        sys.modules.update(self._own)
        path = list(sys.path)
        sys.path[:0] = [entry for entry in self._paths if entry not in path]
        if self._fresh:
            self._fresh = False
            for name in self._loggers:
                logging.Logger.manager.loggerDict.pop(name, None)
        try:
            yield
        finally:
            self._own = self._taken_out(self._inside)
            sys.modules.update(outside)
            sys.path[:] = path

    def _taken_out(self, seen: _Seen) -> dict[str, ModuleType]:
        """Take the layers' modules out of `sys.modules`. They are looked for only when a module was added."""
        if seen.count != len(sys.modules):
            packages = self._packages
            seen.names = [name for name in sys.modules if name.partition(".")[0] in packages]
            seen.count = len(sys.modules)
        return {name: sys.modules.pop(name) for name in seen.names if name in sys.modules}
