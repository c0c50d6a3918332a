r"""Algorithm 1 with ℓ_ε on finite domains: landmarks, the empirical minimiser over ‖w‖₂ ≤ B, its true risk as a finite sum.

Landmark j drawn c_j times gives c_j equal features K(·, j)/√d. In their place √(c_j/d) K(·, j) spans the same predictors with the same
norm, so that d may be large at the cost of N features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.problems.bounds import Ball
from simopt.problems.goodness import Goodness
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.entry_points import solve

SECTION = "regression"
GAP = 1e-7  # relative, of the empirical problem


@dataclass(frozen=True, eq=False)
class RegressionWorld:
    """A finite domain with its bound and ε; `level` ≤ ε_0(B), from a linear programme's multipliers, and weights w of about that loss."""

    gram: Array
    targets: Array
    masses: Array
    bound: float
    epsilon: float
    level: float
    weights: Array

    def risk(self, f: Array) -> float:
        """E |f − y|."""
        return float(self.masses @ np.abs(f - self.targets))

    def features(self, counts: Array) -> tuple[Array, Array]:
        """Ψ on the domain for landmarks drawn so often, and w̃ = w(l)/√d in the same coordinates."""
        seen = np.flatnonzero(counts)
        share = np.sqrt(counts[seen] / counts.sum())
        return self.gram[:, seen] * share, self.weights[seen] * share


def _random_signs() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(20121203)
    return rng.choice([-1.0, 1.0], size=(6, 6)), rng.choice([-0.6, 0.6], size=6), np.full(6, 1.0 / 6.0)


def _blocks() -> tuple[Array, Array, Array]:
    label = np.repeat([1.0, -1.0], 3)
    return 0.75 * np.outer(label, label) + 0.25, np.array([1.0, 0.8, 0.9, -1.0, -0.7, -0.9]), np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.2])


def _four_points() -> tuple[Array, Array, Array]:
    s, t, square = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0]), 0.25
    gram = square * (np.outer(s, s) + np.outer(t, t)) + 1.0 - 2.0 * square
    return gram, s, np.array([0.3, 0.2, 0.2, 0.3])


def _cyclic() -> tuple[Array, Array, Array]:
    k = np.arange(7)
    return np.cos(2.0 * np.pi * (k[:, None] - k) / 7.0), 0.5 * np.sin(2.0 * np.pi * k / 7.0 + 0.3), np.full(7, 1.0 / 7.0)


def _rank_one() -> tuple[Array, Array, Array]:
    u = np.array([1.0, -1.0, 0.5, -0.5, 1.0])
    return np.outer(u, [1.0, -1.0, 1.0, 1.0, -1.0]), 0.5 * u + np.array([0.1, 0.0, -0.1, 0.0, 0.2]), np.array([0.1, 0.3, 0.2, 0.3, 0.1])


def _needle() -> tuple[Array, Array, Array]:
    gram = np.zeros((5, 5))
    gram[:, 0] = [1.0, -1.0, 1.0, -1.0, 1.0]
    return gram, 0.1 * gram[:, 0], np.array([0.1, 0.3, 0.2, 0.3, 0.1])


FAMILIES = {
    "random signs": (_random_signs, 1.0),
    "blocks": (_blocks, 1.0),
    "four points": (_four_points, 2.0),
    "cyclic": (_cyclic, 1.0),
    "rank one": (_rank_one, 1.0),
    "needle": (_needle, 1.0),
}


@lru_cache(maxsize=64)
def world(family: str, epsilon: float) -> RegressionWorld:
    """A family with ε_0(B) and its weights."""
    make, bound = FAMILIES[family]
    gram, targets, masses = make()
    problem = Goodness(gram, targets, bound, masses, epsilon=epsilon)
    found = solve(problem, "simplex", tol=1e-9)
    if found.certificate is None or found.point is None:
        raise ArithmeticError("no certificate")
    return RegressionWorld(gram, targets, masses, bound, epsilon, found.certificate.lower, problem.weights(dict(found.point)))


def unbounded(points: int) -> RegressionWorld:
    """K = N·1{x = x'} on N points, y = ±1 in turn: (0, 1)-good, but nothing is learnt about points that were not met."""
    targets = np.where(np.arange(points) % 2 == 0, 1.0, -1.0)
    return RegressionWorld(points * np.eye(points), targets, np.full(points, 1.0 / points), 1.0, 0.0, 0.0, targets)


@dataclass(frozen=True, eq=False)
class Fit:
    """The output of Algorithm 1: coordinates ŵ, their empirical loss with its gap, predictions on the domain."""

    w: Array
    loss: float
    gap: float
    predictions: Array


def sampled(masses: Array, size: int, rng: np.random.Generator) -> Array:
    """How often each point occurs among `size` draws."""
    counts: Array = rng.multinomial(size, masses).astype(np.float64)
    return counts


def algorithm_1(instance: RegressionWorld, landmarks: Array, sample: Array, solver: str = "newton", radius: float = 1.0) -> Fit:
    """Steps 2–4 for given counts of landmarks and of training points; `radius` multiplies B."""
    psi, _ = instance.features(landmarks)
    rows = np.repeat(np.arange(len(sample)), sample.astype(np.intp))
    problem = LandmarkedSVR(psi[rows], instance.targets[rows], Ball(radius * instance.bound), instance.epsilon)
    found = solve(problem, solver, tol=GAP)
    if found.certificate is None or found.point is None:
        raise ArithmeticError("no certificate")
    w: Array = np.asarray(found.point["w"], dtype=np.float64)
    upper = found.certificate.upper
    return Fit(w, upper, max(upper - found.certificate.lower, 0.0), psi @ w)


def runs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All families, plain and with a tube, d and n from 1 to 200."""
    for family in FAMILIES:
        for epsilon in (0.0, 0.05):
            for d, n in ((1, 5), (20, 20), (200, 60)):
                yield {"family": family, "epsilon": epsilon, "d": d, "n": n, "draws": trial.count(1, 2)}


@sc.claim(
    "KJ-Alg1",
    section=SECTION,
    place="Algorithm 1",
    kind=sc.ALGORITHM,
    says=r"Step 3 is a second-order cone programme: ŵ has ‖ŵ‖₂ ≤ B and a certified empirical loss ≤ that of every other w in the ball, so "
    r"of w̃ = d^{−1/2}(w(l_1), …, w(l_d)) if **|w| ≤ B**. (Two solvers, on finite domains, whose brackets meet; the empirical loss of the "
    r"points of K = uv' against the least over the interval that u leaves.)",
    instances=runs,
    resolution=1e-7,
    knobs={"radius": 1.0},
    mutants={"‖w‖₂ ≤ B/2": {"radius": 0.5}},
    note="The landmarks may repeat, and n may be smaller than d.",
)
def empirical_minimiser(family: str, epsilon: float, draws: int, d: int, n: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Norm, dominance over w̃, agreement of two solvers, and the one-dimensional family by its kinks."""
    found = world(family, epsilon)
    for _ in range(draws):
        landmarks = sampled(found.masses, d, trial.rng)
        sample = sampled(found.masses, n, trial.rng)
        fit = algorithm_1(found, landmarks, sample, "newton", trial["radius"])
        other = algorithm_1(found, landmarks, sample, "interior-point", trial["radius"])
        yield sc.at_most(float(np.linalg.norm(fit.w)), found.bound, "‖ŵ‖")
        psi, tilde = found.features(landmarks)
        yield sc.at_most(sc.between(fit.loss - fit.gap, fit.loss), empirical(found, sample, psi @ tilde), "loss of ŵ, and of w̃")
        yield sc.equal(sc.between(fit.loss - fit.gap, fit.loss), sc.between(other.loss - other.gap, other.loss), "two solvers")
        if family == "rank one":
            yield sc.equal(sc.between(fit.loss - fit.gap, fit.loss), _on_a_line(found, sample, psi), "one dimension")


def empirical(instance: RegressionWorld, sample: Array, f: Array) -> float:
    """(1/n) Σ ℓ_ε over the training points."""
    return float(sample @ np.maximum(np.abs(f - instance.targets) - instance.epsilon, 0.0)) / float(sample.sum())


def _on_a_line(instance: RegressionWorld, sample: Array, psi: Array) -> float:
    """Ψ = u ⊗ v: f = su with |s| ≤ B‖v‖; a convex function with kinks where |su_i − y_i| = ε is least at a kink or at an end."""
    u = psi[:, 0] / psi[0, 0]
    reach = instance.bound * float(np.linalg.norm(psi[0]))
    kinks = np.concatenate([(instance.targets + side * instance.epsilon) / u for side in (-1.0, 1.0)])
    return min(empirical(instance, sample, s * u) for s in [-reach, reach, *np.clip(kinks, -reach, reach)])


@sc.claim(
    "KJ-Alg1-norm",
    section=SECTION,
    place="Appendices A and C.1: ‖w‖ ≤ B and sup ‖Ψ(x)‖ ≤ 1 by construction",
    kind=sc.IDENTITY,
    says=r"If |w| ≤ B and **|K| ≤ 1**, then ‖w̃‖₂ ≤ B, ‖Ψ(x)‖₂ ≤ 1 and |⟨w, Ψ(x)⟩| ≤ B for ‖w‖₂ ≤ B; and {‖w‖_∞ ≤ B/√d} ⊂ {‖w‖₂ ≤ B}. B² "
    r"− ‖w̃‖² = Σ (B − w_i)(B + w_i)/d, the same for Ψ, ‖w‖²‖Ψ‖² − ⟨w, Ψ⟩² = Σ_{i<j} (w_iΨ_j − w_jΨ_i)². (In symbols: term by term, the "
    r"last by induction over d.)",
    exhaustive=True,
    knobs={"scaled": True},
    mutants={"Ψ without 1/√d": {"scaled": False}},
    note="All are equalities for w = ±B, K = ±1. 'By construction' needs |K| ≤ 1, which the paper does not ask for.",
)
def norms_by_construction(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identities."""
    B, d, w, k = sc.symbols("B d w k")
    part = 1 / d if trial["scaled"] else 1
    yield sc.equal((B**2 - w**2) / d, (B - w) * (B + w) / d, "‖w̃‖², one term")
    yield sc.equal(1 / d - part * k**2, (1 - k) * (1 + k) / d, "‖Ψ‖², one term")
    W, K, inner = sc.symbols("W K inner")  # ‖w‖², ‖Ψ‖² and ⟨w, Ψ⟩ without the last coordinate
    more = (W + w**2) * (K + k**2) - (inner + w * k) ** 2 - (W * K - inner**2)
    yield sc.equal(more, W * k**2 - 2 * inner * w * k + K * w**2, "Cauchy–Schwarz: Σ_i (w_iΨ − wΨ_i)² is added")
    yield sc.equal(w**2 * k**2 - (w * k) ** 2, 0 * w, "Cauchy–Schwarz, d = 1")
    yield sc.equal(B**2 / d - w**2, (B**2 - d * w**2) / d, "the cube in the ball, one term")
