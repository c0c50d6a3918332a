"""Similarities by name, with their parameters chosen from the data by the rule of a paper: what recipes and the command line take."""

from collections.abc import Callable

import numpy.typing as npt

from simopt import validate
from simopt.arrays import Array
from simopt.errors import UnknownName
from simopt.similarities.base import Similarity
from simopt.similarities.indefinite import Euclidean, Manhattan, Sigmoid
from simopt.similarities.inner import Linear, Polynomial
from simopt.similarities.radial import Gaussian, Laplacian

RULES: dict[str, Callable[[Array], Similarity]] = {
    "gaussian": Gaussian.mean_squared_distance,
    "gaussian-mean-distance": Gaussian.mean_distance,
    "laplacian": Laplacian.mean_distance,
    "sigmoid": lambda X: Sigmoid.for_dimension(X.shape[1]),
    "manhattan": lambda X: Manhattan(),
    "euclidean": lambda X: Euclidean(),
    "linear": lambda X: Linear(),
    "polynomial": lambda X: Polynomial(2, 1.0 / X.shape[1], 1.0),
}


def named(name: str, X: npt.ArrayLike) -> Similarity:
    """The similarity called `name`, its parameters chosen for the points X (n, p).

    gaussian: mu = mean squared distance (Audiffren and Kadri); gaussian-mean-distance: sigma = mean distance (Kar and Jain);
    laplacian: width = mean distance in the 1-norm; sigmoid: a = 1/p, r = -1 (Kar and Jain); polynomial: (<x, x'> / p + 1)^2;
    manhattan, euclidean and linear have no parameters.

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    key = name.casefold().replace("_", "-")
    if key not in RULES:
        raise UnknownName("similarity", name, RULES)
    return RULES[key](validate.matrix("inputs", X))
