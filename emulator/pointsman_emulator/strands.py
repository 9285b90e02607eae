"""Code that wants to wait, in a world where nothing waits: a strand runs only while it is let, one at a time.

moto's Step Functions engine is written for threads that block. A strand gives it one, and hands control to and fro:
while a strand runs, whoever resumed it stands still, so that a day is the same on every machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar


class Abandoned(BaseException):
    """Raised in a strand that nobody will resume any more; no handler of errors shall catch it."""


class Strand:
    """Some work that may park, and is then resumed from outside."""

    current: ClassVar[Strand | None] = None
    """The strand that is running, if one is."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._turn, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._abandoned = False
        self._error: BaseException | None = None
        self.ended = False
        self.awaits: object | None = None
        """What it is parked for."""

    def resume(self) -> None:
        """Let it run until it parks or ends; what it raises is raised here."""
        if self.ended:
            return
        outer, Strand.current = Strand.current, self
        self.awaits = None
        try:
            if self._thread.ident is None:
                self._thread.start()
            else:
                self._turn.release()
            self._back.acquire()
        finally:
            Strand.current = outer
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def abandon(self) -> None:
        """End it where it is."""
        self._abandoned = True
        if self._thread.ident is None:
            self.ended = True
        elif self is not Strand.current:
            self.resume()

    def park(self, awaits: object) -> None:
        """Called inside: stand still until somebody resumes it."""
        self.awaits = awaits
        self._back.release()
        self._turn.acquire()
        if self._abandoned:
            raise Abandoned

    def _run(self) -> None:
        try:
            self._work()
        except Abandoned:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised again in whoever resumed the strand
            self._error = error
        finally:
            self.ended = True
            self._back.release()


def running() -> Strand:
    """The strand that is running."""
    strand = Strand.current
    if strand is None:
        raise RuntimeError("only what a strand runs can park")
    return strand
