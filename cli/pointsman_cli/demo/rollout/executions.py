"""The executions of a scenario's rollout: their histories as Step Functions tells them, and as a person reads them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pointsman_cli.printing import moment
from pointsman_emulator.emulator import Emulator

Shape = dict[str, object]
ENTERED, EXITED = "StateEntered", "StateExited"
CLOCKWORK = frozenset({"Advance", "Choose by phase"})  # between any two waits
MISSED = "DynamoDb.ConditionalCheckFailedException"


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a history, named as Step Functions names it; `at` is epoch seconds."""

    number: int
    at: float
    kind: str
    state: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution: how it ended, and its whole history, the oldest event first."""

    name: str
    status: str
    error: str
    cause: str
    events: tuple[Event, ...]


@dataclass(slots=True)
class Stay:
    """Waits in one state that followed each other, with nothing between them but passes."""

    event: int
    at: float
    state: str
    waits: int = 1
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def how(self) -> str:
        """How the waits ended.

        >>> Stay(7, 0.0, "Bake", 3, Counter({"ran out": 2, "woken": 1})).how
        '2 ran out, 1 woken'
        """
        return ", ".join(f"{count} {end}" for end, count in self.ends.items())


def executions(aws: Emulator, state_machine: str) -> tuple[Execution, ...]:
    """Every execution of the state machine, in the order in which they began."""
    client = aws.client("stepfunctions")
    found = client.list_executions(stateMachineArn=state_machine)["executions"]
    made = []
    for each in sorted(found, key=lambda it: (it["startDate"], it["name"])):
        told = client.describe_execution(executionArn=each["executionArn"])
        pages = client.get_paginator("get_execution_history").paginate(executionArn=each["executionArn"])
        events = tuple(_event(event) for page in pages for event in page["events"])
        made.append(Execution(each["name"], told["status"], told.get("error", ""), told.get("cause", ""), events))
    return tuple(made)


def _event(event: dict[str, object]) -> Event:
    details = next((value for name, value in event.items() if name.endswith("EventDetails")), {})
    assert isinstance(details, dict)  # noqa: S101 - by the API's shape
    number, at, kind = event["id"], event["timestamp"], str(event["type"])
    state = str(details.get("name", "")) if kind.endswith((ENTERED, EXITED)) else ""
    return Event(int(str(number)), at.timestamp(), kind, state, str(details.get("error", "")))  # type: ignore[attr-defined]


def stays(events: Iterable[Event]) -> Iterator[Stay]:
    """Where an execution waited and what it ended in; a pass shows only where it failed."""
    stay: Stay | None = None
    inside = ""
    for event in events:
        if event.kind.endswith(ENTERED):
            inside = event.state
            if inside in CLOCKWORK:
                continue
            if stay is not None and stay.state == inside:
                stay.waits += 1
            else:
                if stay is not None:
                    yield stay
                stay = Stay(event.number, event.at, inside)
        elif inside in CLOCKWORK:
            if event.error and event.kind == "TaskFailed":
                if stay is not None:
                    yield stay
                stay = Stay(event.number, event.at, inside, ends=Counter({f"failed with {event.error}": 1}))
        elif stay is not None and (end := _end(event)):
            stay.ends[end] += 1
    if stay is not None:
        yield stay


def _end(event: Event) -> str:
    if event.kind == "TaskFailed":
        return "woken before it began" if event.error == MISSED else f"failed with {event.error}"
    return {"TaskTimedOut": "ran out", "TaskSucceeded": "woken"}.get(event.kind, "")


def execution_shape(execution: Execution) -> Shape:
    """One execution of `demo rollout --history --json`. It is API: keys are added, never renamed."""
    return {
        "name": execution.name,
        "status": execution.status,
        "error": execution.error or None,
        "cause": execution.cause or None,
        "events": [
            {
                "id": event.number,
                "at": moment(event.at),
                "type": event.kind,
                "state": event.state or None,
                "error": event.error or None,
            }
            for event in execution.events
        ],
    }
