"""`python tests/planted.py PLACE,PLACE rehearse ...`: the command with a fault planted in each of these functions.

What children would do is done in this process, so that they meet the faults, too.
"""

import importlib
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Any

from tucano.cli.main import main
from tucano.training import launch
from tucano.training.jobs import MODULES, Job
from tucano.training.worker import quieten_libraries


def plant(place: str) -> None:
    module, _, name = place.rpartition(".")
    target = importlib.import_module(module)

    @wraps(getattr(target, name))
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"planted in {name}")

    setattr(target, name, broken)


def here(job: Job, python: str | None, on_progress: object, on_line: Callable[[str], None], *_: object) -> Any:
    Path(job.work).mkdir(parents=True, exist_ok=True)
    try:
        with redirect_stdout(StringIO()) as said:
            return importlib.import_module(MODULES[job.kind]).run(job)
    finally:
        for line in said.getvalue().splitlines():
            on_line(line)


if __name__ == "__main__":
    quieten_libraries()
    for found in sys.argv.pop(1).split(","):
        plant(found)
    launch.run_job = here  # type: ignore[assignment]
    launch.forking = lambda *_: nullcontext()  # type: ignore[assignment]
    main()
