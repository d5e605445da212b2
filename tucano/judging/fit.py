"""Judges learned from rated answers, and how far each may be trusted on a tone that it has not seen."""

import json
import lzma
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from tucano.judging.examples import GENERATED, Example, directions, of_task
from tucano.truth.judge import FORM

Floats = NDArray[np.float64]
SEED = 7
USED = 0.625
"""A mean rating of 3.5: from here on a rater would use the answer."""
FOLDS = 4
FEWEST = 60
"""Ratings of a task, those that come along among them, below which no judge is learned of it."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Trust:
    """How a judge does on answers of a tone that it has not seen. rho: Spearman's, with the ends of its 95 % interval
    (bootstrap by prompt); good, poor: mean value of answers rated 5, and 1 or 2.
    """

    tone: str
    answers: int
    rho: float
    low: float
    high: float
    good: float
    poor: float


def fitted(
    values: Floats, ratings: Floats, weights: Floats, directions: Sequence[int]
) -> HistGradientBoostingRegressor:
    """values: [answers, facts]; ratings in [0, 1]; directions: 1 where more of a fact may only raise the rating, -1
    where it may only lower it, else 0: so no search finds a way through a fact that guards.
    """
    model = HistGradientBoostingRegressor(
        max_iter=250,
        learning_rate=0.06,
        max_leaf_nodes=10,
        min_samples_leaf=12,
        l2_regularization=1.0,
        monotonic_cst=list(directions),
        early_stopping=False,
        random_state=SEED,
    )
    return model.fit(values, ratings, sample_weight=weights)


def written(model: HistGradientBoostingRegressor) -> dict[str, Any]:
    """The trees as `tucano.truth.judge` reads them; a test holds both against each other."""
    trees = [_columns(predictor.nodes) for (predictor,) in model._predictors]
    return {"start": float(np.ravel(model._baseline_prediction)[0]), "trees": trees}


def _columns(nodes: Any) -> list[list[Any]]:
    leaf = nodes["is_leaf"].astype(bool)
    fact = np.where(leaf, -1, nodes["feature_idx"])
    threshold = np.where(leaf, np.round(nodes["value"], 9), nodes["num_threshold"])  # ties with facts stay ties
    unknown = np.where(nodes["missing_go_to_left"].astype(bool), nodes["left"], nodes["right"])
    columns = (fact, threshold, nodes["left"], nodes["right"], unknown)
    return [column.tolist() for column in columns]


def judge_of(learned: Sequence[Example]) -> tuple[dict[str, Any], Callable[[Sequence[Example]], Floats]]:
    """The judge of one task in the form of its file, and a function that gives its values times the exact check."""
    task = learned[0].task
    names = sorted(learned[0].told)
    values = _matrix(learned, names)
    ratings = np.array([one.rating for one in learned])
    weights = np.array([one.weight for one in learned])
    ways = directions(task, names)
    held_out = np.zeros(len(learned))
    for inside, outside in GroupKFold(FOLDS).split(values, ratings, [one.prompt for one in learned]):
        found = fitted(values[inside], ratings[inside], weights[inside], ways)
        held_out[outside] = np.clip(found.predict(values[outside]), 0, 1)
    curve = LogisticRegression(C=100).fit(held_out[:, None], ratings >= USED, sample_weight=weights)
    trees = fitted(values, ratings, weights, ways)
    slope = float(curve.coef_[0, 0])
    offset = float(curve.intercept_[0])

    def judged(others: Sequence[Example]) -> Floats:
        expected = np.clip(trees.predict(_matrix(others, names)), 0, 1)
        exact = np.array([of_task(task).exact(one.told) for one in others])
        return np.asarray(exact * (expected + 1 / (1 + np.exp(-slope * expected - offset))) / 2)

    return {"facts": names, **written(trees), "slope": round(slope, 9), "offset": round(offset, 9)}, judged


def trusts(learned: Sequence[Example]) -> list[Trust]:
    """For each tone but the generator's: a judge learned without it, and without a quarter of the others."""
    found = []
    tones = sorted({one.tone for one in learned} - {GENERATED})
    for fold in range(min(FOLDS, len(tones))):
        left = set(tones[fold::FOLDS])
        inside = [one for one in learned if one.tone not in left]
        if len(inside) >= FEWEST:
            _, judged = judge_of(inside)
            for tone in sorted(left):
                outside = [one for one in learned if one.tone == tone]
                found.append(trust(tone, outside, judged(outside)))
    return sorted(found, key=lambda one: one.tone)


def trust(tone: str, answers: Sequence[Example], values: Floats) -> Trust:
    ratings = np.array([one.rating for one in answers])
    prompts = [one.prompt for one in answers]
    places = [np.flatnonzero([other == one for other in prompts]) for one in dict.fromkeys(prompts)]
    rng = np.random.default_rng(SEED)
    drawn = (
        np.concatenate([places[one] for one in rng.integers(len(places), size=len(places))]) for _ in range(RESAMPLES)
    )
    rhos = [_rho(values[rows], ratings[rows]) for rows in drawn]
    known = [rho for rho in rhos if rho == rho]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (math.nan, math.nan)
    good, poor = values[ratings >= 0.9375], values[ratings <= 0.25]  # means of 4.75 and more, of 2 and less
    return Trust(tone, len(answers), _rho(values, ratings), float(low), float(high), _mean(good), _mean(poor))


def learning_curve(learned: Sequence[Example], sizes: Sequence[int]) -> dict[int, float]:
    """{answers of other shops learned from: mean rho over the tones held out}."""
    tones = sorted({one.tone for one in learned} - {GENERATED})
    generated = [one for one in learned if one.tone == GENERATED]
    curve = {}
    for size in sizes:
        rhos = []
        for tone in tones:
            rest = [one for one in learned if one.tone not in (tone, GENERATED)]
            order = np.random.default_rng(SEED).permutation(len(rest))[:size]
            outside = [one for one in learned if one.tone == tone]
            values = _expected([*generated, *(rest[place] for place in order)], outside)
            rhos.append(_rho(values, np.array([one.rating for one in outside])))
        curve[size] = float(np.mean(rhos))
    return curve


def _expected(learned: Sequence[Example], others: Sequence[Example]) -> Floats:
    """What the trees alone expect of others, times the exact check: it orders them nearly as their judge does."""
    names, task = sorted(learned[0].told), of_task(learned[0].task)
    ratings, weights = (np.array([getattr(one, of) for one in learned]) for of in ("rating", "weight"))
    trees = fitted(_matrix(learned, names), ratings, weights, directions(learned[0].task, names))
    return np.array([task.exact(one.told) for one in others]) * np.clip(trees.predict(_matrix(others, names)), 0, 1)


def write(judges: Mapping[str, Mapping[str, Any]], path: Path) -> str:
    """Writes the file of judges; the first 16 digits of its SHA-256."""
    whole = {"form": FORM, "tasks": dict(sorted(judges.items()))}
    data = lzma.compress(json.dumps(whole, separators=(",", ":"), sort_keys=True).encode(), preset=9)
    path.write_bytes(data)
    return sha256(data).hexdigest()[:16]


def lineage(learned: Sequence[Example], trusted: Sequence[Trust]) -> dict[str, Any]:
    """What a judge was learned from and with, and its trust: it travels in its file."""
    told = sha256()
    for one in learned:
        told.update(repr((sorted(one.told.items()), one.rating, one.prompt, one.tone)).encode())
    return {
        "answers": len(learned),
        "tones": sorted({one.tone for one in learned}),
        "examples": told.hexdigest()[:16],
        "scikit-learn": sklearn.__version__,
        "seed": SEED,
        "trust": [_rounded(one) for one in trusted],
    }


def _rounded(one: Trust) -> list[str | int | float]:
    return [one.tone, one.answers, *(round(value, 3) for value in (one.rho, one.low, one.high, one.good, one.poor))]


def _matrix(answers: Sequence[Example], names: Sequence[str]) -> Floats:
    return np.array([[one.told[name] for name in names] for one in answers])


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def _rho(values: Floats, ratings: Floats) -> float:
    return float(spearmanr(values, ratings).statistic) if np.ptp(values) and np.ptp(ratings) else float("nan")
