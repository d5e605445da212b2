"""Jobs of training children, which most tests do in their own process."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

from tucano.settings import PipelineSettings
from tucano.training.checkpoints import interruption
from tucano.training.jobs import ChildKind, Job
from tucano.training.orders import JobFolders, order


def job_in(
    place: Path,
    kind: ChildKind,
    settings: PipelineSettings,
    prompts: Path,
    base: Path | None = None,
    adapter: Path | None = None,
    **more: Any,
) -> Job:
    """One of seed 1 that works in work/ and writes into output/ of a place, and begins with this base. Whoever does it
    here is as good as a new process.
    """
    interruption._requested = False
    gc.collect()  # the end of a process frees its lock
    (place / "output").mkdir(parents=True, exist_ok=True)
    start = (str(base), str(adapter) if adapter else None) if base else None
    return replace(order(kind, settings, 1, 1, JobFolders(prompts, place / "work", place / "output"), start), **more)
