"""Every arm of the comparison answers the same held-out prompts, as it would be served and sampled."""

import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TextIO

from transformers import PreTrainedTokenizerBase

from rewards import load_reward_set
from tucano.files.per_task import adapters_by_task
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles
from tucano.prompts import jsonl_lines, read_passages, read_prompts
from tucano.settings.comparison import SAMPLED, AnswersStage
from tucano.thoughts import can_think
from tucano.training.jobs import Arm, Job, Progress, emit
from tucano.training.policies.chat import encode
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import Policy, load_arm
from tucano.training.policies.per_task import speak_for, tasks_of
from tucano.training.rollouts.examiner import Examiner, ScoredCompletion
from tucano.training.samplers import Sampler
from tucano.training.samplers.local import LocalSampler
from tucano.training.samplers.opening import rank_of, sampler_for

STARTS = ("base", "sft")
"""The arms that the seeds together are compared with."""


def run(job: Job) -> dict[str, object]:
    """Write `AnswerFiles` into `job.output`: one line per arm, prompt, decoding and sample.

    Each arm samples with random numbers of its own. One that has answered the same before (`job.answered`) does not
    answer again: its lines are taken from there.

    The language file says how each arm reads the held-out Portuguese passages. Beside reward and truth each line holds
    the completion's mean loss (nats per token) under the start of the tuning: it says whether tuned texts are still
    texts to that model.
    """
    settings = AnswersStage.model_validate(job.settings)
    files = PromptFiles(Path(job.prompts))
    folder, prompts, systems = files.folder, read_prompts(files.test), files.systems()
    rewards = load_reward_set(settings.comparison.rewards, folder)
    decodings = {
        "served": (1, settings.comparison.served_temperature),
        "sampled": (settings.comparison.samples, SAMPLED),
    }
    made = AnswerFiles(Path(job.output))
    passages = read_passages(files.passages)
    asked = [arm for arm in job.arms if arm.name not in job.answered]
    reference = job.reference or next((arm for arm in reversed(job.arms) if arm.name in STARTS), job.arms[0])
    if asked:
        judge, judges_tokenizer = load_arm(settings.model, reference, job.seed)
    with (
        made.answers.open("w", encoding="utf-8") as file,
        made.language.open("w", encoding="utf-8") as language,
        closing(_with_samplers(asked, job, settings)) as samplers,
    ):
        for index, arm in enumerate(job.arms):
            if arm.name in job.answered:
                copy_answered(arm.name, AnswerFiles(Path(job.answered[arm.name])), file, language)
                continue
            sampler = next(samplers)
            policy, tokenizer = load_arm(settings.model, arm, job.seed)
            most = settings.grpo.max_completion_tokens
            most_thought = settings.grpo.max_think_tokens
            examiner = Examiner(tokenizer, systems | _own_prompts(arm), rewards, folder, most, sampler, most_thought)
            for decoding, (each, temperature) in decodings.items():
                samples = arm.times * each
                completions = examiner.answer(policy, prompts, samples, temperature, _seed_of(arm, job.seed))
                losses = completion_losses(judge, judges_tokenizer, systems, completions)
                thinks = can_think(examiner.system_prompts)
                for row, (completion, loss) in enumerate(zip(completions, losses, strict=True)):
                    known = {"arm": arm.name, "decoding": decoding, "sample": row % samples, "loss": loss}
                    file.write(json.dumps(known | _said(completion, thinks), ensure_ascii=False) + "\n")
            language.writelines(
                json.dumps({"arm": arm.name, **reading}) + "\n" for reading in readings(policy, tokenizer, passages)
            )
            mean = sum(completion.score.total for completion in completions) / len(completions)
            emit(Progress(f"answers of {arm.name}", index + 1, len(job.arms), {"reward": mean}))
    return {"arms": [arm.name for arm in job.arms]}


def _said(completion: ScoredCompletion, thinks: bool) -> dict[str, object]:
    return {
        "prompt_id": completion.prompt.id,
        "task": completion.prompt.task,
        "completion": completion.text,
        "reward": completion.score.total,
        "components": completion.score.components,
        "truth": completion.truth,
        "tokens": len(completion.tokens),
        "truncated": completion.truncated,
        **({"think_tokens": completion.think_tokens} if thinks else {}),
    }


def copy_answered(arm: str, before: AnswerFiles, answers: TextIO, language: TextIO) -> None:
    """The lines of an arm that has answered before."""
    for path, file in ((before.answers, answers), (before.language, language)):
        file.writelines(f"{line}\n" for line in jsonl_lines(path) if json.loads(line)["arm"] == arm)


def _with_samplers(arms: Sequence[Arm], job: Job, settings: AnswersStage) -> Generator[Sampler]:
    """Who draws for each arm: one sampler for those of one base, as a server holds one base. An arm with an
    adapter for each task (a champion may have them, whatever this run trains) is drawn from here: a server is given
    one.
    """
    for (base, per_task), of_base in groupby(arms, key=lambda arm: (arm.base, _is_per_task(arm))):
        together = list(of_base)
        rank = 0 if per_task else max(map(rank_of, together))
        own = LocalSampler(settings.grpo.own_decoding) if per_task else None
        with closing(own or sampler_for(job, base, rank, settings.model, settings.grpo)) as sampler:
            yield from (sampler for _ in together)


def _is_per_task(arm: Arm) -> bool:
    return arm.adapter is not None and bool(adapters_by_task(Path(arm.adapter)))


def _own_prompts(arm: Arm) -> dict[str, str]:
    if arm.system_prompts is None:
        return {}
    found: dict[str, str] = json.loads(Path(arm.system_prompts).read_text(encoding="utf-8"))
    return found


def _seed_of(arm: Arm, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {arm.name}".encode()).digest()[:4])


def readings(policy: Policy, tokenizer: PreTrainedTokenizerBase, passages: list[str]) -> Iterator[dict[str, float]]:
    """Negative log-likelihood (nats) of each passage after its first token, as plain text without a chat: where tasks
    have adapters of their own, the mean over these, since a passage is no task's.
    """
    tokens = [tokenizer.encode(passage, add_special_tokens=False) for passage in passages]
    nats = [0.0] * len(passages)
    speakers = tasks_of(policy) or ("",)
    for task in speakers:
        speak_for(policy, task)
        logps = token_logps(policy, [ids[:1] for ids in tokens], [ids[1:] for ids in tokens])
        nats = [before - found.sum().item() for before, found in zip(nats, logps, strict=True)]
    for number, (passage, ids) in enumerate(zip(passages, tokens, strict=True)):
        mean = nats[number] / len(speakers)
        yield {"passage": number, "nats": mean, "tokens": len(ids[1:]), "characters": len(passage)}


def completion_losses(
    judge: Policy, tokenizer: PreTrainedTokenizerBase, systems: dict[str, str], completions: list[ScoredCompletion]
) -> list[float]:
    """Mean negative log-likelihood in nats per completion token under `judge`, one per completion; 0 for an empty
    completion.

    The completion's text is read with the judge's own tokenizer, so that arms with another tokenizer are judged alike.
    """
    prompts = encode(tokenizer, [completion.prompt for completion in completions], systems)
    answers = [tokenizer.encode(completion.text, add_special_tokens=False) for completion in completions]
    return [-logps.mean().item() if len(logps) else 0.0 for logps in token_logps(judge, prompts, answers)]
