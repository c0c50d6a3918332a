r"""Theorem 14, first part: kernels that are good for ordinal regression are good similarities, with B = γ_1²/(ε_1γ²), and with a quarter.

The kernel's ε_0(γ) is the value of a second-order cone programme in (W, b), the similarity's ε_0(B) that of a linear one in (w, b), both
between certified bounds; the steps of the proof on regularised problems with a known exact solution (ordinal_optima.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from simopt.claims import *
from simopt.ground.arrays import Array
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solving.driver import solve
from simopt.solving.solution import Status

SECTION = "ordinal"


def kernel_value(instance: Instance, gamma: float, delta: float = 0.0) -> Enclosure:
    """Certified bounds on min over ‖W‖ ≤ 1/γ and Δ-spaced b of the loss of margin 1; CLARABEL too where they stay apart."""
    A = instance["factor"]
    problem = KernelOrdinalGoodness(A @ A.T, instance["labels"], instance["classes"], gamma, instance["masses"], delta)
    low, high = -math.inf, math.inf
    for name in ("interior-point", "clarabel"):
        found = solve(problem, name, tol=1e-9)
        if found.certificate is not None:
            low, high = max(low, found.certificate.lower), min(high, found.certificate.upper)
        if found.status is Status.OPTIMAL:
            break
    return between(min(low, high), max(low, high))  # in floats the bounds of a closed gap may pass each other by a rounding


def similarity_value(instance: Instance, bound: float) -> Enclosure:
    """Certified bounds on ε_0(B) of the same Gram matrix, γ_1-margin loss."""
    A, gamma_1, delta = instance["factor"], instance["gamma_1"], instance["delta"]
    problem = OrdinalGoodness(A @ A.T, instance["labels"], instance["classes"], bound, instance["masses"], gamma_1, delta)
    found = solve(problem, "simplex", tol=1e-10).certificate
    if found is None:
        raise ArithmeticError("no certificate")
    return between(min(found.lower, found.upper), max(found.lower, found.upper))


def on_two_points(gamma: float, share: float, gamma_1: float, lost: float = 0.0) -> Instance:
    """The two points of KJ-Thm14b-two, ε_1 = γ_1·share; a mass `lost` of the origin has label 2."""
    return {"factor": np.array([[2.0 * gamma], [0.0], [0.0]]), "labels": np.array([2.0, 1.0, 2.0]), "classes": 2,
            "masses": np.array([share, 1.0 - share - lost, lost]), "gamma": gamma, "gamma_1": gamma_1, "epsilon_1": share * gamma_1,
            "delta": 0.0}  # fmt: skip


def kernels(trial: Trial) -> Iterator[Instance]:
    """Two points, with and without a loss that nothing avoids; random kernels of rank 1 to 4 with 2 to 5 labels, all sizes of γ."""
    for gamma, share, gamma_1, lost in ((1.0, 0.5, 1.0, 0.0), (0.5, 0.1, 0.25, 0.0), (0.1, 0.25, 2.0, 0.0), (0.3, 0.2, 1.0, 0.1)):
        yield on_two_points(gamma, share, gamma_1, lost)
    rng = trial.rng
    for _ in range(trial.count(12, 60)):
        size, rank, classes = int(rng.integers(2, 8)), int(rng.integers(1, 5)), int(rng.integers(2, 6))
        gamma_1, spacing = float(2.0 ** rng.uniform(-2, 2)), float(rng.choice([0.0, 0.5, 2.0]))
        made = {
            "factor": rng.normal(size=(size, rank)),
            "labels": rng.integers(1, classes + 1, size=size).astype(float),
            "classes": classes,
        }
        yield made | {"masses": rng.dirichlet(np.ones(size)), "gamma": float(2.0 ** rng.uniform(-3, 1)), "gamma_1": gamma_1,
                      "epsilon_1": gamma_1 * float(2.0 ** rng.uniform(-5, 0)), "delta": gamma_1 * spacing}  # fmt: skip


def decoded(point: Array, trial: Trial) -> Instance:
    """Three points in the plane, in [−1, 1]², labels 1 to 3, masses, γ ∈ [0.1, 1.1], ε_1 ∈ [0.05, 0.65] and γ_1 ∈ [0.5, 2]."""
    u = np.asarray(point)
    shares = 0.02 + u[6:9]
    return {"factor": 2.0 * u[:6].reshape(3, 2) - 1.0, "labels": np.array([1.0, 2.0, 3.0 if u[9] > 0.5 else 2.0]), "classes": 3,
            "masses": shares / shares.sum(), "gamma": 0.1 + float(u[10]), "epsilon_1": 0.05 + 0.6 * float(u[11]),
            "gamma_1": 0.5 * 4.0 ** float(u[12]), "delta": 0.0}  # fmt: skip


def _admitted(instance: Instance, constant: float) -> Check:
    gamma, gamma_1, epsilon_1 = instance["gamma"], instance["gamma_1"], instance["epsilon_1"]
    kernel = kernel_value(instance, gamma, instance["delta"] / gamma_1)
    value = similarity_value(instance, constant * gamma_1**2 / (epsilon_1 * gamma**2))
    allowed = between(gamma_1 * kernel.low + epsilon_1, gamma_1 * kernel.high + epsilon_1)
    return at_most(value, allowed, "ε_0(B) against γ_1ε_0(γ) + ε_1", scale=epsilon_1)


HEADER: dict[str, Any] = {
    "paper": KAR_JAIN,
    "section": SECTION,
    "kind": EXISTENCE,
    "expected": HOLDS,
    "instances": kernels,
    "resolution": 1e-6,
}


@claim(
    "KJ-Thm14a",
    place="Theorem 14 (27), first part",
    says=r"Every PSD kernel that is (ε_0, γ)-good for an ordinal regression problem (‖W*‖ ≤ 1, loss ≤ ε_0 at margin 1) is, for all γ_1, "
    r"ε_1 > 0, (γ_1ε_0 + ε_1, B)-good as a similarity for the γ_1-margin loss with B = O(γ_1²/(ε_1γ²)); E.3 has B = γ_1²/(ε_1γ²). With "
    r"thresholds Δ/γ_1 apart there, Δ apart here. (Finite domains: SOCP in (W, b) for ε_0(γ), LP in (w, b) for ε_0(B), both certified.)",
    knobs={"constant": 1.0},
    mutants={"B = γ_1²/(5ε_1γ²)": {"constant": 0.2}},
    note="Not sharp: a quarter of it will do (KJ-Thm14a-sharp). It needs no bound on K(x, x), and no order of the thresholds: the proof "
    "never moves them.",
    cost=0.8,
    **HEADER,
)
def good_kernels_are_good_similarities(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ε_0(B) ≤ γ_1ε_0(γ) + ε_1, in units of ε_1."""
    yield _admitted(instance, trial["constant"])


@claim(
    "KJ-Thm14a-sharp",
    place="Theorem 14 (27), first part, ours: with the best constant",
    says=r"Under the hypotheses of Theorem 14 B = **γ_1²/(4ε_1γ²)** is enough; and for all γ, γ_1 > 0 and ε_1 ≤ γ_1/2 nothing less is: x "
    r"= 2γ with label 2 and mass ε_1/γ_1, x = 0 with label 1 (or part of it label 2, so that ε_0 > 0).",
    decode=decoded,
    dimension=13,
    evaluations=(40, 80),
    knobs={"constant": 0.25},
    mutants={"B = γ_1²/(5ε_1γ²)": {"constant": 0.2}},
    note="For the optimum (W', b') of ½‖W‖² + C·loss, loss(a, b) ≥ loss(W', b') − ⟨W', a − W'⟩/C, whose minimum is 1/(4Cγ²) "
    "(KJ-Thm14a-exact), and its weights are |w| ≤ C, not 2C (KJ-Thm14a-p): two factors of 2. That nothing less is enough is KJ-Thm14b-two.",
    cost=1.4,
    **HEADER,
)
def good_kernels_with_the_best_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The same with 1/4; attacked."""
    yield _admitted(instance, trial["constant"])
