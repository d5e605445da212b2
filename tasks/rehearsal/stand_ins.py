"""What later stages of a rehearsal go on with where an earlier one failed: made without the code of that stage."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards import load_reward_set
from tasks.prepare import prepare_data
from tasks.running.child import run_child
from tasks.running.handles import AnswerSet, PromptSet, SeedResult, Seeds, Start
from tasks.running.run import Run, stage
from tasks.train import start_of
from tucano.artifacts.store import Artifact, Recipe
from tucano.comparison.answers import DECODINGS
from tucano.files.models import SeedFiles
from tucano.files.results import AnswerFiles
from tucano.prompts import read_passages, read_prompts
from tucano.requirements import cores
from tucano.settings import DataSettings
from tucano.settings.stages import of_answers, of_grpo
from tucano.training.jobs import MODULES
from tucano.training.orders import JobFolders, order
from tucano.truth import truth


@stage("prompts instead")
def generated_prompts(run: Run) -> PromptSet:
    """As many, generated."""
    plain = {**run.settings.data.model_dump(), "source": "synthetic", "path": None, "sources": ()}
    settings = run.settings.model_copy(update={"data": DataSettings.model_validate(plain)})
    return prepare_data.fn(replace(run, settings=settings))


@stage("start instead")
def untrained_start(run: Run, prompts: PromptSet) -> Start:
    return Start(_untrained(run, "sft", prompts, run.settings.model.place, {}))


@stage("seed instead")
def untrained_seed(run: Run, prompts: PromptSet, start: Start | None, seed: int) -> SeedResult:
    record = {"seed": seed, "best_step": 0, "best_value": 0.0, "alarms": []}
    return SeedResult(_untrained(run, f"grpo-seed-{seed}", prompts, start_of(run, start)[0], record))


def _untrained(run: Run, name: str, prompts: PromptSet, base: str, record: dict[str, Any]) -> Artifact:
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = JobFolders(prompts=prompts.files.folder, work=run.store.work_folder(recipe), output=draft)
        run_child(run, order("untrained", settings, settings.seed, cores(), folders, (base, None)), name)
        SeedFiles(draft).journal.touch()
        return {**record, "tracking_run": ""}

    chosen = of_grpo(settings, settings.seed)
    return run.make(name, MODULES["untrained"], chosen, {"prompts": prompts.digest, "base": base}, produce)


@stage("answers instead")
def repeated_prompts(run: Run, prompts: PromptSet, start: Start | None, seeds: Seeds) -> AnswerSet:
    """Every arm answers with the prompt itself."""
    arms = ["base", *(["sft"] if start else []), *(seed.arm for seed in seeds.trained)]

    def lines() -> Iterator[dict[str, Any]]:
        rewards = load_reward_set(run.settings.comparison.rewards, prompts.files.folder)
        for prompt in read_prompts(prompts.files.test):
            score = rewards.score(prompt, prompt.user)
            true = truth(prompt, prompt.user, prompts.files.folder)
            said: dict[str, Any] = {
                "prompt_id": prompt.id,
                "task": prompt.task,
                "completion": prompt.user,
                "truth": true,
            }
            said |= {"reward": score.total, "components": score.components}
            measured = {"loss": 1.0, "tokens": len(prompt.user), "truncated": False, "sample": 0}
            yield from ({"arm": arm, "decoding": how, **said, **measured} for arm in arms for how in DECODINGS)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        files = AnswerFiles(draft)
        passages = enumerate(map(len, read_passages(prompts.files.passages)))
        read = [{"passage": number, "nats": size, "tokens": size, "characters": size} for number, size in passages]
        files.answers.write_text(_jsonl(lines()), encoding="utf-8")
        files.language.write_text(_jsonl({"arm": arm, **one} for arm in arms for one in read), encoding="utf-8")
        return {"arms": arms}

    inputs = {"prompts": prompts.digest, **seeds.inputs}
    return AnswerSet(run.make("answers", load_reward_set, of_answers(run.settings, 0), inputs, produce))


def _jsonl(rows: Iterator[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
