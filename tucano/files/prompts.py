"""The folder of a prompt set: what the data stage and the benchmark write, and everything else reads."""

import json
from dataclasses import dataclass
from pathlib import Path

STORE = "store.sqlite"
SETS = ("train", "validation", "test", "demonstrations", "demonstrations_validation")


def further_store(number: int) -> str:
    """The file of one of the further stores that the same questions are judged on, beside the first."""
    return f"store-{number}.sqlite"


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """A `Prompt` per line in each of the sets; the system prompts by task; the store that questions ask; Portuguese
    passages.
    """

    folder: Path

    def of(self, name: str) -> Path:
        """The file of one of `SETS`."""
        assert name in SETS, name
        return self.folder / f"{name}.jsonl"

    @property
    def train(self) -> Path:
        return self.of("train")

    @property
    def validation(self) -> Path:
        return self.of("validation")

    @property
    def test(self) -> Path:
        return self.of("test")

    @property
    def demonstrations(self) -> Path:
        return self.of("demonstrations")

    @property
    def demonstrations_validation(self) -> Path:
        return self.of("demonstrations_validation")

    @property
    def general(self) -> Path:
        """General demonstrations; there where some are mixed in (`data.general`)."""
        return self.folder / "general_demonstrations.jsonl"

    @property
    def paraphrases(self) -> Path:
        """A `Paraphrase` per line; there where some are made (`data.paraphrases`)."""
        return self.folder / "paraphrases.jsonl"

    @property
    def system_prompts(self) -> Path:
        return self.folder / "system_prompts.json"

    @property
    def store(self) -> Path:
        return self.folder / STORE

    @property
    def stores(self) -> list[Path]:
        """The store, and the further ones beside it."""
        return [self.store, *sorted(self.folder.glob("store-*.sqlite"))]

    @property
    def passages(self) -> Path:
        return self.folder / "portuguese.txt"

    @property
    def report(self) -> Path:
        return self.folder / "report.json"

    def systems(self) -> dict[str, str]:
        """{task: system prompt}"""
        return dict(json.loads(self.system_prompts.read_text(encoding="utf-8")))
