"""Faults on demand, for every fake."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

Fake = TypeVar("Fake", bound="Faulty")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Faulty:
    """A fake whose next calls of a method can be told to fail."""

    def __init__(self) -> None:
        self._planned: dict[str, list[Exception]] = {}

    def fail_next(self, method: str, error: Exception, times: int = 1) -> None:
        """Make the next `times` calls of the method raise this error, before they do anything."""
        if not hasattr(getattr(self, method), "__wrapped__"):
            raise TypeError(f"{method} cannot fail")
        self._planned.setdefault(method, []).extend([error] * times)

    def fail_if_planned(self, method: str) -> None:
        """Raise what was planned for this call, if anything was."""
        if planned := self._planned.get(method):
            raise planned.pop(0)


def can_fail(
    method: Callable[Concatenate[Fake, Arguments], Answer],
) -> Callable[Concatenate[Fake, Arguments], Answer]:
    """Mark a fake's method as one whose calls may fail."""

    @wraps(method)
    def failing(fake: Fake, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        fake.fail_if_planned(method.__name__)
        return method(fake, *args, **kwargs)

    return cast(Callable[Concatenate[Fake, Arguments], Answer], failing)
