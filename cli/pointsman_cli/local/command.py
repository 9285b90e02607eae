"""`pointsman local`: AWS and Pointsman on this machine, until it is told to end."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EADDRINUSE
from pathlib import Path

import click

from pointsman.errors import UserMistake
from pointsman_cli import options
from pointsman_cli.local.banner import banner
from pointsman_cli.local.world import begun, build, environments
from pointsman_cli.printing import say
from pointsman_emulator.emulator import Emulator
from pointsman_emulator.server import HOST, EmulatorServer, wall_clock
from pointsman_emulator.stacks import quiet

PORT = 4566
LOOK = 0.5  # seconds between two looks at whether it is still well


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 for one that is free.")
@click.option("--host", metavar="ADDRESS", default=HOST, show_default=True,
              help="Listen there instead. Whoever reaches it may do everything.")  # fmt: skip
@click.option("--speed", type=options.Number(0, 86_400, min_open=True), default=1.0, show_default=True,
              help="How many seconds pass there in one second; at 1 its clock is this machine's.")  # fmt: skip
@click.option("--instances", type=click.IntRange(1), default=8, show_default=True, help="In the queue's pool.")
@click.option("--requests", type=options.Number(0, 1e6), default=4.0, show_default=True,
              help="That the inference component gets in a second of its clock.")  # fmt: skip
@click.option("--env-vars", type=options.NewFile(), metavar="FILE",
              help="Write what `sam local invoke --env-vars` reads: each function's environment.")  # fmt: skip
@options.debugged
def local(port: int, host: str, speed: float, instances: int, requests: float, env_vars: Path | None) -> None:
    """AWS and Pointsman on this machine, for boto3, the aws command and others, until Ctrl-C.

    It checks no credentials, listens on the loopback interface only unless --host says otherwise, and keeps nothing.
    """
    with quiet(), _asked_to_end() as ended, Emulator(start=begun(wall_clock())) as aws:
        server = EmulatorServer(aws, port, speed, host)
        _take_port(server, port)
        try:
            world = build(aws, instances, requests)
            aws.run(wall_clock())
            server.start()
            if env_vars is not None:
                _write(env_vars, environments(world, server.url))
            banner(server, world)
            told = 0
            while not ended.wait(LOOK) and server.well:
                for function, error in aws.failures[told:]:
                    say(f"{function} failed: {type(error).__name__}: {error}", err=True)
                told = len(aws.failures)
        finally:
            server.stop()
        say("ended; nothing is kept")


def _write(file: Path, told: dict[str, dict[str, str]]) -> None:
    try:
        file.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserMistake(
            error.strerror or str(error), place="--env-vars", remedy="name a file that can be written"
        ) from None


def _take_port(server: EmulatorServer, port: int) -> None:
    try:
        server.bind()
    except OSError as error:
        taken = error.errno == EADDRINUSE
        raise UserMistake(
            f"nobody can listen on {server.host}:{port}: {str(error.strerror).partition(' (')[0]}",
            place="--port" if taken else "--host",
            remedy="--port 0 takes one that is free" if taken else "give an address of this machine",
        ) from None


@contextmanager
def _asked_to_end() -> Iterator[threading.Event]:
    """An event that is set by Ctrl-C and by SIGTERM."""
    asked = threading.Event()
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, lambda *_: asked.set()) for kind in kinds}
    try:
        yield asked
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
