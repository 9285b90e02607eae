"""The emulated AWS at an address of this machine: for the `aws` command, for containers, for clients elsewhere."""

from __future__ import annotations

import json
import socket
import threading
import time
import traceback
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from unittest import mock

import time_machine
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from botocore.exceptions import UnknownServiceError
from botocore.signers import RequestSigner
from moto.core.request import normalize_request
from moto.sqs.models import SQSBackend
from werkzeug import Request, Response
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from pointsman_emulator.addresses import Operations, UnaddressedError, scope_of
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.environment import REGION
from pointsman_emulator.gateway import LOOPBACK, Answer, refusal
from pointsman_emulator.listed import OPERATIONS

HOST = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - said to be dangerous where it is offered
BEAT = 0.05
"""Seconds of the wall clock between two looks at what is due, where time flows by itself."""
SLICE = 0.05
"""Seconds of the wall clock that what is due may take before calls get their turn."""
CLOCK = "/_emulator/clock"
PAGE = "docs/emulator.md"
XML_PROTOCOLS = frozenset({"ec2", "query", "rest-xml"})
GLOBAL = frozenset({"iam", "sts"})
"""Services without a region: their signature names one all the same."""


class EmulatorServer:
    """Serves a running emulator at `url`, on the loopback interface and nowhere else, unless `host` names another one.

    with Emulator() as aws, EmulatorServer(aws) as server:
        boto3.client("batch", endpoint_url=server.url)

    Without `speed` the emulator's time is virtual: it stands still between two calls of `run_for`. With it, so many
    emulated seconds pass in one second of the wall clock; at 1.0, from a `start` of now, it is the wall clock.
    One call is carried out at a time.
    """

    def __init__(self, emulator: Emulator, port: int = 0, speed: float | None = None, host: str = HOST) -> None:
        """A port of 0 is one that the system chooses."""
        if speed is not None and speed <= 0:
            raise ValueError(f"speed is how many emulated seconds pass in a second, not {speed}")
        self.emulator = emulator
        self.speed = speed
        self.host = host
        self._port = port
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._operations: dict[str, Operations] = {}
        self._server: BaseWSGIServer | None = None
        self._error: BaseException | None = None
        self._began = (0.0, 0.0)
        self._context = ExitStack()

    @property
    def url(self) -> str:
        """What a client takes as its endpoint."""
        host = HOST if self.host == EVERYWHERE else self.host
        return f"http://{host}:{self._serving.socket.getsockname()[1]}"

    @property
    def _serving(self) -> BaseWSGIServer:
        if self._server is None:
            raise RuntimeError("the server is not running")
        return self._server

    @property
    def well(self) -> bool:
        """Whether time still flows; what stopped it comes out of `stop`."""
        return self._error is None

    def bind(self) -> None:
        """Take the port; who calls waits until `start`. Raises OSError when it is taken."""
        with socket.create_server((self.host, self._port)) as bound:
            self._server = make_server(
                self.host, self._port, self._respond, threaded=True, request_handler=_Quiet, fd=bound.fileno()
            )

    def start(self) -> None:
        """Begin to answer. Raises OSError when the port is taken."""
        if self._server is None:
            self.bind()
        self._context.enter_context(mock.patch.object(RequestSigner, "sign", _sign))
        if self.speed is not None:
            self._context.enter_context(mock.patch.object(SQSBackend, "receive_message", _at_once))
        self._began = (wall_clock(), self.emulator.now)
        self._threads.append(threading.Thread(target=self._serving.serve_forever, args=(BEAT,), daemon=True))
        if self.speed is not None:
            self._threads.append(threading.Thread(target=self._flow, daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Answer no more. What a function raised that is no error of its own comes out here."""
        self._stopped.set()
        self._context.close()
        if self._threads:
            self._serving.shutdown()
        if self._server is not None:
            self._server.server_close()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def run_for(self, seconds: float) -> None:
        """Let so many emulated seconds pass, between two calls."""
        with self._lock:
            self.emulator.run_for(seconds)

    def _flow(self) -> None:
        while not self._stopped.wait(BEAT):
            try:
                self._keep_up()
            except BaseException as error:  # noqa: BLE001 - it is raised again by `stop`
                self._error = error
                return

    def _keep_up(self) -> None:
        """Let happen what is due by now; no longer than a slice on end, as calls wait meanwhile."""
        if self.speed is None:
            return
        wall, emulated = self._began
        with self._lock:
            now = wall_clock()
            due, clock = emulated + (now - wall) * self.speed, self.emulator.clock
            while clock.step(due):
                if wall_clock() > now + SLICE:
                    return
            clock.run(due)

    def _respond(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        with self._lock:
            self._keep_up()
            status, headers, body = self._told() if request.path == CLOCK else self._answer(request)
        head = request.method == "HEAD"  # its answer tells the length of what it leaves out
        ours = _OURS - {"content-length"} if head else _OURS
        kept = {name.title(): str(value) for name, value in headers.items() if name.lower() not in ours}
        content_type = kept.pop("Content-Type", "application/json")
        answer = Response(None if head else body, status=status, headers=kept, content_type=content_type)
        return answer(environ, start_response)

    def _told(self) -> Answer:
        """What time it is, and how fast it passes: for the clocks of other processes."""
        return 200, {}, json.dumps({"now": self.emulator.now, "speed": self.speed})

    def _answer(self, request: Request) -> Answer:
        xml = False
        try:
            name, client = self._service(request)
            xml = client.meta.service_model.metadata["protocol"] in XML_PROTOCOLS
            operation = self._operation(request, name, client)
        except UnaddressedError as error:
            return refusal("", "InvalidAction", f"{error}: see {PAGE}", 400, xml=xml)
        if operation not in OPERATIONS.get(name, ()):
            return refusal("", "NotImplemented", f"The emulator has no {name} {operation}: see {PAGE}", 501, xml=xml)
        try:
            return self._carried_out(request, client, operation)
        except Exception as error:  # noqa: BLE001 - one call that fails does not end the others
            traceback.print_exc()
            return refusal("", "InternalFailure", f"The emulator failed: {error!r}", 500, xml=xml)

    def _service(self, request: Request) -> tuple[str, Any]:
        region, name = scope_of(request.headers, request.path, request.query_string.decode())
        if region != REGION and name not in GLOBAL:
            raise UnaddressedError(f"The emulator is in {REGION}, and the request is for {region}")
        try:
            return name, self.emulator.client(name)
        except UnknownServiceError:
            raise UnaddressedError(f"There is no service {name}") from None

    def _operation(self, request: Request, name: str, client: Any) -> str:
        if name not in self._operations:
            self._operations[name] = Operations(client.meta.service_model)
        if name == "s3" and request.host.partition(":")[0].endswith(".localhost"):
            raise UnaddressedError(f"A bucket is named in the path, not in the host: take {self.url} as the endpoint")
        return self._operations[name].find(
            request.method, _path_of(request), request.headers, request.query_string.decode(), request.get_data()
        )

    def _carried_out(self, request: Request, client: Any, operation: str) -> Answer:
        query = request.query_string.decode()
        url = f"{client.meta.endpoint_url}{_path_of(request)}" + (f"?{query}" if query else "")
        headers = HTTPHeaders()
        for key, value in request.headers.items():
            headers[key] = value if key != "Host" else client.meta.endpoint_url.split("//", 1)[1]
        sent = AWSPreparedRequest(request.method, url, headers, request.get_data(), stream_output=False)
        service = client.meta.service_model.service_id.hyphenize()
        return self.emulator.gateway.answer(service, operation, url, lambda: normalize_request(sent))


_receive = SQSBackend.receive_message


def _at_once(backend: SQSBackend, queue: str, count: int, _: int, *args: Any) -> Any:
    """A long poll would hold everything up, the clock too: it is a short one."""
    return _receive(backend, queue, count, 0, *args)


_signed = RequestSigner.sign
_OURS = frozenset({"content-length", "connection", "date", "server", "transfer-encoding"})
"""Headers that the server writes itself."""


def _path_of(request: Request) -> str:
    """The path as it was sent: an ARN in it keeps its escapes."""
    return str(request.environ.get("RAW_URI") or request.environ["REQUEST_URI"]).partition("?")[0]


def _sign(signer: RequestSigner, operation_name: str, request: Any, *args: Any, **kwargs: Any) -> None:
    """Clients of this process sign what they send to a server; what goes the short way is signed for nobody."""
    if request.url.startswith(LOOPBACK):
        _signed(signer, operation_name, request, *args, **kwargs)


def wall_clock() -> float:
    """This machine's time in epoch seconds, also while an emulator holds the clocks."""
    real = time_machine.escape_hatch
    return float(real.time.time() if real.is_travelling() else time.time())


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nobody wants a line for each call."""
