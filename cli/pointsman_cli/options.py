"""Options that several verbs share. Those that say where to look are taken before the verb and after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click

from pointsman.documents import seconds
from pointsman_cli.access import Access, Deployment, Examines, Letters, Target
from pointsman_cli.rollout_access import RolloutDeployment

Verb = TypeVar("Verb", bound=Callable[..., object])

_META = "pointsman."


class Duration(click.ParamType[float]):
    """A duration as policies write it, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds of `2h` or `1h30m`."""
        try:
            return value if isinstance(value, float) else seconds(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


DURATION = Duration()


class Number(click.FloatRange):
    """A number within its range; `nan` and `inf`, which are within any or without end, are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class NewFile(click.Path):
    """A file to write, in a folder that there is: found out before the work whose result it is to hold."""

    def __init__(self) -> None:
        """A file, or nothing yet."""
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its path."""
        file: Any = super().convert(value, param, ctx)
        if not file.parent.is_dir():
            self.fail(f"there is no folder {file.parent}; make it first", param, ctx)
        return file


def as_json(verb: Verb) -> Verb:
    """Print one JSON object instead of text."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(verb)


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None and value is not False:  # a time of 0 seconds is one
        ctx.meta[f"{_META}{param.name}"] = value


_SHARED: dict[str, Any] = {"callback": _keep, "expose_value": False}


def debugged(verb: Verb) -> Verb:
    """Let a failure be shown with its traceback: what the message of a fault says to ask for."""
    return click.option("--debug", is_flag=True, **_SHARED, help="Show the traceback of a failure.")(verb)


def where(verb: Verb, *, environment: bool = False, demo: bool = True) -> Verb:
    """Say which deployment is meant; the nearest to the verb counts, then what stood before it."""
    options = [
        click.option("--stack", metavar="NAME", envvar="POINTSMAN_STACK" if environment else None, **_SHARED,
                     help="The CloudFormation stack of the deployment (or POINTSMAN_STACK)."),
        click.option("--endpoint-url", metavar="URL", envvar="AWS_ENDPOINT_URL" if environment else None, **_SHARED,
                     help="Ask this address instead of AWS (or AWS_ENDPOINT_URL)."),
        debugged,
    ]  # fmt: skip
    if demo:
        about = "No AWS account: the day of the demo, played to this time, as 14h or 90m."
        options.insert(2, click.option("--demo-at", metavar="TIME", type=DURATION, **_SHARED, help=about))
    for option in reversed(options):
        verb = option(verb)
    return verb


def deployed(verb: Verb) -> Verb:
    """Say which deployment on AWS is meant: the day of the demo has no rollouts."""
    return where(verb, demo=False)


def wants_traceback(ctx: click.Context) -> bool:
    """Whether --debug was given, anywhere."""
    return bool(ctx.meta.get(f"{_META}debug"))


def target(ctx: click.Context) -> Target:
    """Where the person wants to look."""
    return Target(*(ctx.meta.get(f"{_META}{name}") for name in ("stack", "endpoint_url", "demo_at")))


def is_named(ctx: click.Context) -> bool:
    """Whether the person said where to look."""
    where_to = target(ctx)
    return where_to.stack is not None or where_to.demo_at is not None


def access(ctx: click.Context) -> Access:
    """How deployments are reached: what the caller of the command gave, else AWS and the demo."""
    given = ctx.find_root().obj
    if given is not None:
        return given  # type: ignore[no-any-return]  # click's own type for it is Any
    from pointsman_cli.deployment import AwsAccess

    return AwsAccess()


@contextmanager
def deployment(ctx: click.Context) -> Iterator[Deployment]:
    """The deployment that is meant, for as long as the block lasts."""
    with access(ctx).open(target(ctx)) as found:
        yield found


@contextmanager
def rollouts(ctx: click.Context) -> Iterator[RolloutDeployment]:
    """The deployment that is meant, as its rollouts see it, for as long as the block lasts."""
    with access(ctx).rollouts(target(ctx)) as found:
        yield found


@contextmanager
def letters(ctx: click.Context) -> Iterator[Letters]:
    """The dead letters of the deployment that is meant, for as long as the block lasts."""
    with access(ctx).letters(target(ctx)) as found:
        yield found


@contextmanager
def examiner(ctx: click.Context) -> Iterator[Examines]:
    """What looks at everything of the deployment that is meant, for as long as the block lasts."""
    with access(ctx).examiner(target(ctx)) as found:
        yield found
