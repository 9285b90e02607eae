"""Finding a deployment: a stack's outputs, or the day of the demo. The command's one door to AWS."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from getpass import getuser
from importlib import import_module
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError, ProfileNotFound

from pointsman.aws.faults import Translated, code_of
from pointsman.errors import Misconfigured, UserMistake
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_cli.access import Target

OUTPUTS = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")


class AwsAccess:
    """Deployments in the account that the environment or the profile names, and the demo's."""

    def open(self, target: Target) -> AbstractContextManager[Wiring]:
        """The deployment; raises `UserMistake` when none is named, or the named one is not there."""
        return _demo(target.demo_at) if target.demo_at is not None else _stack(target)

    def caller(self, target: Target) -> str:
        """The caller's ARN; the user of this machine where AWS does not say."""
        if target.demo_at is None:
            try:
                return str(_client("sts", target.endpoint_url).get_caller_identity()["Arn"])
            except (BotoCoreError, ClientError):
                pass
        try:
            return getuser()
        except (OSError, KeyError):
            return "unknown"


@contextmanager
def _stack(target: Target) -> Iterator[Wiring]:
    if not target.stack:
        raise UserMistake(
            "no deployment is named",
            place="--stack",
            remedy="name its stack by --stack or POINTSMAN_STACK, or try --demo-at 14h",
        )
    try:
        settings = _settings(target.stack, target.endpoint_url)
    except NoRegionError:
        raise UserMistake(
            "no region is set", place="AWS", remedy="set AWS_DEFAULT_REGION, or AWS_PROFILE to a profile with one"
        ) from None
    except ProfileNotFound as error:
        raise UserMistake(str(error), place="AWS_PROFILE", remedy="`aws configure list-profiles` has those") from None
    except ValueError as error:
        raise UserMistake(str(error), place="--endpoint-url") from None
    yield Wiring(settings)


def _settings(stack: str, endpoint_url: str | None) -> Settings:
    if region := os.environ.get("AWS_REGION"):
        os.environ.setdefault("AWS_DEFAULT_REGION", region)  # botocore knows only this one of the two names
    client = _client("cloudformation", endpoint_url)
    with Translated():
        try:
            found = client.describe_stacks(StackName=stack)["Stacks"]
        except ClientError as error:
            if code_of(error) != "ValidationError":
                raise
            region = client.meta.region_name
            raise UserMistake(
                f"there is no such stack in {region}", place=stack, remedy="is the region right?"
            ) from None
    outputs = {output["OutputKey"]: output["OutputValue"] for output in found[0].get("Outputs", ())}
    if missing := [name for name in OUTPUTS if not outputs.get(name)]:
        raise Misconfigured(f"stack {stack} has no output {', '.join(missing)}: it is not a deployment of Pointsman")
    jobs, control, wakes, dead_letters = (outputs[name] for name in OUTPUTS)
    return Settings(jobs, control, wakes, dead_letters, endpoint_url)


def _client(service: str, endpoint_url: str | None) -> Any:
    config = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})
    return botocore.session.get_session().create_client(service, endpoint_url=endpoint_url, config=config)


@contextmanager
def _demo(seconds: float) -> Iterator[Wiring]:
    from rich.console import Console

    try:
        played_to: Callable[[float], AbstractContextManager[Wiring]] = import_module("pointsman_cli.demo.day").played_to
    except ModuleNotFoundError as error:
        raise UserMistake(
            f"the demo cannot be played here, {error.name} is missing",
            place="--demo-at",
            remedy="install pointsman with its extra `emulator`",
        ) from error
    with ExitStack() as stack:
        with Console(stderr=True).status("playing the day of the demo"):
            wiring = stack.enter_context(played_to(seconds))
        yield wiring
