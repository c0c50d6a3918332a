r"""Appendix E.3: the formulations EXC and IMC. Ordinal goodness if every threshold has a hinge for every point.

IMC charges h(f, y) = Σ_{j<y} [γ − (f − b_j)]_+ + Σ_{j≥y} [γ − (b_j − f)]_+ over the r − 1 thresholds, here b_1, …, b_{r−1}. EXC, which is
Definition 26, charges for the two of them next to y. Each hinge is convex with slope ≤ 1 in f, so that h has slope ≤ max(y − 1,
r − y) ≤ r − 1. The proofs of Theorems 13 and 14 need no more of h, with r − 1 in the place of 1. If f is on the wrong side of a threshold,
its hinge is ≥ γ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.imc_ordinal import IMCOrdinal
from simopt.solving.entry_points import solve
from simopt.theorems.kj.ordinal.ordinal_worlds import HALF, ONE, ZERO, margin_loss
from simopt.theorems.kj.ordinal.theorem_14 import Labelled, kernel_value

SECTION = "ordinal"
Numbers = list[Fraction]


def hinges(f: Fraction, y: int, thresholds: Numbers, gamma: Fraction) -> Fraction:
    """h of IMC."""
    return sum((max(gamma - (f - b if j < y else b - f), ZERO) for j, b in enumerate(thresholds, start=1)), ZERO)


def kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random kernels of rank one to three, equal masses, labels 1 to 3; K ≡ 1 with labels 1, 2, 3 in the shares 9, 2, 9."""
    for _ in range(trial.count(4, 20)):
        size, rank = int(trial.rng.integers(3, 9)), int(trial.rng.integers(1, 4))
        labels = trial.rng.integers(1, 4, size=size).astype(float)
        yield {
            "factor": trial.rng.normal(size=(size, rank)),
            "labels": labels,
            "classes": 3,
            "gamma": float(2.0 ** trial.rng.uniform(-2, 1)),
        }
    yield {"factor": np.ones((20, 1)), "labels": np.repeat([1.0, 2.0, 3.0], [9, 2, 9]), "classes": 3, "gamma": 1.0, "crossed": [1, -1]}


@sc.claim(
    "KJ-E3-EXC",
    section=SECTION,
    place="Appendix E.3, after Definition 26: 'exactly corresponds to the EXC formulation', but for the order of the thresholds",
    kind=sc.EQUIVALENCE,
    says=r"For points of equal mass and **b_2 ≤ … ≤ b_r** the least ε_0 of Definition 26 at the margin γ is the value of the EXC "
    r"programme, mean of the slacks with ‖W‖ ≤ 1/γ and the order as a constraint (as we read [16]); and the exception counts: without "
    r"order K ≡ 1 with labels 1, 2, 3 in the shares 9/20, 1/10, 9/20 has 2/5 (b_2 = 1, b_3 = −1, f = 0) where EXC has 11/10. (Random "
    r"kernels, certified.)",
    instances=kernels,
    resolution=1e-6,
    knobs={"radius": 1.0},
    mutants={"‖W‖ ≤ 9/(10γ)": {"radius": 0.9}},
    note="A strict order has the same least value. Without the order Theorem 13 fails: KJ-Def12-order.",
)
def definition_and_programme(
    factor: Array, labels: Array, classes: int, gamma: float, trial: sc.Trial, crossed: Sequence[int] = ()
) -> Iterator[sc.Check]:
    """Both values; the loss of thresholds out of order."""
    problem = EXCOrdinal(factor, labels, classes, bound=Ball(trial["radius"] / gamma))
    found = solve(problem, "interior-point", tol=1e-9).certificate
    if found is None:
        raise ArithmeticError("no certificate")
    value = sc.between(min(found.lower, found.upper), max(found.lower, found.upper))
    masses = np.full(len(labels), 1.0 / len(labels))
    yield sc.equal(value, kernel_value(Labelled(factor, labels, classes, masses), gamma), "ε_0 and the value of EXC")
    if crossed:
        b = [Fraction(v) for v in crossed]
        loss = sum((margin_loss(ZERO, int(y), b, ONE) for y in labels), ZERO) / len(labels)
        yield sc.equal(loss, Fraction(2, 5), "without order")
        yield sc.at_least(value, 1.1, "EXC")


def scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Scores in quarters, labels 1 to r ≤ 5, all of which occur, γ from 1/4 to 2; ties of scores and of thresholds among them."""
    rng = trial.rng
    for _ in range(trial.count(25, 250)):
        classes = int(rng.integers(3, 6))
        labels = [*range(1, classes + 1), *(int(y) for y in rng.integers(1, classes + 1, size=int(rng.integers(0, 6))))]
        f = [Fraction(int(v), 4) for v in rng.integers(-8, 9, size=len(labels))]
        yield {"f": f, "labels": labels, "classes": classes, "gamma": Fraction(int(rng.integers(1, 9)), 4)}


def best(f: Numbers, labels: list[int], gamma: Fraction, j: int, implicit: bool) -> tuple[Fraction, Fraction]:
    """The interval of all best b_j; the loss of one threshold is convex and bends at f ± γ only, and points of both sides bound it."""
    sided = [(v, 1 if y > j else -1) for v, y in zip(f, labels, strict=True) if implicit or y in (j, j + 1)]

    def loss(b: Fraction) -> Fraction:
        return sum((max(gamma - side * (v - b), ZERO) for v, side in sided), ZERO)

    values = {v - side * gamma: loss(v - side * gamma) for v, side in sided}
    least = min(values.values())
    chosen = [b for b, value in values.items() if value == least]
    return min(chosen), max(chosen)


@sc.claim(
    "KJ-E3-IMC",
    section=SECTION,
    place="Appendix E.3: in IMC 'the ordering emerges out of the minimization process itself'",
    kind=sc.INEQUALITY,
    says=r"If **every inner label 2, …, r − 1 occurs**, all minimisers of IMC have b_1 ≤ … ≤ b_{r−1}, for any scores f and so for the "
    r"best: the largest of the best b_j is at most the smallest of the best b_{j+1}. (Random scores with ties, r ≤ 5; the intervals of "
    r"best thresholds and the slope of L_{j+1} − L_j exactly.)",
    instances=scores,
    knobs={"implicit": True},
    mutants={"hinges of EXC": {"implicit": False}},
    note="The losses L_j of b_j and L_{j+1} of b_{j+1} differ in the points of label j + 1 only: for t = f − b the difference is t + "
    "max(−γ, min(t, γ)), which falls in b with slope ≤ −1 a point. So exchanging b_j > b_{j+1} would lower L_j + L_{j+1}. If label j + 1 "
    "does not occur L_j = L_{j+1}: some minimiser is in order, others may not be.",
)
def order_emerges(f: list[Fraction], labels: list[int], classes: int, gamma: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Intervals of best thresholds; the slope of the difference."""
    intervals = [best(f, labels, gamma, j, trial["implicit"]) for j in range(1, classes)]
    for (_, high), (low, _) in pairwise(intervals):
        yield sc.at_most(high, low, "largest best b_j, smallest best b_{j+1}")
    kinks = sorted({v + side * gamma for v in f for side in (-1, 1)})
    for v in set(f):
        fall = [max(gamma + v - b, ZERO) - max(gamma - v + b, ZERO) for b in kinks]
        for (one, two), (left, right) in zip(pairwise(fall), pairwise(kinks), strict=True):
            yield sc.at_least(one - two, right - left, "L_{j+1} − L_j falls")


def anywhere(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Scores and thresholds in quarters, in no order, r ≤ 5, Δ = 0 among them; both kinds of γ."""
    for _ in range(trial.count(150, 1000)):
        classes = int(trial.rng.integers(2, 6))
        b = [Fraction(int(v), 4) for v in trial.rng.integers(-8, 9, size=classes - 1)]
        f, g = (Fraction(int(v), 4) for v in trial.rng.integers(-12, 13, size=2))
        gamma = Fraction(int(trial.rng.integers(1, 9)), 4)
        yield {"f": f, "other": g, "y": int(trial.rng.integers(1, classes + 1)), "b": b, "gamma": gamma}


@sc.claim(
    "KJ-E3-IMC-useful",
    section=SECTION,
    place="Appendix E.3: 'our model can be easily extended to the IMC formulation', Theorem 13",
    kind=sc.INEQUALITY,
    says=r"Label f by ŷ = 1 + the number of thresholds ≤ f. For **any** thresholds, neither in order nor Δ-spaced, and every γ > 0: **|ŷ "
    r"− y| ≤ h(f, y)/γ** and 1{ŷ ≠ y} ≤ h(f, y)/γ with h of IMC, and |h(f, y) − h(g, y)| ≤ max(y − 1, r − y) |f − g|. (Random scores and "
    r"thresholds, exactly.)",
    instances=anywhere,
    knobs={"share": ONE, "slope": ONE},
    mutants={"h/(2γ)": {"share": HALF}, "slope 9/10": {"slope": Fraction(9, 10)}},
    note="|ŷ − y| is at most the number of thresholds on the wrong side of f, and each of them has a hinge ≥ γ. So the proof of Theorem "
    "13 carries over with r − 1 in the place of the slope 1 and ends at ε_0/γ for both errors, which is simpler than the theorem: no "
    "order, no Δ ≥ γ.",
)
def implicit_loss_bounds_the_error(
    f: Fraction, other: Fraction, y: int, b: list[Fraction], gamma: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Both errors; the slope."""
    found, loss = 1 + sum(f >= each for each in b), hinges(f, y, b, gamma)
    yield sc.at_most(Fraction(abs(found - y)), trial["share"] * loss / gamma, "|ŷ − y|")
    yield sc.at_most(Fraction(int(found != y)), trial["share"] * loss / gamma, "1{ŷ ≠ y}")
    slope = max(y - 1, len(b) + 1 - y)
    yield sc.at_most(abs(loss - hinges(other, y, b, gamma)), trial["slope"] * slope * abs(f - other), "|h(f) − h(g)|")


def admitted(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two points with labels 1 and r, where nothing less is enough; random kernels of rank one to three, two to five labels."""
    for classes in (2, 3, 5):
        for gamma, share in ((ONE, HALF), (HALF, Fraction(1, 10))):
            yield {"classes": classes, "gamma": gamma, "share": share}
    rng = trial.rng
    for _ in range(trial.count(4, 30)):
        size, classes = int(rng.integers(3, 9)), int(rng.integers(2, 6))
        labels = rng.integers(1, classes + 1, size=size).astype(float)
        yield {"factor": rng.normal(size=(size, int(rng.integers(1, 4)))), "labels": labels, "classes": classes,
               "C": float(2.0 ** rng.uniform(-3, 3))}  # fmt: skip


@sc.claim(
    "KJ-E3-IMC-good",
    section=SECTION,
    place="Appendix E.3: 'our model can be easily extended to the IMC formulation', Theorem 14",
    kind=sc.EXISTENCE,
    says=r"A PSD kernel that is (ε_0, γ)-good for the IMC loss of margin 1 is, for all γ_1, ε_1 > 0, (γ_1ε_0 + ε_1, B)-good as a "
    r"similarity for the IMC loss of margin γ_1 with **B = (r − 1)γ_1²/(4ε_1γ²)**, r − 1 times that of Theorem 14 with its best constant, "
    r"and the factor cannot be spared: x = 2γ with label r and mass e = ε_1/((r − 1)γ_1) ≤ 1/2, x = 0 with label 1. (γ_1 = 1; the dual "
    r"weights of the regularised optimum on random kernels, ε_0 and γ of the optimum for 8C, and the least loss of the two points.)",
    instances=admitted,
    resolution=1e-6,
    knobs={"share": 1},
    mutants={"9/10 of B": {"share": Fraction(9, 10)}},
    note="As in KJ-Thm14a-sharp: loss(W') ≤ loss(a) + ‖a‖²/4C for the minimiser of ½‖W‖² + C·loss, and its weights are C times the sum of "
    "r − 1 multipliers in [−1, 1], of the sides of y. On the two points every threshold has the problem of KJ-Thm14b-two for itself.",
)
def good_kernels_for_implicit_thresholds(
    classes: int,
    trial: sc.Trial,
    gamma: Fraction = ONE,
    share: Fraction = HALF,
    factor: Array | None = None,
    labels: Array | None = None,
    C: float = 1.0,
) -> Iterator[sc.Check]:
    """Two points: the least loss within B. Otherwise size and loss of E[wK] for w from the multipliers, against the optimum for 8C."""
    if factor is None or labels is None:
        e, more = share, classes - 1
        bound = trial["share"] * Fraction(more) / (4 * (more * e) * gamma**2)
        reached = 4 * gamma**2 * e * bound  # f at x = 2γ for w = B; each threshold then does best at b = 1, as e ≤ 1/2
        yield sc.at_most(more * e * max(2 - reached, ZERO), more * e, "least loss against ε_1, ε_0 = 0")
        return
    alpha, least = _optimum(factor, labels, classes, C)
    yield sc.at_most(float(np.max(np.abs(alpha)) * len(labels)), trial["share"] * (classes - 1) * C, "max |w|", scale=C)
    other, level = _optimum(factor, labels, classes, 8 * C)
    square = float(np.sum((factor.T @ other) ** 2))
    yield sc.at_most(least, level + square / (4 * C), "loss of E[wK] against ε_0 + ε_1")


def _optimum(factor: Array, labels: Any, classes: int, C: float) -> tuple[Array, float]:
    """α with W = Σ α_i Φ(x_i) from multipliers of min C·loss + ½‖W‖², and the loss of W with the thresholds found; of two solvers."""
    problem: Any = IMCOrdinal(factor, labels, classes, bound=Penalty(1.0 / C))
    reached: list[tuple[float, Array, float]] = []
    for name in ("newton", "clarabel"):
        found = solve(problem, name, tol=1e-10)
        if found.point is None or found.multipliers is None:
            continue
        above, below = problem.capped(FLOAT, found.multipliers)
        alpha = C * (problem.sides[1].by_sample(FLOAT, below) - problem.sides[0].by_sample(FLOAT, above))
        W = factor.T @ alpha
        value = float(problem.objective({"w": W, "thresholds": found.point["thresholds"]}))
        reached.append((value, alpha, value - float(W @ W) / (2 * C)))
    _, weights, loss = min(reached, key=lambda each: each[0])
    return weights, loss
