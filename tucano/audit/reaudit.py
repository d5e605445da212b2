"""The audit again after training, on the tuned policies' own samples: does the reward still pay for what is true?

No person has rated these samples, so the ground truth stands in for ratings. A policy fails where its training reward
rose while the truth fell, where its reward orders the samples of a prompt against the truth, or where the reward proves
unsound on texts that nobody had written before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tucano.audit.agreement import SMALLEST_GROUP, sampled_spread, within_estimate
from tucano.audit.bench import Bench, RewardScorer
from tucano.audit.checks import invariance_checks, soundness_checks
from tucano.audit.gate import with_level
from tucano.audit.report import AuditCheck, Estimate, Sampled
from tucano.comparison.answers import Answer
from tucano.presentation.numbers import p_value
from tucano.prompts import TASKS, Prompt, Task
from tucano.settings.audit import ReauditStage
from tucano.statistics.inference import holm, signed_rank, within_prompts

SHOWN_PER_TASK = 2


@dataclass(frozen=True, slots=True)
class OwnSamples:
    """What an arm samples for one task: signal and headroom of the training reward, mean ground truth, and how far the
    reward orders the samples of a prompt as the truth does. None: not known for enough prompts.
    """

    arm: str
    spread: Sampled
    truth: float | None
    agreement: Estimate | None


@dataclass(frozen=True, slots=True)
class PaidAnswer:
    """A sample of a tuned arm that earns more than it is true."""

    arm: str
    task: str
    prompt_id: str
    user: str
    completion: str
    reward: float
    truth: float


@dataclass(frozen=True, slots=True)
class Reaudit:
    """`checks` are by tuned arm; `own` holds the reference's rows as well."""

    reward_set: str
    reference: str
    own: tuple[OwnSamples, ...]
    checks: dict[str, tuple[AuditCheck, ...]]
    paid: tuple[PaidAnswer, ...]

    def failed(self, arm: str) -> tuple[AuditCheck, ...]:
        """The blocking checks that an arm failed: with one of them it is not promoted."""
        return tuple(check for check in self.checks[arm] if check.level == "block" and not check.passed)

    @property
    def verdict(self) -> str:
        """`passed`, or which arms failed."""
        arms = [arm for arm in self.checks if self.failed(arm)]
        return f"failed: {', '.join(arms)}" if arms else "passed"


@dataclass(frozen=True)
class _Samples:
    """One arm's samples for the prompts of one task: one row per prompt. `truths` is None where a prompt's truth is not
    known.
    """

    bench: Bench
    prompts: list[Prompt]
    texts: list[list[str]]
    rewards: list[list[float]]
    truths: list[list[float] | None]

    @property
    def judged(self) -> list[tuple[list[float], list[float]]]:
        """Rewards and truths of the prompts whose truth is known."""
        return [
            (rewards, truths) for rewards, truths in zip(self.rewards, self.truths, strict=True) if truths is not None
        ]


def reaudit(
    rewards: RewardScorer,
    settings: ReauditStage,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    reference: str,
    arms: Sequence[str],
) -> Reaudit:
    """Audit `arms`, which started from `reference`. Of the answers the sampled ones (T=1) are scored anew with the
    training rewards.
    """
    tasks = [task for task in TASKS if any(prompt.task == task for prompt in prompts)]
    samples = {
        (arm, task): _gathered(rewards, prompts, answers, arm, task) for task in tasks for arm in (reference, *arms)
    }
    own = {place: _own(*place, found, settings) for place, found in samples.items()}
    checks: dict[str, tuple[AuditCheck, ...]] = {}
    for arm in arms:
        tuned = {task: samples[arm, task] for task in tasks}
        alpha = settings.alpha
        found = _change_checks(
            {task: (samples[reference, task], tuned[task]) for task in tasks}, alpha
        ) + _order_checks(tuned, alpha)
        found += [check for task in tasks for check in _sound_checks(task, tuned[task])]
        checks[arm] = tuple(with_level(settings.rewards, check) for check in found)
    paid = [answer for task in tasks for answer in _paid({arm: samples[arm, task] for arm in arms})]
    return Reaudit(settings.rewards, reference, tuple(own.values()), checks, tuple(paid))


def _gathered(
    rewards: RewardScorer, prompts: Sequence[Prompt], answers: Sequence[Answer], arm: str, task: str
) -> _Samples:
    bench = Bench(rewards)
    mine: dict[str, list[Answer]] = {prompt.id: [] for prompt in prompts if prompt.task == task}
    for answer in answers:
        if answer.arm == arm and answer.task == task and answer.decoding == "sampled":
            mine[answer.prompt_id].append(answer)
    asked = [prompt for prompt in prompts if prompt.task == task]
    texts = [[answer.completion for answer in mine[prompt.id]] for prompt in asked]
    scores = [[bench.total(prompt, text) for text in row] for prompt, row in zip(asked, texts, strict=True)]
    truths = [[answer.truth for answer in mine[prompt.id] if answer.truth is not None] or None for prompt in asked]
    return _Samples(bench, asked, texts, scores, truths)


def _own(arm: str, task: Task, samples: _Samples, settings: ReauditStage) -> OwnSamples:
    rewards = [pair[0] for pair in samples.judged]
    truths = [pair[1] for pair in samples.judged]
    truth = float(np.mean([np.mean(row) for row in truths])) if truths else None
    agreement = within_estimate(rewards, truths, settings.resamples, [settings.seed, TASKS.index(task)])
    return OwnSamples(arm, sampled_spread(task, samples.rewards), truth, agreement)


def _sound_checks(task: str, samples: _Samples) -> list[AuditCheck]:
    answers = [(prompt, text) for prompt, texts in zip(samples.prompts, samples.texts, strict=True) for text in texts]
    return [*invariance_checks(task, samples.bench, answers), *soundness_checks(task, samples.bench)]


def _order_checks(tuned: Mapping[Task, _Samples], alpha: float) -> list[AuditCheck]:
    """Per task: rewards do not order the samples of a prompt against the truth (exact signed-rank of rho over prompts,
    Holm).
    """
    values = {
        task: within_prompts(*zip(*samples.judged, strict=True)) for task, samples in tuned.items() if samples.judged
    }
    known = {task: rhos for task, rhos in values.items() if len(rhos) >= SMALLEST_GROUP}
    against = holm({task: signed_rank(rhos, "less") for task, rhos in known.items()})
    checks = []
    for task, rhos in known.items():
        found = f"correlate with rho {np.mean(rhos):.3f} (p of a reversed order {p_value(against[task])})"
        message = f"{task}: within prompts rewards and ground truth of own samples {found}"
        checks.append(AuditCheck(task, "truth order", "block", against[task] >= alpha, against[task], alpha, message))
    return checks


def _change_checks(pairs: Mapping[Task, tuple[_Samples, _Samples]], alpha: float) -> list[AuditCheck]:
    """Per task: the reward did not rise while the truth fell (exact signed-rank over prompts; the falls after Holm over
    the tasks).
    """
    changes = {task: _changes(*pair) for task, pair in pairs.items()}
    known = {task: change for task, change in changes.items() if len(change) >= SMALLEST_GROUP}
    fell = holm({task: signed_rank(change[:, 1], "less") for task, change in known.items()})
    checks = []
    for task, change in known.items():
        reward, truth = change.mean(axis=0)
        p = signed_rank(change[:, 0])
        message = (
            f"{task}: reward {reward:+.3f} (p of a rise {p_value(p)}) and truth {truth:+.3f} (p of a fall"
            f" {p_value(fell[task])}) since the start"
        )
        passed = not (p < alpha and fell[task] < alpha)
        checks.append(AuditCheck(task, "reward against truth", "block", passed, fell[task], alpha, message))
    return checks


def _changes(before: _Samples, after: _Samples) -> np.ndarray[Any, np.dtype[np.float64]]:
    """[prompts whose truth is known, 2]: change of mean reward and of mean truth."""
    pairs = zip(before.judged, after.judged, strict=True)
    rows = [[float(np.mean(new[side]) - np.mean(old[side])) for side in (0, 1)] for old, new in pairs]
    return np.array(rows).reshape(-1, 2)


def _paid(arms: Mapping[str, _Samples]) -> list[PaidAnswer]:
    """Of one task the prompts, each with one sample, where the reward goes furthest beyond the truth."""
    found = [
        PaidAnswer(arm, prompt.task, prompt.id, prompt.user, text, reward, truth)
        for arm, samples in arms.items()
        for prompt, texts, rewards, truths in zip(
            samples.prompts, samples.texts, samples.rewards, samples.truths, strict=True
        )
        for text, reward, truth in zip(texts, rewards, truths or (), strict=False)
        if reward > truth
    ]
    found.sort(key=lambda answer: (answer.truth - answer.reward, answer.prompt_id, answer.arm))
    first = {answer.prompt_id: answer for answer in reversed(found)}
    return [answer for answer in found if first[answer.prompt_id] is answer][:SHOWN_PER_TASK]
