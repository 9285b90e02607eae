"""What is wrong with a policy whose keys are all right one by one: what contradicts itself, and what can never be."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations

from pointsman.documents import Path, Problem
from pointsman.policy_models import ClassDocument, DefaultDocument, MatchDocument, PolicyDocument
from pointsman.queues.globs import contains, overlap

ANY = "*"  # in place of a key's name: nothing of the classes can be gone by
_A_SHARE = "?*"  # every share has a name
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+\*?")  # a share as a scheduling policy lists it


Check = Callable[[PolicyDocument], Iterator[Problem]]


def contradictions(document: PolicyDocument, unknown: Collection[str] = ()) -> Iterator[Problem]:
    """Every contradiction, each where it can be mended; `unknown` are keys whose values cannot be gone by."""
    for check, keys in _CHECKS.items():
        if ANY not in unknown and not keys.intersection(unknown):
            yield from check(document)


def _everyone(document: PolicyDocument) -> list[tuple[Path, DefaultDocument]]:
    listed: list[tuple[Path, DefaultDocument]] = [(("classes", n), c) for n, c in enumerate(document.classes)]
    return [*listed, (("default",), document.default)]


def _evicting(document: PolicyDocument) -> Iterator[Problem]:
    if document.preemption and not any(written.preemptible for _, written in _everyone(document)):
        yield Problem(("preemption",), "no class may be evicted", "say `preemptible: true` of one, or take it out")


def _names(document: PolicyDocument) -> Iterator[Problem]:
    names: set[str] = set()
    for path, written in _everyone(document):
        if written.name in names:
            yield Problem((*path, "name"), f"there are two classes named {written.name}", "rename one")
        names.add(written.name)


def _unreachable(document: PolicyDocument) -> Iterator[Problem]:
    for n, (path, later) in enumerate(_everyone(document)):
        match = later.match if isinstance(later, ClassDocument) else MatchDocument()
        if match.share is not None and not overlap(match.share, document.share, _A_SHARE):
            text = f"nothing can reach class {later.name}: the policy rules no share like {match.share}"
            yield Problem((*path, "match", "share"), text, f"the policy's share is {document.share}")
            continue
        for earlier in document.classes[:n]:
            if _covers(earlier.match, match, document.share):
                yield Problem(
                    path,
                    f"nothing can reach class {later.name}: every job that it matches is already {earlier.name}",
                    f"put it before {earlier.name}, or narrow the match of {earlier.name}",
                )
                break


def _covers(wide: MatchDocument, narrow: MatchDocument, ruled: str) -> bool:
    names = wide.job_name is None or contains(wide.job_name, narrow.job_name or "*")
    shares = wide.share is None or contains(wide.share, ruled, _A_SHARE, *([narrow.share] if narrow.share else ()))
    tags = all(key in narrow.tag and contains(glob, narrow.tag[key]) for key, glob in wide.tag.items())
    return names and shares and tags


def _across_shares(document: PolicyDocument) -> Iterator[Problem]:
    """Batch compares priorities within one share only: classes that have none in common have no order."""
    if document.across_shares is not None:
        return
    for (_, one), (n, other) in combinations(enumerate(document.classes), 2):
        apart = one.match.share and other.match.share and not overlap(one.match.share, other.match.share)
        if apart:
            yield Problem(
                ("classes", n, "match", "share"),
                f"{other.name} and {one.name} have no share in common, and Batch compares priorities within one share "
                "only: neither can go before the other",
                "say `across_shares: weights` and give each a weight, or write a policy for one of them",
            )
            return


def _weights(document: PolicyDocument) -> Iterator[Problem]:
    known: dict[str, tuple[str, float]] = {}
    for n, written in enumerate(document.classes):
        path: Path = ("classes", n, "weight")
        share, weight = written.match.share, written.weight
        if weight is not None and document.across_shares is None:
            yield Problem(path, "a weight counts only across shares", "say `across_shares: weights`, or take it out")
        elif weight is not None and share is None:
            yield Problem(path, f"a weight is a share's, and {written.name} is in all of them", "add `match.share`")
        elif document.across_shares is not None and share is not None and weight is None:
            yield Problem(("classes", n), f"`weight` of {written.name} is missing", "add it; a lower weight gets more")
        elif share is not None and weight is not None:
            yield from _weighed(n, written, share, weight, known)
    if document.across_shares is not None and not any(c.match.share for c in document.classes):
        yield Problem(("across_shares",), "no class has a share of its own", "give each `match.share` and a weight")


def _weighed(
    n: int, written: ClassDocument, share: str, weight: float, known: dict[str, tuple[str, float]]
) -> Iterator[Problem]:
    if not _IDENTIFIER.fullmatch(share):
        text = f"a scheduling policy cannot list a share like {share}"
        yield Problem(("classes", n, "match", "share"), text, "letters and digits, with a * at the end at most")
    for other, (name, its) in known.items():
        if share == other and weight != its:
            text = f"share {share} has one weight, and {name} gives it {its:g}"
            yield Problem(("classes", n, "weight"), text, "give both the same")
        elif share != other and overlap(share, other):
            text = f"a scheduling policy cannot list {share} beside {other}, the share of {name}: they overlap"
            yield Problem(("classes", n, "match", "share"), text, "let one of them name other shares")
    known.setdefault(share, (written.name, weight))


def _parts(document: PolicyDocument) -> Iterator[Problem]:
    for path, written in _everyone(document):
        if written.ceiling is not None and (written.entitlement or 0.0) > written.ceiling:
            text = f"the entitlement of {written.name} is above its ceiling"
            yield Problem((*path, "entitlement"), text, "raise the ceiling, or lower the entitlement")


def _alarms(document: PolicyDocument) -> Iterator[Problem]:
    names = dict.fromkeys(written.name for _, written in _everyone(document))
    shares = [c.match.share for c in document.classes if c.match.share and c.weight is not None]
    for n, rule in enumerate(document.on_alarm):
        path: Path = ("on_alarm", n)
        if rule.boost is not None and rule.boost not in names:
            yield Problem((*path, "boost"), f"no class is named {rule.boost}", f"one of: {', '.join(names)}")
        given = [value is not None for value in (rule.boost, rule.borrow_limit, rule.weight)]
        if sum(given) != 1:
            text = "an alarm boosts a class, or gives a share a borrow limit or a weight: one of the three"
            yield Problem(path, text, "write `boost` and `by`, or `share` with `borrow_limit` or `weight`")
        elif (rule.boost is None) is not (rule.by is None):
            missing = "by" if rule.by is None else "boost"
            yield Problem(path, f"`{missing}` is missing", "`boost` and `by` go together")
        elif (rule.boost is None) is (rule.share is None):
            text = "a boost is of a class, not of a share" if rule.share else "`share` is missing"
            yield Problem((*path, "share") if rule.share else path, text, "take it out" if rule.share else "add it")
        elif rule.weight is not None and document.across_shares is None:
            text = "a weight counts only across shares"
            yield Problem((*path, "weight"), text, "say `across_shares: weights`, or take it out")
        elif rule.weight is not None and rule.share not in shares:
            text = f"no class has a weight for share {rule.share}"
            yield Problem((*path, "share"), text, f"one of: {', '.join(dict.fromkeys(shares))}")
    yield from _clashes(document)


def _clashes(document: PolicyDocument) -> Iterator[Problem]:
    for (m, one), (n, other) in combinations(enumerate(document.on_alarm), 2):
        if not (one.share and other.share and overlap(one.share, other.share) and overlap(one.alarm, other.alarm)):
            continue
        for key in ("borrow_limit", "weight"):
            first, second = getattr(one, key), getattr(other, key)
            if first is not None and second is not None and first != second:
                text = f"entry {m + 1} sets it to {first:g} for the same share, and both alarms may be on at once"
                yield Problem(("on_alarm", n, key), text, "give both the same, or name other alarms or shares")


def _windows(document: PolicyDocument) -> Iterator[Problem]:
    classes = {written.name: written for _, written in _everyone(document)}
    for n, window in enumerate(document.windows):
        for name, settings in window.set.items():
            path: Path = ("windows", n, "set", name)
            if name not in classes:
                yield Problem(path, f"no class is named {name}", f"one of: {', '.join(classes)}")
                continue
            if not settings.model_fields_set:
                yield Problem(path, "nothing is set", "name head_start, max_wait, entitlement or ceiling")
            ceiling = classes[name].ceiling if settings.ceiling is None else settings.ceiling
            part = classes[name].entitlement if settings.entitlement is None else settings.entitlement
            if ceiling is not None and (part or 0.0) > ceiling:
                text = f"the entitlement of {name} is above its ceiling then"
                yield Problem(path, text, "raise the ceiling, or lower the entitlement")


# Each check with the keys, of the policy and of its classes, without which it would say what is not so.
_CHECKS: Mapping[Check, frozenset[str]] = {
    _names: frozenset(),
    _unreachable: frozenset({"name", "match", "share"}),
    _across_shares: frozenset({"name", "match", "across_shares"}),
    _weights: frozenset({"name", "match", "weight", "across_shares"}),
    _parts: frozenset({"name", "entitlement", "ceiling"}),
    _evicting: frozenset({"preemptible"}),
    _alarms: frozenset({"name", "match", "weight", "across_shares"}),
    _windows: frozenset({"name", "entitlement", "ceiling"}),
}
