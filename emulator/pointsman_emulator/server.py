"""The emulated AWS at an address of this machine: for the `aws` command, for containers, for clients elsewhere."""

from __future__ import annotations

import socket
import threading
import time
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
from werkzeug import Request, Response
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from pointsman_emulator.addresses import Operations, UnaddressedError, scope_of
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.environment import REGION
from pointsman_emulator.gateway import LOOPBACK, Answer, refusal

HOST = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - said to be dangerous where it is offered
BEAT = 0.05
"""Seconds of the wall clock between two looks at what is due, where time flows by itself."""
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
        if self._server is None:
            raise RuntimeError("the server is not running")
        host = HOST if self.host == EVERYWHERE else self.host
        return f"http://{host}:{self._server.socket.getsockname()[1]}"

    @property
    def well(self) -> bool:
        """Whether time still flows; what stopped it comes out of `stop`."""
        return self._error is None

    def start(self) -> None:
        """Begin to answer. Raises OSError when the port is taken."""
        with socket.create_server((self.host, self._port)) as bound:
            self._server = make_server(
                self.host, self._port, self._respond, threaded=True, request_handler=_Quiet, fd=bound.fileno()
            )
        self._context.enter_context(mock.patch.object(RequestSigner, "sign", _sign))
        self._began = (wall_clock(), self.emulator.now)
        self._threads.append(threading.Thread(target=self._server.serve_forever, args=(BEAT,), daemon=True))
        if self.speed is not None:
            self._threads.append(threading.Thread(target=self._flow, daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Answer no more. What a function raised that is no error of its own comes out here."""
        self._stopped.set()
        self._context.close()
        if self._server is not None:
            self._server.shutdown()
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
        if self.speed is None:
            return
        wall, emulated = self._began
        with self._lock:
            due = emulated + (wall_clock() - wall) * self.speed
            if due > self.emulator.now:
                self.emulator.run(due)

    def _respond(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        try:
            with self._lock:
                self._keep_up()
                status, headers, body = self._answer(request)
        except UnaddressedError as error:
            status, headers, body = refusal("", "InvalidAction", str(error), 400)
        kept = {name.title(): str(value) for name, value in headers.items() if name.lower() not in _OURS}
        content_type = kept.pop("Content-Type", "application/json")
        return Response(body, status=status, headers=kept, content_type=content_type)(environ, start_response)

    def _answer(self, request: Request) -> Answer:
        region, name = scope_of(request.headers, request.path)
        if region != REGION and name not in GLOBAL:
            raise UnaddressedError(f"The emulator is in {REGION}, and the request is for {region}")
        try:
            client = self.emulator.client(name)
        except UnknownServiceError:
            raise UnaddressedError(f"There is no service {name}") from None
        model = client.meta.service_model
        body = request.get_data()
        query = request.query_string.decode()
        if name not in self._operations:
            self._operations[name] = Operations(model)
        path = _path_of(request)
        operation = self._operations[name].find(request.method, path, request.headers, query, body)
        url = f"{client.meta.endpoint_url}{path}" + (f"?{query}" if query else "")
        headers = HTTPHeaders()
        for key, value in request.headers.items():
            headers[key] = value if key != "Host" else client.meta.endpoint_url.split("//", 1)[1]
        sent = AWSPreparedRequest(request.method, url, headers, body, stream_output=False)
        service = model.service_id.hyphenize()
        return self.emulator.gateway.answer(service, operation, url, lambda: normalize_request(sent))


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
