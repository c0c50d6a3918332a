"""Data and estimators that the tests of this folder share."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from simopt import estimators

PREDICTORS = [name for name in estimators.__all__ if hasattr(getattr(estimators, name), "predict")]


def data(rng: np.random.Generator, n: int = 60) -> tuple[Any, Any]:
    """Points of the plane and a noisy function of them."""
    X = rng.normal(size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)


def seeded(name: str, **options: Any) -> Any:
    """An estimator with its random state fixed, if it has one."""
    model = getattr(estimators, name)(**options)
    return model.set_params(random_state=3) if "random_state" in model.get_params() else model


def targets_for(model: Any, y: Any) -> Any:
    """Classes for classifiers."""
    return np.where(y > 0, "up", "down") if is_classifier(model) else y
