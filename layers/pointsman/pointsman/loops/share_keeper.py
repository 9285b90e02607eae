"""Keeps what the policy wants of shares: borrow limits under an alarm, in-share preemption for an eviction, weights."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pointsman.errors import Gone, Transient, Unreadable
from pointsman.loops.alarms import ALARM_MEMORY
from pointsman.loops.quota import Shares
from pointsman.ports import Alarms, JobTable, QueueDescription
from pointsman.queues.evictions import Eviction, Progress
from pointsman.queues.policy import AlarmShare, How, Policy
from pointsman.queues.quota import QuotaShare
from pointsman.queues.share_changes import Setting, ShareChange, Step, Wish, settle

UNLIMITED = -1
WEIGHT_CALLS = 3  # to read the weights, to read them a moment before they are written, and to write them
SPENT = "the budget of Batch calls is used up"


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of it: what people should know, and whether something of the queue was changed."""

    problems: tuple[str, ...] = ()
    changed: bool = False


@dataclass(frozen=True, slots=True)
class ShareKeeper:
    """Changes shares for a while and gives them back; each change is noted before it is made.

    `fence` raises `Transient` once it is another pass that may change them.
    """

    shares: Shares
    alarms: Alarms
    jobs: JobTable
    fence: Callable[[], None] = lambda: None

    def keep(
        self, queue: QueueDescription, policy: Policy, evictions: Iterable[Eviction], now: float, *, act: bool
    ) -> Kept:
        """Bring the shares of the queue to what they should have now; without `act` only say what is outstanding."""
        if queue.quota_shares:
            return self._quota(queue, policy, evictions, now, act=act)
        if policy.weights and queue.policy:
            return self._weights(queue, policy, now, act=act)
        return Kept()

    def _quota(
        self, queue: QueueDescription, policy: Policy, evictions: Iterable[Eviction], now: float, *, act: bool
    ) -> Kept:
        notes = {(note.share, note.setting): note for note in self.shares.records.share_changes(queue.name)}
        if not act:
            return Kept(tuple(_outstanding(note) for note in notes.values()))
        wishes, unread, told = self._wishes(queue, policy, evictions, now)
        changed = False
        by_name = {share.name: share for share in queue.quota_shares}
        seen = all(share.settled for share in queue.quota_shares)
        for share, setting in sorted((notes.keys() | wishes.keys()) - unread):
            note, one = notes.get((share, setting)), by_name.get(share)
            if one is None:
                if note is not None and seen:
                    self.fence()
                    self.shares.records.drop_share_change(queue.name, note)
                continue
            if not one.settled:
                continue  # it may be otherwise by now, and that we forget: the next pass sees what came of it
            current = one.borrow_limit if setting is Setting.BORROW_LIMIT else int(one.preempts)
            step = settle(share, setting, current, note, wishes.get((share, setting)), now)
            told += [step.told] if step.told else []
            changed |= step.value is not None
            told += self._carry_out(queue.name, one, setting, note, step, now)
        return Kept(tuple(told), changed)

    def _carry_out(
        self, queue: str, share: QuotaShare, setting: Setting, note: ShareChange | None, step: Step, now: float
    ) -> list[str]:
        records, settings = self.shares.records, self.shares.settings
        if step.note is not None or step.forget:
            self.fence()
        if step.note is not None:
            records.put_share_change(queue, step.note)
        if step.value is not None:
            if not self.jobs.take_budget(1, now):
                return [f"the {setting} of share {share.name} is set in a later pass: {SPENT}"]
            self.fence()
            try:
                if setting is Setting.BORROW_LIMIT:
                    settings.set_borrow_limit(share, step.value)
                else:
                    settings.set_preemption(share, on=bool(step.value))
            except (Gone, Transient) as error:  # the note stands: the next pass sees what came of it
                return [f"the {setting} of share {share.name} could not be set: {error}"]
        if step.forget and note is not None:
            records.drop_share_change(queue, note)
        return []

    def _wishes(
        self, queue: QueueDescription, policy: Policy, evictions: Iterable[Eviction], now: float
    ) -> tuple[Mapping[tuple[str, Setting], Wish], set[tuple[str, Setting]], list[str]]:
        """What is wanted of shares, what is left as it is since its alarms cannot be read, and why."""
        wishes: dict[tuple[str, Setting], Wish] = {}
        unread: set[tuple[str, Setting]] = set()
        told: list[str] = []
        for rule in policy.on_alarm_shares:
            if rule.borrow_limit is None:
                continue
            ruled = [share for share in queue.quota_shares if fnmatchcase(share.name, rule.share)]
            try:
                alarm = self._active(rule, now)
            except (Transient, Unreadable) as error:
                unread.update((share.name, Setting.BORROW_LIMIT) for share in ruled)
                told.append(f"what alarms {rule.alarm} change of share {rule.share} is left as it is: {error}")
                continue
            for key in [(share.name, Setting.BORROW_LIMIT) for share in ruled if alarm and share.borrows]:
                if key not in wishes or _wider(rule.borrow_limit, wishes[key].value):
                    wishes[key] = Wish(rule.borrow_limit, f"alarm {alarm}")
        for eviction in evictions:
            if eviction.how is How.SWITCH and eviction.progress is Progress.ASKED:
                because = f"{eviction.evictor.name} takes the place of others"
                wishes[eviction.share, Setting.PREEMPTION] = Wish(1, because)
        return wishes, unread, told

    def _active(self, rule: AlarmShare, now: float) -> str | None:
        """The alarm under which the rule holds now, if any."""
        since = now - (ALARM_MEMORY if rule.lasts is None else rule.lasts)
        for moved in self.alarms.transitions(rule.alarm, since):
            left = float("inf") if moved.left is None else moved.left
            lasts = float("inf") if rule.lasts is None else rule.lasts
            if moved.at <= now < min(left, moved.at + lasts):
                return moved.alarm
        return None

    def _weights(self, queue: QueueDescription, policy: Policy, now: float, *, act: bool) -> Kept:
        """Keep the weights that the policy states; read, changed as a whole, and written only where they differ."""
        wanted = dict(policy.weights)
        try:
            for rule in policy.on_alarm_shares:
                if rule.weight and self._active(rule, now):  # of stated weights only: no other could be given back
                    wanted |= {share: rule.weight for share in wanted if fnmatchcase(share, rule.share)}
        except (Transient, Unreadable) as error:
            return Kept((f"the weights of its shares are left as they are: {error}",))
        if _with(queue.weights, wanted) == queue.weights:
            return Kept()
        if queue.others:
            others = ", ".join(queue.others)
            return Kept((f"its weights are left: its scheduling policy is also that of {others}; give it its own",))
        if not act:
            now_, then = dict(queue.weights), dict(_with(queue.weights, wanted))
            other = ", ".join(f"{s} {now_.get(s, 1.0):g} instead of {w:g}" for s, w in then.items() if w != now_.get(s))
            return Kept((f"its weights are not those of its policy until the queue acts: {other}",))
        if self.jobs.take_budget(WEIGHT_CALLS, now) < WEIGHT_CALLS:
            return Kept((f"the weights of its shares are set in a later pass: {SPENT}",))
        try:
            current = self.shares.settings.weights(queue.policy)
            if _with(current, wanted) != current:
                self.fence()
                self.shares.settings.set_weights(queue.policy, _with(current, wanted))
        except (Gone, Transient) as error:
            return Kept((f"the weights of its shares could not be set: {error}",))
        return Kept(changed=True)


def _with(weights: tuple[tuple[str, float], ...], wanted: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """These weights with those that are wanted in their places, and the missing ones at the end."""
    listed = {share for share, _ in weights}
    missing = tuple((share, weight) for share, weight in wanted.items() if share not in listed)
    return (*((share, _same(weight, wanted.get(share, weight))) for share, weight in weights), *missing)


def _same(weight: float, wanted: float) -> float:
    """The weight as it is, where it is the wanted one as Batch keeps it: to four places, in single precision."""
    return weight if round(weight, 4) == round(wanted, 4) else wanted


def _wider(one: int, other: int) -> bool:
    return other != UNLIMITED and (one == UNLIMITED or one > other)


def _outstanding(note: ShareChange) -> str:
    return (
        f"the {note.setting} of share {note.share} was {note.before} and is {note.after} ({note.because}): it is given "
        "back when the queue acts again"
    )
