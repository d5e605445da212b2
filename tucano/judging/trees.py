"""Gradient-boosted trees fitted by scikit-learn, and the form in which the judge reads them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

Floats = NDArray[np.float64]
SEED = 7


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
