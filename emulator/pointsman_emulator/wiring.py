"""The wiring check: every kind of event that was produced is matched by a rule and reaches its target."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass(slots=True)
class Route:
    """What went from one rule to one target."""

    target: str
    matched: int = 0
    sent: int = 0
    reached: int = 0
    lost: int = 0
    """Lost by injection, after the match: no fault of the wiring."""
    refused: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Kind:
    """One kind of event: a source and a detail-type."""

    source: str
    detail_type: str
    produced: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)

    def matched(self, rule: str) -> None:
        """A rule matched an event of this kind."""
        self.rules[rule] = self.rules.get(rule, 0) + 1

    def to(self, rule: str, target: str) -> Route:
        """The route from a rule to a target."""
        return self.routes.setdefault((rule, target), Route(target))


@dataclass(frozen=True, slots=True)
class WiringReport:
    """What the check found. `faults` are sentences; there is none when all is well."""

    kinds: tuple[Kind, ...]
    faults: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every kind of event reached its targets."""
        return not self.faults

    def __str__(self) -> str:
        """The report in words."""
        lines = []
        for kind in self.kinds:
            for route in kind.routes.values():
                lost = f", {route.lost} lost by injection" if route.lost else ""
                lines.append(
                    f"{kind.detail_type} ({kind.source}): {kind.produced} produced, "
                    f"{route.reached} reached {self.names.get(route.target, short(route.target))}{lost}"
                )
        return "\n".join([*lines, *self.faults])


@dataclass(slots=True)
class Ledger:
    """Keeps book of events, and knows which targets the templates meant to be fed."""

    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """ARN to logical id."""
    expected: dict[str, str] = field(default_factory=dict)
    """ARN of each queue and function that lets EventBridge in, and what says so."""
    dangling: list[str] = field(default_factory=list)
    """References of the templates to resources that they do not have."""

    def produced(self, source: str, detail_type: str) -> Kind:
        """An event of this kind was produced."""
        kind = self.kinds.setdefault((source, detail_type), Kind(source, detail_type))
        kind.produced += 1
        return kind

    def check(self, targeted: AbstractSet[str]) -> WiringReport:
        """Compare what happened with what the templates mean; `targeted` are the rules' targets."""
        orphans = [arn for arn in self.expected if arn not in targeted]
        faults: list[str] = []
        for kind in self.kinds.values():
            label = f'"{kind.detail_type}" from {kind.source}'
            if not kind.rules:
                missing = " or ".join(self.name(arn) for arn in orphans)
                meant = f"; {missing} lets EventBridge in and no rule feeds it" if orphans else ""
                faults.append(f"{label}: {kind.produced} produced, matched by no rule{meant}.")
            fed = {name for name, _ in kind.routes}
            faults.extend(
                f"{label}: rule {rule} matched it and has no target." for rule in kind.rules if rule not in fed
            )
            for (rule, arn), route in kind.routes.items():
                faults.extend(
                    f"{label}: {number} of {route.sent} did not reach {self.name(arn)} by {rule}: {reason}."
                    for reason, number in route.refused.items()
                )
        faults.extend(f"{self.name(arn)}: {self.expected[arn]}, and no rule has it as a target." for arn in orphans)
        faults.extend(self.dangling)
        return WiringReport(tuple(self.kinds.values()), tuple(faults), self.names)

    def name(self, arn: str) -> str:
        """A target as the template calls it."""
        return self.names.get(arn, short(arn))


def short(arn: str) -> str:
    """The last part of an ARN."""
    return arn.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
