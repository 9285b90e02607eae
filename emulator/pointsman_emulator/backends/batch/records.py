"""A Batch resource as it is described, and what every operation on resources needs: finding, checking, paging."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.batch.exceptions import ClientException

from pointsman_emulator.environment import ACCOUNT, REGION

ARN = f"arn:aws:batch:{REGION}:{ACCOUNT}"
PAGE = 100
"""Items of a page, and how many a caller may ask for (UG:service_limits)."""
VALID, CREATING, UPDATING, DELETING = "VALID", "CREATING", "UPDATING", "DELETING"
ENABLED, DISABLED = "ENABLED", "DISABLED"
NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
TAGS, TAG_KEY, TAG_VALUE = 50, 128, 256
"""Tags of a resource, and the lengths of their keys and values (UG:service_limits)."""


@dataclass(slots=True)
class Record:
    """A resource: what a description says, but for its status and its tags."""

    name: str
    arn: str
    detail: dict[str, Any]
    tags: dict[str, str] = field(default_factory=dict)
    status: str = VALID

    @property
    def enabled(self) -> bool:
        """Whether its state says so."""
        return bool(self.detail["state"] == ENABLED)


def found(records: Mapping[str, Record], identifier: str) -> Record | None:
    """The resource of this ARN or name; None without one."""
    record = records.get(identifier)
    if record is None:
        record = next((record for record in records.values() if record.name == identifier), None)
    return record


def settled(record: Record, verb: str) -> Record:
    """The record, unless Batch is still busy with it."""
    if record.status != VALID:
        raise ClientException(f"Cannot {verb}, resource is being modified.")
    return record


def named(name: str, what: str) -> str:
    """A name of 128 letters, digits, hyphens and underscores at most."""
    if not NAME.fullmatch(name):
        raise ClientException(
            f"{what} must be 1 to 128 characters long, of letters, numbers, hyphens (-) and underscores (_)"
        )
    return name


def one_of(value: str, allowed: Iterable[str], what: str) -> str:
    """A value of an enumeration; boto3 lets any text through."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise ClientException(f"{what} must be one of [{', '.join(allowed)}]")
    return value


def within(value: float, least: float, most: float, what: str) -> None:
    """Refuse a number out of its bounds."""
    if not least <= value <= most:
        raise ClientException(f"{what} must be between {least} and {most}")


def state_of(request: Mapping[str, Any], default: str = ENABLED) -> str:
    """The state that a request asks for."""
    return one_of(request.get("state") or default, (ENABLED, DISABLED), "state")


def tagged(tags: Mapping[str, str] | None) -> dict[str, str]:
    """Tags within the service's limits."""
    tags = dict(tags or {})
    if len(tags) > TAGS:
        raise ClientException(f"A resource can have at most {TAGS} tags")
    for key, value in tags.items():
        if not 1 <= len(key) <= TAG_KEY or len(value) > TAG_VALUE:
            raise ClientException(f"A tag's key has 1 to {TAG_KEY} characters and its value at most {TAG_VALUE}")
        if key.lower().startswith("aws:"):
            raise ClientException("A tag's key must not begin with aws:")
    return tags


def limits_of(limits: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Capacity limits by unit."""
    by_unit: dict[str, int] = {}
    for limit in limits:
        unit, most = limit.get("capacityUnit"), limit.get("maxCapacity")
        if not unit or most is None:
            raise ClientException("Each of capacityLimits needs a capacityUnit and a maxCapacity")
        if unit in by_unit:
            raise ClientException(f"capacityLimits names {unit} more than once")
        if int(most) < 0:
            raise ClientException("maxCapacity must not be negative")
        by_unit[str(unit)] = int(most)
    if not by_unit:
        raise ClientException("capacityLimits must not be empty")
    return by_unit


def paged(items: list[dict[str, Any]], request: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One page of a listing."""
    size = min(request.get("maxResults") or PAGE, PAGE)
    start = token_of(request) or 0
    answer: dict[str, Any] = {name: items[start : start + size]}
    if start + size < len(items):
        answer["nextToken"] = str(start + size)
    return answer


def token_of(request: Mapping[str, Any]) -> int | None:
    """Where a listing goes on."""
    token = request.get("nextToken")
    if token is None:
        return None
    if not str(token).isdecimal():
        raise ClientException("nextToken is not one that was given")
    return int(token)
