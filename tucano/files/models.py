"""The folders of what is trained: weights, adapters, and the journal of the training that made them."""

from pathlib import Path

from tucano.files import Files, below
from tucano.files.prompts import PromptFiles

JOURNAL = "journal.jsonl"


class StartFiles(Files):
    """What SFT made: `base` and `model` where it built the model itself, an `adapter` otherwise."""

    base = below("base")
    model = below("model")
    adapter = below("adapter")
    journal = below(JOURNAL)

    @property
    def built_here(self) -> bool:
        return self.model.is_dir()

    @property
    def weights(self) -> Path:
        """What was trained."""
        return self.model if self.built_here else self.adapter


class SeedFiles(Files):
    """What GRPO made with one seed, with its `admission` where it chose its prompts; or DPO after it, which keeps the
    `pairs` that it learned from too.
    """

    adapter = below("adapter")
    journal = below(JOURNAL)
    admission = below("admission.jsonl")
    pairs = below("learned_pairs.jsonl")


class WorkFiles(Files):
    """The folder that a training keeps over its attempts (tucano/training/checkpoints/attempts.py)."""

    base = below("base")
    best = below("best")
    journal = below(JOURNAL)
    log = below("log.txt")
    server_log = below("vllm.txt")


class PreferenceFiles(Files):
    """Pairs of answers that people preferred, an `AnswerPair` per line."""

    pairs = below("chosen_pairs.jsonl")


class MergedFiles(Files):
    """An adapter merged into its base."""

    model = below("model")


class ServedFiles(Files):
    """What a registered version is served from. The loader (tucano/training/policies/served_model.py) imports nothing
    of ours and spells these names again, and tests load what is packed with it.
    """

    model = below("model")
    adapter = below("adapter")
    system_prompts = PromptFiles.system_prompts
    serving = below("serving.json")
