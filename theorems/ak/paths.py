r"""Regularization paths as sets of functions: what weakly equivalent learners share (Proposition 4.1, Appendix A), and Ivanov's path.

Weakly equivalent learners run through the same functions, each with its own parameter; so any score of functions has the same infimum over
both paths. Exact checks compare points of the paths; the float check of Appendix A minimises over each path by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.data.similarities import Laplacian
from simopt.equivalence.family import Family
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.theorems.ak.rational_ridge import dot, random_samples, ridge, risk, size
from simopt.theorems.ak.weak_and_strong import over_n, over_n_residual, power_parameter, power_residual

Score = Callable[[KernelFunction], float]


def sets_with_tests(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Training and test sets in the plane with K Y ≠ 0, and a grid of parameters of KRR."""
    made = 0
    while made < trial.count(12, 120):
        samples = random_samples(trial.rng, int(trial.rng.integers(2, 6)))
        if any(ridge(samples, 1, 2)):
            made += 1
            grid = [Fraction(2) ** k for k in range(-6, 5)]
            yield {"samples": samples, "test": random_samples(trial.rng, 3), "grid": grid, "power": 2 * int(trial.rng.integers(1, 4))}


@sc.claim(
    "AK-P4.1",
    place="Proposition 4.1",
    kind=sc.IDENTITY,
    says=r"If A and B are weakly equivalent, then for every Z the sets {A(λ)(Z) : λ > 0} and {B(λ)(Z) : λ > 0} are equal, hence "
    r"inf_{λ>0} J(A(λ)(Z)) = inf_{λ>0} J(B(λ)(Z)) for every real-valued score J of functions.",
    instances=sets_with_tests,
    knobs={"matched": True},
    mutants={"λ over one grid for both": {"matched": False}},
    note="Printed with the infimum of the functions themselves and over λ ∈ ℝ, which has no meaning; the learners have λ > 0. A is KRR, "
    "B is modified KRR or M-RLSR(m), m = 2, 4, 6; J is the test error, the norm or the value at a point.",
)
def equivalent_paths_have_every_infimum_in_common(
    samples: list[tuple[int, list[Fraction], Fraction]],
    test: list[tuple[int, list[Fraction], Fraction]],
    power: int,
    grid: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Each learner on its own grid, the grids matched by Φ; M-RLSR's points are recognised by its first-order condition."""
    m = power
    n = size(samples)
    ridges = [ridge(samples, n * mu, 2) for mu in grid]
    modified = [over_n(samples, n * mu if trial["matched"] else mu) for mu in grid]
    scores: dict[str, Callable[[Any], Any]] = {
        "test error": lambda w: risk(test, w),
        "squared norm": lambda w: dot(w, w),
        "value at a point": lambda w: dot(w, test[0][1]),
        "squared error at a point": lambda w: (test[0][2] - dot(w, test[0][1])) ** 2,
    }
    for name, score in scores.items():
        yield sc.equal(min(map(score, ridges)), min(map(score, modified)), f"inf of the {name}, KRR and modified KRR")
    for mu, w in zip(grid, ridges, strict=True):
        nu = n * mu if trial["matched"] else mu
        yield sc.equal(over_n_residual(samples, w, nu), [0, 0], "KRR's function is on the path of modified KRR")
        lam = power_parameter(w, mu, m) if trial["matched"] else mu
        yield sc.equal(power_residual(samples, w, lam, m), [0, 0], f"KRR's function is on the path of M-RLSR({m})")


def noisy_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Noisy samples of a sine, a test set, and a power m."""
    for m in (1.2, 1.5, 3.0, 5.0):
        for _ in range(trial.count(1, 3)):
            x, t = trial.rng.uniform(-2, 2, (10, 1)), trial.rng.uniform(-2, 2, (30, 1))
            y, u = (np.sin(2 * v[:, 0]) + 0.6 * trial.rng.standard_normal(len(v)) for v in (x, t))
            yield {"power": m, "inputs": x, "targets": y, "test inputs": t, "test targets": u}


# Of log λ: fine where K has its eigenvalues, and far out on both sides, where f_λ is its limit to rounding.
GRID = np.concatenate([[-45.0, -30.0, -20.0, -15.0], np.linspace(-12, 12, 49), [15.0, 30.0, 150.0]])


def infima(family: Family, Z: TrainingSet, scores: dict[str, Score], grid: Array = GRID) -> dict[str, float]:
    """inf over λ of each score along a family's path: a grid in log λ, then a bounded search around each of its local minima."""
    from scipy.optimize import minimize_scalar

    functions = [family(float(np.exp(t)), Z) for t in grid]
    found = {}
    for name, score in scores.items():
        values = np.array([score(f) for f in functions])
        found[name] = float(values.min())
        for k in range(1, grid.size - 1):
            if values[k] <= min(values[k - 1], values[k + 1]):
                search = minimize_scalar(
                    lambda t, score=score: score(family(float(np.exp(t)), Z)),
                    bounds=(grid[k - 1], grid[k + 1]),
                    method="bounded",
                    options={"xatol": 1e-5},
                )
                found[name] = min(found[name], float(search.fun))
    return found


@sc.claim(
    "AK-AppA",
    place="Appendix A",
    kind=sc.IDENTITY,
    compares=("kernel-ridge ~ kernel-ridge-over-n", "m-power-rls ~ kernel-ridge", "m-power-rls ~ kernel-ridge-over-n"),
    says=r"For m > 1 and K Y ≠ 0 the regularization path of M-RLSR on Z is that of KRR with the variable changed by Φ(·, Z), so the error "
    r"curves λ ↦ J(f_λ) of M-RLSR, KRR and modified KRR on Z have the same infimum, for any score J.",
    instances=noisy_sets,
    resolution=1e-8,
    knobs={"other": False},
    mutants={"the other learners see one sample less": {"other": True}},
    note="The infima are found over each path by itself, without Φ. The paper points to Figure 1; the error curves are in Figure 2.",
)
def error_curves_have_one_infimum(
    instance: sc.Instance, power: float, inputs: Array, targets: Array, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Minimise two smooth scores over each path, then compare the paths point by point through Φ."""
    from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge
    from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_over_n

    m, Z = power, TrainingSet(inputs, targets, Laplacian(1.0))
    points, values = instance["test inputs"], instance["test targets"]
    link = m_power_rls_to_kernel_ridge(m)
    others = Z.without(0) if trial["other"] else Z
    scores: dict[str, Score] = {
        "mean squared test error": lambda f: float(np.mean((f(points) - values) ** 2)),
        "mean fourth power of the test error": lambda f: float(np.mean((f(points) - values) ** 4)),
    }
    ours = infima(link.source, Z, scores)
    for learner in (kernel_ridge(), kernel_ridge_over_n()):
        for name, value in infima(learner, others, scores).items():
            yield sc.equal(value, ours[name], f"inf of the {name}, {learner.name}")
    for lam in np.geomspace(1e-4, 1e2, 7):
        f, g = link.source(float(lam), Z), link.target(link(float(lam), Z), others)
        yield sc.equal(f.distance(g), 0.0, "‖f_λ − g_Φ(λ)‖", error=f.error + g.error, scale=f.norm())
