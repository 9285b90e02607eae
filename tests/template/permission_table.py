"""The permission table: each function, what it calls, which statement of its role allows it, and in which scenario.

`python -m tests.template.permission_table` plays the scenarios and writes the table into docs/permissions.md.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pointsman_emulator import Emulator, InferenceSettings, Stack
from pointsman_emulator.backends.iam.models import find_role
from pointsman_emulator.environment import ACCOUNT, REGION
from tests.iam import Statement, listed, matches
from tests.template import queue_calls, rollout_calls, verb_calls
from tests.template.calls import Asked, Recorder, recorded
from tests.template.stack import ROOT

PAGE = ROOT / "docs/permissions.md"
BEGIN, END = "<!-- made by `make permissions` -->\n", "<!-- until here -->\n"
HEAD = ("function", "calls", "on", "granted by", "seen in")
NOBODY = "NOTHING"


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """A statement of a caller's role allows an action on what one of its patterns names."""

    caller: str
    action: str
    on: str
    by: str


@dataclass
class Table:
    """Which grants were used, and in which scenarios; every grant that there is; and what was come to, by whom."""

    used: dict[Grant, set[str]] = field(default_factory=lambda: defaultdict(set))
    given: set[Grant] = field(default_factory=set)
    came: set[tuple[str, str]] = field(default_factory=set)

    def add(self, roles: Mapping[str, "Role"], recorder: Recorder) -> None:
        """Hold what was asked while scenarios played against the roles of that deployment."""
        for caller, role in roles.items():
            self.given |= set(role.grants(caller))
        self.came |= recorder.came
        for one, scenarios in recorder.asked.items():
            self.used[roles[one.caller].answers(one)] |= set(scenarios)

    def lines(self) -> Iterator[str]:
        """The table as the page has it."""
        yield f"| {' | '.join(HEAD)} |"
        yield "|---" * len(HEAD) + "|"
        for grant in sorted(self.used):
            named = (f"`{text}`" for text in (grant.caller, grant.action, grant.on, grant.by))
            yield f"| {' | '.join(named)} | {', '.join(sorted(self.used[grant]))} |"


@dataclass(frozen=True, slots=True)
class Role:
    """What one role allows by its own policies; `names` are the stack's resources by what they were made as."""

    statements: tuple[Statement, ...]
    names: Mapping[str, str]

    def answers(self, asked: Asked) -> Grant:
        """The first grant of what is asked, or none."""
        for statement in self.statements:
            for pattern in listed(statement["Resource"]):
                if matches({**statement, "Resource": pattern}, asked.action, asked.resource, dict(asked.context)):
                    return Grant(asked.caller, asked.action, self._shown(pattern), statement["Sid"])
        return Grant(asked.caller, asked.action, asked.resource, NOBODY)

    def grants(self, caller: str) -> Iterator[Grant]:
        """Every action on every pattern."""
        for statement in self.statements:
            for action in listed(statement["Action"]):
                for pattern in listed(statement["Resource"]):
                    yield Grant(caller, action, self._shown(pattern), statement["Sid"])

    def _shown(self, pattern: str) -> str:
        """A pattern as people read it: names of the template, and no account."""
        for made, name in self.names.items():
            pattern = pattern.replace(made, name)
        return re.sub(rf"^arn:aws:[a-z0-9-]*:({REGION})?:({ACCOUNT}|\*):", "", pattern)


def table() -> Table:
    """Play every scenario, each part on a deployment of its own."""
    made = Table()
    _play(made, queue_calls.play, seed=1)
    for play in (rollout_calls.play, verb_calls.play):
        _play(made, play, seed=7, inference=rollout_calls.WORLD.settings)
    return made


def _play(
    made: Table, play: Callable[[Emulator, Recorder], Stack], seed: int, inference: InferenceSettings | None = None
) -> None:
    with Emulator(seed=seed, inference=inference) as aws, recorded(aws) as recorder:
        stack = play(aws, recorder)
        assert not aws.failures
        made.add(roles_of(stack), recorder)


def roles_of(stack: Stack) -> dict[str, Role]:
    """The role of each function and of the state machine, by their names in the template."""
    names = {made: name for name, made in stack.resources.items()}
    names |= {made.rsplit("/", 1)[-1].rsplit(":", 1)[-1]: name for made, name in names.items()}
    names = {made: names[made] for made in sorted(names, key=len, reverse=True) if made != stack.name}
    found = [name for name in stack.resources if name.endswith("Role")]
    return {name.removesuffix("Role"): Role(tuple(_statements(stack.resources[name])), names) for name in found}


def _statements(name: str) -> Iterator[Statement]:
    role = find_role(f"arn:aws:iam::{ACCOUNT}:role/{name}")
    assert role is not None
    documents: Iterable[Any] = role.policies.values()  # a mapping each, or a text where it is a policy by itself
    for document in documents:
        yield from (json.loads(document) if isinstance(document, str) else document)["Statement"]


def written(text: str, made: Table) -> str:
    """The page with this table in the place of its own."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return "".join([before, BEGIN, *(f"{line}\n" for line in made.lines()), END, after])


def shown(text: str) -> list[str]:
    """The table that the page has."""
    return text.partition(BEGIN)[2].partition(END)[0].splitlines()


if __name__ == "__main__":
    found = table()
    PAGE.write_text(written(PAGE.read_text(), found))
    print(f"{len(found.used)} grants, in {PAGE.relative_to(ROOT)}")  # noqa: T201
