"""The folders of what is trained: weights, adapters, and the journal of the training that made them."""

from dataclasses import dataclass
from pathlib import Path

from tucano.files.prompts import PromptFiles

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class StartFiles:
    """What SFT made: `base` and `model` where it built the model itself, an `adapter` otherwise."""

    folder: Path

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def model(self) -> Path:
        return self.folder / "model"

    @property
    def adapter(self) -> Path:
        return self.folder / "adapter"

    @property
    def journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def built_here(self) -> bool:
        return self.model.is_dir()

    @property
    def weights(self) -> Path:
        """What was trained."""
        return self.model if self.built_here else self.adapter


@dataclass(frozen=True, slots=True)
class SeedFiles:
    """What GRPO made with one seed, with its `admission` where it chose its prompts; or DPO after it, which keeps the
    `pairs` that it learned from too.
    """

    folder: Path

    @property
    def adapter(self) -> Path:
        return self.folder / "adapter"

    @property
    def journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def admission(self) -> Path:
        return self.folder / "admission.jsonl"

    @property
    def pairs(self) -> Path:
        return self.folder / "learned_pairs.jsonl"


@dataclass(frozen=True, slots=True)
class WorkFiles:
    """The folder that a training keeps over its attempts (tucano/training/checkpoints/attempts.py)."""

    folder: Path

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def best(self) -> Path:
        return self.folder / "best"

    @property
    def journal(self) -> Path:
        return self.folder / JOURNAL

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    @property
    def server_log(self) -> Path:
        return self.folder / "vllm.txt"


@dataclass(frozen=True, slots=True)
class PreferenceFiles:
    """Pairs of answers that people preferred, an `AnswerPair` per line."""

    folder: Path

    @property
    def pairs(self) -> Path:
        return self.folder / "chosen_pairs.jsonl"


@dataclass(frozen=True, slots=True)
class MergedFiles:
    """An adapter merged into its base."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "model"


@dataclass(frozen=True, slots=True)
class ServedFiles:
    """What a registered version is served from. The loader (tucano/training/policies/served_model.py) imports nothing
    of ours and spells these names again, and tests load what is packed with it.
    """

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "model"

    @property
    def adapter(self) -> Path:
        return self.folder / "adapter"

    @property
    def system_prompts(self) -> Path:
        return PromptFiles(self.folder).system_prompts

    @property
    def serving(self) -> Path:
        return self.folder / "serving.json"
