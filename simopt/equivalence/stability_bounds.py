r"""Bounds on how much M-RLSR (KRR at m = 2) changes with one sample (Audiffren & Kadri, appendix D; repaired, sharpened, and 1 < m < 2).

Setting: f_Z = argmin (1/n) Σ_i (y_i − f(x_i))² + λ ‖f‖^m, |y| ≤ C_y, k(x, x) ≤ κ², squared loss. B = (C_y²/λ)^{1/m} bounds ‖f_Z‖.

All bounds come from one inequality. With J(f) = ‖f‖^{m−2} f, the gradient of ‖f‖^m / m, the first-order conditions of f = f_Z and of
the changed g, tested with f − g, give

    λ m ⟨J(f) − J(g), f − g⟩ ≤ c C κ ‖f − g‖ / n,        C = 2 (C_y + κ B),

with c = 1 if g still divides by n: only the removed sample's term is left over. c = 2 if g divides by n − 1: its other terms change by the
factor n/(n−1), at most C κ / n more. c = 2 also if one sample is exchanged for another: two terms are left over.

m ≥ 2:      ⟨J(f) − J(g), f − g⟩ ≥ 2^{2−m} ‖f − g‖^m.
1 < m < 2:  ⟨J(f) − J(g), f − g⟩ ≥ (m − 1) B^{m−2} ‖f − g‖², because ‖f‖^m / m has Hessian ≥ (m − 1) ‖f‖^{m−2} I. f and g lie in
the ball of radius B.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import Enum
from typing import ParamSpec

from simopt.core.errors import InvalidProblem
from simopt.core.fields import Count, NonNegative, Positive, arguments

P = ParamSpec("P")


class Change(Enum):
    """How one sample changes: removed with the sum still divided by n, removed with it divided by n − 1, or exchanged for another."""

    BOUSQUET_ELISSEEFF = "removed, divided by n"
    RENORMALISED = "removed, divided by n - 1"
    SWAP = "exchanged"

    @property
    def factor(self) -> float:
        """c in the bounds."""
        return 1.0 if self is Change.BOUSQUET_ELISSEEFF else 2.0


def _bound(formula: Callable[P, float]) -> Callable[P, float]:
    """A formula of numbers that are checked by their types; one whose value no float64 holds is refused."""

    @functools.wraps(formula)
    def in_range(*args: P.args, **kwargs: P.kwargs) -> float:
        try:
            return arguments(formula)(*args, **kwargs)
        except OverflowError as error:
            raise InvalidProblem(
                f"{formula.__name__}: float64 does not hold the bound at this power, target_bound and regularization; sizes nearer 1 needed"
            ) from error

    return in_range


@_bound
def norm_bound(regularization: Positive, power: Positive, target_bound: NonNegative) -> float:
    """B = (C_y²/λ)^{1/m} ≥ ‖f_Z‖_H for every Z, from P(f_Z) ≤ P(0) ≤ C_y². Holds for every m > 0."""
    return float((target_bound**2 / regularization) ** (1.0 / power))


@_bound
def admissibility(regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative) -> float:
    """C = 2 (C_y + κ B): |c(y, f, x) − c(y, g, x)| ≤ C |f(x) − g(x)| for |y| ≤ C_y and ‖f‖, ‖g‖ ≤ B. Source: Lemma D.2."""
    ball = norm_bound(regularization, power, target_bound)
    return 2.0 * (target_bound + kappa * ball)


@_bound
def theorem3(n: Count, regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative) -> float:
    """(2^{m−2} C κ / (λ n))^{1/(m−1)}, Theorem 3's bound on ‖f_Z − f_{Z^i}‖_H for m ≥ 2; `loss_bound` makes β of it.

    Raises
    ------
    InvalidProblem
        for m < 2, where the theorem says nothing.
    """
    m = _at_least_two(power)
    C = admissibility(regularization, m, target_bound, kappa)
    return float((2.0 ** (m - 2) * C * kappa / (regularization * n)) ** (1.0 / (m - 1)))


@_bound
def sharpened(n: Count, regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative, change: Change) -> float:
    """(2^{m−2} c C κ / (m λ n))^{1/(m−1)} ≥ ‖f_Z − g‖_H for m ≥ 2: Theorem 3 with the extra factor c/m ≤ 1."""
    m = _at_least_two(power)
    C = admissibility(regularization, m, target_bound, kappa)
    return float((2.0 ** (m - 2) * change.factor * C * kappa / (m * regularization * n)) ** (1.0 / (m - 1)))


@_bound
def subquadratic(
    n: Count, regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative, change: Change
) -> float:
    """c C κ B^{2−m} / (λ m (m − 1) n) ≥ ‖f_Z − g‖_H for 1 < m < 2, the case that the paper leaves open: stable at the rate 1/n.

    Raises
    ------
    InvalidProblem
        unless 1 < m ≤ 2 (at m = 2 it is `sharpened`).
    """
    m = power
    if not 1 < m <= 2:
        raise InvalidProblem(f"power: m = {m:g}, the bound is for 1 < m <= 2")
    ball = norm_bound(regularization, m, target_bound)
    C = admissibility(regularization, m, target_bound, kappa)
    return float(change.factor * C * kappa * ball ** (2 - m) / (regularization * m * (m - 1) * n))


@_bound
def distance_bound(
    n: Count, regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative, change: Change
) -> float:
    """The best of these bounds on ‖f_Z − g‖_H for any m > 1."""
    bound = sharpened if power >= 2 else subquadratic
    return bound(n, regularization, power, target_bound, kappa, change)


@_bound
def loss_bound(distance: NonNegative, regularization: Positive, power: Positive, target_bound: NonNegative, kappa: NonNegative) -> float:
    """β = C κ · distance ≥ |c(y, f, x) − c(y, g, x)| when ‖f − g‖ ≤ distance."""
    return admissibility(regularization, power, target_bound, kappa) * kappa * distance


def _at_least_two(power: float) -> float:
    if power < 2:
        raise InvalidProblem(f"power: m = {power:g}, the bound is for m >= 2; `subquadratic` serves 1 < m < 2")
    return power
