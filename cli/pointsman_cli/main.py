"""The command `pointsman`. A group's module is imported when it is called, so that `policy check` starts fast."""

from functools import partial
from importlib import import_module

import click

from pointsman.errors import UserMistake
from pointsman_cli.checkout import SETUP
from pointsman_cli.failures import failure
from pointsman_cli.options import wants_traceback, where

# Verb or group, where it is, and its line in the help.
GROUPS = {
    "policy": ("pointsman_cli.policy:policy", "Check, apply, show and take back the policies of queues."),
    "queue": ("pointsman_cli.queue:queue", "See what a queue does, and why; let a job go first, or last."),
    "rollout": (
        "pointsman_cli.rollout:rollout",
        "Move inference components to a new version, watched, and taken back.",
    ),
    "stop": ("pointsman_cli.stop:stop", "Let every queue only observe, and hold every rollout."),
    "start": ("pointsman_cli.stop:start", "End what `stop` began."),
    "doctor": ("pointsman_cli.doctor:doctor", "What is wrong with a deployment, the worst first."),
    "dlq": ("pointsman_cli.dlq:dlq", "See what could not be handled, and send it back."),
    "uninstall": ("pointsman_cli.uninstall:uninstall", "Give back what deleting the stack would leave changed."),
    "report": ("pointsman_cli.report.command:report", "What a queue did day by day, beside the weeks before."),
    "cost": ("pointsman_cli.cost:cost", "What a deployment costs a month."),
    "simulate": ("pointsman_cli.simulate:simulate", "Try a policy on real history before living with it."),
    "calibrate": ("pointsman_cli.calibrate:calibrate", "How often expected starts come true, on generated days."),
    "local": ("pointsman_cli.local.command:local", "AWS and Pointsman on this machine, at an address."),
    "demo": ("pointsman_cli.demo.command:demo", "A day of a busy GPU queue on this machine, with no AWS account."),
}


class Root(click.Group):
    """Loads its commands lazily, and turns what they raise into one message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of what can be asked."""
        return list(GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import what is asked for."""
        if cmd_name not in GROUPS:
            return None
        module, name = GROUPS[cmd_name][0].split(":")
        try:
            command: click.Command = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if wants_traceback(ctx):
                raise
            raise failure(
                UserMistake(
                    f"{error.name} is missing",
                    place=cmd_name,
                    remedy=SETUP,
                )
            ) from error
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in GROUPS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; whatever it raises becomes one message, unless --debug asks for the traceback."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if wants_traceback(ctx):
                raise
            raise failure(error) from error


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@partial(where, environment=True)
@click.version_option(package_name="pointsman", message="pointsman %(version)s")
def cli() -> None:
    """Order for queues of GPU work on AWS: production first, and every decision explained.

    Exit codes: 0 fine; 1 the check found problems, or nothing was found; 2 wrong usage or a mistake in the input;
    3 AWS could not be reached or refused; 4 the deployment must be mended.
    """


def main() -> None:
    """Run the command."""
    cli(prog_name="pointsman")
