"""One adapter per task in the place of one for all: subfolders with the tasks' names, and how they come together."""

import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from tucano.files.models import SeedFiles
from tucano.prompts import TASKS
from tucano.storage.journal import JournalWriter, read_journal

CONFIG = "adapter_config.json"


def adapters_by_task(folder: Path) -> dict[str, Path]:
    """{task: its adapter} of a folder that holds one for each; empty where it is one adapter for all tasks."""
    return {task: folder / task for task in TASKS if (folder / task / CONFIG).is_file()}


def join_adapters(parts: Mapping[str, SeedFiles], output: SeedFiles) -> None:
    """Put the adapters of one seed together, by task, with one journal: at each step the mean over the tasks that have
    the metric there.
    """
    for task, part in parts.items():
        shutil.copytree(part.adapter, output.adapter / task)
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for part in parts.values():
        for entry in read_journal(part.journal):
            for name, value in entry.values.items():
                found[entry.step][name].append(value)
    journal = JournalWriter(output.journal, resume_step=None)
    for step, metrics in sorted(found.items()):
        journal.log(step, {name: fmean(values) for name, values in metrics.items()})
    journal.commit(max(found, default=0))
