"""The preemption drill: kill training again and again, at random moments of every phase, and compare with a run left
alone.

    python -m benchmarks.drill --kills 8
    python -m benchmarks.drill --faults

Every run's weights must have the SHA-256 of the run left alone, its journal the same metrics, no step twice, none
missing, and the whole trainer must hold the same, before the last step and before each with which an attempt begins:
every attribute of every object that can be reached from it. Random moments are drawn from a seeded generator: wait
until the process enters a phase at or after a step, then up to twice the time that this phase takes, then send the
signal. SIGTERM comes also at the end of every phase in turn, among them each backward pass of a step. With `--faults`
the drill itself is tested: every planted fault must make it fail.
"""

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.drill_cases import CONFIGURATIONS, Configuration
from benchmarks.drill_faults import FAULTS, Fault
from benchmarks.drill_runs import Board, Drill, Finished, Found, Starts, Struck, begin, instrumented

SMALLEST_SHARE_MOVED = 0.6
"""Of the steps of a run, those that must have a gradient: without one nothing could differ, whatever was lost."""
SHOWN = 12
HEAD = (
    "| configuration | steps | signals and where they struck | weights identical | state identical | history equal |"
    " steps lost | slowest exit, s |"
)
FAULTS_HEAD = "| planted fault | configuration | what the drill saw |"


@dataclass(frozen=True)
class Row:
    """A row of the table: what was done to a configuration, and what came of it."""

    drill: Drill
    struck: Struck

    def same(self) -> tuple[int, int, int]:
        """How many runs have the same weights, states and history as the one left alone."""
        alone, runs = self.drill.alone, self.struck.runs
        return (
            sum(run.weights == alone.weights for run in runs),
            sum(not run.faults(alone) for run in runs),
            sum(repr(run.history) == repr(alone.history) for run in runs),  # NaN is no equal of itself
        )

    def passed(self) -> bool:
        return self.same() == (len(self.struck.runs),) * 3 and not self.struck.lost and self.struck.slowest < 10

    def faults(self) -> list[str]:
        alone = self.drill.alone
        return sorted({fault for run in self.struck.runs for fault in (*run.faults(alone), *_told(run, alone))})

    def line(self) -> str:
        struck, count, term = self.struck, len(self.struck.runs), self.struck.signal == signal.SIGTERM
        where = (
            f"{struck.hit.total()} {struck.signal.name} in {count} runs:"
            f" {', '.join(f'{phase} {n}' for phase, n in struck.hit.items())}"
        )
        same = [f"{equal}/{count}" for equal in self.same()]
        cost = [str(struck.lost), f"{struck.slowest:.2f}"] if term else ["-", "-"]
        return f"| {' | '.join([self.drill.configuration.name, str(self.drill.steps), where, *same, *cost])} |"


def _told(run: Finished, alone: Finished) -> list[str]:
    """What a run's journal says otherwise than that of the one left alone."""
    told, expected = (
        {f"history {step} {name}": repr(value) for step, results in one.history for name, value in results.items()}
        for one in (run, alone)
    )
    return [
        f"{what}: {told.get(what)} and not {expected.get(what)}"
        for what in sorted({*told, *expected})
        if told.get(what) != expected.get(what)
    ]


@dataclass(frozen=True)
class Amount:
    """How often each configuration is struck at random, at most how often in one run, and whether SIGTERM comes in
    every phase as well.
    """

    kills: int
    sigterms: int
    per_run: int
    phases: bool


def drilled(drill: Drill, amount: Amount) -> list[Row]:
    struck = [drill.terminated()] if amount.phases else []
    for number, total in ((signal.SIGKILL, amount.kills), (signal.SIGTERM, amount.sigterms)):
        struck += [drill.struck(number, total, amount.per_run)] if total else []
    return [Row(drill, one) for one in struck]


def run(
    place: Path, configurations: Sequence[Configuration], amount: Amount, seed: int, say: Callable[[str], None]
) -> bool:
    """Drill all configurations; `say` hears the rows of a Markdown table. Whether everything was as it must be."""
    board, moments, good = instrumented(), random.Random(seed), True
    starts = begin(place, board)
    say(f"{HEAD}\n{_rule(HEAD)}")
    for index, configuration in enumerate(configurations):
        try:
            drill = Drill(configuration, starts, place / str(index), moments, board)
            rows = drilled(drill, amount)
        except Found as stopped:
            say(f"{configuration.name}: an attempt ended with {stopped}")
            good = False
            continue
        if drill.moved() < SMALLEST_SHARE_MOVED:
            say(f"{configuration.name}: only {drill.moved():.0%} of its steps have a gradient, which proves nothing")
            good = False
        for row in rows:
            say(row.line())
            good &= row.passed()
            for fault in row.faults()[:SHOWN]:
                say(f"  differs {fault}")
        shutil.rmtree(drill.place)
    return good


def find(place: Path, faults: Sequence[Fault], seed: int, say: Callable[[str], None]) -> bool:
    """Plant one fault after the other; `say` hears a Markdown table of what the drill saw of them. Whether it saw
    all.
    """
    board, good = instrumented(), True
    starts = begin(place, board)
    say(f"{FAULTS_HEAD}\n{_rule(FAULTS_HEAD)}")
    for index, fault in enumerate(faults):
        seen = _seen(fault, starts, place / str(index), board, seed)
        say(f"| {fault.name} | {fault.configuration} | {seen or 'NOTHING'} |")
        good &= bool(seen)
    return good


def _seen(fault: Fault, starts: Starts, place: Path, board: Board, seed: int) -> str:
    """What the drill saw of a fault, planted in a process of its own; empty when it saw nothing."""
    place.mkdir()
    pid = os.fork()
    if not pid:
        fault.plant()
        configuration = next(one for one in CONFIGURATIONS if one.name == fault.configuration)
        try:
            row = Row(
                drill := Drill(configuration, starts, place / "drill", random.Random(seed), board), drill.terminated()
            )
            weights, state, history = row.same()
            runs = f"equal of {len(row.struck.runs)} runs: weights {weights}, state {state}, history {history}"
            text = "" if row.passed() else f"{runs}; {'; '.join(row.faults()[:1])}"
        except Found as stopped:
            text = str(stopped)
        (place / "seen.txt").write_text(text, encoding="utf-8")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, f"the drill itself broke over: {fault.name}"
    return (place / "seen.txt").read_text(encoding="utf-8").replace(str(place), "…")


def _rule(head: str) -> str:
    return re.sub(r"[^|]+", "---", head)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=8, help="kill -9 per configuration")
    parser.add_argument(
        "--sigterms", type=int, default=2, help="SIGTERM per configuration, beside those in every phase"
    )
    parser.add_argument("--per-run", type=int, default=4, help="random signals in one run, at most")
    parser.add_argument(
        "--phases", action=argparse.BooleanOptionalAction, default=True, help="SIGTERM at the end of every phase"
    )
    parser.add_argument("--seed", type=int, default=7, help="of the moments")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="configurations, or faults, with one of these in their names"
    )
    parser.add_argument("--faults", action="store_true", help="plant faults instead, which the drill must find")
    arguments = parser.parse_args()
    began = time.monotonic()

    def say(line: str) -> None:
        print(line, flush=True)

    with tempfile.TemporaryDirectory(prefix="drill-") as place:
        if arguments.faults:
            good = find(
                Path(place),
                [one for one in FAULTS if any(part in one.name for part in arguments.only)],
                arguments.seed,
                say,
            )
        else:
            chosen = [one for one in CONFIGURATIONS if any(part in one.name for part in arguments.only)]
            good = run(
                Path(place),
                chosen,
                Amount(arguments.kills, arguments.sigterms, arguments.per_run, arguments.phases),
                arguments.seed,
                say,
            )
    print(f"\n{'Passed' if good else 'FAILED'} in {time.monotonic() - began:.0f} s.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
