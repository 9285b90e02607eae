"""What can be told at plan time: each finding one clear message with its remedy."""

from collections.abc import Iterator, Sequence

from pointsman.rollouts.batches import asked_copies, bounds
from pointsman.rollouts.gate import Watch, least_bake
from pointsman.rollouts.observations import (
    Absent,
    AlarmState,
    Answer,
    ComponentView,
    Ground,
    Observations,
    Status,
)
from pointsman.rollouts.plan import Check, Finding, Level, Member
from pointsman.rollouts.request import Request, SingleCopy
from pointsman.rollouts.waves import Resolved, may_name

MOST_COMPONENTS, MOST_ENDPOINTS = 500, 50  # a pass reads them all, and its end frees all locks in one transaction
MOST_BYTES = 300_000  # of a rollout's own item, which DynamoDB takes to 400,000: holds and refusals come to it
MOST_READS = 1_500  # of a pass, one after the other: each component, each alarm's history, three of each endpoint
_NOTE, _NOTED_COPIES = 190, 150  # bytes of what is noted of auto scaling, and of copies, beside the names
MOST_NATIVE_ALARMS = 9  # SageMaker takes ten, and the kill switch is one


def check_targets(request: Request, resolved: Resolved, seen: Observations) -> Iterator[Finding]:
    """Targets that name nothing, or the same twice, and fleets too large for one rollout."""
    for target in resolved.empty:
        if target.component is not None and seen.components.get(target.component) is Absent.UNREADABLE:
            text = "it cannot be read, so nothing is known of it"
            yield _refused(Check.UNREADABLE, str(target), text, "try again, or see to the permission to describe it")
        elif target.component is not None:
            text = "there is no such inference component"
            yield _refused(Check.UNKNOWN_COMPONENT, str(target), text, "check its name and the region")
        elif target.endpoint is not None and target.endpoint not in seen.endpoints:
            text = "there is no such endpoint"
            yield _refused(Check.UNKNOWN_ENDPOINT, str(target), text, "check its name and the region")
        else:
            text = "it names no inference component"
            yield _refused(Check.NO_TARGET, str(target), text, "take it out, or correct it")
    for name, view in seen.components.items():
        wide = next((t for t in request.targets if t.component is None and may_name(t, name)), None)
        if view is Absent.UNREADABLE and wide is not None:
            text = f"it cannot be read, and {wide} may name it, so it would be left out"
            yield _refused(Check.UNREADABLE, f"component {name}", text, "see to the permission to describe it")
    for target in resolved.twice:
        yield _refused(Check.TWICE, str(target), "the same target is given twice", "take one of the two out")
    endpoints = {view.endpoint for view in resolved.components}
    if len(resolved.components) > MOST_COMPONENTS or len(endpoints) > MOST_ENDPOINTS:
        text = (
            f"{len(resolved.components)} components on {len(endpoints)} endpoints; "
            f"one rollout moves at most {MOST_COMPONENTS} on {MOST_ENDPOINTS}"
        )
        yield _refused(Check.TOO_MANY, "targets", text, "split it into several rollouts")
    for endpoint in sorted(endpoints):
        lock = seen.locks.get(endpoint)
        if lock is not None and lock.owner not in {"", request.rollout, request.retry_of}:
            text = f"rollout {lock.owner} is under way on it, and an alarm could not tell the two apart"
            cure = f"wait for {lock.owner} to end, or abort it; one that ended incomplete is rolled back once more"
            yield _refused(Check.LOCKED, f"endpoint {endpoint}", text, cure)


def check_component(view: ComponentView, request: Request, seen: Observations) -> Iterator[Finding]:
    """What forbids this one component to be moved, or deserves a word."""
    place = f"component {view.name}"
    if view.base is not None:
        text = f"it is an adapter of {view.base}, which has no copies of its own to roll"
        yield _refused(Check.ADAPTER, place, text, f"update the adapter directly, or name {view.base}")
        return
    if view.several:
        text = "it has a specification for each of several instance types, and a rollout moves one"
        yield _refused(
            Check.SEVERAL_SPECIFICATIONS, place, text, "leave it out, and update its `Specifications` by hand"
        )
        return
    if view.status is not Status.IN_SERVICE:
        why = f" ({view.failure})" if view.status is Status.FAILED and view.failure else ""
        text = f"it is {view.status.value}{why}, so it would refuse an update"
        cure = "delete it and create it anew" if view.status is Status.FAILED else "wait until it is InService"
        yield _refused(Check.BUSY, place, text, cure)
    if view.endpoint not in seen.endpoints:
        yield _refused(Check.UNREADABLE, f"endpoint {view.endpoint}", "it cannot be read", "try again")
    new = request.change.applied_to(view.spec)
    if new.digest == view.spec.digest:
        text = "the specification asked for is the one it has"
        yield _refused(Check.SAME_SPEC, place, text, "change model, image, artifact, environment or compute")
    yield from _models(view, new.model, seen)
    if view.desired == 0:
        yield _refused(Check.NO_COPIES, place, "it has no copies, so there is nothing to roll", "scale it up first")
    elif view.desired == 1 and request.single_copy is SingleCopy.REFUSE:
        text = "it has one copy, which cannot be replaced without a gap"
        yield _refused(Check.SINGLE_COPY, place, text, "allow `single_copy: surge`, or scale it to two")
    elif view.desired > 1 and request.batch is not None:
        yield from _batch(view, request)


def check_size(members: Sequence[Member], watches: Sequence[Watch], request: Request) -> Iterator[Finding]:
    """A rollout whose own item could outgrow what DynamoDB takes, or whose passes could outlast their function."""
    noted = sum(
        (_NOTE + len(m.name + m.endpoint)) + m.single * (_NOTED_COPIES + len(m.name + m.endpoint)) for m in members
    )
    size = noted + sum(len(watch.alarm.encode()) + 3 for watch in watches) + len(repr(request).encode())
    if size > MOST_BYTES:
        text = f"its record may grow to {size // 1000} KB, and {MOST_BYTES // 1000} are safe"
        yield _refused(Check.TOO_MANY, "targets", text, "split it into several rollouts, or use shorter alarm names")
    reads = len(members) + len(watches) + 3 * len({member.endpoint for member in members})
    if reads > MOST_READS:
        text = f"a pass would read {reads} things, and {MOST_READS} fit in its time"
        yield _refused(Check.TOO_MANY, "targets", text, "split it into several rollouts, or watch fewer alarms of each")


def check_watches(watches: Sequence[Watch], request: Request, seen: Observations, now: float) -> Iterator[Finding]:
    """Alarms that are missing, firing, or too slow for the bake."""
    if not request.guards:
        text = "no alarm watches this rollout: a bad version is found only when it does not start"
        yield Finding(Check.NO_GUARD, Level.WARNED, "guards", text, "name at least one alarm")
    for watch in watches:
        place = f"alarm {watch.alarm}"
        view = seen.alarms.get(watch.alarm)
        if view is None:
            text = "there is no such alarm in this account and region"
            yield _refused(Check.ALARM_MISSING, place, text, "create it, or take it out")
            continue
        waiver = next((w for w in request.waived if w.alarm == watch.alarm and now < w.until), None)
        if view.state is AlarmState.ALARM and waiver is None:
            text = "it is in ALARM already, so it could not tell a bad version from today's trouble"
            yield _refused(Check.ALARM_FIRING, place, text, "mend that first, or waive the alarm by name")
        elif waiver is not None:
            text = f"it does not count for a time: {waiver.reason} ({waiver.person})"
            yield Finding(Check.ALARM_WAIVED, Level.WARNED, place, text)
        least = least_bake(view.period, view.evaluation_periods)
        for name, length in (("bake", request.bake), ("final_bake", request.final_bake)):
            if length < least and not (name == "final_bake" and length == 0):
                text = f"a {name} of {length:.0f} s is over before this alarm can fire, which takes {least:.0f} s"
                yield _refused(Check.BAKE_TOO_SHORT, place, text, f"set `{name}` to {least:.0f}s at least")


def check_natives(member: Member, request: Request, seen: Observations) -> Iterator[Finding]:
    """What SageMaker's own guard needs: at most nine alarms, readable to the endpoint's role, and time to fire."""
    if len(member.natives) > MOST_NATIVE_ALARMS:
        text = f"{len(member.natives)} alarms of its own; SageMaker takes {MOST_NATIVE_ALARMS} beside the kill switch"
        yield _refused(Check.TOO_MANY_ALARMS, f"component {member.name}", text, "leave some to the fleet's gate")
    endpoint = seen.endpoints.get(member.endpoint)
    readable = endpoint.reads_alarms if endpoint is not None else Answer.UNKNOWN
    place = f"endpoint {member.endpoint}"
    if readable is Answer.NO:
        text = "its execution role may not read the alarms, so SageMaker's own rollback would be inert"
        yield _refused(Check.ALARM_UNREADABLE, place, text, "allow it cloudwatch:DescribeAlarms on them")
    elif readable is Answer.UNKNOWN:
        text = "whether its execution role may read the alarms could not be checked"
        yield Finding(Check.ALARM_UNCHECKED, Level.WARNED, place, text, "allow us iam:SimulatePrincipalPolicy")
    for name in member.natives:
        view = seen.alarms.get(name)
        if view is not None and request.wait < view.reaction:
            text = (
                f"a wait of {request.wait:.0f} s after a batch is shorter than it takes to fire ({view.reaction:.0f} s)"
            )
            cure = "the wave's bake still catches it; a longer `wait` catches it with fewer copies replaced"
            yield Finding(Check.WAIT_TOO_SHORT, Level.WARNED, f"alarm {name}", text, cure)


def _models(view: ComponentView, new: str | None, seen: Observations) -> Iterator[Finding]:
    place = f"component {view.name}"
    for name, check, what in (
        (view.spec.model, Check.NO_WAY_BACK, "its present model"),
        (new, Check.NO_SUCH_MODEL, "the new model"),
    ):
        answer = Answer.YES if name is None else seen.models.get(name, Answer.UNKNOWN)
        if answer is Answer.NO and check is Check.NO_WAY_BACK:
            text = f"{what} {name} is gone, so there is no way back to it"
            yield _refused(check, place, text, f"create model {name} again before the rollout")
        elif answer is Answer.NO:
            yield _refused(check, place, f"{what} {name} does not exist", "create it, or correct `change.model`")
        elif answer is Answer.UNKNOWN:
            text = f"whether {what} {name} can be used could not be checked"
            yield Finding(Check.MODEL_UNCHECKED, Level.WARNED, place, text, "allow us sagemaker:DescribeModel")


_GONE = {
    Ground.PERMISSION: ("it may not update these components, neither to roll them nor to take them back",
                        "see to its policies, its boundary and what the organization denies"),
    Ground.ROLE: ("it is gone, and the present model starts its copies with it", "create it again before the rollout"),
    Ground.IMAGE: ("it is gone from its repository, and the present version runs it",
                   "push it again before the rollout"),
    Ground.ARTIFACT: ("it is gone from its bucket, and the present version loads it",
                      "put it there again before the rollout"),
}  # fmt: skip
_ASK = {
    Ground.PERMISSION: "allow us iam:SimulatePrincipalPolicy on it",
    Ground.ROLE: "allow us iam:GetRole on it",
    Ground.IMAGE: "allow us ecr:BatchGetImage on its repository, or see to it yourself",
    Ground.ARTIFACT: "allow us s3:ListBucket on its bucket, or see to it yourself",
}


def check_way_back(seen: Observations) -> Iterator[Finding]:
    """What the way back stands on and is not there, or could not be asked for."""
    for proof in seen.proofs:
        place = f"{'our own role' if proof.ground is Ground.PERMISSION else proof.ground.value} {proof.name}"
        if proof.answer is Answer.NO:
            text, cure = _GONE[proof.ground]
            yield _refused(Check.NO_WAY_BACK, place, f"{text}, so there is no way back", cure)
        elif proof.answer is Answer.UNKNOWN:
            mine = proof.ground is Ground.PERMISSION
            what = "may update these components" if mine else "is still there, for a way back,"
            text = f"whether it {what} could not be checked"
            yield Finding(Check.WAY_BACK_UNCHECKED, Level.WARNED, place, text, _ASK[proof.ground])


def _batch(view: ComponentView, request: Request) -> Iterator[Finding]:
    assert request.batch is not None  # noqa: S101  the caller has asked
    least, greatest = bounds(view.desired)
    wanted = asked_copies(view.desired, request.batch)
    place = f"component {view.name}"
    if wanted < least:
        text = f"a batch of {request.batch} is under 5 % of its {view.desired} copies, which SageMaker refuses"
        yield _refused(Check.BATCH_TOO_SMALL, place, text, f"ask for {least} at least, or leave `batch` out")
    elif wanted > greatest:
        text = f"a batch of {request.batch} is over half of its {view.desired} copies, which SageMaker refuses"
        yield _refused(Check.BATCH_TOO_LARGE, place, text, f"ask for {greatest} at most, or leave `batch` out")


def _refused(check: Check, place: str, sentence: str, remedy: str) -> Finding:
    return Finding(check, Level.REFUSED, place, sentence, remedy)
