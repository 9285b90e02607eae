"""The clock of a process that was told another address than AWS's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from time import time

import pytest

from pointsman.aws.clock import EndpointClock
from pointsman.errors import Transient


class Nothing(BaseHTTPRequestHandler):
    """Has no clock, and no log."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def another() -> Iterator[str]:
    """The address of a server that is no emulator of ours."""
    with HTTPServer(("127.0.0.1", 0), Nothing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_without_a_clock_goes_by_this_machines(another: str) -> None:
    assert EndpointClock(another).now() == pytest.approx(time(), abs=60)


def test_an_address_where_nobody_answers_is_worth_another_try() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        clock = EndpointClock(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(Transient, match="_emulator/clock"):
            clock.now()
