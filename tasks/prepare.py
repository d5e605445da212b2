"""Stage 1: prompts, demonstrations and the store they ask about."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from data.prepare import OWN_PASSAGES, prepare
from tasks.context import Run, data_split, stage
from tucano.artifacts import Artifact, Recipe, fingerprint
from tucano.tracking.models import Context


@stage("prepare data")
def prepare_data(run: Run) -> Artifact:
    """PromptSet: train, validation and test prompts, demonstrations, system prompts, store.sqlite."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return asdict(prepare(settings.data, settings.seed, settings.tasks, draft))

    passages = fingerprint(OWN_PASSAGES)["sha256"]
    parts = {"data": settings.data.model_dump(), "passages": passages, "seed": settings.seed}
    artifact = run.make("data", ("data.prepare",), parts, _sources(settings.data.path), produce)
    run.tracker.log_artifact(run.tracking_run, artifact.folder / "report.json", "data")
    uses: tuple[tuple[str, Context], ...] = (("train", "training"), ("validation", "validation"), ("test", "evaluation"))
    run.tracker.log_datasets(run.tracking_run, [data_split(artifact, name, context) for name, context in uses])
    return artifact


def _sources(path: str | None) -> dict[str, str]:
    """The digests of the CSV files that are read, so that changed data is new data."""
    if path is None or not Path(path).exists():
        return {}
    files = [Path(path)] if Path(path).is_file() else sorted(Path(path).glob("*.csv"))
    return {file.name: str(fingerprint(file)["sha256"]) for file in files}
