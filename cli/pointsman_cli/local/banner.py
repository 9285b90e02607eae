"""What `pointsman local` says when it is there: where, what, and how it is used."""

from pointsman_cli.local.world import World
from pointsman_cli.printing import say
from pointsman_emulator.environment import REGION
from pointsman_emulator.server import HOST, EmulatorServer


def banner(server: EmulatorServer, world: World) -> None:
    """Print it."""
    say(f"AWS on this machine: {server.url}")
    say(
        f"It checks no credentials: whoever reaches it may do everything. It listens on {where(server.host)}, "
        "and keeps nothing when it ends (Ctrl-C)."
    )
    say(f"Its clock: {_clock(server.speed)}\n")
    say("Stacks:")
    rows = (
        (world.product.name, "Pointsman, its functions in this process"),
        (world.queue.name, f"queue {world.queue.outputs['JobQueueName']}, alarm {world.queue.outputs['Alarm']}"),
        (world.endpoint.name, "endpoint chat, component llm, models chat-v1 and chat-v2, alarm llm-errors"),
    )
    for name, what in rows:
        say(f"  {name:16} {what}")
    say(f"  {'':16} beside them: role {world.role_arn}, for training jobs")
    say("\nIn another terminal:")
    for name, value in variables(server).items():
        say(f"  export {name}={value}")
    say(f"  pointsman queue show {world.queue.outputs['JobQueueName']}")
    say("\nWhat it answers, and what it refuses: docs/local.md, docs/emulator.md")


def variables(server: EmulatorServer) -> dict[str, str]:
    """What a shell needs for the aws command, boto3 and pointsman to work against it."""
    return {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "POINTSMAN_STACK": "pointsman",
    }


def where(host: str) -> str:
    """Who can reach it."""
    if host == HOST:
        return "the loopback interface only"
    return f"{host}, WHICH OTHER MACHINES MAY REACH"


def _clock(speed: float | None) -> str:
    if speed == 1:
        return "this machine's"
    return f"{speed:g} seconds pass in one of this machine's"
