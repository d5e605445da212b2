"""One adapter per task in the place of one for all: subfolders with the tasks' names, and how they come together."""

import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from tucano.artifacts.lineage import adapter_config
from tucano.files.models import SeedFiles
from tucano.prompts import TASKS
from tucano.storage.journal import JournalWriter, read_journal


def adapters_by_task(folder: Path) -> dict[str, Path]:
    """{task: its adapter} of a folder that holds one for each; empty where it is one adapter for all tasks."""
    return {task: folder / task for task in TASKS if adapter_config(folder / task).is_file()}


def join_adapters(parts: Mapping[str, SeedFiles], output: SeedFiles) -> None:
    """Put the adapters of one seed together, by task, with one journal: at each step the mean over the tasks that have
    the metric there. A task whose training has stopped counts on with its last look at the validation set.
    """
    for task, part in parts.items():
        shutil.copytree(part.adapter, output.adapter / task)
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    entries = [read_journal(part.journal) for part in parts.values()]
    looks = sorted({entry.step for rows in entries for entry in rows if _looks(entry.values)})
    for rows in entries:
        last = dict[str, float]()
        steps = set[int]()
        for entry in rows:
            last |= _looks(entry.values)
            steps.add(entry.step)
            for name, value in entry.values.items():
                found[entry.step][name].append(value)
        for step in looks:
            if step > max(steps, default=0):
                for name, value in last.items():
                    found[step][name].append(value)
    journal = JournalWriter(output.journal, resume_step=None)
    for step, metrics in sorted(found.items()):
        journal.log(step, {name: fmean(values) for name, values in metrics.items()})
    journal.commit(max(found, default=0))


def _looks(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name.startswith("validation/")}
