"""Stages tried one after the other, each although another one failed, within the time that there is."""

import inspect
import re
import time
import typing
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from prefect.task_engine import TaskRunTimeoutError
from prefect.tasks import Task

from tasks.handles import CheckLine, Merged, PreflightResult
from tasks.preflight import ChecksRaised
from tasks.rehearsal.tried import Tried
from tasks.running.run import Run
from tucano.comparison.promotion import unfaithful
from tucano.errors import TucanoError

R = TypeVar("R")
LEAST_SECONDS = 5.0
"""With less than this a stage is not begun."""
PEAK = re.compile(r"^gpu memory: ([0-9.]+) GiB")


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
        limited = work.with_options(retries=0, timeout_seconds=None if left == float("inf") else left)
        try:
            made: R = limited(replace(self.run, heard=lambda said: _hear(line, said)), *given)
        except TaskRunTimeoutError:
            line.left_out = f"ended after {left:.0f} s, which is all that it could have"
            return None
        except ChecksRaised as raised:
            line.faults = list(self._red(raised.checks))
            return None
        except Exception as fault:  # whatever it is, the other stages are tried as well
            line.faults = [str(fault) if isinstance(fault, TucanoError) else f"{type(fault).__name__}: {fault}"]
            return None
        finally:
            line.seconds = time.monotonic() - began
        line.faults = list(self._seen_in(made))
        return made

    def _seen_in(self, made: object) -> Iterable[str]:
        """What is wrong with something that was made."""
        if isinstance(made, PreflightResult):
            yield from self._red(made.record.checks)
        if isinstance(made, Merged) and not made.record.faithful:
            yield unfaithful(made.record.mean_difference).reason

    def _red(self, checks: Iterable[CheckLine]) -> Iterable[str]:
        allowed = self.run.settings.preflight.allow_red
        for check in checks:
            if check.raised or (check.level == "red" and check.name not in allowed):
                yield f"{check.name}: {check.evidence}"


def _missing(work: Task[..., Any], given: tuple[Any, ...]) -> list[str]:
    """The parameters after the run that may not be None, and are."""
    kinds = typing.get_type_hints(work.fn)
    names = list(inspect.signature(work.fn).parameters)[1:]
    pairs = zip(names, given, strict=True)
    return [name for name, value in pairs if value is None and type(None) not in typing.get_args(kinds[name])]


def _hear(line: Tried, said: str) -> None:
    if found := PEAK.match(said):
        line.peak_gib = max(line.peak_gib or 0.0, float(found[1]))
