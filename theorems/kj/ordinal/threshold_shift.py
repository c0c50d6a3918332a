r"""Theorem 13 by a common random shift of all thresholds: the mislabelling error is ≤ ε_0/2γ, the ordinal error ≤ ε_0/min(2γ, Δ).

Scores f and thresholds b with margin loss h; the label is that of f + u. With u uniform on [−c, c], threshold b_j is passed with chance
min(max(1/2 + (f − b_j)/2c, 0), 1). One draw of u serves all points; of finitely many shifts a hold-out finds one that is as good.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

from simopt.claims import *
from simopt.ground.arrays import Array
from simopt.theorems.kj.ordinal.ordinal_worlds import (
    HALF,
    ONE,
    ZERO,
    Numbers,
    goodness,
    label,
    least_mislabelled,
    margin_loss,
    one_cell,
    random_cells,
    spaced,
)
from simopt.theorems.kj.ordinal.randomised_rounding import best_lines, guaranteed, rounded

SECTION = "ordinal"
Chances = dict[int, Fraction]


def law(f: Fraction, thresholds: Numbers, reach: Fraction, spread: Fraction = ONE) -> Chances:
    """Chances of the labels of f + u: u uniform on [−reach, reach] with mass `spread`, 0 with the rest."""
    chances = {label(f, thresholds): ONE - spread if reach > 0 else ONE}
    if reach > 0:
        cuts = sorted({-reach, reach, *(b - f for b in thresholds if abs(b - f) < reach)})
        for low, high in pairwise(cuts):
            y = label(f + (low + high) / 2, thresholds)
            chances[y] = chances.get(y, ZERO) + spread * (high - low) / (2 * reach)
    return chances


def mislabelled(chances: Chances, y: int) -> Fraction:
    """P(ŷ ≠ y)."""
    return ONE - chances.get(y, ZERO)


def absolute(chances: Chances, y: int) -> Fraction:
    """E |ŷ − y|."""
    return sum((p * abs(c - y) for c, p in chances.items()), ZERO)


def kinks(trial: Trial) -> Iterator[Instance]:
    """The identities; and, for γ = 1, all pairs of distances x = f − b_{y+1}, z = b_y − f ≤ −x in halves from −3 to 3."""
    yield {}
    for x, z in product(range(-6, 7), repeat=2):
        if x + z <= 0:
            yield {"x": Fraction(x, 2), "z": Fraction(z, 2)}


def _mislabelling(instance: Instance, width: Fraction) -> Iterator[Check]:
    """P(b_{y+1} passed) and P(b_y not passed), both ≤ their hinge over 2γ; u uniform on [−γ·width, γ·width]."""
    if instance:
        x, z = inputs(x=instance["x"], z=instance["z"])
        wrong = sum(minimum(maximum((width + v) / (2 * width), 0), 1) for v in (x, z))
        yield at_most(wrong, (maximum(1 + x, 0) + maximum(1 + z, 0)) / 2, "P(mislabelled)")
        return
    gamma, x = symbols("gamma x")
    passed = (width * gamma + x) / (2 * width * gamma)
    yield equal((gamma + x) / (2 * gamma) - passed, 0 * x, "−γ ≤ x ≤ γ")
    yield equal((gamma + x) / (2 * gamma) - 1, (x - gamma) / (2 * gamma), "x ≥ γ")


@claim(
    "KJ-Thm13a-shift",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, 0-1 error, ours: the best bound",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"For every γ > 0 and all thresholds b_2 ≤ … ≤ b_r, K is **ε_0/2γ**-useful for the mislabelling error: with u uniform on [−γ, "
    r"γ], P_u(y_{f+u} ≠ y) ≤ h/2γ at each point. f + u passes b_{y+1} with chance (γ + x)/2γ, x = f − b_{y+1}, which is [γ + x]_+/2γ for "
    r"|x| ≤ γ; 0 for x ≤ −γ; and 1 = [γ + x]_+/2γ − (x − γ)/2γ for x ≥ γ. The same for b_y. (In symbols; and at the kinks, between and "
    r"beyond.)",
    remains="from points to 'useful': the integral over x and u, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=kinks,
    exhaustive=True,
    knobs={"width": ONE},
    mutants={"u in [−γ/2, γ/2]": {"width": HALF}, "u in [−2γ, 2γ]": {"width": Fraction(2)}},
    note="So ε_0/γ, which the paper's argument gives, is twice too large. It is sharp (KJ-Thm13a-best). That f and b are learned to ε_1: "
    "KJ-Thm13e; the bound is then (ε_0 + ε_1)/2γ.",
)
def shifted_labels(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The pointwise bound."""
    yield from _mislabelling(instance, trial["width"])


@claim(
    "KJ-Thm13a+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, 0-1 error, corrected",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"**If γ ≥ 1/2 and b_2 ≤ … ≤ b_r**, K is (ε_0/γ̄)-useful for the mislabelling error, by the shift of KJ-Thm13a-shift: h/γ̄ − h/2γ "
    r"= h(2γ − γ̄)/2γγ̄, and 2γ − γ̄ is γ for γ ≥ 1 and 2(γ − 1/2) for γ ≤ 1. (In symbols; the pointwise bound as there.)",
    remains="from points to 'useful': the integral over x and u, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=kinks,
    exhaustive=True,
    knobs={"width": ONE, "least": HALF},
    mutants={"γ ≥ 1/3": {"least": Fraction(1, 3)}, "u in [−γ/2, γ/2]": {"width": HALF}},
    corrects="KJ-Thm13a",
    note="For γ ≥ 1 the thresholds as learned are enough; for γ < 1 they are not (KJ-Thm13a-plain), and for γ < 1/2 no learner is.",
)
def shifted_labels_for_large_margins(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The pointwise bound, and that it is enough."""
    yield from _mislabelling(instance, trial["width"])
    if not instance:
        gamma, larger, h = symbols("gamma larger h")
        yield equal(h / larger - h / (2 * gamma), h * (2 * gamma - larger) / (2 * gamma * larger), "h/γ̄ − h/2γ")
        yield equal(2 * gamma - 1, 2 * (gamma - trial["least"]), "γ̄ = 1")


def rare_labels(trial: Trial) -> Iterator[Instance]:
    """Labels 1 to m equally likely, m + 1 at most as much; f = b_{m+1} − γ; m < N = min(r, ⌊2γ/Δ⌋ + 2), r = 7."""
    for gamma, delta in product((Fraction(1, 10), HALF, Fraction(4)), (ZERO, Fraction(1, 5), ONE, Fraction(3))):
        reached = 7 if delta == 0 else min(7, math.floor(2 * gamma / delta) + 2)
        for m, share in product(range(1, reached), (Fraction(1, 50), HALF, ONE)):
            p = share / (m + share)
            shares = dict.fromkeys(range(1, m + 1), (1 - p) / m) | {m + 1: p}
            yield one_cell(shares, 7, (m - 1) * delta - gamma, gamma, delta)


@claim(
    "KJ-Thm13a-best",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, 0-1 error, ours: ε_0/2γ cannot be improved",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For all γ > 0, Δ ≥ 0, r ≥ 2 and every ε_0 ≤ 2γ(1 − 1/N), N = min(r, ⌊2γ/Δ⌋ + 2), there is a K (≡ 1, every B) on which no "
    r"learner mislabels less than ε_0/2γ: labels 1, …, m < N equally likely, m + 1 with chance p ≤ 1/(m + 1), thresholds Δ apart, f = "
    r"b_{m+1} − γ. For m = 1: y = 2 with chance p = ε_0/2γ ≤ 1/2. (Exactly, for twelve pairs γ, Δ and r = 7.)",
    instances=rare_labels,
    knobs={"times": ONE},
    mutants={"1001/1000": {"times": Fraction(1001, 1000)}},
    note="The shift puts no mass on m + 1, whose h is 2γ, and all thresholds b_2, …, b_{m+1} are within γ of f. Without spacing ε_0/2γ is "
    "sharp up to 1 − 1/r; with spacing the best bound for larger ε_0 is left open.",
    cost=0.3,
)
def no_learner_does_better(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The least mislabelling of any learner."""
    bound = trial["times"] * goodness(instance) / (2 * instance["gamma"])
    yield at_least(least_mislabelled(instance), bound, "mislabelling of every learner")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm13b-shift",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: by a shift",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"For all γ, Δ > 0 and thresholds **b_{j+1} ≥ b_j + Δ**, K is **ε_0/min(2γ, Δ)**-useful for the absolute error: D = min(2γ, Δ), u "
    r"uniform on [−D/2, D/2], E_u |y_{f+u} − y| ≤ h/D at each point. Let f be above b_{y+1} by x = jΔ − D/2 + t, j ≥ 0 whole, 0 ≤ t ≤ Δ "
    r"(for x ≤ −D/2 it is never passed). Gaps ≥ Δ ≥ D: at most j + min(t/D, 1) thresholds are passed on average, and (γ + x)/D is that + "
    r"j(Δ − D)/D + (γ − D/2)/D + max(t/D − 1, 0). Below b_y the same. (In symbols.)",
    remains="from points to 'useful': the number of thresholds passed on average, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=once,
    exhaustive=True,
    knobs={"width": ONE},
    mutants={"D = 2 min(2γ, Δ)": {"width": Fraction(2)}},
    note="Sharp for Δ ≥ 2γ and ε_0 ≤ γ; everywhere the best bound is that of KJ-Thm13b-rounding.",
)
def shifted_labels_in_order(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both cases; D = Δ − s = 2γ − v with s, v ≥ 0."""
    D, s, v, j, t = symbols("D s v j t")
    unit = trial["width"] * D
    gamma, delta = (D + v) / 2, D + s
    hinge = (gamma + j * delta - D / 2 + t) / unit
    rest = j * s / D + v / (2 * D)
    yield equal(hinge, j + t / D + rest, "t ≤ D")
    yield equal(hinge, j + 1 + rest + (t - D) / D, "t ≥ D")


def worlds(trial: Trial) -> Iterator[Instance]:
    """Random thresholds, spacings and margins, one to three cells with chances of the labels."""
    for k in range(trial.count(60, 600)):
        yield random_cells(trial.rng, 1 + k % 3)


def decoded(point: Array, trial: Trial) -> Instance:
    """One point of r ≤ 5 labels, γ ∈ (0, 2], Δ ∈ (0, 4], one gap wider, f from below b_2 to above b_r; or two labels equally likely."""
    u = [Fraction(round(64 * float(value)), 64) for value in point]
    gamma, delta, labels = 2 * u[0] + Fraction(1, 32), 4 * u[1] + Fraction(1, 32), 2 + min(3, int(4 * u[2]))
    b = spaced(labels, delta)
    wider = [v + (2 * u[3] - 1 if 2 * u[3] > 1 and i > 0 else 0) for i, v in enumerate(b)]
    f = -gamma + u[4] * (wider[-1] + 2 * gamma)
    first, second = min(labels - 1, int(labels * u[5])), min(labels - 1, int(labels * u[6]))
    chances = [HALF * ((i == first) + (i == second)) for i in range(labels)]
    return {"masses": [ONE], "f": [f], "chances": [chances], "thresholds": wider, "gamma": gamma, "delta": delta, "labels": labels}


@claim(
    "KJ-Thm13-worlds",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ours: attacked",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"On random problems of several cells, with Δ-spaced thresholds of unequal gaps, r ≤ 6 labels and rational γ, Δ: the "
    r"mislabelling error of the shift in [−γ, γ] is ≤ ε_0/2γ; the absolute error of the shift in [−D/2, D/2] is ≤ ε_0/D, D = min(2γ, Δ), "
    r"and that of random rounding ≤ α + κε_0 for the lines of KJ-Thm13b-rounding; where Δ ≥ max{γ̄, 2(γ̄ − γ)} that of the shift with "
    r"density 1/Δ on |u| ≤ γ̄ − γ ≤ ψ; and the least error within cells is ≤ φ(ε_0). (Labels of f + u by the rule itself, integrated "
    r"exactly over u; attacked.)",
    instances=worlds,
    decode=decoded,
    dimension=7,
    evaluations=(150, 3000),
    knobs={"reach": ONE},
    mutants={"shifts half as wide": {"reach": HALF}},
    note="γ < 1/2 and Δ ≥ 2(1 − γ) is among them; there the proof is KJ-Thm13b+.",
    cost=1.5,
)
def learners_keep_the_bounds(instance: Instance, trial: Trial) -> Iterator[Check]:
    """All learners, all bounds, in exact arithmetic."""
    gamma, delta, labels, b = (instance[key] for key in ("gamma", "delta", "labels", "thresholds"))
    larger, reach, D = max(gamma, ONE), trial["reach"], min(2 * gamma, delta)
    value = ZERO
    for f, y, p in _cases(instance):
        value += p * margin_loss(f, y, b, gamma)
    yield at_most(_risk(instance, lambda f: law(f, b, reach * gamma), mislabelled), value / (2 * gamma), "mislabelled, shift")
    yield at_most(_risk(instance, lambda f: law(f, b, reach * D / 2), absolute), value / D, "absolute, shift")
    for alpha, kappa in best_lines(gamma, delta, labels):
        found = _risk(instance, partial(rounded, thresholds=b, gamma=gamma, alpha=alpha, kappa=kappa), absolute)
        yield at_most(found, alpha + kappa * value, "absolute, rounding")
    if delta >= max(larger, 2 * (larger - gamma)):
        wide = larger - gamma
        found = _risk(instance, lambda f: law(f, b, wide, 2 * wide / delta), absolute)
        yield at_most(found, 1 + (value - larger) / delta, "absolute, ψ")
    yield at_most(_within_cells(instance), guaranteed(value, gamma, delta, labels), "absolute, best within cells")


def _cases(instance: Instance) -> Iterator[tuple[Fraction, int, Fraction]]:
    """f, y and their probability."""
    for mass, f, chances in zip(instance["masses"], instance["f"], instance["chances"], strict=True):
        yield from ((f, y, mass * p) for y, p in enumerate(chances, start=1) if p > 0)


def _risk(instance: Instance, predicted: Callable[[Fraction], Chances], cost: Callable[[Chances, int], Fraction]) -> Fraction:
    laws = {f: predicted(f) for f in set(instance["f"])}
    return sum((p * cost(laws[f], y) for f, y, p in _cases(instance)), ZERO)


def _within_cells(instance: Instance) -> Fraction:
    """Least absolute error of labels that are constant on cells."""
    left = ZERO
    for mass, chances in zip(instance["masses"], instance["chances"], strict=True):
        left += mass * min(sum((p * abs(c - y) for y, p in enumerate(chances)), ZERO) for c in range(len(chances)))
    return left
