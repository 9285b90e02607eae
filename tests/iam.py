"""What IAM says of a call under some statements: as much of its evaluation as our policies use, and no guess beyond."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

Statement = Mapping[str, Any]
Context = Mapping[str, str]
Decision = Literal["allowed", "explicitDeny", "implicitDeny"]

KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


def _like(asked: str, stated: str) -> bool:
    pattern = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in stated)
    return re.fullmatch(pattern, asked) is not None


# "IAM JSON policy elements: Condition operators" in the IAM User Guide.
OPERATORS: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda asked, stated: asked == stated,
    "StringLike": _like,
    "ArnLike": _like,
    "NumericEquals": lambda asked, stated: float(asked) == float(stated),
    "NumericLessThan": lambda asked, stated: float(asked) < float(stated),
    "NumericGreaterThanEquals": lambda asked, stated: float(asked) >= float(stated),
}


def decide(statements: Iterable[Statement], action: str, resource: str, context: Context | None = None) -> Decision:
    """What a call comes to: a deny wins, silence is no."""
    matching = [one for one in statements if matches(one, action, resource, context or {})]
    if any(one["Effect"] == "Deny" for one in matching):
        return "explicitDeny"
    return "allowed" if matching else "implicitDeny"


def matches(statement: Statement, action: str, resource: str, context: Context) -> bool:
    """Whether the statement speaks of this call; raises `ValueError` for what is not evaluated here."""
    if unknown := set(statement) - KNOWN:
        raise ValueError(f"not evaluated here: {', '.join(sorted(unknown))}")
    return (
        any(_like(action.lower(), stated.lower()) for stated in listed(statement["Action"]))
        and any(_like(resource, stated) for stated in listed(statement["Resource"]))
        and all(_holds(*test, context) for test in statement.get("Condition", {}).items())
    )


def _holds(operator: str, tests: Mapping[str, Any], context: Context) -> bool:
    """Whether all keys of one operator hold. A key that the call does not have holds for IfExists and ForAllValues."""
    if operator == "Null":
        return all((key not in context) == (stated == "true") for key, stated in tests.items())
    name = operator.removeprefix("ForAllValues:").removesuffix("IfExists")
    if name not in OPERATORS:
        raise ValueError(f"not evaluated here: {operator}")
    return all(
        any(OPERATORS[name](context[key], str(one)) for one in listed(stated)) if key in context else name != operator
        for key, stated in tests.items()
    )


def listed(value: Any) -> list[Any]:
    """One or many, as a list."""
    return value if isinstance(value, list) else [value]
