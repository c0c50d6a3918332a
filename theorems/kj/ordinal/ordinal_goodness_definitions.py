r"""Definitions 12, 25 and 26: similarities and kernels that are good for ordinal regression. On finite domains: values of programmes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.solvers.goodness.direct_reduction import direct_reduction_goodness
from simopt.solvers.goodness.ordinal_exact import ExactOrdinal, exact_ordinal_goodness
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, domain, mean, predicted, random_domain
from simopt.theorems.kj.ordinal.ordinal_worlds import label, least_absolute, least_mislabelled, margin_loss
from simopt.theorems.kj.ordinal.theorem_14 import Labelled, kernel_value

SECTION = "ordinal"


def domains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random domains of two to five points with two to four labels, B, γ and Δ."""
    rng = trial.rng
    for _ in range(trial.count(12, 50)):
        classes = int(rng.integers(2, 5))
        made = random_domain(rng, int(rng.integers(2, 6)), targets=range(1, classes + 1))
        yield made | {"classes": classes, "bound": Fraction(int(rng.integers(1, 13)), 2), "gamma": Fraction(int(rng.integers(1, 5)), 2),
                      "delta": Fraction(int(rng.integers(0, 4)), 2)}  # fmt: skip


def labels_of(targets: list[Fraction]) -> list[int]:
    """Labels as whole numbers."""
    return [int(y) for y in targets]


@sc.claim(
    "KJ-Def12",
    section=SECTION,
    place="Definition 12",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, B)-good for ordinal regression if some w: X → [−B, B] and thresholds b_2 ≤ … ≤ b_r (**ordered, b_{r+1} = ∞**, both "
    r"not printed; b_1 = −∞) have E [f − b_y]_γ + [b_{y+1} − f]_γ **≤** ε_0: iff ε_0 ≥ ε_0(B), a minimum on finite domains. For Δ-spaced "
    r"thresholds it equals the largest of γ Σ (a + c) + Δ Σ ν − B Σ_j p_j |Σ_i (a_i − c_i) K(x_i, x_j)| over 0 ≤ a, c ≤ p (a_i = 0 for "
    r"label r, c_i = 0 for label 1) and ν ≥ 0 with Σ_{label j+1} c − Σ_{label j} a + ν_j − ν_{j−1} = 0. It depends on K and B through BK "
    r"only, and γ, Δ, B × s make it s times as large.",
    instances=domains,
    knobs={"reach": ONE},
    mutants={"multipliers at 9B/10": {"reach": Fraction(9, 10)}},
    note="Weights, thresholds and multipliers of every instance are found, and judged here by their formulas in fractions. Without order "
    "see KJ-Def12-order.",
)
def value_of_a_programme(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    classes: int,
    bound: Fraction,
    gamma: Fraction,
    delta: Fraction,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Weights and thresholds that are admitted, whose loss is the value of admitted multipliers; 2K and B/2; γ, Δ, B × 3."""
    y = labels_of(targets)
    found = exact_ordinal_goodness(gram, y, classes, bound, masses, gamma, delta)
    yield sc.at_most(max(map(abs, found.weights)), bound, "max |w|")
    for one, two in pairwise(found.thresholds):
        yield sc.at_least(two - one, delta, "spacing")
    f = predicted(masses, gram, found.weights)
    loss = mean(masses, [margin_loss(v, k, found.thresholds, gamma) for v, k in zip(f, y, strict=True)])
    yield from _admitted(found, y, masses)
    value = _dual(gram, gamma, delta, masses, found, trial["reach"] * bound)
    yield sc.equal(loss, value, "loss of (w, b), and value of (a, c, ν)")
    doubled = exact_ordinal_goodness([[2 * k for k in row] for row in gram], y, classes, bound / 2, masses, gamma, delta)
    yield sc.equal(doubled.value, loss, "2K and B/2")
    tripled = exact_ordinal_goodness(gram, y, classes, 3 * bound, masses, 3 * gamma, 3 * delta)
    yield sc.equal(tripled.value, 3 * loss, "γ, Δ, B × 3")


def _admitted(exact: ExactOrdinal, y: list[int], masses: list[Fraction]) -> Iterator[sc.Check]:
    """Caps, signs and balance of the multipliers."""
    count = len(exact.thresholds)
    for a, c, p, k in zip(exact.above, exact.below, masses, y, strict=True):
        yield sc.at_most(max(a - (p if k <= count else 0), c - (p if k > 1 else 0)), 0, "a, c ≤ p")
        yield sc.at_least(min(a, c), 0, "a, c ≥ 0")
    order = [ZERO, *exact.order, ZERO]
    for j in range(1, count + 1):
        up = sum((c for c, k in zip(exact.below, y, strict=True) if k == j + 1), ZERO)
        down = sum((a for a, k in zip(exact.above, y, strict=True) if k == j), ZERO)
        yield sc.equal(up - down + order[j] - order[j - 1], ZERO, "balance")
    if exact.order:
        yield sc.at_least(min(exact.order), 0, "ν ≥ 0")


def _dual(gram: list[list[Fraction]], gamma: Fraction, delta: Any, masses: Any, exact: ExactOrdinal, bound: Fraction) -> Fraction:
    """γ Σ (a + c) + Δ Σ ν − B Σ_j p_j |Σ_i (a_i − c_i) K_ij|."""
    q = [a - c for a, c in zip(exact.above, exact.below, strict=True)]
    pull = [abs(sum((v * row[j] for v, row in zip(q, gram, strict=True)), ZERO)) for j in range(len(q))]
    fixed = gamma * sum((a + c for a, c in zip(exact.above, exact.below, strict=True)), ZERO)
    return Fraction(fixed + delta * sum(exact.order, ZERO) - bound * mean(masses, pull))


def polarised(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K ≡ 1 on three points with labels 1, 2, 3 and masses 9/20, 1/10, 9/20; γ = 1, 2, and spacings up to 2γ."""
    p = [Fraction(9, 20), Fraction(1, 10), Fraction(9, 20)]
    for gamma, delta in ((ONE, ONE), (ONE, Fraction(2)), (Fraction(2), Fraction(2)), (Fraction(2), Fraction(4))):
        made = domain(p, [[1] * 3] * 3, [1, 2, 3], gamma=gamma, delta=delta, classes=3, bound=Fraction(4), labels=3)
        yield made | {"shares": {1: p[0], 2: p[1], 3: p[2]}}


@sc.claim(
    "KJ-Def12-order",
    section=SECTION,
    place="Definition 12 and Theorem 13, ours: thresholds without order",
    kind=sc.COUNTEREXAMPLE,
    says=r"Taken literally, without b_2 ≤ b_3 ('Δ-spaced' is |b_i − b_{i+1}| ≥ Δ), ε_0 is smaller and Theorem 13 fails **also for γ ≥ 1 "
    r"and Δ ≥ γ**: K ≡ 1, labels 1, 2, 3 with chances 9/20, 1/10, 9/20, f = 0, b_2 = γ, b_3 = −γ. The loss is 2γ/5, while no ordered "
    r"thresholds have less than 11γ/10; the theorem promises a mislabelling of 2/5 and an ordinal error of 1 + (2γ/5 − γ)/Δ, "
    r"but every learner mislabels 11/20 and has an ordinal error ≥ 9/10.",
    instances=polarised,
    exhaustive=True,
    knobs={"sign": -1},
    mutants={"b_3 = γ": {"sign": 1}},
    note="In order, with any f, the loss is ≥ 9(2γ + b_3 − b_2)/20 + (2γ − b_3 + b_2)/10 ≥ 11γ/10. So order belongs to the definition "
    "(H5); E.3 says that the EXC programme imposes it, the definition does not. Theorem 14 holds either way.",
)
def thresholds_out_of_order(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    gamma: Fraction,
    delta: Fraction,
    classes: int,
    bound: Fraction,
    labels: int,
    shares: dict[int, Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Both losses; what every learner does, since K does not tell the points apart."""
    b = [gamma, trial["sign"] * gamma]
    loss = mean(masses, [margin_loss(ZERO, y, b, gamma) for y in (1, 2, 3)])
    yield sc.equal(loss, 2 * gamma / 5, "loss without order")
    yield sc.at_least(abs(b[0] - b[1]), delta, "|b_2 − b_3|")
    ordered = exact_ordinal_goodness(gram, labels_of(targets), classes, bound, masses, gamma, delta)
    yield sc.at_least(ordered.value, 11 * gamma / 10, "least loss with order")
    yield sc.at_least(least_mislabelled(shares), loss / gamma, "least mislabelling of any learner", strict=True)
    yield sc.at_least(least_absolute(shares, labels), 1 + (loss - gamma) / delta, "least ordinal error of any learner", strict=True)


def spacings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for thresholds in order; then (0, Δ, 0), which is out of order."""
    yield {}
    yield {"b": [ZERO, ONE, ZERO], "delta": ONE}


def ordered(trial: sc.Trial) -> Iterator[sc.Instance]:
    """(0, 1, 2), in order."""
    yield {"b": [ZERO, ONE, Fraction(2)], "delta": ONE}


@sc.claim(
    "KJ-spaced",
    section=SECTION,
    place="Section 3.3 and Appendix E.2: Δ-spaced, defined twice",
    kind=sc.DEFINITION,
    says=r"'Δ-spaced' is |b_i − b_j| ≥ Δ for **all** i ≠ j in Section 3.3, for **neighbours** j = i + 1 in E.2. The first implies the "
    r"second. For thresholds **in order** they are the same: if b_j − b_i = Δ + s, s ≥ 0, and the next gap is Δ + t, t ≥ 0, then b_{j+1} "
    r"− b_i − Δ = s + Δ + t ≥ 0. Without order they are not: neighbours of (0, 1, 0) are 1 apart, but two of the three coincide. (In "
    r"symbols, by induction; the example.)",
    instances=spacings,
    exhaustive=True,
    knobs={},
    mutants={"(0, 1, 2)": {"instances": ordered}},
    note="The paper imposes no order, in neither place; that order is needed anyway is KJ-Def12-order. b_1 = −∞ is far from all others.",
)
def both_spacings(trial: sc.Trial, b: Sequence[Fraction] = (), delta: Fraction = ONE) -> Iterator[sc.Check]:
    """The step of the induction; the neighbours of the example and the two that coincide."""
    if not b:
        s, t, spacing = sc.symbols("s t delta")
        yield sc.equal((spacing + s) + (spacing + t) - spacing, s + spacing + t, "b_{j+1} − b_i − Δ")
        return
    thresholds, spacing = sc.inputs(b=b, delta=delta)
    for one, two in pairwise(thresholds):
        yield sc.at_least(abs(two - one), spacing, "neighbours")
    yield sc.at_most(sc.minimum(*(abs(x - y) for x, y in combinations(thresholds, 2))), spacing, "all pairs", strict=True)


def reductions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Diagonal similarities, at bounds where a threshold is just reached and just not; random ones."""
    masses = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    diagonal = [[2, 0, 0], [0, -1, 0], [0, 0, 6]]
    for bound in ("9/10", "1", "2", "5", "6", "9"):
        for offset in (ONE, HALF):
            yield domain(masses, diagonal, [2, 3, 4], bound=Fraction(bound), classes=4, offset=offset, kind="diagonal")
    rng = trial.rng
    for _ in range(trial.count(5, 20)):
        classes = int(rng.integers(2, 4))
        made = random_domain(rng, int(rng.integers(2, 5)), targets=range(1, classes + 1))
        yield made | {"classes": classes, "bound": Fraction(int(rng.integers(1, 9))), "offset": HALF, "kind": "any"}


@sc.claim(
    "KJ-Def25",
    section=SECTION,
    place="Definition 25",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, B)-good by direct reduction if some w: X → [−B, B] has E |y_f − y| **≤** ε_0, y_f the largest i with f ≥ b_i, "
    r"thresholds fixed: iff ε_0 ≥ ε_0(B), a minimum on finite domains, found by enumeration of the cells b_k ≤ f < b_{k+1}, each decided "
    r"by an exact linear programme. It falls in B, in steps: for diagonal K it is Σ p_i times the distance of y_i to the labels that "
    r"|f_i| ≤ B p_i|K_ii| leaves. (b_i = i − 1 and i − ½.)",
    instances=reductions,
    knobs={"reached": True},
    mutants={"f > b_i": {"reached": False}},
    note="Not convex in B: no convex programme has this value. A constant f is always to be had for B = 0, label 1.",
)
def least_error_by_reduction(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    bound: Fraction,
    classes: int,
    offset: Fraction,
    kind: str,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The error of the weights found; its closed form, or random weights and 2B against it."""
    y, b = labels_of(targets), [i - offset for i in range(2, classes + 1)]

    def error(w: Sequence[Fraction]) -> Fraction:
        f = predicted(masses, gram, w)
        return mean(masses, [Fraction(abs(label(v, b) - k)) for v, k in zip(f, y, strict=True)])

    found = direct_reduction_goodness(gram, y, classes, bound, b, masses)
    yield sc.at_most(max(map(abs, found.weights)), bound, "max |w|")
    yield sc.equal(error(found.weights), found.value, "error of w")
    if kind == "diagonal":
        far = [bound * p * abs(row[i]) for i, (p, row) in enumerate(zip(masses, gram, strict=True))]
        tops = [label(v, b) if trial["reached"] else 1 + sum(v > x for x in b) for v in far]
        yield sc.equal(found.value, mean(masses, [Fraction(max(k - top, 0)) for k, top in zip(y, tops, strict=True)]), "closed form")
        return
    for _ in range(5):
        w = [bound * Fraction(int(v), 8) for v in trial.rng.integers(-8, 9, size=len(y))]
        yield sc.at_most(found.value, error(w), "random weights")
    yield sc.at_most(direct_reduction_goodness(gram, y, classes, 2 * bound, b, masses).value, found.value, "2B")


def kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random kernels of rank one to three on three to eight points, labels 1 to 3."""
    rng = trial.rng
    for _ in range(trial.count(5, 20)):
        size, rank = int(rng.integers(3, 9)), int(rng.integers(1, 4))
        yield {"factor": rng.normal(size=(size, rank)), "labels": rng.integers(1, 4, size=size).astype(float), "classes": 3,
               "masses": rng.dirichlet(np.ones(size)), "delta": float(rng.choice([0.0, 2.5]))}  # fmt: skip


@sc.claim(
    "KJ-Def26",
    section=SECTION,
    place="Definition 26",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, γ)-good for ordinal regression if E [b_y + 1 − ⟨W*, Φ(x)⟩/γ]_+ + [⟨W*, Φ(x)⟩/γ − b_{y+1} + 1]_+ **≤** ε_0 for some "
    r"**‖W*‖ ≤ 1** (printed: < and =) and thresholds, **ordered**, b_1 = −∞, **b_{r+1} = ∞**. So read, the least ε_0 is the value of a "
    r"second-order cone programme in (W, b), falls as γ falls, and is convex in 1/γ; larger spacing costs more. (Certified on random "
    r"kernels, γ = 2, 1, 2/3, 1/2, 1/4.)",
    instances=kernels,
    resolution=1e-7,
    knobs={"half": 0.5},
    mutants={"9/20 of the sum at the ends": {"half": 0.45}},
    note="All proofs use ‖W*‖ ≤ 1 only; see KJ-Def4 and KJ-H2 for '=' and '<'. The formulation EXC is that of [16] (Chu & Keerthi), which "
    "the text attributes to [17].",
)
def goodness_at_a_margin(factor: Array, labels: Array, classes: int, masses: Array, delta: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """Monotone in 1/γ, convex at the equally spaced 1/γ = 1/2, 1, 3/2, 2, and monotone in the spacing."""
    here = Labelled(factor, labels, classes, masses)
    values = [kernel_value(here, gamma, delta) for gamma in (2.0, 1.0, 2.0 / 3.0, 0.5, 0.25)]
    for wide, narrow in pairwise(values):
        yield sc.at_most(narrow, wide, "a smaller margin")
    for low, middle, high in zip(values[:2], values[1:3], values[2:4], strict=True):
        ends = sc.between(trial["half"] * (low.low + high.low), trial["half"] * (low.high + high.high))
        yield sc.at_most(middle, ends, "convex in 1/γ")
    yield sc.at_most(values[1], kernel_value(here, 1.0, delta + 1.0), "a larger spacing")
