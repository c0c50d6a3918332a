r"""One-against-rest classifiers: one function for two classes, k functions for k > 2.

For two classes the second one is +1 and the first is −1, and the label is the second where f(x) > 0. For more, class c is +1 and all others
are −1 in problem c, each of which has its certificate, and the label is that of the largest f_c(x).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.estimators.base import Certified
from simopt.estimators.scikit_learn import ClassifierMixin, check_classification_targets


class OneAgainstRestMixin(ClassifierMixin, Certified):
    """An estimator with `decision_function` and, once fitted, `classes_`; `certificates_` are those of its problems.

    `certificate_` is the one with the largest relative gap, and `n_iter_` counts the iterations of all.
    """

    classes_: NDArray[Any]
    certificates_: tuple[Certificate, ...]

    def _one_by_one(self, signs: Sequence[Array], fit: Callable[[Array], Any]) -> list[Any]:
        """The result of `fit` for each vector of signs; it leaves `certificate_` and `n_iter_`, of which those of all are made."""
        found, certificates, iterations = [], [], 0
        for signs_of_class in signs:
            found.append(fit(signs_of_class))
            certificates.append(self.certificate_)
            iterations += self.n_iter_
        self.certificates_ = tuple(certificates)
        self._concluded(max(certificates, key=lambda certificate: certificate.relative_gap), iterations)
        return found

    def decision_function(self, X: Any) -> Array:
        """With two classes f at the rows of X, shape (m,), positive for the second one; with k > 2 all f_c, shape (m, k)."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the rows of X, shape (m,)."""
        values = self.decision_function(X)
        place = (values > 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)
        out: NDArray[Any] = self.classes_[place]
        return out


def signs_of_classes(y: Any, weights: Array | None = None) -> tuple[NDArray[Any], list[Array]]:
    """Sorted labels with positive weight, and a vector of ±1 for each class; for two classes one vector, +1 for the second.

    Raises
    ------
    ValueError
        for targets that are no classes, or a single class.
    """
    check_classification_targets(y)
    classes = np.unique(y if weights is None else y[weights > 0])
    if len(classes) < 2:
        raise InvalidProblem(f"y: 1 class, {classes.tolist()[0]!r}, in all {len(y)} samples; two are needed to tell them apart")
    positive = range(1, 2) if len(classes) == 2 else range(len(classes))
    return classes, [np.where(y == classes[k], 1.0, -1.0) for k in positive]


def joined(vectors: Sequence[Array]) -> Array:
    """The one vector, or several as columns."""
    return vectors[0] if len(vectors) == 1 else np.column_stack(vectors)
