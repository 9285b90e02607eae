"""Errors as one message and an exit code: the only place where the two meet.

0  fine
1  the check found problems, or nothing was found
2  wrong usage, or a mistake of the person who asks (click's own code for it)
3  AWS could not be reached, asked to wait, or refused
4  the deployment, or what is stored in it, must be mended first
70 a fault of this program
"""

import sys

import click

from pointsman.documents import InvalidDocument
from pointsman.errors import Conflict, Gone, Misconfigured, PointsmanError, Transient, UserMistake
from pointsman_cli.printing import plain

FOUND = 1
MISTAKE = 2
AWS = 3
DEPLOYMENT = 4
FAULT = 70


class Failure(click.ClickException):
    """One message on standard error, and the code to exit with."""

    def __init__(self, message: str, code: int) -> None:
        """Keep both."""
        super().__init__(plain(message))
        self.exit_code = code  # type: ignore[misc]  # click means it to be set, and declares it of the class


def failure(error: Exception) -> Failure:
    """What a person is told of this error, and what a script is."""
    if isinstance(error, PointsmanError):
        return _ours(error)
    if isinstance(error, InvalidDocument):
        why = "the stored policy cannot be used by this version of Pointsman"
        return Failure(f"{why}: {error}; mend it and `pointsman policy apply` it again", DEPLOYMENT)
    if _from_aws(error):
        return Failure(f"AWS refused: {error}", AWS)
    return Failure(f"a fault of pointsman: {type(error).__name__}: {error} (--debug shows where)", FAULT)


def _ours(error: PointsmanError) -> Failure:
    if isinstance(error, UserMistake):
        return Failure(str(error), MISTAKE)
    if isinstance(error, Transient):
        return Failure(f"AWS could not be reached, or asks to try later: {error}", AWS)
    if isinstance(error, Conflict):
        return Failure(f"someone else wrote at the same moment, try again: {error}", AWS)
    if isinstance(error, Gone):
        return Failure(str(error), FOUND)
    if isinstance(error, Misconfigured):
        return Failure(f"{error} (mend the deployment, the credentials or the queue)", DEPLOYMENT)
    return Failure(str(error), FAULT)


def _from_aws(error: Exception) -> bool:
    """Whether botocore raised it; asked without importing botocore, which most verbs' failures never need."""
    known = sys.modules.get("botocore.exceptions")
    return known is not None and isinstance(error, known.ClientError | known.BotoCoreError)
