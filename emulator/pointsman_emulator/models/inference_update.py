"""What is under way with a component: a creation, a scaling, an update with its way back, a deletion.

Each is written as it goes, one step after the other; where it must wait it yields what it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman_emulator.models.inference_parts import Component, Copy, CopyState
from pointsman_emulator.models.inference_plan import Plan
from pointsman_emulator.models.inference_values import DELETING, FAILED, IN_SERVICE, UPDATING, Document, Spec

if TYPE_CHECKING:
    from pointsman_emulator.models.inference_course import InferenceCourse


class StepFailedError(Exception):
    """A step cannot succeed; why, and whether room is all that it lacks."""

    def __init__(self, reason: str, *, room: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.room = room


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on when this is true, or when a time has come."""

    condition: Callable[[], bool] | None = None
    until: float | None = None


Flow = Generator[Wait, None, None]


class Change:
    """Drives one flow of steps, and hears of copies that start, go, fail or find no room."""

    def __init__(self, course: InferenceCourse, component: Component, internal: str) -> None:
        self.course = course
        self.component = component
        self.done = False
        self._flow: Flow = self._steps()
        self._wait: Wait | None = None
        self._running = False
        self._failure: StepFailedError | None = None
        component.internal = internal
        component.change = self

    @property
    def towards(self) -> Spec | None:
        """The spec that is being rolled out, if one is."""
        return None

    def _steps(self) -> Flow:
        """What is done, one step after the other."""
        raise NotImplementedError

    def go(self) -> None:
        """Begin."""
        self._wait = Wait(lambda: True)
        self.poke()

    def poke(self) -> None:
        """Something happened: take the steps that can be taken."""
        if self._running:
            return
        self._running = True
        try:
            while not self.done and (self._failure or self._over()):
                self._step()
        finally:
            self._running = False

    def fail(self, reason: str, *, room: bool = False) -> None:
        """The step that is waited for cannot succeed."""
        if not self.done:
            self._failure = StepFailedError(reason, room=room)
            self.poke()

    def no_room(self, copy: Copy, reason: str) -> None:
        """A copy found no room."""
        self.fail(reason, room=True)

    def _over(self) -> bool:
        wait = self._wait
        if wait is None:
            return False
        if wait.condition is not None and wait.condition():
            return True
        return wait.until is not None and self.course.now >= wait.until

    def _step(self) -> None:
        failure, self._failure = self._failure, None
        try:
            self._wait = self._flow.throw(failure) if failure is not None else next(self._flow)
        except StopIteration:
            self.done = True
            return
        if self._wait.until is not None:
            self.course.after(max(0.0, self._wait.until - self.course.now), self.poke)

    # Steps

    def _added(self, spec: Spec, number: int) -> Flow:
        made = self.course.add(self.component, spec, number)
        yield Wait(lambda: all(copy.state is CopyState.SERVING for copy in made))

    def _removed(self, copies: list[Copy]) -> Flow:
        chosen = list(copies)
        self.course.stop(chosen)
        yield Wait(lambda: all(copy.state is CopyState.GONE for copy in chosen))

    def _end(self, status: str, what: str, reason: str | None = None) -> None:
        component = self.component
        self.done = True
        component.change, component.internal = None, None
        component.modified_at = self.course.now
        if reason is not None:
            component.failure_reason = reason
        self.course.tell(component, status, what)


class Creation(Change):
    """A component's first copies."""

    def __init__(self, course: InferenceCourse, component: Component) -> None:
        super().__init__(course, component, "CREATE_IN_PROGRESS")
        self.go()

    def _steps(self) -> Flow:
        component = self.component
        try:
            yield from self._added(component.spec, component.desired)
        except StepFailedError as failure:
            self.course.stop(component.copies)
            self._end(FAILED, f"not created: {failure.reason}", failure.reason)
        else:
            self._end(IN_SERVICE, f"created with {component.current} copies")


class Scaling(Change):
    """Another number of copies of the same spec; as many as there is room for."""

    def __init__(self, course: InferenceCourse, component: Component, copies: int) -> None:
        super().__init__(course, component, "UPDATE_RC_IN_PROGRESS")
        self._short: list[Copy] = []
        self._why: str | None = None
        component.desired = copies
        course.tell(component, UPDATING, f"scaling to {copies} copies")
        self.go()

    def no_room(self, copy: Copy, reason: str) -> None:
        """The others go on."""
        self._short.append(copy)
        self._why = reason
        self.poke()

    def _steps(self) -> Flow:
        component, course = self.component, self.course
        alive = component.alive()
        more = component.desired - len(alive)
        reason = None
        try:
            if more > 0:
                made = course.add(component, component.spec, more)
                yield Wait(lambda: all(it.state is CopyState.SERVING or it in self._short for it in made))
                reason = self._why
            elif more < 0:
                yield from self._removed(
                    sorted(alive, key=lambda it: (it.state is CopyState.SERVING, -it.number))[:-more]
                )
        except StepFailedError as failure:
            reason = failure.reason
            course.stop([copy for copy in component.alive() if copy.state is not CopyState.SERVING])
        if reason is not None and course.settings.short_scaling == "revert":
            course.stop(self._short)
            component.desired = len(component.alive())
        self._end(IN_SERVICE, f"scaled to {component.current} copies" + (f": {reason}" if reason else ""), reason)


class Update(Change):
    """A new spec, in batches beside the old one; back to the old one when it fails."""

    def __init__(
        self,
        course: InferenceCourse,
        component: Component,
        spec: Spec,
        copies: int | None,
        plan: Plan,
        configs: tuple[Document | None, Document | None],
    ) -> None:
        super().__init__(course, component, "UPDATE_IN_PROGRESS")
        self.old, self.new, self.plan = component.spec, spec, plan
        self._configs = configs
        """LastDeploymentConfig before this update, and after it."""
        if course.settings.config_recorded == "accepted":
            component.last_config = configs[1]
        self.before = component.desired
        self.goal = component.desired if copies is None else copies
        self.going_back = False
        self._late = False
        self._began = course.now
        self._ignored = {name for name in plan.alarms if self._alarm(name) == "ALARM"}
        if course.settings.alarm_at_start != "ignore":
            self._ignored = set()
        course.tell(component, UPDATING, "updating")
        component.desired = self.goal
        if plan.timeout is not None:
            course.after(plan.timeout, self._time_out)
        self.go()
        if plan.alarms and course.settings.alarms_watched == "always":
            self._watch()

    @property
    def towards(self) -> Spec | None:
        """The new spec, until it is given up."""
        return None if self.going_back else self.new

    def _alarm(self, name: str) -> str | None:
        return self.course.alarm_state(name, self.component)

    def _time_out(self) -> None:
        if self.done or self.going_back:
            return
        self._late = self.course.settings.after_timeout == "failed"
        self.fail(self.course.settings.timeout_text.format(seconds=self.plan.timeout))

    def _watch(self) -> None:
        if self.done or self.going_back:
            return
        reason = self._alarmed()
        if reason is not None:
            self.fail(reason)
        else:
            self.course.after(self.course.settings.alarm_poll, self._watch)

    def _alarmed(self) -> str | None:
        """Why an alarm calls for going back; None if none does."""
        settings = self.course.settings
        for name in self.plan.alarms:
            state = self._alarm(name)
            if state != "ALARM":
                self._ignored.discard(name)
            bad = state == "ALARM" or (state == "INSUFFICIENT_DATA" and settings.alarm_insufficient == "rollback")
            if bad and name not in self._ignored:
                return settings.alarm_text.format(alarm=name)
        return None

    def _steps(self) -> Flow:
        try:
            if self.course.settings.alarm_at_start == "rollback":
                self._raise_if_alarmed()
            yield from self._forward()
        except StepFailedError as failure:
            if self._late:
                self._record(applied=False)
                self._end(FAILED, f"left where it was: {failure.reason}", failure.reason)
                return
            self.going_back = True
            self.component.log.append((self.course.now, f"rolling back: {failure.reason}"))
            yield from self._back(failure.reason)
        else:
            self._succeeded()

    def _raise_if_alarmed(self) -> None:
        reason = self._alarmed()
        if reason is not None:
            raise StepFailedError(reason)

    def _forward(self) -> Flow:
        component, course, plan = self.component, self.course, self.plan
        if self.new.base is not None:
            yield Wait(until=course.now + course.draw(course.settings.adapter_seconds))
        drain_first = course.settings.order == "drain-first" or (
            not plan.rolling and course.settings.plain_update == "in-place"
        )
        while True:
            old = component.alive(other_than=self.new)
            more = min(plan.batch, self.goal - len(component.alive(self.new)))
            fewer = old[: plan.batch]
            if not fewer and more <= 0:
                return
            if drain_first:
                yield from self._removed(fewer)
            if more > 0:
                yield from self._added(self.new, more)
                component.log.append((course.now, "1 new copy serves" if more == 1 else f"{more} new copies serve"))
            yield from self._bake()
            if not drain_first:
                yield from self._removed(fewer)
            component.log.append(
                (course.now, "1 old copy is gone" if len(fewer) == 1 else f"{len(fewer)} old copies are gone")
            )

    def _bake(self) -> Flow:
        course, plan = self.course, self.plan
        end = course.now + plan.wait
        poll = course.settings.alarm_poll
        while True:
            self._raise_if_alarmed()
            if course.now >= end:
                return
            yield Wait(until=min(end, course.now + poll) if plan.alarms else end)

    def _succeeded(self) -> None:
        component, course = self.component, self.course
        component.spec = self.new
        component.resolved_at = course.now
        self._record(applied=True)
        if course.settings.reason_after_success == "cleared":
            component.failure_reason = None
        self._end(IN_SERVICE, "updated")

    def _record(self, *, applied: bool) -> None:
        kept = applied or self.course.settings.config_after_rollback == "kept"
        self.component.last_config = self._configs[1 if kept else 0]

    def _back(self, reason: str) -> Flow:
        """Restore the old copies, batch by batch, and take the new ones out."""
        component, course, settings = self.component, self.course, self.course.settings
        component.desired = self.before
        batch = self.plan.rollback_batch or max(1, self.before)
        course.stop([it for it in component.alive(other_than=self.old) if it.state is not CopyState.SERVING])
        whole = True
        while True:
            missing = self.before - len(component.alive(self.old))
            new = component.alive(other_than=self.old)
            if missing <= 0:
                yield from self._removed(new)
                break
            number = min(batch, missing)
            try:
                yield from self._added(self.old, number)
            except StepFailedError as failure:
                waiting = [copy for copy in component.alive(self.old) if copy.state is not CopyState.SERVING]
                yield from self._removed(waiting)
                if failure.room and settings.rollback_room == "replace" and new:
                    yield from self._removed(new[:number])
                    continue
                whole = False
                reason = f"{reason} The rollback failed: {failure.reason}"
                yield from self._removed(new if settings.failed_rollback == "in-service" else [])
                break
            yield from self._removed(new[:number])
        self._rolled_back(reason, whole=whole)

    def _rolled_back(self, reason: str, *, whole: bool) -> None:
        settings = self.course.settings
        self._record(applied=False)
        failed = not whole and settings.failed_rollback == "failed"
        shown = reason if settings.reason_on_rollback == "text" or failed else None
        self._end(FAILED if failed else IN_SERVICE, f"rolled back: {reason}", shown)


class Deletion(Change):
    """The end of a component."""

    def __init__(self, course: InferenceCourse, component: Component) -> None:
        super().__init__(course, component, "DELETE_IN_PROGRESS")
        course.tell(component, DELETING, "deleting")
        self.go()

    def _steps(self) -> Flow:
        yield from self._removed(list(self.component.copies))
        yield Wait(until=self.course.now + self.course.draw(self.course.settings.copy_stop))
        self.component.change = None
        self.course.components.pop(self.component.name, None)
        self.course.traffic.pop(self.component.name, None)
