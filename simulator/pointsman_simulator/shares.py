"""The shares of a replay's queue: one, or one for each team, as the policy says."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from pointsman.queues.policy import Policy
from pointsman.queues.view import Share
from pointsman_emulator.models.batch import FairShare, Snapshot
from pointsman_emulator.models.batch_policies import HIGHEST_SHARES
from pointsman_simulator.replay import Replay
from pointsman_simulator.traces import TraceError, TraceJob


def share_of(job: TraceJob, policy: Policy) -> str:
    """The policy's share; where that is a pattern, the job's own, or else its team's."""
    return (job.share or job.team) if several(policy) else policy.share


def several(policy: Policy) -> bool:
    """Whether the policy rules shares by a pattern."""
    return any(sign in policy.share for sign in "*?[")


def weights_of(policy: Policy) -> FairShare:
    """The scheduling policy of the queue: the weights are the policy's, and 1 for a share that it does not weigh."""
    return FairShare(dict(policy.weights))


def quotas_of(replay: Replay, policy: Policy) -> Mapping[str, int]:
    """The instances of each quota share: the whole pool, or of several shares equal parts of it.

    Raises `TraceError` where there are more shares than a queue may have, or than instances.
    """
    names = sorted({share_of(job, policy) for job in replay.jobs})
    most = min(HIGHEST_SHARES, replay.capacity)
    if len(names) > most:
        why = "a queue has" if most == HIGHEST_SHARES else f"{replay.capacity} instances make"
        raise TraceError(
            f"{len(names)} teams would need a quota share each, and {why} {most} at most; "
            "let the policy name one share, such as `share: all`, or play it as `pointsman`",
            "runs",
        )
    each, rest = divmod(replay.capacity, len(names))
    return {name: each + (place < rest) for place, name in enumerate(names)}


def in_turn(snapshot: Snapshot, known: Iterable[str], weights: FairShare) -> tuple[Share, ...]:
    """The shares whose jobs are known, first the one whose turn a snapshot shows, as a pass sees them."""
    used = dict.fromkeys(known, 0)
    used |= {name: count for name, count in snapshot.shares if name in used}
    front = (place.job.share or "" for place in snapshot.front)
    names = dict.fromkeys([*(name for name in front if name in used), *sorted(used)])
    return tuple(Share(name, _weight(name, names, weights), used[name]) for name in names)


def _weight(share: str, active: Iterable[str], weights: FairShare) -> float:
    entry = weights.entry_of(share)
    return weights.weight_of(share, sum(1 for other in active if entry is not None and fnmatchcase(other, entry)))
