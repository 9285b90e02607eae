"""Finding a deployment: a stack's outputs, or the day of the demo. The command's one door to AWS."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from getpass import getuser
from importlib import import_module
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError, ProfileNotFound

from pointsman.aws.faults import Translated, code_of
from pointsman.errors import Misconfigured, UserMistake
from pointsman.settings import Settings
from pointsman.wiring import Wiring
from pointsman_cli.access import Target
from pointsman_cli.checkout import SETUP
from pointsman_cli.printing import say

if TYPE_CHECKING:
    from pointsman_cli.examiner import Examiner
    from pointsman_cli.letter_box import LetterBox
    from pointsman_cli.rollout_deployment import DeployedRollouts

OUTPUTS = ("JobsTable", "ControlTable", "QueueWakesUrl", "DeadLettersUrl")
PLAYED = "`pointsman demo rollout NAME` plays one"
LONGEST_COMMAND = 70.0  # seconds that the function may take; it is asked once


class AwsAccess:
    """Deployments in the account that the environment or the profile names, and the demo's."""

    def open(self, target: Target) -> AbstractContextManager[Wiring]:
        """The deployment; raises `UserMistake` when none is named, or the named one is not there."""
        return _demo(target.demo_at) if target.demo_at is not None else _stack(target)

    def rollouts(self, target: Target) -> AbstractContextManager["DeployedRollouts"]:
        """The deployment as its rollouts see it; raises `UserMistake` when none is named, or it is not there."""
        return _rollouts(target)

    def letters(self, target: Target) -> AbstractContextManager["LetterBox"]:
        """Its dead letters; raises `UserMistake` when none is named, and `Misconfigured` for an earlier release."""
        return _letters(target)

    def examiner(self, target: Target) -> AbstractContextManager["Examiner"]:
        """What looks at everything of it; raises `UserMistake` when none is named."""
        return _examiner(target, self.caller(target))

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
    yield _wiring(target, _outputs(target, otherwise="try --demo-at 14h"))


@contextmanager
def _rollouts(target: Target) -> Iterator["DeployedRollouts"]:
    from pointsman_cli.rollout_deployment import OUTPUT, DeployedRollouts

    if target.demo_at is not None:
        text = "the day of the demo has no rollouts"
        raise UserMistake(text, place="--demo-at", remedy=PLAYED)
    outputs = _outputs(target, otherwise=PLAYED)
    if OUTPUT not in outputs:
        raise Misconfigured(f"stack {target.stack} has no output {OUTPUT}: it was deployed before there were rollouts")
    invoker = _client("lambda", target.endpoint_url, read=LONGEST_COMMAND, attempts=1)
    yield DeployedRollouts(_wiring(target, outputs), outputs[OUTPUT], invoker)


@contextmanager
def _letters(target: Target) -> Iterator["LetterBox"]:
    from pointsman_cli.letter_box import LetterBox, missing

    outputs = _outputs(target, otherwise="there are no dead letters to see")
    if lacking := missing(outputs):
        names = ", ".join(lacking)
        raise Misconfigured(f"stack {target.stack} has no output {names}: it was deployed by an earlier release")
    yield LetterBox(_client("sqs", target.endpoint_url), _client("lambda", target.endpoint_url), outputs)


@contextmanager
def _examiner(target: Target, caller: str) -> Iterator["Examiner"]:
    from pointsman.aws.permissions import IamPermissions
    from pointsman_cli.examiner import Clients, Examiner
    from pointsman_cli.principals import allowed

    outputs = _outputs(target, otherwise="there is nothing to look at")
    made = {
        name: _client(name, target.endpoint_url) for name in ("cloudformation", "cloudwatch", "events", "sqs", "iam")
    }
    region = made["cloudformation"].meta.region_name
    may = allowed(IamPermissions(made.pop("iam"), region), caller, region)
    yield Examiner(target.stack or "", _wiring(target, outputs), Clients(**made), outputs, may)


def _wiring(target: Target, outputs: dict[str, str]) -> Wiring:
    return Wiring(_settings(target, outputs), unreadable=lambda why: say(why, err=True))


def _outputs(target: Target, otherwise: str) -> dict[str, str]:
    """The outputs of the stack that is named; whatever keeps us from it is said with its remedy."""
    if not target.stack:
        raise UserMistake(
            "no deployment is named",
            place="--stack",
            remedy=f"name its stack by --stack or POINTSMAN_STACK; without an AWS account, {otherwise}",
        )
    try:
        return _described(target.stack, target.endpoint_url)
    except NoRegionError:
        raise UserMistake(
            "no region is set", place="AWS", remedy="set AWS_DEFAULT_REGION, or AWS_PROFILE to a profile with one"
        ) from None
    except ProfileNotFound as error:
        raise UserMistake(str(error), place="AWS_PROFILE", remedy="`aws configure list-profiles` has those") from None
    except ValueError as error:
        raise UserMistake(str(error), place="--endpoint-url") from None


def _described(stack: str, endpoint_url: str | None) -> dict[str, str]:
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
    return {output["OutputKey"]: output["OutputValue"] for output in found[0].get("Outputs", ())}


def _settings(target: Target, outputs: dict[str, str]) -> Settings:
    if missing := [name for name in OUTPUTS if not outputs.get(name)]:
        names = ", ".join(missing)
        raise Misconfigured(f"stack {target.stack} has no output {names}: it is not a deployment of Pointsman")
    jobs, control, wakes, dead_letters = (outputs[name] for name in OUTPUTS)
    role = outputs.get("RolloutRole", "")
    stack = _name(str(target.stack))
    return Settings(jobs, control, wakes, dead_letters, target.endpoint_url, rollout_role=role, stack=stack)


def _name(stack: str) -> str:
    """The stack's name, which may be given by its ARN.

    >>> _name("arn:aws:cloudformation:eu-west-1:123456789012:stack/prod/7a1f"), _name("prod")
    ('prod', 'prod')
    """
    return stack.partition(":stack/")[2].partition("/")[0] or stack


def _client(service: str, endpoint_url: str | None, read: float = 10, attempts: int = 3) -> Any:
    config = Config(connect_timeout=3, read_timeout=read, retries={"mode": "standard", "total_max_attempts": attempts})
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
            remedy=SETUP,
        ) from error
    with ExitStack() as stack:
        with Console(stderr=True).status("playing the day of the demo"):
            wiring = stack.enter_context(played_to(seconds))
        yield wiring
