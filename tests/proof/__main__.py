"""`make prove`: random worlds for both loops, or one of them again; `make ablate`: what each guard is worth."""

import argparse
import sys

from tests.proof.frame import MIX, Loop
from tests.proof.play import MOST, Missed, Sum, many, played, table
from tests.proof.queues.loop import QUEUES
from tests.proof.rollouts.loop import ROLLOUTS

LOOPS: tuple[Loop, ...] = (QUEUES, ROLLOUTS)


def say(text: str = "") -> None:
    """A line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Play what the arguments ask for; 1 where anything is wrong."""
    asked = _arguments(argv)
    loops = [loop for loop in LOOPS if asked.loop in {"", loop.name}]
    if asked.ablate:
        return _ablate(loops, asked)
    if asked.seed is not None:
        return _again(loops, asked)
    return _prove(loops, asked)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many worlds of each loop")
    parser.add_argument("--start", type=int, default=1, help="the first world's integer")
    parser.add_argument("--seed", type=int, help="one world, again")
    parser.add_argument("--loop", default="", choices=["", *(loop.name for loop in LOOPS)])
    parser.add_argument("--profile", default=MIX, help="one kind of worlds, not the mix that the integer draws")
    parser.add_argument("--ablate", action="store_true", help="take each guard away in turn")
    parser.add_argument("--other-start", type=int, default=100_001, help="where the table begins for a second time")
    parser.add_argument("--most", type=int, default=MOST, help="worlds in which a guard's absence must show")
    return parser.parse_args(argv)


def _prove(loops: list[Loop], asked: argparse.Namespace) -> int:
    sums = [(loop, many(loop, range(asked.start, asked.start + asked.seeds), asked.profile)) for loop in loops]
    for loop, total in sums:
        _tell(loop, total)
    wrong = sum(len(total.found) for _, total in sums)
    worlds = ", ".join(f"{total.worlds} worlds of {loop.name}" for loop, total in sums)
    say(f"prove: {worlds} from {asked.start} on: {wrong} violations")
    return 1 if wrong else 0


def _tell(loop: Loop, total: Sum) -> None:
    for seed, violation in total.found:
        say(f"{loop.name} {seed} {violation.invariant}: {violation.sentence}")
    rate = total.worlds / total.seconds if total.seconds else 0.0
    say(f"{loop.name}: {total.worlds} worlds, {total.steps} steps, {rate:.0f} worlds/s")
    for kind, count in sorted(total.faults.items(), key=lambda pair: (-pair[1], pair[0])):
        say(f"  {count:9d}  {kind}")
    say(f"  {len(total.found):9d}  violations, in {len({seed for seed, _ in total.found})} worlds")


def _again(loops: list[Loop], asked: argparse.Namespace) -> int:
    wrong = 0
    for loop in loops:
        outcome = played(loop, asked.seed, asked.profile)
        wrong += len(outcome.violations)
        say(f"{loop.name} {asked.seed}: {outcome.steps} steps; {dict(outcome.faults)}")
        for violation in outcome.violations:
            say(f"{loop.name} {asked.seed} {violation.invariant}: {violation.sentence}")
    say(f"prove: world {asked.seed}: {wrong} violations")
    return 1 if wrong else 0


def _ablate(loops: list[Loop], asked: argparse.Namespace) -> int:
    lines = [(loop, line) for loop in loops for line in table(loop, (asked.start, asked.other_start), asked.most)]
    say("| guard | worlds | from | tried | found by | seed | first violation |")
    say("|---|---|---|---|---|---|---|")
    for loop, line in sorted(lines, key=lambda pair: (pair[0].name, pair[1].guard.name, pair[1].start)):
        _row(loop, line)
    bad = [line for _, line in lines if line.first is None or line.intact]
    say(f"ablate: {len(lines)} lines, {len(bad)} of guards that nothing missed or worlds that were wrong with them")
    return 1 if bad else 0


def _row(loop: Loop, line: Missed) -> None:
    where = f"{loop.name}, {line.guard.profile or 'the mix'}"
    if line.first is None:
        say(f"| {line.guard.name} | {where} | {line.start} | {line.worlds} | nothing | | |")
        return
    but = f" (and {line.intact} with it)" if line.intact else ""
    text = line.first.sentence.replace("|", "/")
    cells = (line.guard.name, where, line.start, line.worlds, line.first.invariant + but, line.seed, text)
    say(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    sys.exit(main())
