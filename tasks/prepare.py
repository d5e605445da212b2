"""Stage 1: prompts, demonstrations and the store they ask about."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from data.prepare import OF_FILES, prepare
from tasks.handles import PromptSet
from tasks.running.labels import data_split
from tasks.running.run import Run, stage
from tucano.artifacts.identity import digests_at
from tucano.artifacts.store import Recipe
from tucano.settings import DataSettings
from tucano.settings.stages import of_data
from tucano.tracking.models import Context


@stage("prepare data")
def prepare_data(run: Run) -> PromptSet:
    """Train, validation and test prompts, demonstrations, system prompts, store.sqlite."""
    chosen = of_data(run.settings)
    paths = run.settings.data.paths

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        report = prepare(chosen.data, chosen.seed, chosen.tasks, draft, paths)
        return asdict(report) | {"source_path": paths[0] if len(paths) == 1 else list(paths)}

    made = PromptSet(run.make("data", prepare, chosen, _sources(run.settings.data), produce))
    run.tracker.log_artifact(run.tracking_run, made.files.report, "data")
    uses: tuple[tuple[str, Context], ...] = (
        ("train", "training"),
        ("validation", "validation"),
        ("test", "evaluation"),
    )
    run.tracker.log_datasets(run.tracking_run, [data_split(made, name, context) for name, context in uses])
    return made


def _sources(settings: DataSettings) -> dict[str, str]:
    """The digests of the files that are read, so that changed data is new data."""
    found: dict[str, str] = {}
    for number, (part, path) in enumerate(zip(settings.parts, settings.paths, strict=True)):
        digests = digests_at(Path(path), OF_FILES[part.source].files) if path else {}
        found |= {f"{number}/{name}" if number else name: value for name, value in digests.items()}
    return found
