"""Mutation testing of rewards/: does a slip in the specification get past the tests and the audit?

Every mutant (benchmarks/mutants.py) is tried in a forked process: the golden scores, the tests of the rewards with
those of its module first, then the audit of `grounded` and of `v4.2` on the committed ratings. It is killed by the
first test that fails, by a check of the audit that fails now and not before, by more than five minutes of CPU, or by
more than 4 GB. Survivors are looked up in reward_mutants_judged.txt, where a person has said why they change nothing
(`equivalent`) or are left (`tolerated`). Exits with 1 when less than 95 % of those that are not equivalent are killed,
or a survivor has not been judged.

    python -m benchmarks.reward_mutants                  all, on all cores
    python -m benchmarks.reward_mutants --module text    one module
"""

import argparse
import gc
import importlib.abc
import importlib.util
import io
import multiprocessing
import os
import resource
import sys
import time
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Literal

import hypothesis
import numpy  # noqa: F401  heavy and never mutated, so imported once and not in every child
import pytest
import scipy.stats  # noqa: F401
import sqlglot  # noqa: F401

from benchmarks.mutants import Mutant, mutants

ROOT = Path(__file__).parents[1]
JUDGED = Path(__file__).with_name("reward_mutants_judged.txt")
TESTS = [
    f"tests/test_rewards_{name}.py"
    for name in (
        "v42",
        "classify",
        "extraction",
        "text",
        "prose",
        "parsing",
        "grounded",
        "insights",
        "push",
        "sets",
        "sql",
    )
]
FIRST = {
    "objects": "parsing",
    "claims": "text",
    "controls": "sets",
    "describe": "sets",
    "types": "text",
    "moves": "insights",
    "sums": "insights",
    "naming": "push",
    "numbers": "push",
    "offers": "push",
    "slips": "push",
}
REWARD_SETS: tuple[Literal["grounded", "v4.2"], ...] = ("grounded", "v4.2")
CPU_SECONDS = 300
BYTES = 4 * 2**30
NEEDED = 0.95


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a mutant's source."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self._mutant.module else None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = str(ROOT / f"{module.__name__.replace('.', '/')}.py")  # some read what lies beside them
        exec(compile(self._mutant.source, "mutant", "exec"), module.__dict__)


class FirstFailure:
    """A pytest plugin that remembers which test failed."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.name = self.name or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.name = self.name or f"{report.nodeid} (import)"


def audit_failures() -> set[str]:
    """The blocking checks that fail, as `reward set, task: check`."""
    from rewards.sets import SETS
    from tucano.audit.gate import audit
    from tucano.settings import AuditSettings

    # without its search, which takes the longest and blocks nothing
    gate, ratings = AuditSettings(resamples=50, search_calls=0), ROOT / "data" / "ratings"
    reports = {name: audit(name, ratings, gate, tuple(SETS[name]), seed=7) for name in REWARD_SETS}
    return {f"{name}, {check.task}: {check.name}" for name, report in reports.items() for check in report.failed_checks}


def golden_differences() -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """As the test of the golden scores has it, but it stops at the first: most mutants need no more, nor pytest."""
    from test_rewards_golden import differences

    return differences()


def killer(module: str, usual: set[str]) -> str:
    """What notices that something is wrong with the rewards; empty where nothing does."""
    if difference := next(golden_differences(), None):
        return f"golden scores: {difference[0]['prompt']}"
    name = module.rpartition(".")[2]
    first = f"tests/test_rewards_{FIRST.get(name, name)}.py"
    for file in sorted(TESTS, key=lambda file: file != first):
        failure = FirstFailure()
        if pytest.main(["-x", "-q", "-p", "no:cacheprovider", file], plugins=[failure]) != 0:
            return failure.name or file
    return next((f"audit of {name}" for name in sorted(audit_failures() - usual)), "")


def forget_ours() -> None:
    for name in [
        name
        for name in sys.modules
        if name.partition(".")[0] in ("rewards", "test_rewards_golden")
        or name.startswith(("tucano.audit.", "tucano.rating.", "tucano.statistics."))
    ]:
        del sys.modules[name]


@contextmanager
def quiet() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


def tried(mutant: Mutant | None, usual: set[str]) -> str:
    """The killer of a mutant, found in a child of this process; None stands for the rewards as they are."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        try:
            gc.disable()
            forget_ours()
            if mutant:
                sys.meta_path.insert(0, Mutated(mutant))
            with quiet():
                found = killer(mutant.module if mutant else "rewards.sets", usual)
        except BaseException as error:  # whatever a mutant raises, it is found out
            found = f"{type(error).__name__}: {error}"
        os.write(writing, found.encode("utf-8", "replace")[:500])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        found = pipe.read()
    status = os.waitpid(child, 0)[1]
    return found or (f"CPU or memory: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "")


_mutants: list[Mutant] = []
_usual: set[str] = set()


def work(place: int) -> str:
    return tried(_mutants[place], _usual)


def judgements() -> dict[str, str]:
    """{mutant: judgement}, from lines `mutant => equivalent: why` or `mutant => tolerated: why`."""
    lines = JUDGED.read_text(encoding="utf-8").splitlines() if JUDGED.is_file() else []
    return dict(line.split(" => ") for line in lines if " => " in line)


def report(killers: Sequence[str], seconds: float) -> int:
    judged = judgements()
    survivors = [mutant for mutant, found in zip(_mutants, killers, strict=True) if not found]
    equivalent = [mutant for mutant in survivors if judged.get(mutant.key, "").startswith("equivalent")]
    unjudged = [mutant for mutant in survivors if mutant.key not in judged]
    modules = Counter(mutant.module for mutant in _mutants)
    print("| module | mutants | survivors | equivalent |\n|---|---:|---:|---:|")
    for module, count in sorted(modules.items()):
        alive, same = (sum(mutant.module == module for mutant in group) for group in (survivors, equivalent))
        print(f"| {module} | {count} | {alive} | {same} |")
    by_audit = sum(found.startswith("audit") for found in killers)
    killed, rest = len(_mutants) - len(survivors), len(_mutants) - len(equivalent)
    print(
        f"\n{killed} of {rest} mutants that are not equivalent are killed: {killed / rest:.1%}; {by_audit} by the audit"
        " after all tests passed"
    )
    for mutant in survivors:
        print(f"- line {mutant.line}, {mutant.key} => {judged.get(mutant.key, 'NOT JUDGED')}")
    print(f"{len(_mutants)} mutants, {len(survivors)} survivors, {len(unjudged)} not judged; {seconds:.0f} s")
    return 1 if unjudged or killed < NEEDED * rest else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="*", help="a module of rewards/, without .py")
    arguments = parser.parse_args()
    started = time.monotonic()
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # each would start anew in every child
    sys.path.insert(0, str(ROOT / "tests"))
    hypothesis.settings.register_profile("mutants", derandomize=True, max_examples=10, deadline=None, database=None)
    hypothesis.settings.load_profile("mutants")
    _usual.update(audit_failures())
    if found := tried(None, _usual):
        print(f"the rewards as they are fail: {found}")
        return 2
    _mutants.extend(
        mutant
        for path in sorted((ROOT / "rewards").rglob(f"{arguments.module}.py"))
        for mutant in mutants(path, ".".join(path.parent.relative_to(ROOT).parts))
    )
    gc.freeze()  # so that children do not copy what they never touch
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    killers: list[str] = []
    with ProcessPoolExecutor(cores, multiprocessing.get_context("fork")) as pool:
        for mutant, found in zip(_mutants, pool.map(work, range(len(_mutants))), strict=True):
            killers.append(found)
            print(
                f"{len(killers)}/{len(_mutants)}  {mutant.key[:150]}  {found[:80] or 'SURVIVED'}",
                file=sys.stderr,
                flush=True,
            )
    return report(killers, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
