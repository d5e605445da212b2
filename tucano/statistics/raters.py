"""How far raters agree, and how few ratings of people make something of many ratings of models."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tucano.statistics.inference import Floats


def quadratic_kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968, Psychol. Bull. 70:213): 1 - observed / expected squared
    disagreement.

    Observed is the mean of (a - b)^2; expected is the same over all pairs of the two raters' marginals. None where both
    raters gave everything the same single number: chance alone would agree.
    """
    ours, theirs = (np.asarray(side, dtype=np.float64) for side in (first, second))
    expected = float(((ours[:, None] - theirs[None, :]) ** 2).mean())
    return 1 - float(((ours - theirs) ** 2).mean()) / expected if expected else None


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha with squared distances, for any number of raters and missing ratings (Krippendorff 2018,
    Content Analysis, section 12.3): 1 - observed / expected disagreement.

    `ratings` holds the ratings of each answer; those of an answer that one rater rated are left out. None where nothing
    is left or all ratings are the same.
    """
    paired = [np.asarray(given, dtype=np.float64) for given in ratings if len(given) > 1]
    if not paired:
        return None
    values = np.concatenate(paired)
    expected = 2 * float(values.var()) * values.size / (values.size - 1)
    observed = sum(2 * given.var() * given.size**2 / (given.size - 1) for given in paired) / values.size
    return 1 - float(observed) / expected if expected else None


Resampled = tuple[float, Floats]
"""A statistic, and what it is in each resample."""


def prediction_powered(people: Resampled, models: Resampled, models_elsewhere: Resampled, prompts: int) -> Resampled:
    """A statistic of people's ratings with the help of models' (Zrnic 2024, arXiv 2405.18379, algorithm 1 with the
    tuned lambda of section 4).

    People rated so many prompts; `people` is the statistic there, `models` the same of models' ratings of the same
    answers, in the same resamples, `models_elsewhere` that of the prompts that only models rated. The models' error,
    seen where people rated, is taken off; what models are worth is weighed by how far they go along with people. Of few
    prompts that is known badly and chance looks like agreement, so the weight shrinks as R squared does when it is
    adjusted for the number of observations (Ezekiel 1930).
    """
    (human, humans), (here, seen), (there, others) = people, models, models_elsewhere
    if not (seen.var() and humans.var() and prompts > 2):
        return people
    shared = float(np.corrcoef(humans, seen)[0, 1])
    kept = max(0.0, 1 - (1 - shared**2) * (prompts - 1) / (prompts - 2)) / shared**2 if shared > 0 else 0.0
    weight = kept * float(np.cov(humans, seen)[0, 1]) / float(seen.var() + others.var())
    return human + weight * (there - here), humans + weight * (others - seen)
