"""The effects that alarms have on a queue now, from what is stored and from the alarms' own histories."""

from dataclasses import replace
from fnmatch import fnmatchcase

from pointsman.errors import Transient, Unreadable
from pointsman.ports import Alarms, Control
from pointsman.queues.effects import Effect, effects_of
from pointsman.queues.policy import Policy

ALARM_MEMORY = 7 * 86400.0  # seconds back that an open-ended effect looks for its alarm's transition


def effects_now(
    policy: Policy, now: float, control: Control, alarms: Alarms, *, keep: bool
) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Effects of the policy's rules, as stored and as the alarms' histories say; a lost event makes no difference.

    An alarm's history is read from the oldest effect on that has not ended, so that its end is seen. An effect whose
    alarm is no longer there, or was never in ALARM by its own history, is over. Where a history cannot be read what is
    stored of it counts, and beside the effects people are told.
    """
    found: dict[tuple[str, float, str], Effect] = {}
    stored = {_key(e): e for e in control.effects(policy.queue)} if policy.on_alarm else {}
    ruled: dict[tuple[str, float, str], Effect] = {}
    told: list[str] = []
    for rule in policy.on_alarm:
        ours = {k: e for k, e in stored.items() if e.boost == rule.boost and fnmatchcase(e.alarm, rule.alarm)}
        ruled |= ours
        since = now - (ALARM_MEMORY if rule.lasts is None else rule.lasts)
        going = {key: effect for key, effect in ours.items() if effect.active(now)}
        since = min([since, *(effect.since for effect in going.values())])
        try:
            moves = alarms.transitions(rule.alarm, since)
        except (Transient, Unreadable) as error:
            told.append(f"alarms {rule.alarm} count as they were last seen: {error}")
            continue
        seen = {_key(e): e for e in effects_of(replace(policy, on_alarm=(rule,)), moves)}
        gone = {key: replace(effect, ended=now) for key, effect in going.items() if key not in seen}
        for key, effect in (gone | seen).items():
            other = found.get(key)
            if other is None or other.by < effect.by:
                found[key] = effect
    for key, effect in found.items():
        if ruled.get(key) != effect and (effect.active(now) or key in ruled):
            if keep:
                control.put_effect(policy.queue, effect)
            ruled[key] = effect
    return tuple(sorted(ruled.values(), key=lambda e: (e.since, e.alarm, e.boost))), tuple(told)


def _key(effect: Effect) -> tuple[str, float, str]:
    return (effect.alarm, effect.since, effect.boost)
