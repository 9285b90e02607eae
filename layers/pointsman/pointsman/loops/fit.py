"""Whether a queue can obey its policy: what a policy asks for that a queue of this kind does not have."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pointsman.documents import Problem
from pointsman.ports import QueueDescription
from pointsman.queues.globs import overlap
from pointsman.queues.kinds import QueueKind
from pointsman.queues.policy import How, Mode, Policy

_A = {
    QueueKind.FAIR_SHARE: "a fair-share queue",
    QueueKind.QUOTA_SHARE: "a queue with quota shares",
    QueueKind.FIFO: "a FIFO queue",
    QueueKind.CONTAINER: "a container queue",
}


def misfits(description: QueueDescription, policy: Policy) -> tuple[Problem, ...]:
    """Everything that this queue cannot obey, each with its key and what to change; a pass under it moves nothing."""
    return (*_of_any_kind(description, policy), *_of_quota_shares(description, policy))


def _of_any_kind(description: QueueDescription, policy: Policy) -> Iterator[Problem]:
    name, kind = description.name, description.kind
    borrowing = [rule.share for rule in policy.on_alarm_shares if rule.borrow_limit is not None]
    if kind in (QueueKind.FIFO, QueueKind.CONTAINER) and policy.mode is Mode.ACT:
        text = f"{name} is {_A[kind]}: nothing in it can be moved"
        remedy = (
            "say `mode: observe`, or submit to a SageMaker queue with a fair-share scheduling policy or quota shares"
        )
        yield Problem(("mode",), text, remedy)
    if kind is not QueueKind.QUOTA_SHARE and policy.preemption is not None:
        text = f"{name} is {_A[kind]}: nothing in it can be evicted"
        yield Problem(("preemption",), text, "take it out, or use a queue with quota shares")
    if kind is not QueueKind.QUOTA_SHARE and borrowing:
        text = f"{name} is {_A[kind]}: its shares borrow nothing"
        yield Problem(("on_alarm",), text, "take `borrow_limit` out, or use a queue with quota shares")
    if kind is not QueueKind.FAIR_SHARE and policy.weights:
        text = f"{name} is {_A[kind]}: its shares have no weights"
        yield Problem(
            ("across_shares",), text, "take the weights out, or use a queue with a fair-share scheduling policy"
        )


def _of_quota_shares(description: QueueDescription, policy: Policy) -> Iterator[Problem]:
    if not description.quota_shares:
        return
    names = [share.name for share in description.quota_shares]
    remedy = f"its shares: {', '.join(names) or 'none'}"
    ruled = [share for share in description.quota_shares if fnmatchcase(share.name, policy.share)]
    if not ruled:
        yield Problem(("share",), f"no share of {description.name} is like {policy.share}", remedy)
        return
    for n, each in enumerate(policy.classes):
        if each.match.share is not None and not any(fnmatchcase(name, each.match.share) for name in names):
            text = f"no share of {description.name} is like {each.match.share}: nothing can reach class {each.name}"
            yield Problem(("classes", n, "match", "share"), text, remedy)
    for rule in policy.on_alarm_shares:
        if not any(fnmatchcase(name, rule.share) for name in names):
            yield Problem(("on_alarm",), f"no share of {description.name} is like {rule.share}", remedy)
        elif rule.borrow_limit is not None and not any(s.borrows and fnmatchcase(s.name, rule.share) for s in ruled):
            text = f"share {rule.share} of {description.name} does not borrow"
            yield Problem(("on_alarm",), text, "give it the strategy LEND_AND_BORROW, or take the rule out")
    levels = policy.preemption is not None and policy.preemption.how is How.LEVELS
    if levels and not any(share.preempts for share in ruled):
        text = f"in-share preemption is off in every share like {policy.share}: nothing can be evicted"
        yield Problem(("preemption",), text, "turn it on for a share, or say `how: switch`")


def unlisted(description: QueueDescription, share: str) -> str | None:
    """What to warn of where a fair-share scheduling policy lists no share like this one."""
    if description.kind is not QueueKind.FAIR_SHARE or any(overlap(listed, share) for listed in description.shares):
        return None
    shares = ", ".join(description.shares) or "none"
    return (
        f"share {share} is not in the queue's scheduling policy (its shares: {shares}): "
        "Batch gives jobs of such a share the weight 1; is the name right?"
    )
