"""What of quota shares is no longer as Pointsman set it: an update of their stack writes its template again."""

from collections.abc import Iterable, Iterator

from pointsman.queues.quota import QuotaShare
from pointsman.queues.share_changes import Setting, ShareChange


def share_drift(shares: Iterable[QuotaShare], notes: Iterable[ShareChange]) -> Iterator[str]:
    """A sentence for each setting that somebody else set since we did.

    `shares` are those of the queue as they are described now, `notes` what is changed of them and not given back. A
    change that was never found in force is still under way.
    """
    found = {share.name: share for share in shares}
    for note in notes:
        if note.seen and note.share in found:
            share = found[note.share]
            there = share.borrow_limit if note.setting is Setting.BORROW_LIMIT else int(share.preempts)
            if there != note.after:
                is_now = f"the {note.setting} of share {note.share} is {there}"
                yield f"{is_now}, and was set to {note.after} ({note.because})"
