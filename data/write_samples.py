"""Writes the committed samples: eight synthetic prompts per task with their demonstrations, for readers.

Run `python -m data.write_samples`. The store that the SQL samples ask about is not kept; every run generates its own.
"""

from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from data.sources import Demonstration
from data.sources.synthetic import SyntheticSource
from tucano.prompts import TASKS, Prompt, Task, write_prompts

FOLDER = Path(__file__).parent / "samples"
SEED = 1
PER_TASK = 8


def write_samples(folder: Path = FOLDER) -> None:
    """One file per task; the defects of a demonstration stand in its id."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, closing(SyntheticSource(Path(scratch), SEED)) as source:
        for task in TASKS:
            made = islice(source.demonstrations(task, 0.35, Random(f"{SEED}/{task}")), PER_TASK)
            write_prompts(
                folder / f"{task}.jsonl", (_labelled(task, number, sample) for number, sample in enumerate(made))
            )


def _labelled(task: Task, number: int, sample: Demonstration) -> Prompt:
    return replace(sample.prompt, id=f"sample-{task}-{number}-{'+'.join(sample.defects) or 'good'}")


if __name__ == "__main__":
    write_samples()
