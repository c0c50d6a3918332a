r"""Finite domains in fractions: masses p, similarity K, targets y; predictors f(x) = E[w(x') K(x, x')] and what they lose.

The least losses over |w| ≤ B come from `solvers.goodness.exact`, which proves them by weights and multipliers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.model.problem import Problem
from simopt.solvers.goodness.exact import exact_goodness
from simopt.solving.entry_points import solve
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)
Numbers = list[Fraction]


def domain(masses: Sequence[Any], gram: Sequence[Sequence[Any]], targets: Sequence[Any], **more: Any) -> sc.Instance:
    """The domain as plain data; gram rows are x, columns x'."""
    return {
        "masses": [Fraction(p) for p in masses],
        "gram": [[Fraction(k) for k in row] for row in gram],
        "targets": [Fraction(y) for y in targets],
        **more,
    }


def point_and_origin(mass: Fraction, square: Fraction, targets: Sequence[Any], **more: Any) -> sc.Instance:
    """A point x of this mass with K(x, x) = `square`, and the origin, where K = 0."""
    return domain([mass, 1 - mass], [[square, 0], [0, 0]], targets, **more)


def _parts(masses: Numbers, gram: list[Numbers], targets: Numbers, **more: Any) -> tuple[Numbers, list[Numbers], Numbers]:
    """Masses, similarity and targets of a domain as plain data."""
    return masses, gram, targets


def predicted(masses: Any, gram: Any, w: Sequence[Fraction]) -> Numbers:
    """f_i = Σ_j p_j w_j K_ij."""
    charges = [p * v for p, v in zip(masses, w, strict=True)]
    return [sum((k * c for k, c in zip(row, charges, strict=True)), ZERO) for row in gram]


def mean(masses: Any, values: Sequence[Fraction]) -> Fraction:
    """Σ p_i v_i."""
    return sum((p * v for p, v in zip(masses, values, strict=True)), ZERO)


def insensitive(residual: Fraction, epsilon: Fraction) -> Fraction:
    """max(|r| − ε, 0)."""
    return max(abs(residual) - epsilon, ZERO)


def insensitive_loss(masses: Any, targets: Any, f: Sequence[Fraction], epsilon: Fraction = ZERO) -> Fraction:
    """Σ p_i max(|f_i − y_i| − ε, 0)."""
    return mean(masses, [insensitive(a - y, epsilon) for a, y in zip(f, targets, strict=True)])


def simplex_value(problem: Problem) -> sc.Enclosure:
    """Certified bounds on the optimum of a linear programme, by the simplex method.

    Raises
    ------
    ArithmeticError
        if there is no certificate.
    """
    found = solve(problem, "simplex", tol=1e-10).certificate
    if found is None:
        raise ArithmeticError("no certificate")
    return sc.between(min(found.lower, found.upper), max(found.lower, found.upper))


def least_loss(instance: sc.Instance, bound: Fraction, epsilon: Fraction = ZERO) -> sc.Enclosure:
    """ε₀(B) for the ε-insensitive loss, between its two bounds; B = 0 allowed."""
    masses, gram, targets = _parts(**instance)
    if bound == 0:
        value = insensitive_loss(masses, targets, [ZERO] * len(targets), epsilon)
        return sc.between(value, value)
    found = exact_goodness(gram, targets, bound, masses, epsilon=epsilon)
    return sc.between(found.lower, found.upper)


def with_targets_in_weights(instance: sc.Instance) -> sc.Instance:
    """K(x, x') y(x') in the place of K(x, x'): the predictors of Definition 1, E[w(x') y(x') K(x, x')]."""
    _, gram, targets = _parts(**instance)
    return instance | {"gram": [[k * y for k, y in zip(row, targets, strict=True)] for row in gram]}


def least_violation(instance: sc.Instance, bound: Fraction) -> Fraction:
    """Least mass of {x: f(x) ≠ y(x)} over |w| ≤ B: of all sets of points, those on which f = y can be reached.

    f = y on a set is a linear programme of value 0: the loss of the other points is taken out by rows and targets of 0.
    """
    masses, gram, targets = _parts(**instance)
    size = len(masses)
    sets = [chosen for count in range(size + 1) for chosen in combinations(range(size), count)]
    for chosen in sorted(sets, key=lambda found: -sum((masses[i] for i in found), ZERO)):
        if reachable(gram, targets, masses, chosen, bound):
            return ONE - sum((masses[i] for i in chosen), ZERO)
    return ONE


def reachable(gram: Any, targets: Any, masses: Any, chosen: Sequence[int], bound: Fraction) -> bool:
    """Whether some |w| ≤ B has f = y on the chosen points."""
    size = len(masses)
    for i in chosen:  # each point by itself: |f_i| ≤ B Σ_j p_j |K_ij|
        if abs(targets[i]) > bound * mean(masses, [abs(k) for k in gram[i]]):
            return False
    if len(chosen) <= 1 or bound == 0:
        return True
    rows = [gram[i] if i in chosen else [ZERO] * size for i in range(size)]
    aims = [targets[i] if i in chosen else ZERO for i in range(size)]
    found = exact_goodness(rows, aims, bound, masses)
    if not found.exact:
        raise ArithmeticError(f"the two bounds {found.lower} and {found.upper} of a least loss differ")
    return found.upper == 0


def random_domain(rng: np.random.Generator, points: int, *, targets: Sequence[Any] | None = None, **more: Any) -> sc.Instance:
    """K ∈ {−1, −1/2, …, 1}, targets drawn from a list (default: −2, −3/2, …, 2)."""
    gram = [[Fraction(int(k), 2) for k in row] for row in rng.integers(-2, 3, size=(points, points))]
    choices = [Fraction(k, 2) for k in range(-4, 5)] if targets is None else [Fraction(y) for y in targets]
    return domain(weights(rng, points), gram, [choices[int(k)] for k in rng.integers(0, len(choices), size=points)], **more)


def random_domains(rng: np.random.Generator, count: int, most: int = 4) -> Iterator[sc.Instance]:
    """Random domains of two to `most` points with a bound B ∈ {1/2, 1, …, 4} and ε ∈ {0, 1/4}."""
    for _ in range(count):
        made = random_domain(rng, int(rng.integers(2, most + 1)))
        yield made | {"bound": Fraction(int(rng.integers(1, 9)), 2), "epsilon": Fraction(int(rng.integers(0, 2)), 4)}
