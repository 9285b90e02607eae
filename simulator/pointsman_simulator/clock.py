"""The week's windows of a policy, for a replay, which counts its seconds from its own beginning."""

from dataclasses import dataclass, replace

from pointsman.queues.policy import Policy, Window
from pointsman.wall_clock import Weekly
from pointsman_simulator.traces import TraceError

CALENDAR = (-6e10, 2.5e11)
"""Epoch seconds that a calendar has, with room to both sides: the years 68 to 9892."""


@dataclass(frozen=True)
class _Since(Weekly):
    """A window whose moments are counted from `begins`, in epoch seconds."""

    begins: float = 0.0

    def open(self, at: float) -> bool:
        """Whether the window is open at this moment."""
        return Weekly.open(self, self.begins + at)

    def next_edge(self, at: float) -> float:
        """When the window next opens or closes."""
        return Weekly.next_edge(self, self.begins + at) - self.begins


def since(begins: float, policy: Policy) -> Policy:
    """The policy for moments counted from `begins`, in epoch seconds; one without windows is the same.

    Raises `TraceError` where no calendar has that moment.
    """
    if policy.windows and not CALENDAR[0] < begins < CALENDAR[1]:
        text = f"the policy has windows of the week, and {begins:.15g} is no time of epoch seconds"
        remedy = "let submit_s and the window count seconds since 1970, or take the windows out of the policy"
        raise TraceError(f"{text}; {remedy}", "window")
    return replace(policy, windows=tuple(_counted(window, begins) for window in policy.windows))


def _counted(window: Window, begins: float) -> Window:
    when = window.when
    return replace(window, when=_Since(when.days, when.begin, when.end, when.zone, begins))
