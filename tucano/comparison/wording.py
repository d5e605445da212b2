"""A verdict's sentences: which are said, and in which words. Both languages have the same sentences with the same
blanks.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tucano.comparison.claims import WHOLE, Facts, StudyContext, after_holm, after_looks, lost, task_drops, task_gains
from tucano.comparison.contrast import Contrast, Effect
from tucano.comparison.forgetting import FORGETTING, Forgetting
from tucano.presentation.numbers import english, p_value, portuguese, possible
from tucano.statistics.inference import SMALLEST_SEEDS, UNKNOWN
from tucano.statistics.planning import chance_finding


@dataclass(frozen=True)
class Speaker:
    """A language: its sentences by name, and how it writes numbers."""

    sentences: Mapping[str, str]
    number: Callable[..., str]

    def __call__(self, key: str, effect: Effect | None = None, **words: str) -> str:
        return self.sentences[key].format(**(self._numbers(effect) if effect else {}) | words)

    def range(self, low: float, high: float, kind: str = "range") -> str:
        """An interval of a difference of rewards, as far as it says anything."""
        ends = possible(low, high)
        if ends is None:
            return self.sentences[f"no {kind}"]
        return self(kind, low=self.number(ends[0], signed=True), high=self.number(ends[1], signed=True))

    def _numbers(self, effect: Effect) -> dict[str, str]:
        number = self.number
        percent = "" if effect.gain_percent is None else f" ({number(effect.gain_percent, 1, signed=True)} %)"
        return {
            "n": str(effect.n),
            "arm": number(effect.arm_mean),
            "below": number(effect.reference_mean),
            "gain": number(effect.gain, signed=True),
            "drop": number(-effect.gain),
            "percent": percent,
            "estimate": number(effect.estimate, signed=True),
            "low": number(effect.low, signed=True),
            "high": number(effect.high, signed=True),
            "range": self.range(effect.low, effect.high),
            "mean_range": self.range(effect.mean_low, effect.mean_high),
            "p_mean": p_value(effect.p_mean, number),
            "p_mean_drop": p_value(1 - effect.p_mean, number),
            "detectable": "-" if effect.detectable is None else number(effect.detectable),
            "p": p_value(effect.p, number),
            "worse": p_value(effect.p_worse, number),
            "holm": p_value(after_holm(effect.p_holm), number),
            "worse_holm": p_value(after_holm(effect.p_worse_holm), number),
        }


def against(found: Contrast, measured: str) -> str:
    """One contrast in a sentence: of what was measured, the mean gain and both exact p."""
    effect = found.overall
    return (
        f"`{found.arm}` against `{found.reference}`, {measured}: {english(effect.gain, signed=True)}"
        f" ({ENGLISH.range(effect.mean_low, effect.mean_high)}); exact one-sided p for a gain {p_value(effect.p)}, for"
        f" a drop {p_value(effect.p_worse)}."
    )


def messages(name: str) -> dict[str, str]:
    return dict(json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")))


ENGLISH = Speaker(messages("verdict.en.json"), english)
PORTUGUESE = Speaker(messages("verdict.pt.json"), portuguese)


def headline(say: Speaker, reward: Contrast, facts: Facts) -> str:
    few = "few seeds" if len(reward.seeds) < SMALLEST_SEEDS else "other seeds"
    key = {"supported": "better", "not supported": "adapters", "not assessable": few}[facts.configuration]
    if not facts.improved:
        key = "worse" if facts.worse else "not shown"
    elif facts.hacking:
        key = "hacked"
    elif "unconfirmed" in facts.cautions:
        key = "reward only"
    elif "no truth" in facts.cautions:
        key = "reward alone"
    return say(key, reference=reward.reference, where=_where(say, facts))


def _where(say: Speaker, facts: Facts) -> str:
    """The tasks on which the ground truth fell, where it did not fall over all."""
    return "" if WHOLE in facts.fallen else say("on tasks", tasks=", ".join(facts.fallen))


def reservations(say: Speaker, facts: Facts) -> tuple[str, ...]:
    """What has to stand beside a headline that claims a gain, so that nobody takes it for more."""
    said = [say("no gain over base", facts.base.overall)] if facts.improved and facts.base else []
    said += [
        say(key, tasks=", ".join(tasks))
        for key, tasks in (
            ("open by reward", facts.open_by_reward),
            ("open by truth", facts.open_by_truth),
            ("open as served", facts.open_as_served),
        )
        if facts.improved and tasks
    ]
    return (*said, say("unmoved", seeds=", ".join(facts.unmoved))) if facts.unmoved else tuple(said)


def sentences(
    say: Speaker,
    reward: Contrast,
    alpha: float,
    facts: Facts,
    beside: Sequence[tuple[str, Contrast | None]],
    around: StudyContext,
) -> tuple[str, ...]:
    overall = say("overall", reward.overall, reference=reward.reference, decoding=say(reward.decoding))
    if facts.worse:
        overall += " " + say("drop", reward.overall)
    elif not facts.improved and "identical" not in facts.cautions and reward.overall.high >= 0:
        unseen = "blind" if reward.overall.mean_is_assessable else "no spread"
        overall += " " + say(unseen if reward.overall.detectable is None else "unseen", reward.overall)
    said = [overall, _seed_sentence(say, reward, alpha, facts)]
    if len(reward.seeds) > 1:
        gains = "; ".join(f"{name} {say.number(gain['overall'], signed=True)}" for name, gain in reward.seeds.items())
        said.append(say("each seed", gains=gains))
    said += _next_question(say, reward, alpha / around.looks)
    said += _task_sentences(say, reward, alpha, facts, around.looks)
    said += [say(key, other.overall, name=other.arm, reference=other.reference) for key, other in beside if other]
    if around.candidate and len(reward.seeds) > 1:
        said.append(say("candidate", around.candidate.overall, name=around.candidate.arm))
    said += [_language(say, found) for found in around.forgetting]
    said += [
        say("public", found.overall, name=", ".join(found.tasks), reference=found.reference) for found in around.public
    ]
    said += [_caution(say, name, reward, alpha, around) for name in facts.cautions]
    said += [say("hacking", where=_where(say, facts))] if facts.hacking else []
    return tuple(said)


def _next_question(say: Speaker, reward: Contrast, alpha: float) -> list[str]:
    """What a larger experiment would need, where this one leaves its own gain open."""
    said = []
    over_seeds, overall = reward.configuration, reward.overall
    if over_seeds and over_seeds.p >= alpha and (reward.seeds_needed or 0) > len(reward.seeds):
        said.append(say("more seeds", count=str(reward.seeds_needed)))
    if overall.p >= alpha and (reward.prompts_needed or 0) > overall.n:
        said.append(say("more prompts", count=str(reward.prompts_needed)))
    return said


def _language(say: Speaker, found: Forgetting) -> str:
    number = say.number
    known = say("range", low=number(found.low, signed=True), high=number(found.high, signed=True))
    return say(
        "language",
        n=str(found.passages),
        reference=found.reference,
        before=number(found.before, 1),
        after=number(found.after, 1),
        change=number(found.change, signed=True),
        share=number(100 * found.change / found.bits, 1, signed=True),
        limit=_percent(say, FORGETTING),
        range=say("no range") if (found.low, found.high) == UNKNOWN else known,
    )


def _caution(say: Speaker, name: str, reward: Contrast, alpha: float, around: StudyContext) -> str:
    if name == "looks":
        found = chance_finding(around.looks, alpha)
        chance = _percent(say, round(found, 2) or found)
        fell = reward.overall.gain < 0
        corrected = p_value(after_looks(reward.overall.p_worse if fell else reward.overall.p, around.looks), say.number)
        of = say("for a drop" if fell else "for a gain")
        return say(name, looks=str(around.looks), alpha=_percent(say, alpha), chance=chance, of=of, p=corrected)
    if name == "lost public":
        losses = (
            say("loss", name=", ".join(found.tasks), reference=found.reference) for found in lost(around.public, alpha)
        )
        return say(name, losses="; ".join(losses))
    return say(name, reward.overall, reference=reward.reference, alpha=_percent(say, alpha))


def _percent(say: Speaker, share: float) -> str:
    """A share in percent, with two significant digits or more: 5, 2.5, 1.25, 0.04."""
    percent = 100 * share
    digits = next((d for d in range(6) if abs(percent - round(percent, d)) < 0.005 * percent), 6)
    return say.number(percent, digits)


def _why_not(say: Speaker, facts: Facts) -> str:
    """Why something is not claimed that by itself would count."""
    return say("too many looks" if facts.improved else "without the whole")


def _seed_sentence(say: Speaker, reward: Contrast, alpha: float, facts: Facts) -> str:
    test, one = reward.configuration, reward.new_seed
    if test is None or one is None:
        key = "no seeds" if len(reward.seeds) < SMALLEST_SEEDS else "no equal seeds"
        return say(key, seeds=str(len(reward.seeds)))
    shown = say("shown" if facts.configuration == "supported" else "open")
    if test.p < alpha and facts.configuration != "supported":
        shown = say("gated", why=_why_not(say, facts))
    return say(
        "seeds",
        mean=say.number(test.mean, signed=True),
        range=say.range(test.low, test.high),
        p=p_value(test.p, say.number),
        is_shown=shown,
        one=say.range(one[0], one[1], "one"),
    )


def _task_sentences(say: Speaker, reward: Contrast, alpha: float, facts: Facts, looks: int) -> Iterable[str]:
    gains = task_gains(reward, alpha, looks)
    drops = task_drops(reward, alpha)
    for task, effect in reward.tasks.items():
        if task in gains:
            key = "task better" if gains[task] else "task gated"
        elif task in drops:
            stands = after_looks(after_holm(effect.p_worse_holm), looks) < alpha
            key = "task worse" if stands else "task drop looked"
        elif (effect.p < alpha and effect.gain < 0) or (effect.p_worse < alpha and effect.gain >= 0):
            key = "task skewed"
        elif effect.p_worse < alpha:
            key = "task suspect"
        else:
            key = "task gain" if effect.gain >= 0 else "task drop"
        yield say(key, effect, task=task, why=_why_not(say, facts))
