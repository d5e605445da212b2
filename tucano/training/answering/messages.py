"""What a serving process and the process that holds its model say to each other: one JSON line each way per batch."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Opening:
    """The first line to a model's process: what it loads, and how it draws.

    model: folder with weights and tokenizer. adapter: folder with an adapter for each task, where they have their own.
    loaded, completions: the settings `LoadedModel` and `Completions` as plain
    values. log: where a vLLM server of its own writes. deterministic: see `WorkerSettings`.
    """

    model: str
    loaded: dict[str, Any]
    completions: dict[str, Any]
    threads: int
    seed: int
    log: str
    vllm_python: str | None = None
    vllm_memory_share: float = 0.35
    adapter: str | None = None
    deterministic: bool = True


@dataclass(frozen=True, slots=True)
class Opened:
    """Its answer. fault: why it cannot serve these files."""

    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A chat to be continued. temperature: 0 is greedy. task: whose adapter answers, where tasks have their own. form:
    see `Decoding`. earlier: the turns before it, as in `chat`. seed: it is drawn alone, and the same again with it.
    """

    system: str
    user: str
    max_new_tokens: int
    temperature: float
    task: str = ""
    form: str | None = None
    earlier: Sequence[str] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Its continuation. truncated: cut at its ceiling. refused: why there is none; the text is empty then."""

    text: str
    tokens_in: int
    tokens_out: int
    truncated: bool
    refused: str | None = None


ROLES = ("user", "assistant")


def chat(system: str, turns: Sequence[str]) -> list[dict[str, str]]:
    """A talk as chat templates and chat APIs take it: the user's and the assistant's turns, one after the other."""
    said = [{"role": ROLES[place % 2], "content": text} for place, text in enumerate(turns)]
    return [{"role": "system", "content": system}, *said]


def line(said: Opening | Opened | Sequence[Question] | Sequence[Drawn]) -> bytes:
    """One line, whatever the texts hold."""
    plain = asdict(said) if isinstance(said, Opening | Opened) else [asdict(one) for one in said]
    return json.dumps(plain).encode() + b"\n"
