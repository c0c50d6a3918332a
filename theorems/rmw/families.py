"""The learners of sections 3 and 6.6 as families: the mean classifier, the SVM and its forms, the MMD's witness, the density rule.

Every function carries a radius that its certificate gives. Targets must be labels ±1. In what follows ψ_i = y_i k(x_i, ·).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from simopt.arithmetic import INTERVAL
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.equivalence.family import Family, Interval, family
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.model.problem import Problem
from simopt.problems.bounds import Capacity, Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.solvers.herding.atoms import StoredAtoms
from simopt.solvers.herding.frank_wolfe import FrankWolfe
from simopt.solving.entry_points import certify
from simopt.solving.solution import Solution
from simopt.theorems.small_worlds import exact_svm
from simopt.theorems.small_worlds.exact_hull import hull_solution, mean_ray

ROUNDING = 8 * EPS  # a certificate evaluated in floats is trusted to this share of ‖f‖
TOL = 1e-13  # asked of solvers; the radius comes from the gap that they reach

Mass = Callable[[Array], Array]

_grams: WeakKeyDictionary[TrainingSet, list[list[Fraction]]] = WeakKeyDictionary()
_paths: WeakKeyDictionary[TrainingSet, list[exact_svm.Piece]] = WeakKeyDictionary()
_rays: WeakKeyDictionary[TrainingSet, tuple[Fraction, Fraction]] = WeakKeyDictionary()


def labels(Z: TrainingSet) -> Array:
    """The targets, which must be ±1.

    Raises
    ------
    InvalidProblem
        for any other target.
    """
    return validate.labels("targets", Z.targets)


def margins(Z: TrainingSet) -> Array:
    """m_i = ⟨ω_S, ψ_i⟩ = y_i f_S(x_i), whose mean is ‖ω_S‖². Shape (n,)."""
    y = labels(Z)
    out: Array = y * (Z.gram @ y) / Z.n
    return out


def threshold(Z: TrainingSet) -> float:
    """λ* = max_i y_i f_S(x_i), from which on the SVM's solution is ω_S/λ."""
    return float(np.max(margins(Z)))


def mean_function(Z: TrainingSet, factor: float = 1.0) -> KernelFunction:
    """factor · ω_S."""
    f = Z.function(factor * labels(Z) / Z.n)
    return replace(f, error=ROUNDING * f.norm())


def exact_gram(Z: TrainingSet) -> list[list[Fraction]]:
    """⟨ψ_i, ψ_j⟩ in rationals: exactly that of the features that the eigendecomposition of K gives in float64, hence of their rank."""
    if Z not in _grams:
        known = Z.spectrum
        features = labels(Z)[:, None] * known.vectors[:, known.values > 0] * np.sqrt(known.values[known.values > 0])
        atoms = [[Fraction(float(value)) for value in row] for row in features]
        _grams[Z] = exact_svm.gram(atoms)
    return _grams[Z]


def exact_path(Z: TrainingSet) -> list[exact_svm.Piece]:
    """All pieces of the SVM's path on `exact_gram`; for tens of samples."""
    if Z not in _paths:
        _paths[Z] = exact_svm.path(exact_gram(Z))
    return _paths[Z]


def exact_ray(Z: TrainingSet) -> tuple[Fraction, Fraction]:
    """(t₀, t₁): tω_S lies in the hull of the ψ_i for t₀ ≤ t ≤ t₁; ω_S ≠ 0."""
    if Z not in _rays:
        _rays[Z] = mean_ray(exact_gram(Z))
    return _rays[Z]


def active_range(Z: TrainingSet) -> Interval:
    """(0, c₁), where ‖ω‖² ≤ c binds: c₁ is the least ‖ω‖² of a minimiser of the hinge loss, ‖f_λ‖² on the last piece of the path.

    Raises
    ------
    InvalidProblem
        for ω_S = 0, where f_λ = 0 for every λ and the range is empty.
    """
    last = exact_path(Z)[-1]
    if last.high is None:
        raise InvalidProblem("targets: ω_S = 0, so that every constrained SVM is 0 and no ball binds")
    return Interval(0.0, float(last.squared_norm(last.high)))


@family("mean-penalised", summary="linear loss, penalised: (1/n) Σ (1 − y f(x)) + (λ/2)‖f‖²; ω_S/λ")
def mean_penalised() -> Family:
    """The mean classifier at the scale 1/λ."""
    return Family("mean-penalised", lambda lam, Z: mean_function(Z, 1.0 / lam))


@family("mean-ball", summary="linear loss in a ball: (1/n) Σ (1 − y f(x)) subject to ‖f‖² ≤ c; √c ω_S/‖ω_S‖")
def mean_ball() -> Family:
    """The mean classifier of squared norm c (Theorem 2); for ω_S = 0, where every f is a solution, f = 0."""

    def fit(capacity: float, Z: TrainingSet) -> KernelFunction:
        size = mean_function(Z).norm()
        return mean_function(Z, math.sqrt(capacity) / size if size > 0 else 0.0)

    return Family("mean-ball", fit)


def solved(name: str, problem: Problem, solver: str, tol: float) -> Solution:
    """A solution with a point and a certificate.

    Raises
    ------
    ArithmeticError
        when the solver returns none.
    """
    from simopt.solving.entry_points import solve

    solution = solve(problem, solver, tol=tol)
    if solution.point is None or solution.certificate is None:
        raise ArithmeticError(f"{name}: {solver} returned no point ({solution.reported_status}: {solution.message})")
    return solution


@family("hinge-svm", summary="the SVM: (1/n) Σ [1 − y f(x)]_+ + (λ/2)‖f‖²")
def hinge_svm(solver: str = "svm", tol: float = TOL) -> Family:
    """The SVM without intercept, by a solver for every λ: that it is ω_S/λ for λ ≥ λ* is nothing that this family knows.

    The radius comes from the certificate in intervals: near λ* the gap in floats is 0 on both sides, and its square root is what counts.
    """

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        """f = Σ αᵢ k(x, xᵢ) of the solver, within a distance of the optimum that the gap proves."""
        problem = HingeSVM(Z.gram, labels(Z), Penalty(lam))
        solution = solved(f"hinge-svm at {lam:g}", problem, solver, tol)
        point = dict(solution.point or {})
        f = Z.function(np.asarray(point["alpha"]))
        given = None if solution.multipliers is None else dict(solution.multipliers)
        gap = certify(problem, point, given, INTERVAL).gap
        return replace(f, error=problem.distance(gap) + ROUNDING * f.norm())

    return Family("hinge-svm", fit)


@family("hinge-svm-ball", summary="the SVM in a ball that binds: (1/n) Σ [1 − y f(x)]_+ subject to ‖f‖² ≤ c, 0 < c < c₁")
def hinge_svm_ball(solver: str = "svm", tol: float = TOL) -> Family:
    """The constrained SVM for the c at which the constraint is active, and the solution unique."""

    def fit(capacity: float, Z: TrainingSet) -> KernelFunction:
        """f of the solver, within the least distance of the optimum that one of two sets of multipliers proves."""
        problem = HingeSVM(Z.gram, labels(Z), Capacity(capacity))
        solution = solved(f"hinge-svm-ball at {capacity:g}", problem, solver, tol)
        point = dict(solution.point or {})
        tries = [problem.multipliers(point)] + ([dict(solution.multipliers)] if solution.multipliers is not None else [])
        f = Z.function(np.asarray(point["alpha"]))
        return replace(f, error=min(problem.ball_distance(point, given) for given in tries) + ROUNDING * f.norm())

    return Family("hinge-svm-ball", fit, active_range)


@family("hinge-svm-hull", summary="the SVM restricted to the hull of the y_i k(x_i, ·), k ≤ 1: the point nearest to ω_S/λ")
def hinge_svm_hull() -> Family:
    """min over f in the hull of the ψ_i of (1/n) Σ [1 − y f(x)]_+ + (λ/2)‖f‖², for k(x, x) ≤ 1; herding's ω_S at λ = 1.

    Raises (on use)
    ---------------
    InvalidProblem
        if some k(x, x) > 1.
    """

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        """f of the optimum in fractions, its weights rounded."""
        largest = float(np.max(np.diagonal(Z.gram)))
        if largest > 1 + 8 * EPS:
            raise InvalidProblem(f"similarity: k(x, x) = {largest:.6g} > 1; the hinges are linear on the hull only for ‖φ(x)‖ ≤ 1")
        weights = np.array([float(w) for w in hull_solution(exact_gram(Z), Fraction(lam))])
        problem = HingeSVMHull(Z.gram, labels(Z), lam)
        point = problem.restore({"weights": weights})
        gap = certify(problem, point, {"margins": np.full(Z.n, 1.0 / Z.n), "direction": weights}, INTERVAL).gap
        f = Z.function(labels(Z) * weights)
        return replace(f, error=problem.distance(gap) + ROUNDING * f.norm())

    return Family("hinge-svm-hull", fit)


@family("herding", summary="herding at ⌈m⌉ atoms, 0 < m < n: (1/⌈m⌉) Σ y_i k(x_i, ·) over the points that Algorithm 1 picks")
def herding(steps: str = "uniform") -> Family:
    """The m-th iterate of herding towards ω_S. Its path is a staircase: constant between whole m, and it jumps there.

    The picks are those that float64 makes; the function of the picks is exact to rounding.

    Parameters
    ----------
    steps : str
        "uniform", "line-search" or another rule of `simopt.solvers.herding.frank_wolfe`.
    """

    def fit(count: float, Z: TrainingSet) -> KernelFunction:
        """The mean after `count` steps, or after the last step there is."""
        y = labels(Z)
        run = FrankWolfe(StoredAtoms(Z.gram, y, margins(Z), float(np.mean(margins(Z)))), steps)
        for look in run:
            if look.steps >= count:
                break
        f = Z.function(y * run.walk.dense)
        return replace(f, error=ROUNDING * f.norm())

    return Family("herding", fit, lambda Z: Interval(0.0, float(Z.n)), monotone=False, continuous=False)


@family("mmd-witness", summary="the witness of the MMD at ‖f‖² = c: √c (μ₊ − μ₋)/‖μ₊ − μ₋‖, both classes needed")
def mmd_witness() -> Family:
    """Maximiser over ‖f‖² ≤ c of E_{S₊} f − E_{S₋} f, the means over the two classes of the sample.

    Raises (on use)
    ---------------
    InvalidProblem
        if one class is empty, or μ₊ = μ₋.
    """

    def fit(capacity: float, Z: TrainingSet) -> KernelFunction:
        """√c (μ₊ − μ₋)/‖μ₊ − μ₋‖."""
        y = labels(Z)
        counts = {sign: int(np.sum(y == sign)) for sign in (1, -1)}
        if not all(counts.values()):
            raise InvalidProblem("targets: one class only; the MMD compares two")
        f = Z.function(np.where(y > 0, 1.0 / counts[1], -1.0 / counts[-1]))
        size = f.norm()
        if size == 0:
            raise InvalidProblem("targets: both classes have the same mean, so that every f is a witness of the MMD, which is 0")
        g = f * (math.sqrt(capacity) / size)
        return replace(g, error=ROUNDING * g.norm())

    return Family("mmd-witness", fit)


def same_mass(inputs: Array) -> Array:
    """∫ k(x, x') dx in units of itself where it does not depend on x', as for every k(x − x') on ℝ^d."""
    return np.ones(inputs.shape[0])


def class_masses(Z: TrainingSet, mass: Mass) -> dict[int, float]:
    """Z±: the mean of ∫ k(x, x') dx over the x' of each class that occurs."""
    y, values = labels(Z), mass(Z.inputs)
    return {sign: float(np.mean(values[y == sign])) for sign in (1, -1) if np.any(y == sign)}


@family("kernel-density", summary="P̃(1)P̃(x | 1) − P̃(−1)P̃(x | −1) by kernel density estimates; κ is the unit of ∫ k(x, x') dx")
def kernel_density(mass: Mass = same_mass) -> Family:
    """D(x) = (1/n)(A₊(x)/Z₊ − A₋(x)/Z₋)/κ, whose sign is the Bayes rule of the estimates (section 3.3).

    Parameters
    ----------
    mass : callable
        (m, p) → (m,), ∫ k(x, x') dx at points x' up to a factor, which is κ; by default constant, as for k(x − x') on ℝ^d.
    """

    def fit(unit: float, Z: TrainingSet) -> KernelFunction:
        y, weights = labels(Z), class_masses(Z, mass)
        f = Z.function(y / np.array([weights[int(sign)] for sign in y]) / (Z.n * unit))
        return replace(f, error=ROUNDING * f.norm())

    return Family("kernel-density", fit)
