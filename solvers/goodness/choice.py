"""Goodness with a choice function: the relaxed programme by the simplex method, and every R ∈ {0, 1}^N of a small domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.solvers.goodness.highs_programme import HighsProgramme
from simopt.solving.entry_points import certify, solve
from simopt.solving.solution import Iterate

LARGEST = 20  # points of positive mass: a million choices
MASS = 1e-12  # |Σ p R − τ| that counts as equal; masses are floats


def relaxed(problem: GoodnessChoice) -> Iterate:
    """A vertex in (v⁺, v⁻) that is optimal to the tolerance of HiGHS, with its multipliers; not for the squared loss.

    Raises
    ------
    ArithmeticError
        when HiGHS says that it is not.
    """
    natural, _ = problem.normalised()
    p, y, n = natural.support_masses(), natural.support_targets(), len(natural.support)
    unit = float(np.max(p))
    hinge = natural.loss == "hinge"
    columns = natural.core * (p / unit)
    columns = columns * y[:, None] if hinge else columns
    limit = natural.bound / natural.density * unit
    signs = (1.0,) if hinge else (-1.0, 1.0)
    slacks = [scipy.sparse.vstack([scipy.sparse.diags_array(np.full(n, sign)), scipy.sparse.csc_array((1, n))]) for sign in signs]
    found = HighsProgramme(
        [np.vstack([columns, p / unit]), np.vstack([-columns, p / unit]), *slacks],
        np.concatenate([np.zeros(2 * n), np.tile(p / unit, len(signs))]),
        np.zeros((2 + len(signs)) * n),
        np.concatenate([np.full(2 * n, limit), np.full(len(signs) * n, np.inf)]),
        np.append(np.full(n, natural.margin) if hinge else y - natural.epsilon, -np.inf),
        np.append(np.full(n, np.inf) if hinge else y + natural.epsilon, limit * natural.density * float(np.sum(p)) / unit),
    ).solve()
    v, q = np.zeros(len(problem.targets)), np.zeros(len(problem.targets))
    v[natural.support] = (found.columns[:n] - found.columns[n : 2 * n]) / limit
    duals = found.rows[:n] * unit
    q[natural.support] = duals * y if hinge else duals
    return Iterate({"v": v, "R": np.abs(v)}, {"predictions": q}, 0.0)


@dataclass(frozen=True, eq=False)
class Choices:
    """The best R ∈ {0, 1}^N with E R = τ, and how every one of them did.

    Attributes
    ----------
    choice : (N,) bool array or None
        the best R; None where no R has E R = τ.
    certificate : Certificate or None
        of the best: lower ≤ ε₀ ≤ upper with that R.
    lower : float
        a lower bound on the loss of every R; ∞ where there is none.
    weights : (N,) array or None
        w, 0 where R = 0.
    tried : int
        how many R have E R = τ.
    """

    choice: NDArray[np.bool_] | None
    certificate: Certificate | None
    lower: float
    weights: Array | None
    tried: int


def exhaustive(problem: GoodnessChoice, *, tol: float = 1e-9) -> Choices:
    """Definition 7 as printed: the least loss over all R: X → {0, 1} with E R = τ, each a programme in w with a certificate of its own.

    2^N choices of N ≤ 20 points; E R = τ to 1e-12. Points of mass 0 are never chosen. There may be no such R: one point and τ = ½ have
    none, while the relaxed programme chooses it half of the time.

    Raises
    ------
    InvalidProblem
        for more than 20 points of positive mass.
    """
    n = len(problem.support)
    if n > LARGEST:
        raise InvalidProblem(f"gram: {n} points have {2.0**n:.3g} choices; at most {LARGEST} points, or solve the relaxed programme")
    best: tuple[float, NDArray[np.bool_] | None, Certificate | None, Array | None] = (np.inf, None, None, None)
    lower, tried = np.inf, 0
    for chosen in _choices(problem):
        tried += 1
        fixed = restricted(problem, chosen)
        found = solve(fixed, tol=tol)
        certificate = found.certificate
        if certificate is None or found.point is None:
            certificate = certify(fixed, fixed.trivial_point())
        lower = min(lower, certificate.lower)
        if certificate.upper < best[0]:
            point = fixed.trivial_point() if found.point is None else dict(found.point)
            best = (certificate.upper, chosen, certificate, np.where(chosen, problem.bound * np.asarray(point["v"]), 0.0))
    return Choices(best[1], best[2], lower, best[3], tried)


def restricted(problem: GoodnessChoice, chosen: NDArray[np.bool_]) -> Goodness:
    """`Goodness` with weights on the chosen points only: the other columns of K are 0, and B is divided by τ."""
    return Goodness(
        np.where(chosen, problem.gram, 0.0),
        problem.targets,
        problem.bound / problem.density,
        problem.masses,
        problem.loss,
        problem.epsilon,
        problem.margin,
    )


def _choices(problem: GoodnessChoice) -> Iterator[NDArray[np.bool_]]:
    """All R with |Σ p R − τ| ≤ 1e-12."""
    p, support = problem.support_masses(), problem.support
    for size in range(1, len(support) + 1):
        for some in combinations(range(len(support)), size):
            if abs(float(np.sum(p[list(some)])) - problem.density) <= MASS:
                chosen = np.zeros(len(problem.targets), dtype=bool)
                chosen[support[list(some)]] = True
                yield chosen
