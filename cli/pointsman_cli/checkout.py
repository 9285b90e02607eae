"""The checkout that the command runs from: what a package does not hold, the template and the examples, is there."""

from pathlib import Path

from pointsman.errors import UserMistake

ROOT = Path(__file__).resolve().parents[2]
SETUP = "in a checkout of the repository `make setup` installs all that it needs, as .venv/bin/pointsman"


def shipped(name: str, option: str = "") -> Path:
    """A file of the repository; raises `UserMistake` where the command does not run from a checkout.

    `option` is the one by which another file can be named.
    """
    file = ROOT / name
    if not file.is_file():
        other = f"name another by {option}; " if option else ""
        raise UserMistake(
            "it is not here, since this command does not run from a checkout", place=name, remedy=f"{other}{SETUP}"
        )
    return file
