"""Data and estimators that the tests of this folder share."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from simopt import estimators
from simopt.estimators.cross_validation.selection import SelectedByFolds

PREDICTORS = [name for name in estimators.__all__ if hasattr(getattr(estimators, name), "predict")]
CHOOSING = [name for name in estimators.__all__ if issubclass(getattr(estimators, name), SelectedByFolds)]


def data(rng: np.random.Generator, n: int = 60) -> tuple[Any, Any]:
    """Points of the plane and a noisy function of them."""
    X = rng.normal(size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)


def with_few_choices(name: str) -> dict[str, Any]:
    """Two folds of two choices for estimators that choose: the choice, and whole grids, have tests of their own. The best column of two."""
    if name == "LipschitzIsotonicRegressor":
        return {"feature": "best"}
    if name not in CHOOSING:
        return {}
    return {"cv": 2, "regularizations": [1e-2, 1e-5], **({"powers": [2.0]} if name.startswith("MPower") else {})}


def seeded(name: str, **options: Any) -> Any:
    """An estimator with its random state fixed, if it has one, and few choices, if it chooses."""
    model = getattr(estimators, name)(**with_few_choices(name) | options)
    return model.set_params(random_state=3) if "random_state" in model.get_params() else model


def targets_for(model: Any, y: Any) -> Any:
    """Classes for classifiers."""
    return np.where(y > 0, "up", "down") if is_classifier(model) else y
