"""What of a queue's shares is no longer as Pointsman set it: an update of its stack writes its template's values."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from pointsman.queues.policy import Policy
from pointsman.queues.quota import QuotaShare
from pointsman.queues.share_changes import Setting, ShareChange

Weights = Iterable[tuple[str, float]]
PLACES = 4  # to which Batch keeps a weight


def share_drift(
    policy: Policy, weights: Weights, quota_shares: Iterable[QuotaShare], notes: Iterable[ShareChange]
) -> tuple[str, ...]:
    """A sentence for each weight that is not the policy's, and for each setting that somebody set since we did.

    `weights` and `quota_shares` are those of the queue as it is described now, `notes` what is changed of its shares
    and not given back. Weights that an alarm may set count as the policy's too.
    """
    return (*_of_weights(policy, dict(weights)), *_of_settings({share.name: share for share in quota_shares}, notes))


def _of_weights(policy: Policy, weights: dict[str, float]) -> Iterator[str]:
    for share, stated in policy.weights:
        rules = [rule for rule in policy.on_alarm_shares if rule.weight and fnmatchcase(share, rule.share)]
        fine = {round(weight, PLACES) for weight in (stated, *(rule.weight or stated for rule in rules))}
        there = weights.get(share, 1.0)
        if round(there, PLACES) not in fine:
            yield f"the weight of share {share} is {there:g}, and its policy states {stated:g}: it is set again soon"


def _of_settings(shares: dict[str, QuotaShare], notes: Iterable[ShareChange]) -> Iterator[str]:
    for note in notes:
        if note.seen and note.share in shares:
            share = shares[note.share]
            there = share.borrow_limit if note.setting is Setting.BORROW_LIMIT else int(share.preempts)
            if there != note.after:
                is_now = f"the {note.setting} of share {note.share} is {there}"
                yield f"{is_now}, and was set to {note.after} ({note.because})"
