"""The one way from a boto3 client to moto: routed by a table, counted, and open to faults and hooks.

moto looks a request up in some thousand patterns each time. Here the first request to an address finds its handler,
and every later one takes it from a table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from moto.backend_index import backend_url_patterns
from moto.backends import get_backend
from moto.core.base_backend import BackendDict
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse
from moto.core.request import normalize_request
from werkzeug.exceptions import HTTPException

from pointsman_emulator.environment import ACCOUNT, REGION

Answer = tuple[int, dict[str, Any], bytes | str]
Handler = Callable[..., Answer]
OUTSIDE = "outside"
LOOPBACK = ("http://127.0.0.1:", "http://localhost:")
"""A call to an address of this machine is a real one: it goes to an emulator's server, perhaps our own."""
XML = frozenset({"cloudformation", "ec2", "iam", "s3", "sns", "sts"})
"""Services whose answers are XML."""
THROTTLED = {"sagemaker": ("ThrottlingException", "Rate exceeded", 400)}
"""What a service says to one that calls too often, where it is not Batch's 429."""


@dataclass(frozen=True, slots=True)
class Call:
    """One API call: who makes it, and of what."""

    caller: str
    """The logical id of a function of the product, or `outside`."""
    service: str
    operation: str


@dataclass(slots=True)
class _Trap:
    answer: Callable[[], Answer]
    times: int
    after: bool = False


@dataclass(slots=True)
class _Hook:
    action: Callable[[Call], object]
    times: int | None
    after: bool


@dataclass(slots=True)
class Gateway:
    """Counts, hooks, injected failures, rates; then moto."""

    now: Callable[[], float]
    caller: str = OUTSIDE
    calls: Counter[Call] = field(default_factory=Counter)
    rate_of: Callable[[str, str], float | None] = lambda *_: None
    _routes: dict[str, Handler] = field(default_factory=dict)
    _traps: dict[tuple[str, str], list[_Trap]] = field(default_factory=dict)
    _hooks: dict[tuple[str, str], list[_Hook]] = field(default_factory=dict)
    _buckets: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """Tokens of each operation that has a rate, and when they were counted: a second's worth at most."""

    def fail_next(
        self, service: str, operation: str, code: str, times: int = 1, *, status: int | None = None, after: bool = False
    ) -> None:
        """Answer the next calls of an operation with an error.

        With `after`, the call is carried out and only its answer is lost.
        """
        known = {"TooManyRequestsException": 429, "ServerException": 500, "ClientException": 400}
        number = status or known.get(code, 400)
        self._traps.setdefault((service, operation), []).append(
            _Trap(lambda: refusal(service, code, f"Injected failure of {operation}", number), times, after)
        )

    def on_call(
        self,
        service: str,
        operation: str,
        action: Callable[[Call], object],
        *,
        times: int | None = 1,
        after: bool = False,
    ) -> None:
        """Run a callable just before the next calls of an operation are carried out, or just after."""
        self._hooks.setdefault((service, operation), []).append(_Hook(action, times, after))

    def count(self, service: str, operation: str, caller: str | None = None) -> int:
        """How often an operation was called, by everybody or by one caller."""
        return sum(
            number
            for call, number in self.calls.items()
            if (call.service, call.operation) == (service, operation) and caller in (None, call.caller)
        )

    @contextmanager
    def acting_as(self, caller: str) -> Iterator[None]:
        """What is called inside is called by this function."""
        before, self.caller = self.caller, caller
        try:
            yield
        finally:
            self.caller = before

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Stand between boto3 and moto."""

        def send(stub: BotocoreStubber, event_name: str, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
            if not stub.enabled or request.url.startswith(LOOPBACK):
                return None
            service, operation = event_name.split(".")[1:]
            status, headers, body = self.answer(service, operation, request.url, lambda: normalize_request(request))
            return AWSResponse(request.url, status, headers, MockRawResponse(body))

        with mock.patch.object(BotocoreStubber, "__call__", send):
            yield

    def interferes(self, service: str, operation: str) -> bool:
        """Whether the next call of an operation may be refused by us."""
        key = (service, operation)
        return bool(self._traps.get(key)) or self.rate_of(*key) is not None

    def answer(self, service: str, operation: str, url: str, request: Callable[[], Any]) -> Answer:
        """Carry out one call."""
        key = (service, operation)
        call = Call(self.caller, service, operation)
        self.calls[call] += 1
        self._run_hooks(key, call, after=False)
        trap = self._spring(key)
        if trap is not None and not trap.after:
            return trap.answer()
        if self._too_fast(key):
            return refusal(service, *THROTTLED.get(service, ("TooManyRequestsException", "Too Many Requests", 429)))
        answer = self._carry_out(service, operation, url, request)
        self._run_hooks(key, call, after=True)
        return trap.answer() if trap is not None else answer

    def _carry_out(self, service: str, operation: str, url: str, request: Callable[[], Any]) -> Answer:
        url = url.split("?", 1)[0]
        handler = self._routes.get(url) or self._find(url)
        if handler is None:
            return refusal(service, "NotImplemented", f"The emulator has no {service} {operation}", 501)
        self._routes[url] = handler
        normal = request()
        try:
            return handler(normal, normal.raw_url, normal.headers)
        except HTTPException as error:
            return error.code or 500, dict(error.get_headers()), error.get_body()
        except NotImplementedError as error:
            what = f": {error}" if str(error).startswith("The emulator") else ""
            return refusal(service, "NotImplemented", f"The emulator has no {service} {operation}{what}", 501)

    @staticmethod
    def _find(url: str) -> Handler | None:
        for service, pattern in backend_url_patterns:
            if pattern.match(url):
                backends = get_backend(service)  # type: ignore[call-overload]
                if isinstance(backends, BackendDict):
                    regions = backends[ACCOUNT]
                    backend = regions[REGION if REGION in regions else "aws"]
                else:
                    backend = backends["global"]
                for path, handler in backend.urls.items():
                    if re.match(path, url):
                        return handler  # type: ignore[no-any-return]
        return None

    def _spring(self, key: tuple[str, str]) -> _Trap | None:
        traps = self._traps.get(key)
        if not traps:
            return None
        trap = traps[0]
        trap.times -= 1
        if trap.times <= 0:
            traps.pop(0)
        return trap

    def _run_hooks(self, key: tuple[str, str], call: Call, *, after: bool) -> None:
        for hook in [hook for hook in self._hooks.get(key, ()) if hook.after is after]:
            if hook.times is not None:
                hook.times -= 1
                if hook.times <= 0:
                    self._hooks[key].remove(hook)
            with self.acting_as(OUTSIDE):
                hook.action(call)

    def _too_fast(self, key: tuple[str, str]) -> bool:
        rate = self.rate_of(*key)
        if rate is None:
            return False
        now = self.now()
        tokens, at = self._buckets.get(key, (rate, now))
        tokens = min(rate, tokens + (now - at) * rate)
        short = tokens < 1
        self._buckets[key] = (tokens if short else tokens - 1, now)
        return short


def refusal(service: str, code: str, message: str, status: int, *, xml: bool | None = None) -> Answer:
    """An error as the wire carries it: the code in a header and in the body; `xml` where the service is not known."""
    body = json.dumps({"message": message, "__type": code, "code": code})
    headers = {"x-amzn-errortype": code, "content-type": "application/json", "x-amzn-requestid": "0" * 32}
    if service in XML if xml is None else xml:
        body = f"<ErrorResponse><Error><Code>{code}</Code><Message>{escape(message)}</Message></Error></ErrorResponse>"
        headers["content-type"] = "text/xml"
    return status, headers, body
