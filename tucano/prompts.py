"""What a prompt is, for every stage: one line of a JSONL file in a PromptSet artifact."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rewards.names import TASKS as TASKS
from tucano.errors import UserError

if TYPE_CHECKING:
    Task = str
else:
    Task = Literal[TASKS]


GENERAL = "general"
"""Stands where a prompt has its task, for demonstrations that belong to none: no system prompt, no reward."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with what is known to be true about its answer.

    `reference` holds the truth for the ground-truth scorers, as far as the source knows it (`{}` where it does not);
    each task's spec says what its own holds (`TaskSpec.reference`).
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    """Where pydantic reads prompts of others."""

    id: str
    task: Task
    user: str
    template: str
    source: str
    licence: str
    stars: int | None = None
    reference: dict[str, Any] = field(default_factory=dict)
    demonstration: str | None = None


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Another wording of the training prompt or demonstration with this id, of which the same is true."""

    id: str
    user: str
    template: str


def messages(prompt: Prompt, system_prompts: dict[str, str]) -> list[dict[str, str]]:
    """The chat that a model is asked to continue: the task's system prompt, then the user's text."""
    if prompt.task == GENERAL:
        return [{"role": "user", "content": prompt.user}]
    return [{"role": "system", "content": system_prompts[prompt.task]}, {"role": "user", "content": prompt.user}]


def jsonl_lines(path: Path) -> list[str]:
    """The lines of a JSONL file. Only a newline ends one: texts may hold U+0085 or U+2028, where `str.splitlines` would
    cut.

    Raises UserError for a file that is not UTF-8.
    """
    return lines_of(decoded(path.read_bytes(), path))


def lines_of(text: str) -> list[str]:
    """Its lines, but for empty ones at its end; see `jsonl_lines`."""
    held = text.rstrip("\r\n")
    return held.split("\n") if held else []


def decoded(content: bytes, path: Path) -> str:
    """What a file holds. UserError for one that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_prompts(path: Path) -> list[Prompt]:
    return [Prompt(**json.loads(line)) for line in jsonl_lines(path)]


def read_general(path: Path) -> list[Prompt]:
    """The general demonstrations of a prompt set; none where none are mixed in."""
    return read_prompts(path) if path.is_file() else []


def read_paraphrases(path: Path) -> list[Paraphrase]:
    """Those of a prompt set; none where none were made."""
    return [Paraphrase(**json.loads(line)) for line in jsonl_lines(path)] if path.is_file() else []


def reworded(prompts: Iterable[Prompt], paraphrases: Iterable[Paraphrase]) -> list[Prompt]:
    """The prompts in their further wordings, with the ids and all that is known of the originals."""
    by_id = {prompt.id: prompt for prompt in prompts}
    return [
        replace(by_id[other.id], user=other.user, template=other.template) for other in paraphrases if other.id in by_id
    ]


def read_passages(path: Path) -> list[str]:
    """The passages of ordinary Portuguese, one a line, that no model is trained on."""
    return jsonl_lines(path)


def write_prompts(path: Path, prompts: Iterable[Prompt | Paraphrase]) -> None:
    lines = (json.dumps(asdict(prompt), ensure_ascii=False) + "\n" for prompt in prompts)
    path.write_text("".join(lines), encoding="utf-8")
