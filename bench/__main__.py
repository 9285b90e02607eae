"""`python -m bench`: what long queues cost, held against the budgets; it stops by itself after about three minutes.

Seconds are those of CPU, so that other work on the machine counts little; each measurement has a process of its own.
"""

import json
import math
from argparse import ArgumentParser
from platform import machine, processor, python_version
from time import monotonic
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.imports import FUNCTIONS, importing
from bench.measuring import apart, base_seconds

Row = dict[str, Any]
LENGTHS = (1_000, 10_000, 100_000)
GROUPS = (200, 5_000)
WHOLE = 200.0  # seconds after which nothing new is begun
EACH = 90.0  # seconds for one measurement
QUOTA = {"kind": "quota shares", "shares": 10}
KINDS: dict[str, Row] = {
    "fair share": {},
    "fair share, an alarm boosts": {"boosted": True},
    "fair share, 10 shares": {"shares": 10},
    "quota shares": QUOTA,
    "quota shares, an alarm boosts": {**QUOTA, "boosted": True},
}
MONTH = 46_000  # jobs


class _Bench:
    def __init__(self) -> None:
        self._began = monotonic()
        self.out = Console(stderr=True)
        self.result: Row = {"left_out": []}

    def ask(self, part: str, **asked: Any) -> Row | None:
        """One measurement; None when there is no time for it, and then it is said that it was left out."""
        left = WHOLE - (monotonic() - self._began)
        told = apart(part, min(EACH, left), **asked) if left > 0 else None
        if told is None:
            self.result["left_out"].append({"part": part, **asked})
        return told

    def base(self) -> None:
        seconds = base_seconds()
        self.result |= {"machine": f"{machine()} {processor()}".strip(), "python": python_version(), "base": seconds}
        self.out.print(f"One unit is what this machine takes now to sort 100,000 pairs: {seconds * 1000:.1f} ms.")

    def observing(self) -> None:
        rows = []
        for jobs in LENGTHS:
            for kind, more in (("fair share", {}), ("quota shares", QUOTA)):
                told = self.ask("observing", jobs=jobs, groups=GROUPS[0], **more)
                rows += [{"jobs": jobs, "kind": kind, **told}] if told else []
        self.result["observing"] = rows
        table = _table("Observing: the index by the product's own adapter and client; answers are a stand-in's",
                       "waiting", "kind", "pages", "read units", "bytes a job", "units", "peak MB")  # fmt: skip
        for r in rows:
            table.add_row(f"{r['jobs']:,}", r["kind"], f"{r['pages']}", f"{r['read_units']:,.0f}",
                          f"{r['bytes_a_job']:.0f}", f"{r['observe_seconds'] / self.result['base']:.1f}",
                          f"{r['pass_mb']:.0f}")  # fmt: skip
        self.out.print(table)

    def deciding(self) -> None:
        rows = []
        for kind, more in KINDS.items():
            for groups in GROUPS if not more else GROUPS[-1:]:
                lengths = LENGTHS if not more else LENGTHS[-2:]
                told = {n: t for n in lengths if (t := self.ask("deciding", jobs=n, groups=groups, **more))}
                rows += [{"jobs": n, "groups": groups, "kind": kind, **t} for n, t in told.items()]
                if told.keys() >= {*LENGTHS[-2:]}:
                    rows[-1]["growth"] = _growth(told[LENGTHS[-2]], told[LENGTHS[-1]])
        self.result["deciding"] = rows
        table = _table("Deciding; growth is the exponent over n log n from 10,000 to 100,000 jobs",
                       "waiting", "groups", "kind", "values", "decide", "in s", "MB", "explain", "growth")  # fmt: skip
        base = self.result["base"]
        for r in rows:
            growth = f"{r['growth']:.2f}" if "growth" in r else ""
            table.add_row(f"{r['jobs']:,}", f"{r['groups']:,}", r["kind"], f"{r['view_seconds'] / base:.1f}",
                          f"{r['decide_seconds'] / base:.2f}", f"{r['decide_seconds']:.3f}", f"{r['decide_mb']:.1f}",
                          f"{r['explain_seconds'] / base:.1f}", growth)  # fmt: skip
        self.out.print(table)

    def recording(self) -> None:
        told = self.ask("recording", events=5_000)
        if told:
            self.result["recording"] = told
            self.out.print(f"The recorder takes in {told['events_a_second']:,.0f} events a second of CPU.")

    def simulating(self, trace: str | None) -> None:
        asked = [{"run": "pointsman", "jobs": MONTH, "load": load} for load in (0.9, 1.17)]
        if trace:
            asked += [{"run": "pointsman", "trace": trace, "capacity": capacity} for capacity in (640, 512)]
        rows = [{**each, **told} for each in asked if (told := self.ask("simulating", **each))]
        self.result["simulating"] = rows
        table = _table(
            "A month in the simulator", "jobs", "from", "load", "CPU seconds", "units", "jobs a second", "MB"
        )
        for r in rows:
            source = "the trace" if "trace" in r else "generated"
            table.add_row(f"{r['jobs']:,}", source, f"{r['offered_load']:.2f}", f"{r['cpu_seconds']:.1f}",
                          f"{r['cpu_seconds'] / self.result['base']:.0f}", f"{r['jobs_a_second']:,.0f}",
                          f"{r['mb']:.0f}")  # fmt: skip
        self.out.print(table)

    def importing(self) -> None:
        rows = []
        for name in FUNCTIONS:
            if monotonic() - self._began < WHOLE:
                rows.append(importing(name))
            else:
                self.result["left_out"].append({"part": "importing", "name": name})
        self.result["importing"] = rows
        table = _table("A function's start, and how often the floor it is: boto3 with its clients (at most 1.5)",
                       "function", "clients", "seconds", "over", "MB", "over", "heavier than pydantic")  # fmt: skip
        for r in rows:
            table.add_row(r["function"], ", ".join(dict.fromkeys(r["clients"])), f"{r['seconds']:.2f}",
                          f"{r['seconds_over_floor']:.2f} x", f"{r['mb']:.0f}", f"{r['memory_over_floor']:.2f} x",
                          ", ".join(r["heavy"]) or "nothing")  # fmt: skip
        self.out.print(table)


def _growth(less: Row, more: Row) -> float:
    """The exponent by which the work grows with n log n."""
    work = [told["view_seconds"] + told["decide_seconds"] for told in (less, more)]
    size = [n * math.log(n) for n in LENGTHS[-2:]]
    return math.log(work[1] / work[0]) / math.log(size[1] / size[0])


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column in {"kind", "function", "clients", "from"} else "right")
    return table


def main() -> None:
    """Measure all of it."""
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON on standard output")
    parser.add_argument("--trace", help="a month of Philly as CSV, to be simulated too")
    parts = ("observing", "deciding", "recording", "simulating", "importing")
    parser.add_argument("part", nargs="*", choices=[[], *parts], help="what to measure, if not all of it")
    chosen = parser.parse_args()
    bench = _Bench()
    bench.base()
    for part in chosen.part or parts:
        if part == "simulating":
            bench.simulating(chosen.trace)
        else:
            getattr(bench, part)()
    for part in bench.result["left_out"]:
        bench.out.print(f"Left out, for lack of time: {part}")
    if chosen.json:
        print(json.dumps(bench.result))  # noqa: T201 - what was asked for


if __name__ == "__main__":
    main()
