r"""Definition 4: good PSD kernels, with ‖W*‖ = 1 as printed and ‖W*‖ ≤ 1 as used; "<" as printed and "≤" as used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.solving.entry_points import solve

SECTION = "regression"


def kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random kernels of rank one to three on three to eight points."""
    rng = trial.rng
    for _ in range(trial.count(8, 20)):
        size, rank = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        factor = rng.normal(size=(size, rank))
        yield {
            "factor": factor,
            "targets": rng.normal(size=size),
            "masses": rng.dirichlet(np.ones(size)),
            "epsilon": float(rng.choice([0, 0.2])),
        }


def cone_value(problem: Problem) -> sc.Enclosure:
    """Certified bounds on the optimum: of the hand-written solver, of CLARABEL too where they stay apart."""
    low, high = -math.inf, math.inf
    for name in ("interior-point", "clarabel"):
        found = solve(problem, name, tol=1e-9)
        if found.certificate is not None:
            low, high = max(low, found.certificate.lower), min(high, found.certificate.upper)
        if found.status is Status.OPTIMAL:
            break
    return sc.between(min(low, high), max(low, high))  # in floats the bounds of a closed gap may pass each other by a rounding


def kernel_value(factor: Array, targets: Array, masses: Array, epsilon: float, gamma: float) -> sc.Enclosure:
    """Certified bounds on min over ‖W‖ ≤ 1/γ of E ℓ_ε(⟨W, Φ(x)⟩, y)."""
    A = factor
    problem = KernelGoodness(A @ A.T, targets, gamma, masses, epsilon=epsilon)
    return cone_value(problem)


@sc.claim(
    "KJ-Def4",
    section=SECTION,
    place="Definition 4",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, γ)-good if E ℓ(⟨W*, Φ(x)⟩/γ, y) **≤** ε_0 for some **‖W*‖ ≤ 1** (printed: < and =). So read, the least ε_0 is the "
    r"value of a second-order cone programme, falls as γ falls, and is convex in 1/γ. (Certified on random kernels, γ = 2, 1, 2/3, 1/2, "
    r"1/4.)",
    instances=kernels,
    resolution=1e-7,
    knobs={"half": 0.5},
    mutants={"9/20 of the sum at the ends": {"half": 0.45}},
    note="All proofs use ‖W*‖ ≤ 1 only. With '=' goodness is not monotone in γ (KJ-Def4-sphere), unless some W is orthogonal to all Φ(x), "
    "x ~ D, which can fill up the norm. K(x, x) ≤ 1 is not asked for, nor needed in Theorem 6.",
)
def goodness_at_a_margin(factor: Array, targets: Array, masses: Array, epsilon: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """Monotone in 1/γ, and convex at the equally spaced 1/γ = 1/2, 1, 3/2, 2."""
    values = [kernel_value(factor, targets, masses, epsilon, gamma) for gamma in (2.0, 1.0, 2.0 / 3.0, 0.5, 0.25)]
    for wide, narrow in pairwise(values):
        yield sc.at_most(narrow, wide, "a smaller margin")
    for low, middle, high in zip(values[:2], values[1:3], values[2:4], strict=True):
        ends = sc.between(trial["half"] * (low.low + high.low), trial["half"] * (low.high + high.high))
        yield sc.at_most(middle, ends, "convex in 1/γ")


def margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ = 1, 1/2, 1/4, …"""
    for k in range(6):
        yield {"gamma": Fraction(1, 2**k)}


@sc.claim(
    "KJ-Def4-sphere",
    section=SECTION,
    place="Definition 4, ours: ‖W*‖ = 1 taken literally",
    kind=sc.COUNTEREXAMPLE,
    says=r"With ‖W*‖ = 1 goodness is not monotone in γ: X = {x}, K = 1, y = 1 is (0, 1)-good for the absolute loss, but its least loss is "
    r"1/γ − 1 = 0, 1, 3, …, 31 at γ = 1, 1/2, 1/4, …, 1/32.",
    instances=margins,
    exhaustive=True,
    knobs={"inside": 0},
    mutants={"‖W*‖ ≤ 1": {"inside": 1}},
)
def goodness_on_the_sphere(gamma: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The least of the losses of W* = 1 and W* = −1 (and, inside, of W* = γ)."""
    gamma = sc.inputs(gamma=gamma)
    inside = [abs(gamma / gamma - 1)] if trial["inside"] else []
    least = sc.minimum(abs(1 / gamma - 1), abs(-1 / gamma - 1), *inside)
    yield sc.equal(least, 1 / gamma - 1, "least loss on the sphere")
    yield sc.at_least(sc.minimum(abs(2 / gamma - 1), abs(-2 / gamma - 1), *inside), least + 1, "at γ/2")


@sc.claim(
    "KJ-H2",
    section=SECTION,
    place="Definitions 2, 4 and 7, Theorems 6 and 14: thresholds",
    kind=sc.TIGHTNESS,
    says=r"Theorem 6 speaks of a (0, γ)-good kernel: with **E ℓ ≤ ε_0** there are such (K = xx' at x = ±γ with y = ±1; γ = 1, "
    r"1/2, …, 1/32), with E ℓ < ε_0, as Definitions 4 and 7 print, there are none, because ℓ ≥ 0. Definition 2 prints ≤.",
    instances=margins,
    exhaustive=True,
    knobs={"strict": False},
    mutants={"E ℓ < ε_0": {"strict": True}},
    note="Where the minimum is attained, good for ε_0 with ≤ is good for every ε_0' > ε_0 with <, so that nothing but the value 0 is at "
    "stake.",
)
def thresholds(gamma: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The loss of W* = 1 at both points against ε_0 = 0."""
    gamma = sc.inputs(gamma=gamma)
    yield sc.at_most((abs(gamma / gamma - 1) + abs(-gamma / gamma + 1)) / 2, 0, "E ℓ", strict=trial["strict"])
