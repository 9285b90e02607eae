"""Q9: what alarms do to a queue ends with them or with its time, and lasts until then."""

from typing import TYPE_CHECKING, Any

from pointsman.queues.policy import Policy

if TYPE_CHECKING:
    from tests.proof.queues.truth import Truth


class Alarms:
    """The alarms of one world, and what a pass makes of them."""

    def __init__(self, truth: "Truth") -> None:
        self._truth = truth
        self._states: dict[str, list[tuple[float, str]]] = {}

    def moved(self, alarm: str, state: str, at: float) -> None:
        """The alarm is in this state from then on, or gone."""
        self._states.setdefault(alarm, []).append((at, state))

    def judge(self, view: Any, policy: Policy) -> None:
        """Whether a pass that could ask has the effects that it should have, and no other."""
        self._end(view)
        self._last(view, policy)

    def _end(self, view: Any) -> None:
        for effect in view.effects:
            if not effect.active(view.now):
                continue
            state, since = "gone", 0.0
            for at, now in self._states.get(effect.alarm, ()):
                seen = view.now + (now == "ALARM")  # its beginning is told in whole seconds
                if at <= seen and (now == "ALARM") is not (state == "ALARM"):
                    state, since = now, at
            lasts = [rule.lasts for at, policy in self._truth.policies for rule in policy.on_alarm]
            longest = max((1e12 if one is None else one for one in lasts), default=0.0)
            if state != "ALARM" or view.now > since + longest + 1:
                told = f"{effect.alarm} boosts {effect.boost}, and is {state} since {since - 1.8e9:.0f}"
                self._truth.wrong("Q9", told)

    def _last(self, view: Any, policy: Policy) -> None:
        """An effect without a time lasts for as long as its alarm."""
        active = {(effect.alarm, effect.boost) for effect in view.effects if effect.active(view.now)}
        standing = [name for name, (*_, (at, state)) in self._states.items() if state == "ALARM" and at <= view.now]
        for alarm in standing:
            for rule in policy.on_alarm:
                if rule.lasts is None and (alarm, rule.boost) not in active:
                    self._truth.wrong("Q9", f"{alarm} stands in ALARM, and boosts {rule.boost} no more")
