"""What a prompt is, for every stage: one line of a JSONL file in a PromptSet artifact."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rewards.names import TASKS as TASKS
from tucano.errors import UserError

if TYPE_CHECKING:
    Task = str
else:
    Task = Literal[TASKS]


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


def messages(prompt: Prompt, system_prompts: dict[str, str]) -> list[dict[str, str]]:
    """The chat that a model is asked to continue: the task's system prompt, then the user's text."""
    return [{"role": "system", "content": system_prompts[prompt.task]}, {"role": "user", "content": prompt.user}]


def jsonl_lines(path: Path) -> list[str]:
    """The lines of a JSONL file. Only a newline ends one: texts may hold U+0085 or U+2028, where `str.splitlines` would
    cut.

    Raises UserError for a file that is not UTF-8.
    """
    return lines_of(decoded(path.read_bytes(), path))


def lines_of(text: str) -> list[str]:
    """Its lines; see `jsonl_lines`."""
    return text.removesuffix("\n").split("\n") if text else []


def decoded(content: bytes, path: Path) -> str:
    """What a file holds. UserError for one that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_prompts(path: Path) -> list[Prompt]:
    return [Prompt(**json.loads(line)) for line in jsonl_lines(path)]


def read_passages(path: Path) -> list[str]:
    """The passages of ordinary Portuguese, one a line, that no model is trained on."""
    return jsonl_lines(path)


def write_prompts(path: Path, prompts: Iterable[Prompt]) -> None:
    lines = (json.dumps(asdict(prompt), ensure_ascii=False) + "\n" for prompt in prompts)
    path.write_text("".join(lines), encoding="utf-8")
