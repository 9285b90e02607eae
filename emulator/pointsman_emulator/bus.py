"""EventBridge: what is put is matched by the rules of the template, and delivered later, perhaps twice, perhaps not."""

from __future__ import annotations

import functools
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from moto.events.models import EventsBackend, Rule, events_backends
from moto.events.utils import EventTemplateParser

from pointsman_emulator.clock import Clock, iso
from pointsman_emulator.environment import ACCOUNT, REGION
from pointsman_emulator.faults import Faults
from pointsman_emulator.wiring import Ledger, Route

UNITS = {"minute": 60, "minutes": 60, "hour": 3600, "hours": 3600, "day": 86400, "days": 86400}


@dataclass(slots=True)
class Bus:
    """Matches events and delivers them to queues and functions."""

    clock: Clock
    random: Random
    faults: Faults
    ledger: Ledger
    send_to: Callable[[str, str, Mapping[str, Any]], None]
    """Sends a body to the queue or function of this ARN; LookupError or PermissionError where it cannot."""
    measure: Callable[[str, str, float, dict[str, str]], None]
    """Puts a datum of a metric of EventBridge's own: namespace, name, value, dimensions."""
    ids: Random = field(default_factory=Random)
    watchers: list[Callable[[Mapping[str, Any]], object]] = field(default_factory=list)
    """Told of every event that is put."""
    _ticking: set[tuple[str, str]] = field(default_factory=set)

    def put_entries(self, backend: EventsBackend, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """PutEvents: each entry is taken or refused by itself."""
        return [self._put_entry(backend, entry) for entry in entries]

    def _put_entry(self, backend: EventsBackend, entry: Mapping[str, Any]) -> dict[str, Any]:
        for name in ("Source", "DetailType", "Detail"):
            if not entry.get(name):
                message = f"Parameter {name} is not valid. Reason: {name} is a required argument."
                return {"ErrorCode": "InvalidArgument", "ErrorMessage": message}
        try:
            detail = json.loads(entry["Detail"])
        except ValueError:
            detail = None
        if not isinstance(detail, dict):
            return {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
        when = entry.get("Time")
        at = when.timestamp() if isinstance(when, datetime) else float(when or self.clock.now)
        name = backend._normalize_event_bus_arn(entry.get("EventBusName"))
        return {
            "EventId": self.put(
                entry["Source"], entry["DetailType"], detail, at=at, resources=entry.get("Resources") or (), bus=name
            )
        }

    def put(
        self,
        source: str,
        detail_type: str,
        detail: Mapping[str, Any],
        *,
        at: float | None = None,
        resources: tuple[str, ...] | list[str] = (),
        bus: str = "default",
    ) -> str:
        """Put one event on a bus, as a service does; returns its id."""
        event = self._event(source, detail_type, detail, self.clock.now if at is None else at, resources)
        for watcher in self.watchers:
            watcher(event)
        kind = self.ledger.produced(source, detail_type)
        for rule in list(events_backends[ACCOUNT][REGION].describe_event_bus(bus).rules.values()):
            if rule.state != "ENABLED" or rule.scheduled_expression or not _matches(rule, event):
                continue
            kind.matched(rule.name)
            for target in rule.targets:
                self._deliver(rule, target, event, kind.to(rule.name, target["Arn"]))
        return str(event["id"])

    def schedule(self, backend: EventsBackend) -> None:
        """Start the schedules that are not running yet."""
        for bus in backend.event_buses.values():
            for rule in bus.rules.values():
                expression = rule.scheduled_expression
                if expression and (rule.name, expression) not in self._ticking:
                    self._ticking.add((rule.name, expression))
                    seconds = _period(rule.name, expression)
                    self.clock.at(self.clock.now + seconds, functools.partial(self._tick, rule, seconds))

    def _tick(self, rule: Rule, seconds: float) -> None:
        key = (rule.name, rule.scheduled_expression)
        rules = events_backends[ACCOUNT][REGION].event_buses[rule.event_bus_name].rules
        if rules.get(rule.name) is not rule:
            self._ticking.discard(key)
            return
        self.clock.at(self.clock.now + seconds, lambda: self._tick(rule, seconds))
        if rule.state != "ENABLED":
            return
        event = self._event("aws.events", "Scheduled Event", {}, self.clock.now, [rule.arn])
        kind = self.ledger.produced("aws.events", "Scheduled Event")
        kind.matched(rule.name)
        for target in rule.targets:
            route = kind.to(rule.name, target["Arn"])
            if self.faults.schedules:
                self._deliver(rule, target, event, route)
            else:
                self._hand_over(rule, target, event, route)

    def _event(
        self,
        source: str,
        detail_type: str,
        detail: Mapping[str, Any],
        at: float,
        resources: tuple[str, ...] | list[str],
    ) -> dict[str, Any]:
        return {
            "version": "0",
            "id": str(uuid.UUID(int=self.ids.getrandbits(128), version=4)),
            "detail-type": detail_type,
            "source": source,
            "account": ACCOUNT,
            "time": iso(at),
            "region": REGION,
            "resources": list(resources),
            "detail": dict(detail),
        }

    def _deliver(self, rule: Rule, target: Mapping[str, Any], event: dict[str, Any], route: Route) -> None:
        faults, draw = self.faults, self.random
        copies = int(faults.deliver) + (draw.random() < faults.deliver % 1)
        if faults.duplicate and draw.random() < faults.duplicate:
            copies += 1
        route.matched += 1
        for _ in range(copies):
            if faults.lose and draw.random() < faults.lose:
                continue
            route.sent += 1
            self.clock.at(
                self.clock.now + draw.uniform(*faults.delay),
                lambda: self._hand_over(rule, target, event, route, counted=True),
            )
        if not copies:
            route.lost += 1

    def _hand_over(
        self,
        rule: Rule,
        target: Mapping[str, Any],
        event: dict[str, Any],
        route: Route,
        *,
        counted: bool = False,
    ) -> None:
        if not counted:
            route.matched += 1
            route.sent += 1
        body = target["Input"] if target.get("Input") else json.dumps(event)
        if target.get("InputTransformer"):
            shape = target["InputTransformer"]
            made = EventTemplateParser.parse(
                input_template=shape.get("InputTemplate"),
                input_paths_map=shape.get("InputPathsMap", {}),
                event=event,  # type: ignore[arg-type]
            )
            body = json.dumps(made)
        try:
            self.send_to(target["Arn"], body, {"rule": rule.arn, **(target.get("SqsParameters") or {})})
        except (LookupError, PermissionError) as error:
            route.refused[str(error)] = route.refused.get(str(error), 0) + 1
            self._give_up(rule, target, event, error)
        else:
            route.reached += 1

    def _give_up(self, rule: Rule, target: Mapping[str, Any], event: dict[str, Any], error: Exception) -> None:
        """No resource and no permission are not tried again: the event goes to the dead letters (UG:rule-dlq)."""
        code = "NO_PERMISSIONS" if isinstance(error, PermissionError) else "NO_RESOURCE"
        dimensions = {"RuleName": rule.name}
        if rule.event_bus_name != "default":
            dimensions["EventBusName"] = rule.event_bus_name
        self.measure("AWS/Events", "FailedInvocations", 1, dimensions)
        dead = (target.get("DeadLetterConfig") or {}).get("Arn")
        if dead:
            said = {
                "RULE_ARN": rule.arn,
                "TARGET_ARN": target["Arn"],
                "ERROR_CODE": code,
                "ERROR_MESSAGE": str(error),
            }
            self.send_to(dead, json.dumps(event), {"attributes": said})
            self.measure("AWS/Events", "InvocationsSentToDlq", 1, dimensions)


def _matches(rule: Rule, event: dict[str, Any]) -> bool:
    pattern = rule.event_pattern.get_pattern()
    for name in ("source", "detail-type"):
        wanted = pattern.get(name)
        if wanted and event[name] not in wanted and all(isinstance(choice, str) for choice in wanted):
            return False
    if all(name in ("source", "detail-type") for name in pattern) and all(
        isinstance(choice, str) for wanted in pattern.values() for choice in wanted
    ):
        return bool(pattern)
    return bool(rule.event_pattern.matches_event(event))  # type: ignore[arg-type]


def _period(name: str, expression: str) -> float:
    found = re.fullmatch(r"rate\((\d+) (\w+)\)", expression)
    if found is None:
        raise NotImplementedError(f"rule {name}: the emulator has rate(..) schedules only, not {expression}")
    return int(found[1]) * UNITS[found[2]]
