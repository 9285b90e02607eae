"""`pointsman cost`: what a deployment costs a month, as a formula over job events, queues and rollouts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from pathlib import Path

import click

from pointsman.errors import UserMistake
from pointsman.queues.wake import IDLE_POLL, LEAST_GAP, POLL
from pointsman_cli import options
from pointsman_cli.printing import print_json
from pointsman_cli.screen import screen, table

SECONDS = 2_592_000.0  # of a month of 30 days
MINUTES = SECONDS / 60
MILLION = 1e6
DEAREST = 1e6  # dollars of one unit

PRICES: Mapping[str, float] = {
    "lambda.request": 0.20 / MILLION,
    "lambda.gb_second": 0.0000133334,  # arm64, first tier
    "xray.trace": 5.00 / MILLION,
    "sqs.request": 0.40 / MILLION,
    "sqs.fifo_request": 0.50 / MILLION,
    "events.custom": 1.00 / MILLION,  # events of AWS services cost nothing
    "sns.publish": 0.50 / MILLION,
    "dynamodb.write": 0.625 / MILLION,
    "dynamodb.read": 0.125 / MILLION,
    "dynamodb.gb_month": 0.25,
    "dynamodb.recovery_gb_month": 0.20,
    "cloudwatch.metric": 0.30,
    "cloudwatch.alarm": 0.10,
    "cloudwatch.dashboard": 3.00,
    "cloudwatch.metric_read": 0.01 / 1000,
    "cloudwatch.request": 0.01 / 1000,
    "logs.gb": 0.50,
    "logs.gb_month": 0.03,
    "states.transition": 0.025 / 1000,
}
"""List prices of us-east-1 in dollars, without free tiers, as of 2026-12-01."""

# Measured on the demo's day by `python -m bench.using`: per job event, per pass, per tick of the clock.
EVENT_READS, EVENT_WRITES = 1.0, 2.7
PASS_READS, PASS_WRITES, PASS_CALLS = 15.0, 11.0, 1.3  # calls of CloudWatch's API
TICK_READS = 1.5  # and two for each queue
EVENTS_PER_JOB = 4.7

# From the code: what grows with a queue.
WAITING_BYTES = 200.0  # of a waiting job in the index: each pass reads them all, eventually consistent
BUSY_BYTES = 60.0  # of a running job in the day's ledger and in the queue's record, which each pass writes

# Assumed: nothing here could be timed on Lambda.
PLATFORM_LOG, BATCH_LOG, PASS_LOG = 600.0, 200.0, 5000.0  # bytes of an invocation, and of ours; metrics are most
EVENT_SECONDS, BATCH_SECONDS = 0.004, 0.15  # of record_jobs, for each event and for each batch of them
PASS_SECONDS, TICK_SECONDS, RELAY_SECONDS = 1.5, 0.3, 0.3
ROLLOUT_PASSES, ROLLOUT_PASS_SECONDS, TRANSITIONS = 60.0, 2.0, 3.0  # of one rollout; transitions of one pass
SMALL, LARGE = 0.5, 1.0  # GB: what the template gives

# From the template and the product.
WINDOW, RECEIVED = 5.0, 10.0  # seconds of a batching window; messages of one receive, or of one delete
POLLS = 5 * 3.0 * MINUTES  # empty receives of Lambda's five pollers of a queue, 20 seconds each
ALARMS, DASHBOARDS = 33, 1
METRICS, QUEUE_METRICS, CLASS_METRICS = 13, 15, 4
CLASSES = 4
GAUGED = 300.0  # seconds between two looks at how busy GPUs are, a metric read for each running instance
ITEM_DAYS, ITEM_BYTES = 7.0, 600.0  # how long a job's item is kept, and what it takes with its line in the index


@dataclass(frozen=True, slots=True)
class Load:
    """What a month brings: job events, queues, rollouts, and on average in each queue jobs that wait and that run."""

    events: float
    queues: int = 1
    rollouts: float = 10
    waiting: float = 100
    running: float = 50
    alarms: float = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the bill: so many units at this price."""

    service: str
    what: str
    quantity: float
    price: str

    def dollars(self, prices: Mapping[str, float]) -> float:
        """What it costs."""
        return self.quantity * prices[self.price]


def batches(load: Load) -> float:
    """Batches of events: windows of five seconds in which at least one comes, when they come at random.

    >>> round(batches(Load(1_000))), round(batches(Load(10_000_000)))
    (999, 518400)
    """
    windows = SECONDS / WINDOW
    return windows * (1 - exp(-load.events / windows))


def passes(load: Load) -> float:
    """Passes of all queues, at most: one a gap in which an event comes; else one a poll, as jobs wait or none does.

    >>> round(passes(Load(0))), round(passes(Load(10_000_000)))
    (43200, 86400)
    """
    gaps = SECONDS / LEAST_GAP
    busy = 1 - exp(-load.events / load.queues / gaps)
    return load.queues * (gaps * busy + SECONDS / (POLL if load.waiting else IDLE_POLL) * (1 - busy))


def bill(load: Load) -> list[Line]:
    """The month's bill, line by line."""
    taken, looked = batches(load), passes(load)
    advanced = load.rollouts * ROLLOUT_PASSES
    invocations = taken + looked + MINUTES + load.alarms + advanced
    compute = (
        SMALL * (taken * BATCH_SECONDS + load.events * EVENT_SECONDS + MINUTES * TICK_SECONDS)
        + SMALL * load.alarms * RELAY_SECONDS
        + LARGE * (looked * PASS_SECONDS + advanced * ROLLOUT_PASS_SECONDS)
    )
    reads = (
        load.events * EVENT_READS
        + looked * (PASS_READS + load.waiting * WAITING_BYTES / 8192)
        + MINUTES * (TICK_READS + 2 * load.queues)
        + advanced * 30
    )
    writes = load.events * EVENT_WRITES + looked * (PASS_WRITES + load.running * BUSY_BYTES / 1024) + advanced * 20
    logs = (invocations * PLATFORM_LOG + (taken + MINUTES) * BATCH_LOG + (looked + advanced) * PASS_LOG) / 1e9
    metrics = METRICS + load.queues * (QUEUE_METRICS + CLASSES * CLASS_METRICS)
    stored = load.events / EVENTS_PER_JOB * (ITEM_DAYS / 30) * ITEM_BYTES / 1e9
    truth = (looked * 300 + advanced * 3000) / 1e9
    gauges = load.queues * load.running * SECONDS / GAUGED
    return [
        Line("Lambda", "invocations", invocations, "lambda.request"),
        Line("Lambda", "GB-seconds", compute, "lambda.gb_second"),
        Line("X-Ray", "traces", invocations, "xray.trace"),
        Line("SQS", "requests", load.events + 2 * max(taken, load.events / RECEIVED) + POLLS, "sqs.request"),
        Line("SQS", "FIFO requests", taken + 3 * looked + POLLS, "sqs.fifo_request"),
        Line("EventBridge", "custom events", 20 * load.rollouts, "events.custom"),
        Line("SNS", "notices", load.alarms + 5 * load.rollouts, "sns.publish"),
        Line("DynamoDB", "write units", writes, "dynamodb.write"),
        Line("DynamoDB", "read units", reads, "dynamodb.read"),
        Line("DynamoDB", "GB stored", stored + truth, "dynamodb.gb_month"),
        Line("DynamoDB", "GB recoverable", truth, "dynamodb.recovery_gb_month"),
        Line("CloudWatch", "metrics", metrics, "cloudwatch.metric"),
        Line("CloudWatch", "alarms", ALARMS, "cloudwatch.alarm"),
        Line("CloudWatch", "dashboards", DASHBOARDS, "cloudwatch.dashboard"),
        Line("CloudWatch", "metrics read", gauges, "cloudwatch.metric_read"),
        Line("CloudWatch", "API requests", looked * PASS_CALLS, "cloudwatch.request"),
        Line("Logs", "GB taken in", logs, "logs.gb"),
        Line("Logs", "GB kept", logs, "logs.gb_month"),
        Line("Step Functions", "transitions", advanced * TRANSITIONS, "states.transition"),
    ]


COUNT = options.Number(0, 1e15)


@click.command(short_help="What a deployment costs a month.")
@click.option("--events", type=COUNT, required=True, help="Job-state events a month; a job has about four.")
@click.option("--queues", type=click.IntRange(1, 1000), default=1, show_default=True, help="Queues with a policy.")
@click.option("--rollouts", type=COUNT, default=10, show_default=True, help="Rollouts a month.")
@click.option("--waiting", type=COUNT, default=100, show_default=True, help="Jobs that wait in a queue, on average.")
@click.option("--running", type=COUNT, default=50, show_default=True, help="Instances that run jobs of a queue.")
@click.option("--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="JSON with the prices of another region, by the names that --json prints.")  # fmt: skip
@options.as_json
@options.debugged
def cost(
    events: float, queues: int, rollouts: float, waiting: float, running: float, prices: Path | None, as_json: bool
) -> None:
    """The bill of a month, line by line: quantities by formula, at list prices of us-east-1, no free tier taken off."""
    load = Load(events, queues, rollouts, waiting, running)
    priced, lines = _priced(prices), bill(load)
    total = sum(line.dollars(priced) for line in lines)
    if as_json:
        told = [
            {"service": one.service, "what": one.what, "quantity": one.quantity, "price": one.price,
             "dollars": one.dollars(priced)}
            for one in lines
        ]  # fmt: skip
        print_json({"total": total, "lines": told, "prices": dict(priced)})
        return
    rows = [(one.service, one.what, _quantity(one.quantity), f"{one.dollars(priced):,.2f}") for one in lines]
    columns = ("service", "what", "quantity", "$ a month")
    screen().print(table(columns, [*rows, ("all", "", "", f"{total:,.2f}")], right=columns[2:]))


def _quantity(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _priced(file: Path | None) -> Mapping[str, float]:
    if file is None:
        return PRICES
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UserMistake(f"not JSON that can be read: {error}", place=str(file)) from None
    if not isinstance(told, dict) or not all(
        isinstance(one, int | float) and 0 <= one <= DEAREST for one in told.values()
    ):
        raise UserMistake("prices are numbers by name", place=str(file), remedy='such as {"lambda.request": 2e-7}')
    if strange := sorted(told.keys() - PRICES.keys()):
        raise UserMistake(
            f"no such price: {', '.join(strange)}", place=str(file), remedy=f"there are {', '.join(PRICES)}"
        )
    return {**PRICES, **told}
