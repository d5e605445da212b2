"""What `tucano compare A B` may name: a run, a configuration, a registered model, an adapter."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tasks.running.handles import SeedResult, Seeds
from tasks.running.labels import digits_of
from tucano.artifacts.lineage import adapter_config, base_of, faults, seed_stage, verify
from tucano.artifacts.store import opened
from tucano.configuration import configuration_digits
from tucano.errors import UserError
from tucano.files.models import ServedFiles, StartFiles
from tucano.files.results import ReportFiles
from tucano.profiles import load_profile, profiles, project_root, validated
from tucano.settings import PipelineSettings
from tucano.tracking import PipelineRun, Tracker
from tucano.tracking.models import WEIGHTS
from tucano.tracking.registry import digests_of
from tucano.training.jobs import Arm, version_arm

KINDS = (
    "a profile, a configuration (like #3fa9c1), a pipeline run's id, a registered model (tucano@champion) or a folder"
    " with an adapter"
)


@dataclass(frozen=True)
class SideCandidate:
    """One side before it has answered: its models by seed, and the finished run it comes from, where it comes from one.

    `stages` are the run's artifact folders, `shown_seed` the one that is best on validation.
    """

    name: str
    models: Mapping[int, Arm]
    settings: PipelineSettings | None = None
    stages: Mapping[str, Path] = field(default_factory=dict)
    chain: Mapping[str, str] = field(default_factory=dict)
    shown_seed: int = 0


def candidates(text: str, root: Path, tracker: Tracker) -> list[SideCandidate]:
    """Everything that `text` may mean, newest first: several runs of a configuration, else one. UserError when it means
    nothing.
    """
    if adapter_config(Path(text)).is_file():
        return [SideCandidate(text, {0: Arm("", base_of(Path(text)), text)})]
    version = tracker.find_version(text) if "@" in text or "/" in text else None
    if version is not None:
        folder = tracker.fetch(version, Path(tempfile.mkdtemp(prefix="tucano-")))
        return [SideCandidate(text, {0: version_arm("", ServedFiles((folder / WEIGHTS).parent))})]
    meant = [run for run in tracker.pipelines() if _is_meant(text, run)]
    if not meant:
        raise UserError(f"nothing finished in {root} is meant by {text!r}; name {KINDS}")
    whole = [run for run in meant if not faults(verify(root, digests_of(run.tags)))]
    return [_of_run(text, run, root) for run in whole or meant[:1]]


def shown_arms(side: SideCandidate) -> list[Arm]:
    """Of a finished run: the base, its SFT start where it made one, and the seed that is best on validation."""
    assert side.settings is not None
    best = side.models[side.shown_seed]
    start = StartFiles(side.stages["sft"]) if "sft" in side.stages else None
    champion = replace(best, name=f"seed-{side.shown_seed}")
    if start is None:
        return [Arm("base", best.base), champion]
    base = str(start.base) if start.built_here else best.base
    return [Arm("base", base), Arm("sft", best.base, None if start.built_here else str(start.adapter)), champion]


def _is_meant(text: str, run: PipelineRun) -> bool:
    label = run.tags["config_label"]
    if text.startswith("#"):
        return digits_of(label) == text
    root = project_root(Path.cwd())
    if text in profiles(root):
        return digits_of(label) == configuration_digits(load_profile(root, text, []).model_dump(mode="json"))
    return text == label or (len(text) >= 6 and run.identity.startswith(text))


def _of_run(name: str, run: PipelineRun, root: Path) -> SideCandidate:
    chain = digests_of(run.tags)
    links = verify(root, chain)
    for fault in faults(links):
        raise UserError(f"run {run.identity[:8]} is not whole, {fault}; run it again")
    stages = {link.stage: link.folder for link in links if link.folder is not None}
    settings = validated(json.loads(ReportFiles(stages["report"]).settings.read_text(encoding="utf-8")))
    trained = [SeedResult(opened(stages[seed_stage(stages, f"seed-{seed}")])) for seed in settings.grpo.seeds]
    built = StartFiles(stages["sft"]) if "sft" in stages else None
    base = str(built.model) if built and built.built_here else settings.model.place
    models = {seed.seed: Arm("", base, str(seed.files.adapter)) for seed in trained}
    return SideCandidate(name, models, settings, stages, chain, Seeds(tuple(trained), {}).best.seed)
