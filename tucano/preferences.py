"""A better and a worse answer to one prompt, as a line of a JSONL file in the form that TRL's DPOTrainer reads:
`prompt`, `chosen` and `rejected` as messages.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tucano.errors import UserError
from tucano.prompts import jsonl_lines
from tucano.security.strict_json import NoJson, strict_json
from tucano.thoughts import control_token, unlearnable

ZERO = "\0"
UNLEARNABLE = "an answer that no model may learn from"
MOST_BYTES = 2**28
"""Of a file of pairs: 100,000 long ones."""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """One pair of answers to the chat of a system prompt and a user's text."""

    system: str
    user: str
    chosen: str
    rejected: str

    def row(self) -> dict[str, Any]:
        asked = [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]
        answers = {"chosen": self.chosen, "rejected": self.rejected}
        return {"prompt": asked} | {name: [{"role": "assistant", "content": text}] for name, text in answers.items()}

    @property
    def texts(self) -> tuple[str, str, str]:
        """What a person or a model wrote."""
        return self.user, self.chosen, self.rejected

    @property
    def is_learnable(self) -> bool:
        """Whether the better answer may be a demonstration, and no text ends a turn. The worse one may be nothing."""
        return unlearnable(self.chosen) is None and not any(map(control_token, self.texts))


def require_pairs_file(path: Path) -> None:
    """UserError where there is no file, or one that is too large."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise UserError(
            f"{path} is no file of preference pairs of at most {MOST_BYTES // 2**20} MB; tucano data feedback writes"
            " one (preferences.jsonl)"
        )


def read_answer_pairs(path: Path) -> list[AnswerPair]:
    """UserError where there is no such file, no pair in it, or a line that is none."""
    require_pairs_file(path)
    pairs = [_pair(line, f"{path}, line {number}") for number, line in enumerate(jsonl_lines(path), 1)]
    if not pairs:
        raise UserError(f"{path} holds no preference pair; collect some with tucano rate, then tucano data feedback")
    return pairs


def write_answer_pairs(path: Path, pairs: Iterable[AnswerPair]) -> None:
    path.write_text("".join(json.dumps(pair.row(), ensure_ascii=False) + "\n" for pair in pairs), encoding="utf-8")


def _pair(line: str, place: str) -> AnswerPair:
    try:
        row = strict_json(line)
        turns = [*row["prompt"], *row["chosen"], *row["rejected"]]
        roles = [turn["role"] for turn in turns]
        texts = [turn["content"] for turn in turns]
        if roles != ["system", "user", "assistant", "assistant"] or not all(isinstance(text, str) for text in texts):
            raise ValueError(roles)
        "".join(texts).encode()  # half a character cannot be written again
        if ZERO in "".join(texts):
            raise NoJson("a text of it holds a zero byte")
    except (ValueError, KeyError, TypeError) as error:
        why = f" ({error})" if isinstance(error, NoJson) else ""
        raise UserError(
            f"{place} is no preference pair{why}: it needs prompt (a system and a user message), chosen and rejected"
            " (one assistant message each)"
        ) from None
    pair = AnswerPair(*texts)
    if pair.chosen == pair.rejected:
        raise UserError(f"{place} prefers an answer to itself; leave it out")
    return pair
