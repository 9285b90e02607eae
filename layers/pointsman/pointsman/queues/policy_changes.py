"""What another policy changes in effect, in sentences that an operator reads."""

from collections.abc import Iterator
from dataclasses import fields

from pointsman.queues.policy import Deadline, JobClass, Match, Mode, Policy, Preemption, Reservation, Window
from pointsman.queues.reasons import hours


def changes(before: Policy, after: Policy) -> tuple[str, ...]:
    """Each difference that a pass can notice, as a sentence; none when the two decide alike."""
    return tuple(_changes(before, after))


def _changes(before: Policy, after: Policy) -> Iterator[str]:
    if before.mode is not after.mode:
        acts = after.mode is Mode.ACT
        yield "It acts: priorities are set." if acts else "It only observes: nothing is moved any more."
    if before.share != after.share:
        yield f"It rules the shares {after.share}, no longer {before.share}."
    yield from _classes(before, after)
    if before.spread != after.spread:
        yield (
            f"For each doubling of 1 + its expected GPU-hours a job is put back by {hours(after.spread)}, "
            f"no longer {hours(before.spread)}."
        )
    if before.reservation != after.reservation:
        yield _reservation(after.reservation)
    if before.preemption != after.preemption:
        yield _preemption(after.preemption)
    if before.respect_human != after.respect_human:
        long = "for good" if after.respect_human is None else f"for {hours(after.respect_human)}"
        yield f"A priority that someone else set stands {long}."
    if before.weights != after.weights:
        weights = ", ".join(f"{share} {weight:g}" for share, weight in after.weights)
        yield f"The weights of shares are {weights}." if weights else "The weights of shares are left as they are."
    yield from _alarms(before, after)
    yield from _windows(before, after)


def _classes(before: Policy, after: Policy) -> Iterator[str]:
    old, new = {c.name: c for c in before.classes}, {c.name: c for c in after.classes}
    for name in old.keys() - new.keys():
        yield f"There is no class {name} any more: its jobs are of the next class that matches them."
    for name, made in new.items():
        if name not in old:
            yield f"There is a new class {name}: {_match(made.match)}, head start {hours(made.head_start)}."
    kept = [name for name in new if name in old]
    if kept != [name for name in old if name in new]:
        yield f"The classes have another order, and the first that matches a job is its class: {', '.join(new)}."
    for name in kept:
        if new[name].match != old[name].match:
            yield f"{name} are other jobs: {_match(new[name].match)}, no longer {_match(old[name].match)}."
        for text in _settings(old[name], new[name]):
            yield f"{name}: {text}."


def _settings(old: JobClass, new: JobClass) -> Iterator[str]:
    if old.head_start != new.head_start:
        longer = "longer" if new.head_start > old.head_start else "shorter"
        yield f"its head start is {longer}, {hours(new.head_start)}, no longer {hours(old.head_start)}"
    if old.max_wait != new.max_wait:
        yield f"a job goes first {_after(new.max_wait)}, no longer {_after(old.max_wait)}"
    for name in ("entitlement", "ceiling"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            yield f"its {name} is {_part(now)}, no longer {_part(was)}"
    if old.preemptible is not new.preemptible:
        yield "its jobs may be evicted" if new.preemptible else "its jobs are evicted no more"
    if old.deadline != new.deadline:
        yield f"its jobs are due {_due(new.deadline)}, no longer {_due(old.deadline)}"


def _match(match: Match) -> str:
    parts = [f"named {match.job_name}"] if match.job_name is not None else []
    parts += [f"tagged {key}={glob}" for key, glob in match.tags]
    parts += [f"in share {match.share}"] if match.share is not None else []
    return " and ".join(parts) or "all jobs of no other class"


def _after(wait: float | None) -> str:
    return "at no age" if wait is None else f"after {hours(wait)} (double where nothing can be evicted)"


def _part(fraction: float | None) -> str:
    return "none" if fraction is None else f"{fraction:.0%} of the pool"


def _due(deadline: Deadline | None) -> str:
    if deadline is None:
        return "at no time"
    return (
        f"{hours(deadline.within)} after submission" if deadline.within is not None else f"as tag {deadline.tag} says"
    )


def _reservation(held: Reservation | None) -> str:
    if held is None:
        return "No place is held for big jobs any more: small ones may pass them for as long as they come."
    return f"A place is held for a big job once it has waited {hours(held.after)}, for {held.at_most} at most."


def _preemption(evicting: Preemption | None) -> str:
    if evicting is None:
        return "No job is evicted any more."
    return (
        f"A job may evict others once it has waited {hours(evicting.patience)}; never one that has run less than "
        f"{hours(evicting.protect)}, or was evicted {evicting.at_most_per_job} times ({evicting.how.value})."
    )


def _alarms(before: Policy, after: Policy) -> Iterator[str]:
    gone = [rule.alarm for rule in before.on_alarm if rule not in after.on_alarm]
    gone += [rule.alarm for rule in before.on_alarm_shares if rule not in after.on_alarm_shares]
    for alarm in gone:
        yield f"What alarm {alarm} did is no more."
    for boost in after.on_alarm:
        if boost not in before.on_alarm:
            yield f"Alarm {boost.alarm} gives {boost.boost} {hours(boost.by)} more head start{_lasts(boost.lasts)}."
    for rule in after.on_alarm_shares:
        if rule not in before.on_alarm_shares:
            what = f"weight {rule.weight:g}" if rule.weight is not None else f"a borrow limit of {rule.borrow_limit} %"
            yield f"Alarm {rule.alarm} gives share {rule.share} {what}{_lasts(rule.lasts)}."


def _lasts(seconds: float | None) -> str:
    return "" if seconds is None else f" for {hours(seconds)} at most"


def _windows(before: Policy, after: Policy) -> Iterator[str]:
    for window in before.windows:
        if window not in after.windows:
            yield f"The window {window.when} is no more{_of(window)}."
    for window in after.windows:
        if window not in before.windows:
            yield f"There is a window {window.when}{_of(window)}."


def _of(window: Window) -> str:
    sets = []
    for name, settings in window.settings:
        values = [
            f"{f.name} {_value(f.name, v)}" for f in fields(settings) if (v := getattr(settings, f.name)) is not None
        ]
        sets.append(f"{name} with {' and '.join(values)}")
    return f", in which there is {'; '.join(sets)}"


def _value(name: str, value: float) -> str:
    return hours(value) if name in ("head_start", "max_wait") else f"{value:.0%}"
