"""Stage 1: prompts, demonstrations and the store they ask about; the pairs of answers that people preferred."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from data.general import Elsewhere, elsewhere_of
from data.own.chats import chat_of
from data.own.preferences import trainable_pairs
from data.prepare import OF_FILES, prepare
from data.public.prepare import NEEDED
from data.sources.own import OwnSource
from tasks.running.handles import Preferences, PromptSet
from tasks.running.labels import data_split
from tasks.running.run import Run, stage
from tucano.artifacts.identity import digest, digests_at, fingerprint
from tucano.artifacts.store import Recipe
from tucano.errors import UserError
from tucano.files.models import PreferenceFiles
from tucano.files.prompts import PromptFiles
from tucano.lengths import count_long, long_said, require_fitting, tokenizer_at_hand
from tucano.preferences import require_pairs_file, write_answer_pairs
from tucano.prompts import read_prompts
from tucano.settings import DataSettings, ModelSettings, PipelineSettings
from tucano.settings.base import Section
from tucano.settings.stages import of_data
from tucano.truth import truth


@stage("prepare data")
def prepare_data(run: Run) -> PromptSet:
    """Train, validation and test prompts, demonstrations, system prompts, store.sqlite."""
    chosen = of_data(run.settings)
    paths = run.settings.data.paths
    elsewhere = elsewhere_of(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        report = prepare(chosen.data, chosen.seed, chosen.tasks, draft, paths, elsewhere)
        if run.settings.data.judge:
            shutil.copyfile(run.settings.data.judge, PromptFiles(draft).judge)
        return asdict(report) | {"source_path": paths[0] if len(paths) == 1 else list(paths)}

    made = PromptSet(run.make("data", prepare, chosen, _inputs(run.settings.data, elsewhere), produce))
    _require_references(run.settings, made)
    if run.settings.sft.enabled and (said := _too_long(run.settings.model, made)):
        get_run_logger().warning("%s", said)
    run.tracker.log_artifact(run.tracking_run, made.files.report, "data")
    splits = [
        data_split(made, "train", "training"),
        data_split(made, "validation", "validation"),
        data_split(made, "test", "evaluation"),
    ]
    run.tracker.log_datasets(run.tracking_run, splits)
    return made


def _too_long(model: ModelSettings, made: PromptSet) -> str | None:
    """What to say of demonstrations that SFT leaves out. UserError where they are many and that is sure."""
    examples = read_prompts(made.files.demonstrations)
    chats = [chat_of(one.task, one.user, one.demonstration or "") for one in examples]
    tokenizer = tokenizer_at_hand(model)
    longest = model.max_length_tokens
    long = count_long(chats, longest, tokenizer)
    if tokenizer is not None:
        return require_fitting(long, len(chats), longest)
    return f"by their characters, {long_said(long, len(chats), longest)}" if long else None


def _require_references(settings: PipelineSettings, made: PromptSet) -> None:
    """UserError where a training would find at its first look that no validation prompt says what is true."""
    if settings.grpo.selection != "truth":
        return
    prompts = read_prompts(made.files.validation)
    known = {prompt.task for prompt in prompts if truth(prompt, "", made.files.folder) is not None}
    blind = [task for task in settings.tasks if task not in known]
    if blind and (not known or settings.grpo.adapters == "per_task"):
        raise UserError(
            f"grpo.selection=truth: no validation prompt of {', '.join(blind)} has a reference to judge answers by; set"
            " grpo.selection=reward, or give the prompts references"
        )


def _inputs(settings: DataSettings, elsewhere: Elsewhere) -> dict[str, str]:
    """The digests of the files that are read, so that changed data is new data."""
    found = _sources(settings)
    if settings.judge and (file := Path(settings.judge)).is_file():
        found["judge/file"] = str(fingerprint(file)["sha256"])  # whatever it is called
    if elsewhere.path:
        digests = digests_at(Path(elsewhere.path), OwnSource.files)
        found |= {f"general/{name}": value for name, value in digests.items()}
    for benchmark, place in elsewhere.benchmarks.items():
        found[f"benchmark/{benchmark}"] = digest(digests_at(Path(place), " ".join(NEEDED[benchmark])))
    return found


def _sources(settings: DataSettings) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, (part, path) in enumerate(zip(settings.parts, settings.paths, strict=True)):
        digests = digests_at(Path(path), OF_FILES[part.source].files) if path else {}
        found |= {f"{number}/{name}" if number else name: value for name, value in digests.items()}
    return found


@stage("choose preferences")
def choose_preferences(run: Run, prompts: PromptSet) -> Preferences | None:
    """What DPO learns of `dpo.pairs`; None where it learns from none. UserError where it has no others, and none of
    these may be learned from.
    """
    dpo = run.settings.dpo
    if not dpo.enabled or dpo.pairs is None:
        return None
    path = Path(dpo.pairs)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        pairs, left_out = trainable_pairs(path, prompts.files)
        write_answer_pairs(PreferenceFiles(draft).pairs, pairs)
        return {"pairs": len(pairs), "left_out": left_out}

    require_pairs_file(path)
    inputs = {"prompts": prompts.digest, "pairs": str(fingerprint(path)["sha256"])}
    made = Preferences(run.make("preferences", trainable_pairs, Section(), inputs, produce))
    left_out = ", ".join(f"{count} {why}" for why, count in made.record.left_out.items()) or "none"
    get_run_logger().info("%s: %d pairs to learn from, left out: %s", path, made.record.pairs, left_out)
    if not made.record.pairs and not dpo.ranked:
        raise UserError(
            f"dpo.pairs={path} leaves nothing to learn from (left out: {left_out}); name other pairs, or set"
            " dpo.ranked=true"
        )
    return made
