"""The look at the validation set: which checkpoint is the best one, and at which decoding that is asked."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from rewards import PromptLike, RewardSet, Score
from tucano.profiles import load_profile, validated
from tucano.prompts import Prompt
from tucano.settings import ModelSettings
from tucano.settings.stages import of_dpo, of_grpo, of_preflight
from tucano.storage.journal import JournalWriter, read_journal
from tucano.training import validation
from tucano.training.policies.nano import build_tokenizer
from tucano.training.rollouts.examiner import Examiner
from tucano.training.samplers import Decoding, Draw
from tucano.training.samplers.decode import draw
from tucano.training.validation import ANCHORS, Validation

ROOT = Path(__file__).parent.parent
PROMPTS = [Prompt(f"p{n}", "push", f"produto {n}", "t", "test", "own") for n in range(40)]
SYSTEMS = {"push": "Escreva uma notificacao."}
EARNS = {"b": 1.0, "m": 0.7, "r": 0.0}
"""What an answer of one letter earns: boa, média, ruim."""


class ByLetter(RewardSet):
    def score(self, prompt: PromptLike, completion: str) -> Score:
        return Score(EARNS[completion], {"push.letter": EARNS[completion]})


class Policy(torch.nn.Module):
    """Answers one letter, with these chances at temperature 1."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, **chances: float) -> None:
        super().__init__()
        self.generation_config = SimpleNamespace(eos_token_id=None)
        self.logits = torch.full((len(tokenizer),), float("-inf"))
        for letter, chance in chances.items():
            (token,) = tokenizer.encode(letter, add_special_tokens=False)
            self.logits[token] = torch.tensor(chance).log()


class Noting:
    """A sampler of such policies that notes how much it was asked at which temperature."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, float]] = []

    def sample(
        self, policy: Any, prompts: Sequence[Any], decoding: Decoding, generator: torch.Generator | None = None
    ) -> list[Draw]:
        self.asked.append((len(prompts), decoding.temperature))
        drawn = draw(policy.logits.expand(len(prompts), -1), decoding.temperature, generator)
        return [Draw([token, decoding.stop[0]]) for token in drawn.tolist()]

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    texts = [*(prompt.user for prompt in PROMPTS), *SYSTEMS.values(), "b m r"]
    return build_tokenizer(texts * 3, ModelSettings(nano_vocabulary=400))


def looked(tokenizer: Any, place: Path, decoding: str, put: pytest.MonkeyPatch) -> tuple[Validation, Noting]:
    """After two looks: at a steady policy, and at a bold one, whose likelier answer is the best there is. What needs a
    real model is left out.
    """
    put.setattr(validation, "save_whole", lambda *_: None)
    put.setattr(validation, "token_logps", lambda _, ids, tokens: [torch.zeros(len(one)) for one in tokens])
    stage = of_grpo(validated({"grpo": {"validation_decoding": decoding}}), 1)
    sampler = Noting()
    examiner = Examiner(tokenizer, SYSTEMS, ByLetter("grounded"), place, 4, sampler)
    journal = JournalWriter(place / "journal.jsonl", resume_step=None)
    made = Validation(stage.grpo, examiner, PROMPTS, journal, place, 1, stage.validation_temperature)
    for step, policy in enumerate((Policy(tokenizer, m=1.0), Policy(tokenizer, b=0.55, r=0.45))):
        made.look(policy, step)
    return made, sampler


@pytest.mark.parametrize(("decoding", "best", "bold"), [("sampled", 0, 0.55), ("served", 1, 0.88)])
def test_the_best_checkpoint_is_the_one_that_is_best_at_its_decoding(
    decoding: str, best: int, bold: float, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At temperature .1 chances are raised to the tenth power: .55 of «b» becomes 1 / (1 + (.45 / .55)^10) = .88."""
    made, _ = looked(tokenizer, tmp_path, decoding, monkeypatch)
    (_, steady), (_, seen) = made.curve
    assert (made.best_step, steady) == (best, pytest.approx(0.7))
    assert seen == pytest.approx(bold, abs=0.12), "80 answers"


def test_the_kl_is_measured_on_answers_at_temperature_1_whatever_is_served(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schulman's estimate is one of the KL on the policy's own answers alone, and no other draw is made for it where
    those are at hand.
    """
    (tmp_path / "served").mkdir()
    assert looked(tokenizer, tmp_path / "served", "served", monkeypatch)[1].asked == [
        (80, 0.1),
        (ANCHORS, 1),
        (80, 0.1),
    ]
    assert looked(tokenizer, tmp_path, "sampled", monkeypatch)[1].asked == [(80, 1), (80, 1)]
    assert "validation/kl" in read_journal(tmp_path / "journal.jsonl")[0].values


@pytest.mark.parametrize(
    ("profile", "overrides", "temperature"),
    [
        ("laptop", [], 1.0),  # its primary test is of sampled answers
        ("l4-v5", [], 0.1),
        ("l4-v5", ["comparison.served_temperature=0.3"], 0.3),
        ("l4-v5", ["comparison.primary=sampled"], 1.0),
        ("l4-v5", ["grpo.validation_decoding=sampled", "grpo.temperature=0.8"], 1.0),
        ("laptop", ["grpo.validation_decoding=served"], 0.1),
    ],
)
def test_a_checkpoint_is_chosen_at_the_decoding_that_the_verdict_is_about(
    profile: str, overrides: list[str], temperature: float
) -> None:
    chosen = load_profile(ROOT, profile, overrides)
    assert of_grpo(chosen, 1).validation_temperature == of_dpo(chosen, 1).validation_temperature == temperature
    assert of_preflight(chosen, 1).served_temperature == chosen.comparison.served_temperature
