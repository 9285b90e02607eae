"""What `pointsman queue show` says of the shares of a queue."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pointsman.loops.inspect import Look
from pointsman.queues.quota import QuotaShare, Rooms

Shape = dict[str, Any]


def shares_shape(look: Look) -> list[Shape]:
    """Each share with what it uses, what it may use, and how many jobs wait in it."""
    view, waits = look.seen.view, _waiting(look)
    if not view.quota_shares:
        return [
            {
                "name": s.name,
                "weight": s.weight,
                "in_use": s.used,
                "waiting": waits[s.name],
                "ruled": _ruled(look, s.name),
            }
            for s in view.shares
        ]
    rooms = Rooms(view.quota_shares, view.pool, view.busy)
    return [
        {
            "name": share.name,
            "enabled": share.enabled,
            "strategy": share.strategy.value,
            "borrow_limit": share.borrow_limit if share.borrows else None,
            "in_share_preemption": share.preempts,
            "instances": [
                {
                    "type": unit,
                    "limit": limit,
                    "in_use": rooms.used(share.name, unit),
                    "room": rooms.room(share.name, unit),
                }
                for unit, limit in share.limits
            ],
            "waiting": waits[share.name],
            "ruled": _ruled(look, share.name),
        }
        for share in view.quota_shares
    ]


def evictions_shape(look: Look) -> list[Shape]:
    """The evictions that are not over."""
    return [
        {
            "share": eviction.share,
            "evictor": eviction.evictor.name,
            "victims": [victim.name for victim in eviction.victims],
            "progress": eviction.progress.value,
            "asked_seconds_ago": round(look.seen.view.now - eviction.asked),
        }
        for eviction in look.seen.view.evictions
        if eviction.open
    ]


def share_lines(look: Look) -> Iterator[str]:
    """The same in words, a line each."""
    view, waits = look.seen.view, _waiting(look)
    rooms = Rooms(view.quota_shares, view.pool, view.busy)
    for share in view.quota_shares:
        for unit, limit in share.limits:
            use = f"{rooms.used(share.name, unit)} of {limit} {unit} in use, room for {rooms.room(share.name, unit)}"
            yield f"{share.name}: {use}, {_terms(share)}, {waits[share.name]} waiting{_note(look, share.name)}"
    for fair in view.shares if len(view.shares) > 1 else ():
        use = f"weight {fair.weight:g}, {fair.used} in use, {waits[fair.name]} waiting"
        yield f"{fair.name}: {use}{_note(look, fair.name)}"
    for eviction in view.evictions:
        if eviction.open:
            names = ", ".join(victim.name for victim in eviction.victims)
            yield f"{eviction.share}: {eviction.evictor.name} takes the place of {names} ({eviction.progress.value})"


def _terms(share: QuotaShare) -> str:
    borrows = ""
    if share.borrows:
        borrows = " without limit" if share.borrow_limit < 0 else f" up to {share.borrow_limit} %"
    preemption = "on" if share.preempts else "off"
    state = "" if share.enabled else ", disabled"
    return f"{share.strategy.value}{borrows}, in-share preemption {preemption}{state}"


def _note(look: Look, share: str) -> str:
    return "" if _ruled(look, share) else " (not ruled by the policy)"


def _ruled(look: Look, share: str) -> bool:
    return look.policy.rules(share)


def _waiting(look: Look) -> Counter[str]:
    view = look.seen.view
    return Counter(job.share for jobs in (view.waiting, view.strangers) for job in jobs)
