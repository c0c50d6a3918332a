"""Similarities by name, for recipes and the command line; the rule of a paper chooses their parameters from the data."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy.typing as npt

from simopt.core import registry, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.rows import Rows
from simopt.data.similarities.base import Similarity
from simopt.data.similarities.indefinite import Euclidean, Manhattan, Sigmoid
from simopt.data.similarities.inner import Linear, Polynomial
from simopt.data.similarities.points import points
from simopt.data.similarities.radial import Laplacian
from simopt.data.similarities.rules import GaussianWidth, SimilarityRule

Rule = Callable[[Array, Array | None], Similarity]  # of points (n, p) and the weights of them, if they have some

RULES: dict[str, Rule] = {
    "gaussian": GaussianWidth(standardise=False),
    "gaussian-mean-distance": GaussianWidth(squared=False, standardise=False),
    "standardised-gaussian": GaussianWidth(),
    "standardised-gaussian-mean-distance": GaussianWidth(squared=False),
    "laplacian": Laplacian.mean_distance,
    "sigmoid": lambda X, _: Sigmoid.for_dimension(X.shape[1]),
    "manhattan": lambda *_: Manhattan(),
    "euclidean": lambda *_: Euclidean(),
    "linear": lambda *_: Linear(),
    "polynomial": lambda X, _: Polynomial(2, 1.0 / X.shape[1], 1.0),
}
SPARSE = frozenset({"linear", "polynomial"})  # points may be sparse, as a `SimilarityRule` says of itself


def named(name: str | SimilarityRule, X: npt.ArrayLike | Rows, weights: npt.ArrayLike | None = None) -> Similarity:
    """The similarity called `name`, its parameters chosen for the points X (n, p); in place of a name, that of a `SimilarityRule`.

    - gaussian: mu = mean squared distance (Audiffren and Kadri); gaussian-mean-distance: sigma = mean distance (Kar and Jain);
    - standardised-gaussian, standardised-gaussian-mean-distance: the same for columns divided by their standard deviations;
    - laplacian: width = mean distance in the 1-norm; sigmoid: a = 1/p, r = -1 (Kar and Jain); polynomial: (<x, x'> / p + 1)^2;
    - manhattan, euclidean and linear have no parameters.

    Means are weighted by `weights` (n,), nonnegative and not all 0, if there are some.

    Raises
    ------
    UnknownName
        with the nearest name.
    InvalidProblem
        if the rule of another package does not give a similarity.
    """
    rule, sparse = _rule(name)
    given = points("inputs", X, sparse=sparse)
    found = rule(given, None if weights is None else validate.weights("weights", weights, length=given.shape[0], like="inputs"))
    if not isinstance(found, Similarity):
        raise InvalidProblem(f"similarity {name!r}: its rule gives {found!r:.60}; a Similarity needed")
    return found


def add_similarity(name: str, rule: Rule, *, sparse: bool = False) -> None:
    """Register a similarity under a name, for recipes, estimators and every command.

    rule(X, weights) is the similarity with the parameters that suit the points X (n, p), a frozen array (`sparse`: or a sparse matrix), and
    their weights (n,) or None. A package calls this in a module that it names in the entry-point group `simopt.similarities`; a script
    just calls it.

    Raises
    ------
    DuplicateName
        for a name that another module, or simopt itself, has taken.
    InvalidProblem
        for a name that is no text, or a rule that cannot be called.
    """
    if not isinstance(name, str) or not callable(rule):
        raise InvalidProblem(f"similarity {name!r:.60}: a name and a rule needed, rule(X, weights), not {rule!r:.60}")
    module = sys._getframe(1).f_globals.get("__name__", "unknown")
    if registry.fold(name) in RULES:
        raise registry.DuplicateName(f"similarity {name!r}, of {module}, has the name of one that simopt knows; rename it")
    registry.register("similarity", name, (rule, sparse), module, f"{module}.{name}")


def takes_sparse(similarity: Any) -> bool:
    """Whether a similarity, or the one of that name, takes points that are sparse; of a function nothing is known."""
    if isinstance(similarity, str | SimilarityRule):
        with suppress(UnknownName):
            return _rule(similarity)[1]
        return False
    return isinstance(similarity, Similarity) and similarity.takes_sparse


def _rule(name: str | SimilarityRule) -> tuple[Rule, bool]:
    """The rule, or the one of this name, ours or another package's, and whether it takes points that are sparse."""
    if isinstance(name, SimilarityRule):
        return name, name.takes_sparse
    key = registry.fold(name)
    if key in RULES:
        rule = RULES[key]
        return rule, rule.takes_sparse if isinstance(rule, SimilarityRule) else key in SPARSE
    registry.load_plugins("similarities")
    if not registry.has("similarity", name):
        raise UnknownName("similarity", name, [*RULES, *registry.names("similarity")])
    found: tuple[Rule, bool] = registry.get("similarity", name)
    return found
