"""What a question of a public benchmark is, and the folder that holds those of a run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tucano.prompts import jsonl_lines
from tucano.thoughts import told

Name = Literal["spider_pt", "enem", "faquad"]
NAMES: tuple[Name, ...] = ("spider_pt", "enem", "faquad")
TITLES: dict[str, str] = {"spider_pt": "Spider in Portuguese", "enem": "ENEM", "faquad": "FaQuAD"}
SYSTEMS: dict[str, str] = {
    "spider_pt": (
        "Você responde perguntas sobre um banco de dados. Responda com uma única consulta SQL (SQLite) e nada mais."
    ),
    "enem": "Você responde questões do ENEM. Complete com a alternativa certa.",
    "faquad": "Você responde perguntas sobre um texto. Responda só com o trecho do texto que contém a resposta.",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `group`: what it shares with others, which are no independent evidence (a database, a text).

    `gold`: right answers; for `spider_pt` the one query, asked of `database`; for `enem` the one right text of
    `options`.
    """

    id: str
    benchmark: Name
    user: str
    group: str
    gold: tuple[str, ...]
    database: str | None = None
    options: tuple[str, ...] = ()

    def messages(self, can_think: bool = False) -> list[dict[str, str]]:
        """The chat, with the switch of thinking off for a model that has one."""
        system = SYSTEMS[self.benchmark]
        return [
            {"role": "system", "content": told(system, thinks=False) if can_think else system},
            {"role": "user", "content": self.user},
        ]


@dataclass(frozen=True, slots=True)
class Reply:
    """One arm's greedy answer; to a question with options the likeliest one. `cut`: its prompt had to be shortened."""

    arm: str
    question: str
    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """Questions with their databases beside them, or the answers to them."""

    folder: Path

    @property
    def questions(self) -> Path:
        return self.folder / "questions.jsonl"

    @property
    def replies(self) -> Path:
        return self.folder / "replies.jsonl"

    @property
    def result(self) -> Path:
        return self.folder / "public.json"

    @property
    def table(self) -> Path:
        return self.folder / "public.md"


def write_lines(path: Path, records: Iterable[Question | Reply]) -> None:
    lines = (json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")


def read_questions(path: Path) -> list[Question]:
    rows = (json.loads(line) for line in jsonl_lines(path))
    return [Question(**{**row, "gold": tuple(row["gold"]), "options": tuple(row["options"])}) for row in rows]


def read_replies(path: Path) -> list[Reply]:
    return [Reply(**json.loads(line)) for line in jsonl_lines(path)]
