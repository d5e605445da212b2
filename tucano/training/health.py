"""Is the training run still worth its machine? Named alarms over the metrics that a GRPO run writes to its journal.

Every rule reads the history alone, so alarms can be computed again from a finished journal, and a resumed run rebuilds
its watch by replaying the rows it keeps. On-policy clip ratios and the KL to the previous policy are 0 by construction
and mean nothing; the KL to the policy at the start is measured instead (tucano/training/validation.py).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tucano.prompts import TASKS
from tucano.settings.training.health import AlarmName, HealthSettings
from tucano.storage.journal import JournalWriter, read_journal
from tucano.training.jobs import Progress, emit

NOISE = 0.05
"""A validation reward may move this much by chance; near 0, 30 % of it is nothing."""

STARVED = 0.2
"""A task whose weight lies below this share of an equal one is forgotten while others are learned."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """`step` is where it was raised first; `evidence` what was seen, `advice` what to do about it."""

    name: AlarmName
    step: int
    evidence: str
    advice: str
    stops: bool

    def line(self) -> str:
        return (
            f"{level(self.name, self.stops)} {self.name} at step {self.step}: {self.evidence}."
            f" {self.advice} Training {'stops here' if self.stops else 'goes on'}."
        )


def level(name: str, stops: bool) -> Literal["ALARM", "note"]:
    """A note is of a run that goes on and may be promoted all the same."""
    return "ALARM" if stops or name == "hacking" else "note"


@dataclass
class History:
    """Every metric by name, oldest first, without NaN: no comparison with it holds, so one would silence every rule
    whose window it is in. `unknown` are the metrics that were NaN, `read` those that rules have asked for.
    """

    series: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unknown: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    def add(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            if math.isnan(value):
                self.unknown.add(name)
            else:
                self.series[name].append(value)

    def all(self, name: str) -> list[float]:
        self.read.add(name)
        return self.series.get(name, [])

    def last(self, name: str, count: int) -> list[float]:
        """The newest `count` values; empty while there are fewer."""
        values = self.all(name)
        return values[-count:] if len(values) >= count else []


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _not_finite(history: History, settings: HealthSettings) -> Iterator[str]:
    for name in ("train/loss", "train/grad_norm"):
        if any(math.isinf(value) for value in history.last(name, 1)):
            yield f"{name} is {history.last(name, 1)[0]}"
    for name in sorted(history.read & history.unknown):
        yield f"{name} is nan"


def _no_signal(history: History, settings: HealthSettings) -> Iterator[str]:
    for task in TASKS:
        shares = history.last(f"train/zero_variance/{task}", settings.window)
        if shares and _mean(shares) >= settings.zero_variance_share:
            yield (
                f"{_mean(shares):.0%} of the {task} groups of the last {len(shares)} steps have no difference in reward"
            )


def _entropy_gone(history: History, settings: HealthSettings) -> Iterator[str]:
    values = history.last("train/entropy", settings.window)
    if values and _mean(values) < settings.entropy_floor:
        yield f"mean entropy {_mean(values):.4f} nats per token, below {settings.entropy_floor}"


def _at_ceiling(history: History, settings: HealthSettings) -> Iterator[str]:
    shares = history.last("train/completions/clipped_ratio", settings.window)
    if shares and _mean(shares) > settings.ceiling_share:
        yield f"{_mean(shares):.0%} of the completions of the last {len(shares)} steps are cut off at the ceiling"


def _reward_scale(history: History, settings: HealthSettings) -> Iterator[str]:
    highest = history.last("train/reward/highest", 1)
    if highest and highest[0] > 1 + 1e-6:
        yield f"the components of a reward add up to {highest[0]:.3f}; 1 is the most there is"


def _rate_gone(history: History, settings: HealthSettings) -> Iterator[str]:
    rates, progress = history.all("train/learning_rate"), history.last("progress", 1)
    if rates and progress and progress[0] < 0.8 and rates[-1] < 0.01 * max(rates):
        yield (
            f"the learning rate is {rates[-1]:.2g} after {progress[0]:.0%} of the run, below 1 % of its peak"
            f" {max(rates):.2g}"
        )


def _sampler_apart(history: History, settings: HealthSettings) -> Iterator[str]:
    gaps = history.last("train/sampling/sampling_logp_difference/mean", settings.window)
    if gaps and _mean(gaps) > settings.sampler_gap:
        yield (
            f"the sampler's log-probabilities differ from the trainer's by {_mean(gaps):.3g} nats per token, above"
            f" {settings.sampler_gap:.3g}, in the mean of the last {len(gaps)} steps"
        )


def _task_starved(history: History, settings: HealthSettings) -> Iterator[str]:
    for task in TASKS:
        weights = history.last(f"train/task_weight/{task}", settings.window)
        if weights and max(weights) < STARVED:
            yield f"{task} weighs {weights[-1]:.2f} of an equal share, below {STARVED} for {len(weights)} steps"


def _policy_still(history: History, settings: HealthSettings) -> Iterator[str]:
    kl = history.all("validation/kl")[1:]
    if len(kl) >= 2 and max(kl[-2:]) < settings.kl_floor:
        yield f"the KL to the start is {max(kl[-2:]):.2g} nats per token, below {settings.kl_floor:.2g}, at two looks"


def _collapse(history: History, settings: HealthSettings) -> Iterator[str]:
    rewards = history.all("validation/reward")
    if len(rewards) < 3:
        return
    fall = max(rewards) - max(rewards[-2:])
    if fall > settings.collapse_share * max(rewards) and fall > NOISE:
        yield (
            f"validation reward {rewards[-1]:.3f}, twice more than {settings.collapse_share:.0%} below its best"
            f" {max(rewards):.3f}"
        )


def _hacking(history: History, settings: HealthSettings) -> Iterator[str]:
    rewards, truths = history.last("validation/reward_z", 2), history.last("validation/truth_z", 2)
    limit = settings.hacking_z
    if rewards and truths and min(rewards) > limit and max(truths) < -limit:
        yield (
            f"at two looks the validation reward rose (z {rewards[-1]:+.1f} against the start) while the ground truth"
            f" fell (z {truths[-1]:+.1f})"
        )


Rule = Callable[[History, HealthSettings], Iterator[str]]
RULES: dict[AlarmName, tuple[Rule, str]] = {
    "no_signal": (
        _no_signal,
        (
            "Raise grpo.generations, or without grpo.teacher raise grpo.temperature or set grpo.drop_zero_variance and"
            " grpo.refill_rounds; a coarse reward does it too."
        ),
    ),
    "entropy_gone": (_entropy_gone, "It repeats itself: set grpo.entropy_coef, or lower {section}.learning_rate."),
    "at_ceiling": (
        _at_ceiling,
        "Raise grpo.max_completion_tokens, or look whether answers end at all (end token, chat template).",
    ),
    "reward_scale": (_reward_scale, "Component weights must add up to 1; run `tucano audit`."),
    "rate_gone": (_rate_gone, "Look at {section}.schedule and the steps: the schedule ends before the run does."),
    "sampler_apart": (
        _sampler_apart,
        (
            "The vLLM server does not draw from the weights that are trained: compare model.dtype and the base it has"
            " loaded, or set grpo.sampler=local."
        ),
    ),
    "task_starved": (_task_starved, "Raise grpo.task_weights_floor, or set grpo.task_weights=equal."),
    "policy_still": (
        _policy_still,
        "Raise {section}.learning_rate, and look whether the adapter gets gradients (preflight).",
    ),
    "collapse": (_collapse, "The best checkpoint so far is kept; lower {section}.learning_rate."),
    "hacking": (_hacking, "Read the answers: the reward pays for something that is not true. This blocks promotion."),
    "not_finite": (_not_finite, "Lower {section}.learning_rate or {section}.max_grad_norm."),
}
"""`not_finite` is the last, as it looks at all that the others have read."""


class Watch:
    """Feeds a run's metrics to the rules; each alarm is raised once, when its evidence is first seen."""

    def __init__(self, settings: HealthSettings, steps: int, section: str = "grpo") -> None:
        """`section` of the settings is what its advice names."""
        self.settings, self.steps, self.section = settings, steps, section
        self.history = History()
        self.raised: dict[AlarmName, Alarm] = {}

    def observe(self, step: int, values: Mapping[str, float]) -> list[Alarm]:
        """The alarms that these values raise for the first time."""
        self.history.add(values)
        self.history.add({"progress": step / self.steps})
        new = []
        for name, (rule, advice) in RULES.items():
            evidence = "" if name in self.raised else "; ".join(rule(self.history, self.settings))
            if evidence:
                stops = name in self.settings.stop_on
                self.raised[name] = Alarm(name, step, evidence, advice.format(section=self.section), stops)
                new.append(self.raised[name])
        return new

    @property
    def must_stop(self) -> bool:
        return any(alarm.stops for alarm in self.raised.values())


def watched(journal: JournalWriter, settings: HealthSettings, steps: int, name: str) -> Watch:
    """Alarms over a journal: over the rows that it has already, and from now on over every new one, told to the
    parent as of the training `name` ("grpo seed 1").
    """
    watch = Watch(settings, steps, name.split()[0])
    for entry in read_journal(journal.path):
        watch.observe(entry.step, entry.values)

    def listen(step: int, values: Mapping[str, float]) -> None:
        for alarm in watch.observe(step, values):
            journal.log(step, {f"health/{alarm.name}": 1.0})
            emit(Progress(name, step, steps, {}, notice=alarm.line()))

    journal.listener = listen
    return watch
