"""Similarities by name, with their parameters chosen from the data by the rule of a paper: what recipes and the command line take."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from simopt.data.similarities.base import Similarity
from simopt.data.similarities.indefinite import Euclidean, Manhattan, Sigmoid
from simopt.data.similarities.inner import Linear, Polynomial
from simopt.data.similarities.points import points
from simopt.data.similarities.radial import Gaussian, Laplacian
from simopt.data.similarities.scaled import Scaled
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import UnknownName

STANDARDISED = "standardised-gaussian"  # what estimators take by default, in the space of a kernel
STANDARDISED_MEAN = "standardised-gaussian-mean-distance"  # and on landmarks

RULES: dict[str, Callable[[Array, Array | None], Similarity]] = {
    "gaussian": Gaussian.mean_squared_distance,
    "gaussian-mean-distance": Gaussian.mean_distance,
    STANDARDISED: lambda X, weights: Scaled.standardised(Gaussian.mean_squared_distance, X, weights),
    STANDARDISED_MEAN: lambda X, weights: Scaled.standardised(Gaussian.mean_distance, X, weights),
    "laplacian": Laplacian.mean_distance,
    "sigmoid": lambda X, _: Sigmoid.for_dimension(X.shape[1]),
    "manhattan": lambda *_: Manhattan(),
    "euclidean": lambda *_: Euclidean(),
    "linear": lambda *_: Linear(),
    "polynomial": lambda X, _: Polynomial(2, 1.0 / X.shape[1], 1.0),
}


SPARSE = frozenset({"gaussian", "gaussian-mean-distance", STANDARDISED, STANDARDISED_MEAN, "linear", "polynomial"})  # points may be sparse


def named(name: str, X: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Similarity:
    """The similarity called `name`, its parameters chosen for the points X (n, p).

    gaussian: mu = mean squared distance (Audiffren and Kadri); gaussian-mean-distance: sigma = mean distance (Kar and Jain);
    standardised-gaussian and standardised-gaussian-mean-distance: the same of columns divided by their standard deviations;
    laplacian: width = mean distance in the 1-norm; sigmoid: a = 1/p, r = -1 (Kar and Jain); polynomial: (<x, x'> / p + 1)^2;
    manhattan, euclidean and linear have no parameters. Means are weighted by `weights` (n,), nonnegative and not all 0, if there are some.

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    key = _key(name)
    if key not in RULES:
        raise UnknownName("similarity", name, RULES)
    given = points("inputs", X, sparse=key in SPARSE)
    return RULES[key](given, None if weights is None else validate.weights("weights", weights, length=given.shape[0], like="inputs"))


def takes_sparse(similarity: Any) -> bool:
    """Whether a similarity, or the one of that name, takes points that are sparse; of a function nothing is known."""
    if isinstance(similarity, str):
        return _key(similarity) in SPARSE
    return isinstance(similarity, Similarity) and similarity.takes_sparse


def _key(name: str) -> str:
    return name.casefold().replace("_", "-")
