"""Answers to the benchmark that no trained model gave, scored as those of the trained ones are."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from rewards import load_reward_set
from tucano.benchmark.replies import Reply
from tucano.comparison.answers import Answer, Decoding
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles
from tucano.prompts import TASKS, Prompt, read_prompts
from tucano.settings.base import RewardSetName
from tucano.settings.benchmark import BaselinesStage
from tucano.specs.registry import spec_of
from tucano.thoughts import answer_of
from tucano.truth import truth


def baselines(training: Sequence[Prompt]) -> dict[str, Callable[[Prompt], str]]:
    """{name: what answers a prompt} of arms that need no model: a constant, the most frequent answer, a page of rules.
    What does not beat them has learned nothing worth serving.

    They may look at the training prompts with their references, never at a reference of the benchmark.
    """
    own = {task: [prompt for prompt in training if prompt.task == task] for task in TASKS}
    majority = {task: spec_of(task).baseline.majority(own[task]) for task in TASKS}
    rules = {task: spec_of(task).baseline.rules(own[task]) for task in TASKS}
    return {
        "constant": lambda prompt: spec_of(prompt.task).baseline.constant,
        "majority": lambda prompt: majority[prompt.task],
        "rules": lambda prompt: rules[prompt.task](prompt),
    }


def write_baselines(
    settings: BaselinesStage, prompt_set: PromptFiles, questions: PromptFiles, folder: Path
) -> list[str]:
    """Answers of constant, majority and rules, one and the same in both decodings; returns the names of these arms."""
    asked = read_prompts(questions.test)
    found = baselines(read_prompts(prompt_set.train))
    rows: list[Answer] = []
    for name, answer in found.items():
        replies = [Reply(answer(prompt), 0, 0, 0.0, truncated=False, failed=False) for prompt in asked]
        rows += scored(settings.rewards, name, asked, replies, replies, questions.folder)
    write_answers(folder, rows)
    return list(found)


def scored(
    reward_set: RewardSetName,
    arm: str,
    prompts: Sequence[Prompt],
    served: Sequence[Reply],
    sampled: Sequence[Reply],
    databases: Path,
) -> list[Answer]:
    """Replies with reward and truth; `sampled` holds those of one prompt side by side."""
    rewards = load_reward_set(reward_set, databases)
    given: tuple[tuple[Decoding, Sequence[Reply]], ...] = (("served", served), ("sampled", sampled))
    rows = []
    for decoding, replies in given:
        samples = len(replies) // len(prompts)
        for place, reply in enumerate(replies):
            prompt = prompts[place // samples]
            text = answer_of(reply.text)
            score = rewards.score(prompt, text)
            rows.append(
                Answer(
                    arm=arm,
                    prompt_id=prompt.id,
                    task=prompt.task,
                    decoding=decoding,
                    sample=place % samples,
                    completion=text,
                    reward=score.total,
                    components=score.components,
                    truth=truth(prompt, text, databases),
                    loss=0.0,
                    tokens=reply.tokens_out,
                    truncated=reply.truncated,
                )
            )
    return rows


def write_answers(folder: Path, answers: Sequence[Answer]) -> None:
    """A line per answer."""
    lines = (json.dumps(asdict(answer), ensure_ascii=False) + "\n" for answer in answers)
    AnswerFiles(folder).answers.write_text("".join(lines), encoding="utf-8")
