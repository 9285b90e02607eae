"""A request's file, read and checked."""

from pathlib import Path

from pointsman.rollout_documents import parse_request
from pointsman.rollouts.request import Request
from pointsman_cli.check import checked, problem_shape
from pointsman_cli.failures import FOUND, Failure
from pointsman_cli.printing import print_json


def read_request(file: Path, *, as_json: bool) -> tuple[Request, object]:
    """The request in the file, and the document that states it; what is wrong with it ends the command."""
    found = checked(file, parse_request)
    if found.stated is None:
        if as_json:
            print_json({"ok": False, "problems": [problem_shape(finding) for finding in found.findings]})
        raise Failure("this request is not valid\n" + "\n".join(map(str, found.findings)), FOUND)
    return found.stated, found.source.value
