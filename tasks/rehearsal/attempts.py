"""Stages tried one after the other, each although another one failed, within the time that there is."""

import inspect
import math
import re
import time
import typing
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from prefect.task_engine import TaskRunTimeoutError
from prefect.tasks import Task

from tasks.preflight import ChecksRaised
from tasks.rehearsal.tried import Tried
from tasks.running.handles import CheckLine, Handle, Merged, PreflightResult
from tasks.running.run import Run
from tucano.comparison.promotion import unfaithful
from tucano.errors import TucanoError
from tucano.settings.training.preflight import SIGNALS

R = TypeVar("R")
LEAST_SECONDS = 5.0
"""With less than this a stage is not begun."""
PEAK = re.compile(r"gpu memory: ([0-9.]+) GiB")
CHECK = re.compile(r"(OK|WARN|RED|RAISED) +(\S.*?)  +(.*)")


@dataclass
class Attempts:
    """Adds a line to `tried` for each stage. A stage takes at most `share` of what is left until `ends`."""

    run: Run
    tried: list[Tried]
    ends: float
    share: float = 0.5

    def __call__(self, work: Task[..., R], *given: Any, on_gpu: bool = False) -> R | None:
        """What `work` makes of the run and what is given; None where it fails, or is left out for want of input or
        time.
        """
        line = Tried(work.name, on_gpu)
        self.tried.append(line)
        if missing := _missing(work, given):
            line.left_out = f"it needs what failed or was left out before: {', '.join(missing)}"
            return None
        began = time.monotonic()
        left = self.share * (self.ends - began)
        if left < LEAST_SECONDS:
            line.left_out = "no time was left"
            return None
        limited = work.with_options(retries=0, timeout_seconds=None if left == math.inf else left)
        checks: list[CheckLine] = []
        made: R | None = None
        try:
            made = limited(replace(self.run, heard=lambda said: _hear(said, line, checks)), *given)
        except TaskRunTimeoutError:
            line.left_out = f"ended after {left:.0f} s, which is all that it could have"
        except ChecksRaised:
            pass  # each has been heard
        except Exception as fault:  # whatever it is, the other stages are tried as well
            line.faults = [str(fault) if isinstance(fault, TucanoError) else f"{type(fault).__name__}: {fault}"]
        line.seconds = time.monotonic() - began
        if isinstance(made, Handle):
            line.reused = made.artifact.reused
        line.faults += self._red(made.record.checks if isinstance(made, PreflightResult) else checks)
        if isinstance(made, Merged) and not made.record.faithful:
            line.faults.append(unfaithful(made.record.mean_difference).reason)
        return made

    def _red(self, checks: Iterable[CheckLine]) -> Iterable[str]:
        """As a run would not go on with. Where no group of any task differs in reward, there is no gradient to flow."""
        signals = [check.level for check in checks if check.name in SIGNALS.values()]
        allowed = {*self.run.settings.preflight.allow_red, *(["gradient flow"] if {*signals} == {"red"} else [])}
        for check in checks:
            if check.raised or (check.level == "red" and check.name not in allowed):
                yield f"{check.name}: {check.evidence}"


def _missing(work: Task[..., Any], given: tuple[Any, ...]) -> list[str]:
    """The parameters after the run that may not be None, and are."""
    kinds = typing.get_type_hints(work.fn)
    names = list(inspect.signature(work.fn).parameters)[1:]
    pairs = zip(names, given, strict=True)
    return [name for name, value in pairs if value is None and type(None) not in typing.get_args(kinds[name])]


def _hear(said: str, line: Tried, checks: list[CheckLine]) -> None:
    """What a child prints of itself: its peak, and each check of a preflight when it is made."""
    if found := PEAK.match(said):
        line.peak_gib = float(found[1])
    if found := CHECK.match(said):
        level, name, evidence = found.groups()
        checks.append(CheckLine(name=name, level=level.lower(), evidence=evidence, raised=level == "RAISED"))
