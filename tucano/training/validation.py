"""The validation set during GRPO and DPO: chooses the best checkpoint and stops a run that no longer improves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt
from tucano.settings.training.dpo import DpoRun
from tucano.settings.training.grpo import GrpoRun
from tucano.storage.journal import JournalWriter
from tucano.training.checkpoints.weights import describe, save_whole
from tucano.training.policies.chat import encode
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import Policy
from tucano.training.rollouts.examiner import Examiner, ScoredCompletion

ANCHORS = 16
"""Fixed completions of the start, on which the KL to it is measured."""


def selected(values: Mapping[str, float], selection: str) -> float:
    """The value that chooses the best checkpoint. UserError where no validation prompt has it."""
    if math.isnan(values[selection]):
        raise UserError(
            f"grpo.selection={selection}: no validation prompt has a reference to judge answers by; set"
            " grpo.selection=reward, or give the prompts references"
        )
    return values[selection]


@dataclass(eq=False)
class Validation:
    """Looks before the first step and every `eval_steps`, keeps the best adapter, counts looks without a better one."""

    settings: GrpoRun | DpoRun
    examiner: Examiner
    prompts: Sequence[Prompt]
    journal: JournalWriter
    best: Path
    seed: int
    temperature: float
    curve: list[tuple[int, float]] = field(default_factory=list)
    highest: float = -math.inf
    best_step: int = 0
    waited: int = 0
    start: "Start | None" = None

    def state(self) -> dict[str, Any]:
        start = None if self.start is None else asdict(self.start)
        return {
            "curve": self.curve,
            "highest": self.highest,
            "best_step": self.best_step,
            "waited": self.waited,
            "start": start,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.curve = [tuple(pair) for pair in state["curve"]]
        self.highest, self.best_step, self.waited = state["highest"], state["best_step"], state["waited"]
        self.start = None if state["start"] is None else Start(**state["start"])

    def is_due(self, step: int, last: int) -> bool:
        """Whether the look after `step` is still to come; a look that was cut off counts as not taken."""
        if not self.curve:
            return True
        return step > self.curve[-1][0] and (step % self.settings.eval_steps == 0 or step == last)

    def look(self, model: Policy, step: int) -> None:
        """Evaluate now. Each look has the same random stream: looks differ by the policy, not by the draw."""
        samples = self.settings.validation_samples
        completions = self.examiner.answer(model, self.prompts, samples, self.temperature, self.seed)
        values = summary(completions) | thinking(self.examiner, completions)
        start = self.start
        kl = 0.0
        if start is None:
            start = self._start(model, completions)
        else:
            kl = kl_divergence(self._anchor_logps(model, start), start.logps)
        values |= {"kl": kl, **changes(start, completions)}
        self.start = start
        self.journal.log(step, {f"validation/{name}": value for name, value in values.items()})
        value = selected(values, self.settings.selection)
        self.curve.append((step, value))
        if value > self.highest:
            self.highest, self.best_step, self.waited = value, step, 0
            save_whole(model, self.best)
        else:
            self.waited += 1

    def delivered(self, model: Policy, place: Path) -> dict[str, object]:
        """Hand on the best adapter, with what it does in the trained model; what a record tells of the looks."""
        describe(model, self.best)
        self.best.rename(place)
        return {"best_step": self.best_step, "best_value": self.highest, "validation": self.curve}

    def _start(self, model: Policy, completions: Sequence[ScoredCompletion]) -> "Start":
        """What this look remembers as the start: values per prompt, and some completions spread over the prompts. These
        are the policy's own (temperature 1) whatever validation draws at: on others kl_divergence estimates no KL.
        """
        drawn = completions
        if self.temperature != 1:
            prompts = self.prompts[:: max(1, len(self.prompts) // ANCHORS)][:ANCHORS]
            drawn = self.examiner.answer(model, prompts, 1, 1.0, self.seed)
        anchors = [one for one in drawn[:: max(1, len(drawn) // ANCHORS)] if one.tokens][:ANCHORS]
        ids = [one.prompt.id for one in anchors]
        start = Start(ids, [one.tokens for one in anchors], [], *per_prompt(completions))
        return replace(start, logps=self._anchor_logps(model, start))

    def _anchor_logps(self, model: Policy, start: "Start") -> list[list[float]]:
        by_id = {prompt.id: prompt for prompt in self.prompts}
        ids = encode(
            self.examiner.tokenizer, [by_id[prompt_id] for prompt_id in start.anchor_ids], self.examiner.system_prompts
        )
        was_training = model.training
        model.eval()
        logps = token_logps(model, ids, start.anchor_tokens)
        model.train(was_training)
        return [row.tolist() for row in logps]


@dataclass(frozen=True)
class Start:
    """The first look, which later ones are held against: `anchor_*` and `logps` are completions and their token
    log-probabilities, `rewards` and `truths` are means per prompt (truths only where the truth is known).
    """

    anchor_ids: list[str]
    anchor_tokens: list[list[int]]
    logps: list[list[float]]
    rewards: dict[str, float]
    truths: dict[str, float]


def kl_divergence(now: Sequence[Sequence[float]], start: Sequence[Sequence[float]]) -> float:
    """Mean KL(start || now) per token in nats, on tokens that the start sampled: mean of r - 1 - log r with r = p_now /
    p_start.

    Schulman's k3 estimator (Approximating KL Divergence, 2020): never negative, and 0 only where both are the same.
    """
    logs = np.concatenate([np.subtract(after, before) for after, before in zip(now, start, strict=True)])
    return float(np.mean(np.expm1(logs) - logs))


def per_prompt(completions: Sequence[ScoredCompletion]) -> tuple[dict[str, float], dict[str, float]]:
    """Mean reward and mean truth of each prompt's samples."""
    rewards: dict[str, list[float]] = {}
    truths: dict[str, list[float]] = {}
    for completion in completions:
        rewards.setdefault(completion.prompt.id, []).append(completion.score.total)
        if completion.truth is not None:
            truths.setdefault(completion.prompt.id, []).append(completion.truth)
    return (
        {name: float(np.mean(values)) for name, values in rewards.items()},
        {name: float(np.mean(v)) for name, v in truths.items()},
    )


def changes(start: Start, completions: Sequence[ScoredCompletion]) -> dict[str, float]:
    """How many standard errors reward and truth lie above the start, paired by prompt; 0 where nothing differs."""
    rewards, truths = per_prompt(completions)
    return {"reward_z": _paired_z(start.rewards, rewards), "truth_z": _paired_z(start.truths, truths)}


def _paired_z(before: dict[str, float], after: dict[str, float]) -> float:
    differences = np.array([after[name] - before[name] for name in before])
    spread = differences.std(ddof=1) if len(differences) > 1 else 0.0
    return float(differences.mean() / (spread / math.sqrt(len(differences)))) if spread > 0 else 0.0


def thinking(examiner: Examiner, completions: Sequence[ScoredCompletion]) -> dict[str, float]:
    """Mean tokens of the thoughts of each task that thinks, and the share of thoughts that cost their answer."""
    values: dict[str, float] = {}
    thought = [completion for completion in completions if examiner.thinks(completion.prompt.task)]
    for task in sorted({completion.prompt.task for completion in thought}):
        mine = [completion.think_tokens for completion in thought if completion.prompt.task == task]
        values[f"think_tokens_{task}"] = float(np.mean(mine))
    if thought:
        values["think_tokens"] = float(np.mean([completion.think_tokens for completion in thought]))
        values["thoughts_cut"] = float(np.mean([completion.thought_cut for completion in thought]))
    return values


def summary(completions: Sequence[ScoredCompletion]) -> dict[str, float]:
    """Mean reward and ground truth, over all and per task; tasks weigh as the prompts do."""
    values = {"reward": float(np.mean([completion.score.total for completion in completions]))}
    known = [completion.truth for completion in completions if completion.truth is not None]
    values["truth"] = float(np.mean(known)) if known else math.nan
    for task in TASKS:
        mine = [completion for completion in completions if completion.prompt.task == task]
        if mine:
            values[f"reward_{task}"] = float(np.mean([completion.score.total for completion in mine]))
        true = [completion.truth for completion in mine if completion.truth is not None]
        if true:
            values[f"truth_{task}"] = float(np.mean(true))
    return values
