"""What the demo says: one object for `--json`, and the same in tables for people."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pointsman.ports import RecordedMove
from pointsman.queues.reasons import Reason
from pointsman_cli.demo.day import Played
from pointsman_cli.demo.measures import idle_hours, utilisation, waits_by_class
from pointsman_cli.demo.scenario import QUEUE, Scenario
from pointsman_cli.printing import counted, plain

DECISIONS_SHOWN = 10


def summary(scenario: Scenario, runs: Sequence[Played]) -> dict[str, Any]:
    """Everything measured, as plain values; waits and idle figures in hours."""
    ours = runs[-1]
    return {
        "jobs": len(scenario.jobs),
        "left_out": scenario.left_out,
        "teams": len({job.team for job in scenario.jobs}),
        "capacity": scenario.capacity,
        "seed": scenario.seed,
        "events": scenario.events,
        "runs": [_run(scenario, played) for played in runs],
        "api_calls": ours.calls,
        "api_calls_per_job": {name: round(count / len(scenario.jobs), 3) for name, count in ours.calls.items()},
        "moves": len(ours.moves),
        "backfills": sum(move.move.reason is Reason.BACKFILL for move in ours.moves),
        "passes": len(ours.passes),
        "end_state": _end_state(scenario, ours),
        "failures": list(dict.fromkeys(ours.failures))[:5],
        "alarm": _alarm(ours),
        "decisions": [_decision(move) for move in shown(ours.moves)],
        "wiring": {"ok": not _faults(ours), "faults": _faults(ours)},
    }


def _run(scenario: Scenario, played: Played) -> dict[str, Any]:
    return {
        "name": played.name,
        "finished": len(played.jobs),
        "utilisation": round(utilisation(played.jobs, scenario.capacity, scenario.window), 4),
        "wait_hours": {
            name: {key: round(value, 3) for key, value in asdict(figures).items()}
            for name, figures in waits_by_class(played.jobs).items()
        },
        "idle_gpu_hours": {
            name: round(hours, 1) for name, hours in idle_hours(played, scenario.capacity, scenario.window).items()
        },
    }


def _end_state(scenario: Scenario, played: Played) -> dict[str, Any]:
    """How it ended; two runs of the same jobs that ended the same have the same digest."""
    names = [job.name for job in played.jobs]
    ends = sorted((job.name, job.succeeded, job.attempts) for job in played.jobs)
    return {
        "digest": sha256(repr(ends).encode()).hexdigest()[:12],
        "succeeded_once": sum(job.succeeded and job.attempts == 1 for job in played.jobs),
        "run_twice": sum(job.attempts > 1 for job in played.jobs) + len(names) - len(set(names)),
        "lost": len(scenario.jobs) - len(set(names)),
        "dead_letters": played.dead_letters,
        "failures": len(played.failures),
    }


def _faults(played: Played) -> list[str]:
    return list(played.wiring.faults) if played.wiring else []


def _alarm(played: Played) -> dict[str, Any] | None:
    if not played.effects:
        return None
    effect = played.effects[0]
    during = [m for m in played.moves if effect.since <= m.at < effect.end]
    caused = [m for m in during if m.move.reason is Reason.BOOSTED]
    after = [m for m in played.moves if m.at >= effect.end]
    event = next(iter(played.alarm_events), None)
    return {
        "alarm": effect.alarm,
        "boost": effect.boost,
        "event": event,
        "since": iso(effect.since),
        "until": iso(effect.end),
        "ended_by": "alarm" if effect.ended is not None and effect.ended == effect.end else "time",
        "writes_while_active": sum(m.outcome == "done" for m in during),
        "caused": [_decision(m) for m in caused],
        "first_after": [_decision(m) for m in after[:3]],
        "boosted_after": sum(m.move.reason is Reason.BOOSTED for m in after),
    }


def _decision(recorded: RecordedMove) -> dict[str, Any]:
    move = recorded.move
    return {
        "at": iso(recorded.at),
        "job": move.job_name,
        "class": move.job_class,
        "priority": [move.before, move.after],
        "reason": move.reason.value,
        "sentence": move.sentence,
        "outcome": recorded.outcome,
    }


def iso(at: float) -> str:
    """An epoch time as people and programs read it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(moves: Sequence[RecordedMove]) -> list[RecordedMove]:
    """Ten decisions, of each reason in turn, spread over the day; in order of time."""
    by_reason = [[m for m in moves if m.move.reason is reason] for reason in Reason]
    chosen: list[RecordedMove] = []
    for part in (0.5, 0.2, 0.8, 0.35, 0.65, 0.05, 0.95):
        for same in by_reason:
            candidate = same[int(part * len(same))] if same else None
            if candidate is not None and candidate not in chosen and len(chosen) < DECISIONS_SHOWN:
                chosen.append(candidate)
    return sorted(chosen, key=lambda m: m.at)


def say(console: Console, facts: Mapping[str, Any]) -> None:
    """Print the day for a person."""
    left_out = f", {facts['left_out']} larger than the pool left out" if facts["left_out"] else ""
    jobs = counted(facts["jobs"], "job")
    console.print(
        f"{jobs} of {counted(facts['teams'], 'team')} on {facts['capacity']} one-GPU instances "
        f"(seed {facts['seed']}{left_out}); queue {QUEUE}, events delivered x{facts['events']:g}"
    )
    console.print(_waits_table(facts))
    console.print(_use_table(facts))
    _say_alarm(console, facts["alarm"])
    count = len(facts["decisions"])
    why = f"{counted(count, 'decision')}, and why" if count else "Nothing had to be moved."
    console.print(f"\n{why}", style="bold")
    _say_decisions(console, facts["decisions"])
    console.print()
    per_job = facts["api_calls_per_job"]
    console.print(
        f"Calls per job: {per_job['UpdateServiceJob']:.2f} UpdateServiceJob, "
        f"{per_job['DescribeServiceJob']:.2f} DescribeServiceJob; {facts['passes']} passes, "
        f"{facts['moves']} moves, {facts['backfills']} backfills."
    )
    end = facts["end_state"]
    console.print(
        f"End: {end['succeeded_once']} jobs ran once and succeeded, {end['lost']} lost, {end['run_twice']} run twice, "
        f"{end['dead_letters']} dead letters, {end['failures']} failed passes or invocations (digest {end['digest']})."
    )
    for failure in facts["failures"]:
        _plain(console, f"  {failure}")
    wiring = facts["wiring"]
    if wiring["ok"]:
        console.print("Wiring: every kind of event reached its target.")
    else:
        console.print("Wiring is broken:", style="red")
    for fault in wiring["faults"]:
        _plain(console, f"  {fault}")


def _waits_table(facts: Mapping[str, Any]) -> Table:
    table = Table(title="Hours waited: mean (longest)", title_justify="left")
    table.add_column("class")
    table.add_column("jobs", justify="right")
    for run in facts["runs"]:
        table.add_column(run["name"], justify="right")
    for name, first in facts["runs"][0]["wait_hours"].items():
        cells = (run["wait_hours"][name] for run in facts["runs"])
        table.add_row(name, str(first["jobs"]), *(f"{c['mean']:.2f} ({c['longest']:.1f})" for c in cells))
    return table


def _use_table(facts: Mapping[str, Any]) -> Table:
    table = Table(title="Use of the GPUs, and the GPU-hours that nobody held", title_justify="left")
    table.add_column("")
    for run in facts["runs"]:
        table.add_column(run["name"], justify="right")
    table.add_row("utilisation", *(f"{100 * run['utilisation']:.1f} %" for run in facts["runs"]))
    for name in sorted({name for run in facts["runs"] for name in run["idle_gpu_hours"]}):
        table.add_row(
            f"idle: {name.replace('_', ' ')}", *(f"{run['idle_gpu_hours'].get(name, 0.0):.1f}" for run in facts["runs"])
        )
    return table


def _say_alarm(console: Console, alarm: Mapping[str, Any] | None) -> None:
    if alarm is None:
        return
    console.print(f"\nAlarm {alarm['alarm']}", style="bold")
    if alarm["event"]:
        event = alarm["event"]
        _plain(console, f"  {event['time'][11:16]}  event: {event['detail-type']}, {event['detail']['state']['value']}")
        _plain(console, f"         {event['detail']['state']['reason']}")
    since, until = alarm["since"][11:16], alarm["until"][11:16]
    console.print(f"  {since}  {alarm['boost']} is boosted until {until} (ended by {alarm['ended_by']});")
    written, caused = alarm["writes_while_active"], len(alarm["caused"])
    console.print(f"         {written} priorities are written meanwhile, {caused} only because of it:")
    _say_decisions(console, alarm["caused"][:4])
    console.print(
        f"  {alarm['until'][11:16]}  it has ended; the next decisions, {alarm['boosted_after']} of them boosted:"
    )
    _say_decisions(console, alarm["first_after"])


def _say_decisions(console: Console, decisions: Sequence[Mapping[str, Any]]) -> None:
    for one in decisions:
        before, after = one["priority"]
        _plain(console, f"  {one['at'][11:16]}  {one['reason']}: {one['job']}, priority {before} -> {after}")
        _plain(console, f"         {one['sentence']}")


def _plain(console: Console, text: str) -> None:
    """A line, wrapped under its own indent."""
    indent = len(text) - len(text.lstrip())
    console.print(Padding(Text(plain(text.strip())), (0, 0, 0, indent), expand=False))
