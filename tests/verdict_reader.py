"""Random verdicts, read as a suspicious analyst reads them: does a sentence deny another one, or a number in it?

The reader sees the text alone. It knows nothing of the statistics behind it, shares no code with what writes the
sentences, and takes every number as it is printed.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tucano.comparison.claims import StudyContext
from tucano.comparison.contrast import Strata, contrast, share
from tucano.comparison.forgetting import Forgetting
from tucano.comparison.verdict import Verdict, judge
from tucano.settings.comparison import ComparisonSettings

SETTINGS = ComparisonSettings()
LEVEL = 0.05
TASKS = ("extraction", "sql_qa", "insights", "push", "sentiment", "churn")
SHAPES = ("normal", "floor", "ceiling", "0/1", "copies")

Drawn = dict[str, list[float]]


# Random experiments


def random_verdict(rng: np.random.Generator) -> Verdict:
    """One to six tasks of 7 to 30 prompts, one to five seeds, one to four answers each, gains between -.15 and .15."""
    tasks = {task: int(rng.integers(7, 31)) for task in TASKS[: rng.integers(1, len(TASKS) + 1)]}
    ids = {task: [f"{task}-{place}" for place in range(count)] for task, count in tasks.items()}
    prompts = [prompt for names in ids.values() for prompt in names]
    clusters = {prompt: f"{prompt.partition('-')[0]} {rng.integers(8)}" for prompt in prompts}
    strata = Strata(ids, clusters if rng.random() < 0.7 else None)
    seeds = int(rng.integers(1, 6))
    count = int(rng.integers(1, 5))
    shape = SHAPES[rng.integers(len(SHAPES))]
    gain = rng.normal(0, 0.05)
    spread = abs(rng.normal(0, 0.05))
    between = abs(rng.normal(0, 0.04))
    gains = {task: gain + rng.normal(0, 0.05) for task in tasks}
    effects = {prompt: gains[prompt.partition("-")[0]] + _skewed(rng) * spread for prompt in prompts}
    start = _drawn(rng, shape, dict.fromkeys(prompts, 0.0), int(rng.choice([seeds, 1])) * count)
    arms = {
        f"seed-{seed}": _drawn(rng, shape, effects, count, float(rng.normal(0, between)))
        for seed in range(1, seeds + 1)
    }
    if shape == "copies":
        arms = {name: {prompt: start[prompt][:count] for prompt in prompts} for name in arms}
    against = partial(contrast, strata=strata, alpha=LEVEL, decoding=SETTINGS.primary)
    reward = against("seeds", arms, ("sft", start), measure="reward")
    truth = None
    if rng.random() < 0.8:
        slope = rng.choice([-0.5, 0.0, 0.5, 1.0])
        of_truth = {prompt: slope * effect for prompt, effect in effects.items()}
        below = _drawn(rng, "normal", dict.fromkeys(prompts, 0.0), seeds * count)
        above = {name: _drawn(rng, "normal", of_truth, count) for name in arms}
        truth = against("seeds", above, ("sft", below), measure="truth")
    own = share(start, arms, "seed-1")
    one = against("seed-1", {"seed-1": arms["seed-1"]}, ("sft", own), measure="reward")
    # the same contrast also stands for what is served: in a reservation one reads its tasks alone
    around = StudyContext(
        looks=int(rng.choice([1, 1, 1, 2, 5, 20])),
        planned=rng.random() < 0.8,
        candidate=one,
        forgetting=(_forgotten(rng),) if rng.random() < 0.5 else (),
    )
    return judge(reward, SETTINGS, truth=truth, served=truth, others=[one], around=around)


def _skewed(rng: np.random.Generator) -> float:
    """Mean 0 and SD 1: even, or many small gains and few large losses, or the other way round."""
    side = rng.integers(3)
    return float(rng.normal() if side == 2 else (1 - rng.exponential()) * (1 if side else -1))


def _drawn(rng: np.random.Generator, shape: str, effects: dict[str, float], count: int, seed: float = 0.0) -> Drawn:
    def answers(effect: float) -> list[float]:
        if shape == "0/1":
            return [float(rng.random() < min(1.0, max(0.0, 0.4 + effect + seed))) for _ in range(count)]
        level = {"floor": rng.gamma(0.5, 0.1), "ceiling": 0.9 if rng.random() < 0.85 else 0.3}.get(shape, 0.5)
        return [float(np.clip(level + effect + seed + rng.normal(0, 0.05), 0, 1)) for _ in range(count)]

    return {prompt: answers(effect) for prompt, effect in effects.items()}


def _forgotten(rng: np.random.Generator) -> Forgetting:
    change = float(rng.normal(0, 0.1))
    p = float(rng.random())
    return Forgetting("sft", 40, 20.0, 20.0 * 2**change, 1.0, change, change - 0.05, change + 0.05, p)


# The reader

NUMBER = r"([+-]?\d+\.\d+)"
P = rf"p(?: after Holm)? [=<] {NUMBER}"
OVERALL = re.compile(
    rf": {NUMBER}(?: \(([+-]\d+\.\d+) %\))?\. Typical gain {NUMBER},"
    rf" (?:95 % interval {NUMBER} to {NUMBER}|its 95 % interval cannot be assessed);"
    rf" exact one-sided {P}"
)
SEEDS = re.compile(
    rf"the mean gain is {NUMBER}, (?:95 % interval {NUMBER} to {NUMBER}|its 95 % interval cannot be assessed),"
    rf" one-sided {P}: (.*?)\. (?:One|What one) new"
)
NEW_SEED = re.compile(rf"may gain {NUMBER} to {NUMBER}")
LOOKED = re.compile(rf"corrected for all of them \(Bonferroni\), this one has p for a (gain|drop) [=<] {NUMBER}")
TASK = re.compile(rf"^(\w+): (better by|worse by|fell by|the typical|)\s*{NUMBER}?", re.ASCII)
HOLM = re.compile(rf"after Holm(?: over the tasks it is not established \(p)? [=<] {NUMBER}")
LOOKS = re.compile(r"looked at (\d+) times")
TRUTH_GAIN = re.compile(rf"^Ground truth .*, \+(?!0\.000).* for a gain [=<] {NUMBER}")
TRUTH_DROP = re.compile(rf"^Ground truth .* for a drop [=<] {NUMBER}")
INTERVAL = re.compile(rf"95 % interval {NUMBER} to {NUMBER}(?!\))")
BEATS = ("Better:", "These adapters beat", "By the reward alone", "Reward hacking suspected")


def contradictions(headline: str, sentences: Sequence[str]) -> Iterator[str]:
    """The rules that this verdict breaks, by name."""
    text = " ".join(sentences)
    beats = headline.startswith(BEATS)
    worse = headline.startswith("Worse:")
    better = headline.startswith("Better:")
    yield from _of_the_whole(text, beats, worse)
    yield from _of_seeds(text, beats, better)
    times = int(found[1]) if (found := LOOKS.search(text)) else 1
    for sentence in sentences:
        yield from _of_a_task(sentence, beats, times)
    risen = [sentence for sentence in sentences if (found := TRUTH_GAIN.search(sentence)) and float(found[1]) < LEVEL]
    if worse and risen and "by the ground truth the answers got better" not in text:
        yield "worse, while the ground truth is better, without a word"
    if better and re.search("ground truth (does not|while|fell|is not known)", text):
        yield "better, and the ground truth does not confirm it"
    if better and "Ground truth" not in text:
        yield "better, and nothing is said of the ground truth"
    drop = [float(found[1]) for sentence in sentences if (found := TRUTH_DROP.search(sentence))]
    hacked = headline.startswith("Reward hacking") and headline.endswith("fell.")
    rises = [found for sentence in sentences if (found := re.search(r"^Ground truth .*, \+(?!0\.000)", sentence))]
    if hacked and rises:
        yield "the ground truth fell, and its mean rises"
    if better and drop and drop[0] < LEVEL:
        yield "better, while the ground truth falls"
    outside = [found[0] for found in INTERVAL.finditer(text) if not -1 <= float(found[1]) <= float(found[2]) <= 1]
    if outside:
        yield "an interval holds differences of rewards that cannot be"
    if "earn in the mean exactly" in text and not headline.startswith("An improvement"):
        yield "nothing changed, and something is claimed"


def _of_the_whole(text: str, beats: bool, worse: bool) -> Iterator[str]:
    found = OVERALL.search(text)
    if found is None:
        yield "the sentence about the whole cannot be read"
        return
    gain, percent, typical, low, high, p = (float(value or 0) for value in found.groups())
    looked = LOOKED.search(text)
    after_looks = float(looked[2]) if looked else p
    explained = "a few large" in text or "The test counts" in text or looked is not None
    if percent * gain < 0:
        yield "gain and percent have different signs"
    if not low <= typical <= high:
        yield "the interval does not hold the typical gain"
    if beats and (gain < 0 or after_looks >= LEVEL):
        yield "beats, but the mean falls or p is too large"
    if worse and (gain > 0 or (looked and after_looks >= LEVEL)):
        yield "worse, but the mean rises or its p after all looks is too large"
    if looked and (looked[1] == "drop") != (gain < 0) and gain:
        yield "the p after all looks is of the other direction"
    if worse != ("The drop is established" in text):
        yield "the drop is in the headline or in the sentence alone"
    if not beats and p < LEVEL and not explained:
        yield "p is small, and nothing says why it does not count"
    if beats and low <= 0 and "still includes" not in text:
        yield "beats, but the interval includes 0, unexplained"
    if not beats and low > 0 and not explained:
        yield "the interval is above 0, and no gain is claimed, unexplained"
    if worse and high >= 0 and "still includes" not in text:
        yield "worse, but the interval includes 0, unexplained"
    if high < 0 and "That does not mean" in text:
        yield "gains may have been missed, says a text whose interval is below 0"
    if not worse and high < 0 and not explained:
        yield "the interval is below 0, and no drop is claimed, unexplained"
    each = re.search(r"Mean gain of each seed: (.*?)\.(?: |$)", text)
    gains = [float(value) for value in re.findall(NUMBER, each[1])] if each else []
    if gains and (max(gains) < gain - 0.001 or min(gains) > gain + 0.001):
        yield "the gain lies outside of all seeds' gains"
    alone = re.search(rf"Arm seed-1 against sft: {NUMBER}", text)
    if gains and alone and abs(gains[0] - float(alone[1])) > 0.0011:
        yield "a seed has two gains"


def _of_seeds(text: str, beats: bool, better: bool) -> Iterator[str]:
    found = SEEDS.search(text)
    if found is None:
        if better:
            yield "better in the mean over seeds, which is not assessed"
        return
    mean, p = float(found[1]), float(found[4])
    low, high = float(found[2] or -1), float(found[3] or 1)
    established = "is established" in found[5]
    if established and (p >= LEVEL or not beats):
        yield "established over seeds, but p is too large or the adapters do not beat the reference"
    if better and not established:
        yield "better over seeds in the headline alone"
    if not established and p < LEVEL and "is not claimed" not in found[5]:
        yield "not established over seeds, but p is small, unexplained"
    if established and low <= 0 and "still includes" not in text:
        yield "established over seeds, but the interval includes 0, unexplained"
    one = NEW_SEED.search(text)
    if not low <= mean <= high or (one and not float(one[1]) <= mean <= float(one[2])):
        yield "an interval does not hold the mean over seeds"
    if one and found[2] and not float(one[1]) <= low <= high <= float(one[2]):
        yield "one new seed is better known than the mean over seeds"
    if one and not found[2]:
        yield "a new seed is foreseen, and the mean over seeds cannot be assessed"
    whole = OVERALL.search(text)
    if whole and abs(float(whole[1]) - mean) > 0.0011:
        yield "the gain is not the mean over seeds"


def _of_a_task(sentence: str, beats: bool, looks: int) -> Iterator[str]:
    found = TASK.search(sentence)
    if found is None or found[1] not in TASKS:
        return
    gain = float(found[3] or 0)
    holm = HOLM.search(sentence)
    after = float(holm[1]) if holm else 1.0
    if found[2] == "better by" and (gain <= 0 or after >= LEVEL or not beats):
        yield "a task is called better without a gain, with a large p or without the whole"
    if found[2] == "worse by" and (gain <= 0 or after >= LEVEL):
        yield "a task is called worse without a drop or with a large p"
    if found[2] == "worse by" and looks * after >= 1.02 * LEVEL:  # printed with few digits
        yield "a task is called worse, and after all looks it is not"
    if found[2] == "fell by" and gain < 0:
        yield "a task fell by less than nothing"
    if "not established" in sentence and "by itself" not in sentence.lower():
        printed = [float(value) for value in re.findall(r"p(?: for a \w+)? [=<] (\d\.\d+)", sentence)]
        if after < LEVEL or (not holm and any(value < LEVEL for value in printed)):
            yield "a task's change is not established, but its p is small, unexplained"


def same_numbers(english: Sequence[str], portuguese: Sequence[str]) -> bool:
    """Whether both languages say as many sentences with the same numbers."""

    def numbers(sentence: str) -> list[str]:
        plain = sentence.replace("−", "-")
        return sorted(number.replace(",", ".") for number in re.findall(r"[+-]?\d+(?:[.,]\d+)?", plain))

    return [numbers(sentence) for sentence in english] == [numbers(sentence) for sentence in portuguese]


def broken_rules(verdict: Verdict) -> list[str]:
    found = list(contradictions(verdict.headline, verdict.sentences))
    same = same_numbers(verdict.sentences, verdict.sentences_pt)
    if not same or not same_numbers(verdict.reservations, verdict.reservations_pt):
        found.append("the languages say different numbers")
    return found
