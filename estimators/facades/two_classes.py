"""Classifiers that decide between two classes by the sign of a function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem


class TwoClassMixin(ClassifierMixin):
    """x ↦ the second class where f(x) > 0, else the first, for an estimator with `decision_function` and, once fitted, `classes_`."""

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: Any) -> Array:
        """f at the rows of X, shape (m,); positive for the second class."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the rows of X, shape (m,)."""
        positive = self.decision_function(X) > 0
        out: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return out


def two_classes(y: Any) -> tuple[NDArray[Any], Array]:
    """The two labels that occur, sorted, and y as −1 for the first and +1 for the second.

    Raises
    ------
    ValueError
        for other than two classes.
    """
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, place = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InvalidProblem(f"y: 1 class, {classes.tolist()[0]!r}, in all {len(place)} samples; two are needed to tell them apart")
    return classes, np.where(place == 1, 1.0, -1.0)
