"""The folder of a prompt set: what the data stage and the benchmark write, and everything else reads."""

import json
from pathlib import Path

from tucano.files import Files, below

STORE = "store.sqlite"
SETS = ("train", "validation", "test", "demonstrations", "demonstrations_validation")


def further_store(number: int) -> str:
    """The file of one of the further stores that the same questions are judged on, beside the first."""
    return f"store-{number}.sqlite"


class PromptFiles(Files):
    """A `Prompt` per line in each of the sets; the system prompts by task; the store that questions ask; Portuguese
    passages.

    `general`, `paraphrases` (a `Paraphrase` per line) and `judge` (of the truth) are there where the settings ask for
    some.
    """

    train = below("train.jsonl")
    validation = below("validation.jsonl")
    test = below("test.jsonl")
    demonstrations = below("demonstrations.jsonl")
    demonstrations_validation = below("demonstrations_validation.jsonl")
    general = below("general_demonstrations.jsonl")
    paraphrases = below("paraphrases.jsonl")
    judge = below("judge.json.xz")
    system_prompts = below("system_prompts.json")
    store = below(STORE)
    passages = below("portuguese.txt")
    report = below("report.json")

    def of(self, name: str) -> Path:
        """The file of one of `SETS`."""
        return self.folder / f"{name}.jsonl"

    @property
    def stores(self) -> list[Path]:
        """The store, and the further ones beside it."""
        return [self.store, *sorted(self.folder.glob("store-*.sqlite"))]

    def systems(self) -> dict[str, str]:
        """{task: system prompt}"""
        return dict(json.loads(self.system_prompts.read_text(encoding="utf-8")))
