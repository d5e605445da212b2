"""What the arms of a comparison answered, and the per-prompt means that every test works on."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tucano.errors import UserError
from tucano.prompts import Prompt, jsonl_lines

Decoding = Literal["served", "sampled"]
Measure = Literal["reward", "truth"]
DECODINGS: tuple[Decoding, ...] = ("served", "sampled")
MEASURES: tuple[Measure, ...] = ("reward", "truth")
Values = Mapping[str, Sequence[float]]
"""{prompt id: what an arm's answers to it earned}."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of one arm. `loss` is the mean NLL in nats per token under the model that training began with.
    `tokens` counts the thought too, `think_tokens` that alone; `completion` is without it.
    """

    arm: str
    prompt_id: str
    task: str
    decoding: Decoding
    sample: int
    completion: str
    reward: float
    components: dict[str, float]
    truth: float | None
    loss: float
    tokens: int
    truncated: bool
    think_tokens: int = 0


def read_answers(path: Path) -> list[Answer]:
    """Answers from a JSONL file, one a line."""
    return [Answer(**json.loads(line)) for line in jsonl_lines(path)]


def arms_of(answers: Iterable[Answer]) -> tuple[str, ...]:
    """The arms in the order in which they first answer."""
    return tuple(dict.fromkeys(answer.arm for answer in answers))


def prompt_values(answers: Iterable[Answer], measure: Measure) -> dict[tuple[str, Decoding], Values]:
    """{(arm, decoding): {prompt id: one value per sample}}; a prompt whose truth is not known is absent from the
    truths.
    """
    values: dict[tuple[str, Decoding], dict[str, list[float]]] = {}
    for answer in answers:
        value = answer.reward if measure == "reward" else answer.truth
        of_arm = values.setdefault((answer.arm, answer.decoding), {})
        if value is not None:
            of_arm.setdefault(answer.prompt_id, []).append(value)
    return {**values}


def prompt_means(answers: Iterable[Answer], measure: Measure) -> dict[tuple[str, Decoding], dict[str, float]]:
    """{(arm, decoding): {prompt id: mean over samples}}, as `prompt_values`."""
    values = prompt_values(answers, measure)
    return {key: {prompt: sum(row) / len(row) for prompt, row in rows.items()} for key, rows in values.items()}


def equally_many(answers: Sequence[Answer]) -> list[Answer]:
    """The first answers of every arm to each prompt, as many as the arm with the fewest has in that decoding."""
    counts: dict[tuple[str, Decoding], int] = {}
    for answer in answers:
        key = (answer.arm, answer.decoding)
        counts[key] = max(counts.get(key, 0), answer.sample + 1)
    fewest = {
        decoding: min((count for (_, other), count in counts.items() if other == decoding), default=0)
        for decoding in DECODINGS
    }
    return [answer for answer in answers if answer.sample < fewest[answer.decoding]]


def check_complete(
    rewards: Mapping[tuple[str, Decoding], Mapping[str, float]], arms: Sequence[str], prompts: Sequence[Prompt]
) -> None:
    """UserError unless every arm has answered every prompt in both decodings: pairs need both sides."""
    for arm in arms:
        for decoding in DECODINGS:
            answered = rewards.get((arm, decoding), {})
            missing = [prompt.id for prompt in prompts if prompt.id not in answered]
            if missing:
                raise UserError(
                    f"arm {arm} lacks {len(missing)} of {len(prompts)} {decoding} answers (first: prompt {missing[0]});"
                    " let it answer again"
                )
