r"""Theorem 14: kernels that are good for ordinal regression are good similarities with B = O(γ_1²/(ε_1γ²)); some need that order.

The paper has B = γ_1²/(ε_1γ²); a quarter of it will do. The kernel's ε_0(γ) is the value of a second-order cone programme in (W, b), the
similarity's ε_0(B) that of a linear one in (w, b), both between certified bounds.

The proof (Appendix E.3) on regularised problems whose solution is known exactly: min ½‖W‖² + C E [b_y + 1 − f]_+ + [f − b_{y+1} + 1]_+. W'
= Σ (α_i − α_i*) Φ(x_i) and b are optimal iff two conditions hold. 0 ≤ α_i, α_i* ≤ p_iC, each at its end where its hinge is not at the kink.
And Σ α over label j + 1 equals Σ α* over label j for every threshold between. So draw α, α* ∈ {0, p_iC} that balance, and K = AᵀA/s in
rationals. Keep the draw if thresholds exist that fit the predictions f = K(α − α*): for each j an interval.

Second part, exact least bounds, with e = ε_1/γ_1: the paper's four points x = (±γ, ±γ, √(1 − 2γ²)), masses e, ½ − e, ½ − e, e, labels 2,
2, 1, 1. And two points on a line, x = 2γ with label 2 and mass e, x = 0 with label 1. On them the least B is as large as it ever is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.ordinal_exact import exact_ordinal_bound
from simopt.theorems.kj.goodness.admissible_weights import mapped, squared_norm
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, Numbers, domain, mean, point_and_origin, simplex_value
from simopt.theorems.kj.goodness.kernel_margin import cone_value
from simopt.theorems.kj.goodness.theorem_6 import (
    LEVELS,
    MARGINS,
    SIGNS,
    both_pairs_need,
    inner_products,
    light_pair_needs,
    loss_in_symbols,
    predicted_in_symbols,
    where_the_needs_meet,
)
from simopt.theorems.kj.ordinal.ordinal_worlds import margin_loss

SECTION = "ordinal"
RATIOS = LEVELS  # ε_1/γ_1
SCALES = [Fraction(v) for v in ("1/3", "1", "5/2")]  # γ_1


class Labelled(NamedTuple):
    """Points A with K = AAᵀ, their labels 1 to `classes`, and masses."""

    factor: Array
    labels: Array
    classes: int
    masses: Array


class Tight(NamedTuple):
    """A domain, γ, γ_1 and e = ε_1/γ_1; some with W* = e_1, its values at the points and b_2; the length M of a cross."""

    masses: Sequence[Fraction]
    gram: Sequence[list[Fraction]]
    targets: Sequence[Fraction]
    gamma: Fraction
    gamma_1: Fraction
    share: Fraction
    classes: int
    first: Sequence[Fraction] = ()
    threshold: Fraction = ZERO
    norm: Fraction = ONE
    M: int = 1


def kernel_value(here: Labelled, gamma: float, delta: float = 0.0) -> sc.Enclosure:
    """Certified bounds on min over ‖W‖ ≤ 1/γ and Δ-spaced b of the loss of margin 1."""
    A = here.factor
    problem = KernelOrdinalGoodness(A @ A.T, here.labels, here.classes, gamma, here.masses, delta)
    return cone_value(problem)


def similarity_value(here: Labelled, gamma_1: float, delta: float, bound: float) -> sc.Enclosure:
    """Certified bounds on ε_0(B) of the same Gram matrix, γ_1-margin loss."""
    A = here.factor
    return simplex_value(OrdinalGoodness(A @ A.T, here.labels, here.classes, bound, here.masses, gamma_1, delta))


def _admitted(here: Labelled, gamma: float, gamma_1: float, epsilon_1: float, delta: float, constant: float) -> sc.Check:
    kernel = kernel_value(here, gamma, delta / gamma_1)
    value = similarity_value(here, gamma_1, delta, constant * gamma_1**2 / (epsilon_1 * gamma**2))
    allowed = sc.between(gamma_1 * kernel.low + epsilon_1, gamma_1 * kernel.high + epsilon_1)
    return sc.at_most(value, allowed, "ε_0(B) against γ_1ε_0(γ) + ε_1", scale=epsilon_1)


def on_two_points(gamma: float, ratio: float, gamma_1: float, lost: float = 0.0) -> sc.Instance:
    """The two points of KJ-Thm14b-two, ε_1 = γ_1·share; a mass `lost` of the origin has label 2."""
    return {"factor": np.array([[2.0 * gamma], [0.0], [0.0]]), "labels": np.array([2.0, 1.0, 2.0]), "classes": 2,
            "masses": np.array([ratio, 1.0 - ratio - lost, lost]), "gamma": gamma, "gamma_1": gamma_1, "epsilon_1": ratio * gamma_1,
            "delta": 0.0}  # fmt: skip


def kernels(trial: sc.Trial) -> Iterator[sc.Instance]:
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


HEADER: dict[str, Any] = {
    "paper": sc.KAR_JAIN,
    "section": SECTION,
    "kind": sc.EXISTENCE,
    "expected": sc.HOLDS,
    "instances": kernels,
    "resolution": 1e-6,
}


@sc.claim(
    "KJ-Thm14a",
    place="Theorem 14 (27), first part",
    says=r"Every PSD kernel that is (ε_0, γ)-good for an ordinal regression problem (‖W*‖ ≤ 1, loss ≤ ε_0 at margin 1) is, for all γ_1, "
    r"ε_1 > 0, (γ_1ε_0 + ε_1, B)-good as a similarity for the γ_1-margin loss with B = O(γ_1²/(ε_1γ²)); E.3 has B = γ_1²/(ε_1γ²). With "
    r"thresholds Δ/γ_1 apart there, Δ apart here. (Finite domains: SOCP in (W, b) for ε_0(γ), LP in (w, b) for ε_0(B), both certified.)",
    knobs={"constant": 1.0},
    mutants={"B = γ_1²/(5ε_1γ²)": {"constant": 0.2}},
    note="Not sharp: a quarter of it will do (KJ-Thm14a-sharp). It needs no bound on K(x, x), and no order of the thresholds: the proof "
    "never moves them.",
    **HEADER,
)
def good_kernels_are_good_similarities(
    factor: Array,
    labels: Array,
    classes: int,
    masses: Array,
    gamma: float,
    gamma_1: float,
    epsilon_1: float,
    delta: float,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """ε_0(B) ≤ γ_1ε_0(γ) + ε_1, in units of ε_1."""
    yield _admitted(Labelled(factor, labels, classes, masses), gamma, gamma_1, epsilon_1, delta, trial["constant"])


def smallest(here: Tight) -> Fraction:
    """The smallest B with ε_0(B) ≤ ε_1 = e γ_1."""
    labels, level = [int(y) for y in here.targets], here.share * here.gamma_1
    found = exact_ordinal_bound(here.gram, labels, here.classes, level, here.masses, here.gamma_1)
    if found is None:
        raise ArithmeticError("no B does")
    return found[0]


def in_units(here: Tight) -> Fraction:
    """γ_1²/(ε_1γ²)."""
    return here.gamma_1 / (here.share * here.gamma**2)


def margins(here: Tight) -> Iterator[sc.Check]:
    """W* = e_1: f/γ − b_2 ≥ 1 for label 2, b_2 − f/γ ≥ 1 for label 1."""
    for x, y in zip(here.first, here.targets, strict=True):
        side = 1 if y == 2 else -1
        yield sc.at_least(side * (x / here.gamma - here.threshold), 1, "margin of W*")


def four_points(gamma: Fraction, e: Fraction, gamma_1: Fraction) -> sc.Instance:
    """The paper's instance."""
    made = domain([e, HALF - e, HALF - e, e], inner_products(gamma**2), [2, 2, 1, 1], gamma=gamma, gamma_1=gamma_1, share=e)
    return made | {"first": [a * gamma for a, _ in SIGNS], "threshold": ZERO, "norm": ONE, "classes": 2}


def two_points(gamma: Fraction, e: Fraction, gamma_1: Fraction) -> sc.Instance:
    """x = 2γ, label 2, mass e, and x = 0, label 1: W = 1/γ and b_2 = 1 have margins 1."""
    made = point_and_origin(e, 4 * gamma**2, [2, 1], gamma=gamma, gamma_1=gamma_1, share=e)
    return made | {"first": [2 * gamma, ZERO], "threshold": ONE, "norm": ONE, "classes": 2}


def tight_instances(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Four points for γ ≤ 1/√2; two points beyond."""
    shares = RATIOS if trial.count(0, 1) else RATIOS[::2]
    for gamma, e in product(MARGINS, shares):
        yield four_points(gamma, e, SCALES[len(shares) % 3])
    for gamma, e, gamma_1 in product((Fraction(3, 4), Fraction(4)), shares[::2], SCALES[:2]):
        yield two_points(gamma, e, gamma_1)


@sc.claim(
    "KJ-Thm14b",
    section=SECTION,
    place="Theorem 14, second part",
    kind=sc.TIGHTNESS,
    says=r"For every ε_1 < γ_1/2 and γ > 0 there are an ordinal regression problem and a kernel that is (0, γ)-good for it (**loss ≤ "
    r"0**), but (ε_1, B)-good as a similarity for the γ_1-margin loss only for B = Ω(γ_1²/(ε_1γ²)); E.3 has B ≥ γ_1²/(8ε_1γ²). (The "
    r"paper's four points for γ ≤ 1/√2, where they exist; two points for larger γ. Smallest B in fractions, thresholds free.)",
    instances=tight_instances,
    knobs={"c": Fraction(1, 8)},
    mutants={"c = 1/7": {"c": Fraction(1, 7)}},
    note="As in Theorem 6: 'loss < 0', which Definition 26 prints, is impossible; the four points do not exist for γ > 1/√2; the proof "
    "has w_4 − w_1 where w_1 − w_4 is right. The four points attain 1/8 iff ε_1 ≤ γ_1/6 (KJ-Thm14b-least); the two points have 1/4 "
    "throughout, which is best (KJ-Thm14b-two, KJ-Thm14a-sharp).",
)
def weights_must_be_large(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Margins of W* at γ, and the smallest B."""
    here = Tight(**instance)
    yield from margins(here)
    yield sc.at_least(smallest(here), trial["c"] * in_units(here), "smallest B")


def beta(alpha: list[Fraction], alpha_star: list[Fraction]) -> Numbers:
    """α − α*."""
    return [a - b for a, b in zip(alpha, alpha_star, strict=True)]


def interval(labels: Any, alpha: list[Fraction], alpha_star: list[Fraction], f: Numbers, j: int) -> tuple[Fraction, Fraction]:
    """Ends of the b between labels j and j + 1 that α and α* admit: α_i = p_iC asks for f_i ≤ b + 1, 0 for f_i ≥ b + 1; likewise α*."""
    low, high = Fraction(-(10**6)), Fraction(10**6)
    for y, value, full, full_star in zip(labels, f, alpha, alpha_star, strict=True):
        if y == j + 1:
            low, high = (max(low, value - 1), high) if full else (low, min(high, value - 1))
        elif y == j:
            low, high = (low, min(high, value + 1)) if full_star else (max(low, value + 1), high)
    return low, high


def draw(rng: np.random.Generator) -> sc.Instance | None:
    """One draw, or None where it does not balance or no thresholds fit."""
    size, classes = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    labels = [int(y) for y in rng.integers(1, classes + 1, size=size)]
    full = [y > 1 and bool(rng.integers(0, 2)) for y in labels]
    full_star = [y < classes and bool(rng.integers(0, 2)) for y in labels]
    if not any(full):
        return None
    for j in range(1, classes):
        if sum(a for a, y in zip(full, labels, strict=True) if y == j + 1) != sum(
            a for a, y in zip(full_star, labels, strict=True) if y == j
        ):
            return None
    factor = rng.integers(-2, 3, size=(int(rng.integers(1, 4)), size))
    scale = int(2 ** rng.integers(0, 5))
    gram = [[Fraction(int(k), scale) for k in row] for row in factor.T @ factor]
    C = Fraction(int(rng.integers(1, 9)), 2)
    alpha, alpha_star = ([C / size * int(on) for on in chosen] for chosen in (full, full_star))
    difference = beta(alpha, alpha_star)
    f = mapped(gram, difference)
    thresholds = []
    for j in range(1, classes):
        low, high = interval(labels, alpha, alpha_star, f, j)
        if low > high:
            return None
        thresholds.append((low + high) / 2 if max(-low, high) < 10**5 else low if low > -(10**5) else high)
    others = [[Fraction(int(v), 4) for v in rng.integers(-4, 5, size=size)] for _ in range(4)]
    others += [[2 * b for b in difference], [3 * b / 2 for b in difference]]
    moved = [[b + Fraction(int(v), 2) for b, v in zip(thresholds, rng.integers(-2, 3, size=classes - 1), strict=True)] for _ in others]
    return {"masses": [Fraction(1, size)] * size, "gram": gram, "labels": labels, "C": C, "alpha": alpha, "alpha_star": alpha_star,
            "thresholds": thresholds, "others": others, "moved": moved}  # fmt: skip


def two_points_with_optimum(gamma: Fraction, e: Fraction) -> sc.Instance:
    """x = 2γ, label 2, mass e, and x = 0, label 1: with C = 1/(4eγ²) both hinges of weight e are active, one of them at its kink."""
    C = 1 / (4 * e * gamma**2)
    here = point_and_origin(e, 4 * gamma**2, [])
    return {"masses": here["masses"], "gram": here["gram"], "labels": [2, 1], "C": C, "alpha": [e * C, ZERO],
            "alpha_star": [ZERO, e * C], "thresholds": [ONE], "others": [[1 / (2 * gamma**2), ZERO]], "moved": [[ONE]]}  # fmt: skip


def narrow_slot(C: Fraction) -> sc.Instance:
    """x = −1, 0, 1 with labels 1, 2, 3: f = (−a, 0, a), a = 2C/3, b = ±a/2; the slot of x = 0 is narrower than 2: α_2 = α_2* > 0."""
    third, a = Fraction(1, 3), 2 * C / 3
    gram = [[Fraction(s * t) for t in (-1, 0, 1)] for s in (-1, 0, 1)]
    others, moved = [[third, ZERO, ONE], [-C / 2, ZERO, C / 2]], [[-a, a], [ZERO, a]]
    return {"masses": [third] * 3, "gram": gram, "labels": [1, 2, 3], "C": C, "alpha": [ZERO, C / 3, C / 3],
            "alpha_star": [C / 3, C / 3, ZERO], "thresholds": [-a / 2, a / 2], "others": others, "moved": moved}  # fmt: skip


def optima(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The two points, on which the constant is sharp; both multipliers of one point positive; random problems."""
    for gamma, e in ((ONE, Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 10), Fraction(1, 4))):
        yield two_points_with_optimum(gamma, e)
    for C in (ONE, Fraction(1, 4)):
        yield narrow_slot(C)
    rng, wanted = trial.rng, trial.count(12, 80)
    while wanted:
        made = draw(rng)
        if made is not None:
            wanted -= 1
            yield made


def _complementary(argument: Fraction | None, multiplier: Fraction, cap: Fraction) -> bool:
    """Whether a multiplier fits its hinge: 0 below the kink (and where there is no hinge), the cap above it, anything between at it."""
    if argument is None:
        return multiplier == 0
    return multiplier == cap if argument > 0 else multiplier == 0 if argument < 0 else 0 <= multiplier <= cap


@sc.claim(
    "KJ-Thm14a-p",
    section=SECTION,
    place="Appendix E.3, part 1: the weights of the regularised optimum",
    kind=sc.EXISTENCE,
    says=r"The minimiser of ½‖W‖² + C E [b_y + 1 − f]_+ + [f − b_{y+1} + 1]_+ over (W, b) is W' = Σ (α_i − α_i*) Φ(x_i) with 0 ≤ α_i, "
    r"α_i* ≤ p_iC; w = (α − α*)/p has E[wK] = f and |w| ≤ 2C, 'since we do not have any guarantee that α_iα_i* = 0'. Indeed **|w| ≤ C**, "
    r"for |α_i − α_i*| ≤ max(α_i, α_i*). (Exactly, on problems with known optimum, points with α_iα_i* > 0 among them.)",
    instances=optima,
    knobs={"printed": 2, "ours": 1},
    mutants={"9C/10": {"ours": Fraction(9, 10)}},
    note="Both multipliers of a point are positive where its slot is narrower than 2; its weight is then the smaller for it.",
)
def weights_of_the_optimum(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    labels: list[int],
    C: Fraction,
    alpha: list[Fraction],
    alpha_star: list[Fraction],
    thresholds: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The conditions of optimality for α, α* and b; predictions and size of w."""
    b, difference = thresholds, beta(alpha, alpha_star)
    f = mapped(gram, difference)
    for j in range(1, len(b) + 1):
        up = sum((a for a, y in zip(alpha, labels, strict=True) if y == j + 1), ZERO)
        yield sc.equal(up, sum((a for a, y in zip(alpha_star, labels, strict=True) if y == j), ZERO), "Σ α = Σ α* at a threshold")
    for p, y, value, a, a_star in zip(masses, labels, f, alpha, alpha_star, strict=True):
        below = b[y - 2] + 1 - value if y > 1 else None
        above = value - b[y - 1] + 1 if y <= len(b) else None
        yield sc.true(
            _complementary(below, a, C * p) and _complementary(above, a_star, C * p), "complementary slackness", evidence=sc.EXACT
        )
    w = [v / p for v, p in zip(difference, masses, strict=True)]
    yield sc.equal(mapped(gram, [p * v for p, v in zip(masses, w, strict=True)]), f, "E[wK] = f")
    yield sc.at_most(max(map(abs, w)), trial["printed"] * C, "max |w| ≤ 2C")
    yield sc.at_most(max(map(abs, w)), trial["ours"] * C, "max |w| ≤ C")


def loss(masses: Numbers, labels: list[int], f: Numbers, thresholds: Numbers) -> Fraction:
    """E of both hinges at margin 1."""
    return mean(masses, [margin_loss(v, y, thresholds, ONE) for v, y in zip(f, labels, strict=True)])


@sc.claim(
    "KJ-Thm14a-exact",
    section=SECTION,
    place="Appendix E.3, (3), ours: with the best constant",
    kind=sc.INEQUALITY,
    says=r"The regularised optimum (W', b') loses no more than any (a, b) and ‖a‖²/**4C** (the paper: ‖a‖²/2C, (3)); with equality on two "
    r"points. So C = γ_1/(4ε_1γ²) and B = γ_1C in Theorem 14. (In fractions, on problems with known optimum.)",
    instances=optima,
    knobs={"constant": Fraction(1, 4)},
    mutants={"‖a‖²/5C": {"constant": Fraction(1, 5)}},
    note="Convexity in (W, b) at an optimum in b, and ⟨W', a − W'⟩ ≤ ‖a‖²/4 (KJ-L17a-proof).",
)
def optimum_against_competitors(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    labels: list[int],
    C: Fraction,
    alpha: list[Fraction],
    alpha_star: list[Fraction],
    thresholds: list[Fraction],
    others: list[list[Fraction]],
    moved: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The loss of W' and b' against competitors with moved thresholds."""
    least = loss(masses, labels, mapped(gram, beta(alpha, alpha_star)), thresholds)
    for a, new in zip(others, moved, strict=True):
        size = trial["constant"] * squared_norm(gram, a) / C
        for b in (thresholds, new):
            yield sc.at_most(least, loss(masses, labels, mapped(gram, a), b) + size, "loss of (W', b')")


def decoded(point: Array, trial: sc.Trial) -> sc.Instance:
    """Three points in the plane, in [−1, 1]², labels 1 to 3, masses, γ ∈ [0.1, 1.1], ε_1 ∈ [0.05, 0.65] and γ_1 ∈ [0.5, 2]."""
    u = np.asarray(point)
    shares = 0.02 + u[6:9]
    return {"factor": 2.0 * u[:6].reshape(3, 2) - 1.0, "labels": np.array([1.0, 2.0, 3.0 if u[9] > 0.5 else 2.0]), "classes": 3,
            "masses": shares / shares.sum(), "gamma": 0.1 + float(u[10]), "epsilon_1": 0.05 + 0.6 * float(u[11]),
            "gamma_1": 0.5 * 4.0 ** float(u[12]), "delta": 0.0}  # fmt: skip


@sc.claim(
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
    **HEADER,
)
def good_kernels_with_the_best_constant(
    factor: Array,
    labels: Array,
    classes: int,
    masses: Array,
    gamma: float,
    gamma_1: float,
    epsilon_1: float,
    delta: float,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The same with 1/4; attacked."""
    yield _admitted(Labelled(factor, labels, classes, masses), gamma, gamma_1, epsilon_1, delta, trial["constant"])


@sc.claim(
    "KJ-Thm14-id",
    section=SECTION,
    place="Appendix E.3: margins and units",
    kind=sc.IDENTITY,
    says=r"[x]_1 = [γx]_γ/γ for γ > 0, [x]_γ = [γ − x]_+: γ − γx = γ(1 − x), and [·]_+ is positively homogeneous. So weights and "
    r"thresholds × γ_1 turn margin 1 into margin γ_1 and losses × γ_1. (In symbols: the argument, and both sides for x = 1 − u and x = 1 "
    r"+ u, u ≥ 0.)",
    exhaustive=True,
    knobs={"power": 1},
    mutants={"[x]_1 = [γx]_γ/γ²": {"power": 2}},
)
def margin_in_units(trial: sc.Trial) -> Iterator[sc.Check]:
    """[·]_+ as (z + |z|)/2, with |γu| = γu and |−γu| = γu for γ > 0, u ≥ 0."""
    gamma, u, x = sc.symbols("gamma u x")
    yield sc.equal(gamma - gamma * x, gamma * (1 - x), "argument")
    for side in (1, -1):
        inside = side * u  # 1 − x
        whole = gamma - gamma * (1 - inside)
        left, right = (inside + u) / 2, (whole + gamma * u) / 2
        yield sc.equal(left, right / gamma ** trial["power"], "x ≤ 1" if side == 1 else "x ≥ 1")


@sc.claim(
    "KJ-Thm14-cor",
    section=SECTION,
    place="Appendix E.3: 2C = γ_1/(ε_1γ²), and γ_1 = γ",
    kind=sc.IDENTITY,
    says=r"With 2C = γ_1/(ε_1γ²): γ_1/(2Cγ²) = ε_1 and 2Cγ_1 = γ_1²/(ε_1γ²), which is 1/ε_1 for γ_1 = γ. With C = γ_1/(4ε_1γ²): "
    r"γ_1/(4Cγ²) = ε_1 and Cγ_1 = γ_1²/(4ε_1γ²), **1/(4ε_1)** for γ_1 = γ.",
    exhaustive=True,
    knobs={"times": 2},
    mutants={"C = γ_1/(ε_1γ²)": {"times": 1}},
)
def choice_of_the_constant(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both choices of C."""
    e, g, g1 = sc.symbols("epsilon1 gamma gamma1")
    C = g1 / (e * g**2) / trial["times"]
    yield sc.equal(g1 / (2 * C * g**2), e, "loss of regularisation")
    yield sc.equal(2 * C * g1, g1**2 / (e * g**2), "bound of the weights")
    yield sc.equal(g**2 / (e * g**2), 1 / e, "γ_1 = γ")
    ours = C / 2
    yield sc.equal(g1 / (4 * ours * g**2), e, "loss of regularisation, ours")
    yield sc.equal(ours * g1, g1**2 / (4 * e * g**2), "bound of the weights, ours")


def on_four_points(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for what holds in symbols; then shares at two margins."""
    yield {}
    for gamma, e in product(MARGINS[:2], RATIOS if trial.count(0, 1) else RATIOS[::2]):
        yield four_points(gamma, e, SCALES[0])


def _four_points_in_symbols(sign: int) -> Iterator[sc.Check]:
    """The losses less the bounds; the losses at the two values of B; the ratio where they meet."""
    e, square, B, g, b = sc.symbols("e square B gamma1 b")
    w, u = sc.symbols("w1 w2 w3 w4"), sc.symbols("u1 u2 u3 u4")
    p = [e, HALF - e, HALF - e, e]
    f = predicted_in_symbols(p, w, square, e)
    yield sc.equal(f[0] - f[3], 4 * square * e * sign * (w[0] - w[3]), "f(x_1) − f(x_4)")
    yield sc.equal(f[1] - f[2], 4 * square * (HALF - e) * sign * (w[1] - w[2]), "f(x_2) − f(x_3)")
    over = [u[0] - (g - f[0] + b), u[1] - (g - f[1] + b), u[2] - (g + f[2] - b), u[3] - (g + f[3] - b)]  # all ≥ 0
    loss = loss_in_symbols(p, u, e)
    first = e * (2 * g - 4 * square * e * (w[0] - w[3]))
    both = g - 4 * square * (e**2 * (w[0] - w[3]) + (HALF - e) ** 2 * (w[1] - w[2]))
    yield sc.equal(loss - first, e * (over[0] + over[3]) + (HALF - e) * (u[1] + u[2]), "loss − first bound, ≥ 0")
    yield sc.equal(loss - both, e * (over[0] + over[3]) + (HALF - e) * (over[1] + over[2]), "loss − second bound, ≥ 0")
    one, two = g * light_pair_needs(e, square), g * both_pairs_need(e, square)
    yield sc.equal(e * (2 * g - 8 * square * e * one), e * g, "first bound at the first value")
    yield sc.equal(g - 8 * square * two * (e**2 + (HALF - e) ** 2), e * g, "second bound at the second value")
    yield from where_the_needs_meet(e, square, B)


@sc.claim(
    "KJ-Thm14b-least",
    section=SECTION,
    place="Theorem 14, second part, ours: the smallest B on the four points",
    kind=sc.IDENTITY,
    says=r"On the four points the smallest B that reaches ε_1 = eγ_1 is γ_1/(8eγ²) for e ≤ 1/6 and γ_1(1 − e)/(8γ²(2e² − e + 1/4)) for "
    r"1/6 ≤ e < 1/2, for all 0 < γ ≤ 1/√2: with hinges u_i ≥ 0, u_1 ≥ γ_1 − f(x_1) + b_2, u_4 ≥ γ_1 + f(x_4) − b_2, and f(x_1) − f(x_4) = "
    r"**4γ²e(w_1 − w_4)**, the loss is ≥ e(2γ_1 − 8γ²eB), and with the other pair, f(x_2) − f(x_3) = 4γ²(½ − e)(w_2 − w_3), ≥ γ_1 − "
    r"8γ²B(e² + (½ − e)²). (In symbols, and by exact programmes.)",
    instances=on_four_points,
    knobs={"turn": Fraction(1, 6), "sign": 1},
    mutants={"first branch up to 1/5": {"turn": Fraction(1, 5)}, "w_4 − w_1": {"sign": -1}},
    note="The same two branches as for ℓ_0 (KJ-Thm6b-least), with e in the place of ε_1: a free threshold does not help. Attained by γ_1 "
    "times the weights there and b_2 = 0, as [γ_1 − sf]_+ ≤ |γ_1s − f| for the label s = ±1.",
)
def least_bound_on_four_points(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The symbolic steps; then the closed form against the exact smallest B."""
    if not instance:
        yield from _four_points_in_symbols(trial["sign"])
        return
    here = Tight(**instance)
    e, square = here.share, here.gamma**2
    least = light_pair_needs(e, square) if e <= trial["turn"] else both_pairs_need(e, square)
    yield sc.equal(smallest(here), here.gamma_1 * least, "smallest B")


@sc.claim(
    "KJ-Thm14b-two",
    section=SECTION,
    place="Theorem 14, second part, ours: two points, the best constant",
    kind=sc.IDENTITY,
    says=r"x = 2γ with label 2 and mass ε_1/γ_1, x = 0 with label 1: K = xx' is (0, γ)-good (W = 1/γ, b_2 = 1) and no better (1 ≤ b_2 ≤ "
    r"2γW − 1), and (ε_1, B)-good for the γ_1-margin loss only for B ≥ **γ_1²/(4ε_1γ²)**, for all γ, γ_1 > 0 and **ε_1 ≤ γ_1/2**. With e "
    r"= ε_1/γ_1 ≤ ½ and hinges u_1 ≥ γ_1 − 4γ²e w_1 + b, u_2 ≥ γ_1 − b the loss is e(2γ_1 − 4γ²e w_1) + e(u_1 − …) + e(u_2 − …) + (1 − "
    r"2e)u_2; at w_1 = γ_1²/(4ε_1γ²), b = γ_1 it is ε_1.",
    exhaustive=True,
    knobs={"c": Fraction(1, 4)},
    mutants={"c = 1/3": {"c": Fraction(1, 3)}},
    note="So the constant 1/4 of KJ-Thm14a-sharp cannot be improved at any γ, γ_1 and ε_1 ≤ γ_1/2, which is the range of the theorem; K ≤ "
    "1 for γ ≤ 1/2. The heavy point has no features and cannot be moved; it keeps the threshold at γ_1, so that the light point has to "
    "climb 2γ_1.",
)
def least_bound_on_two_points(trial: sc.Trial) -> Iterator[sc.Check]:
    """The loss as a bound and terms ≥ 0; the bound just before B_min; both hinges at B_min and b = γ_1."""
    e, square, g, w, b, u1, u2, short = sc.symbols("e square gamma1 w b u1 u2 short")
    f = 4 * square * e * w
    rest = e * (u1 - (g - f + b)) + e * (u2 - (g - b)) + (1 - 2 * e) * u2
    yield sc.equal(e * u1 + (1 - e) * u2, e * (2 * g - f) + rest, "loss")
    least = trial["c"] * g / (e * square)
    yield sc.equal(least, trial["c"] * g**2 / (e * g * square), "B_min = cγ_1²/(ε_1γ²), ε_1 = eγ_1")
    yield sc.equal(e * (2 * g - 4 * square * e * (least - short)), e * g + 4 * e**2 * square * short, "bound at B_min − s: ε_1 + 4e²γ²s")
    yield sc.equal(g - 4 * square * e * least + g, g, "first hinge at B_min, b = γ_1: the loss is eγ_1 = ε_1")
    yield sc.equal(g - g, 0 * g, "second hinge")


def on_a_line(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two points, ε_1 ≤ γ_1/2; x = ±2γ, labels 3 and 1, mass ε_1/2γ_1 each, and x = 0, label 2, ε_1 ≤ 2γ_1/3."""
    for gamma, e, gamma_1 in product((Fraction(1, 10), Fraction(3)), (Fraction(1, 50), Fraction(1, 3), HALF), SCALES[:2]):
        yield two_points(gamma, e, gamma_1)
    for gamma, e, gamma_1 in product((Fraction(1, 10), Fraction(2)), (Fraction(1, 50), HALF, Fraction(2, 3)), SCALES[:2]):
        square = 4 * gamma**2
        gram = [[square, -square, ZERO], [-square, square, ZERO], [ZERO, ZERO, ZERO]]
        made = domain([e / 2, e / 2, 1 - e], gram, [3, 1, 2], gamma=gamma, gamma_1=gamma_1, share=e, classes=3)
        yield made | {"first": [2 * gamma, -2 * gamma, ZERO]}


@sc.claim(
    "KJ-Thm14b-line",
    section=SECTION,
    place="Theorem 14, second part, ours: points on a line, by exact programmes",
    kind=sc.TIGHTNESS,
    says=r"The smallest B on the two points is γ_1²/(4ε_1γ²) for ε_1 ≤ γ_1/2, and on three points, x = ±2γ with labels 3 and 1 and masses "
    r"ε_1/2γ_1 each, x = 0 with label 2, for **ε_1 ≤ 2γ_1/3**. (Smallest B with thresholds free, in fractions.)",
    instances=on_a_line,
    knobs={"c": Fraction(1, 4)},
    mutants={"c = 1/3": {"c": Fraction(1, 3)}},
    note="Two points: KJ-Thm14b-two. On three f(±2γ) = ±F with F ≤ 4γ²eB, e = ε_1/γ_1, and f(0) = 0: where e/2 ≤ 1 − e the hinges of b_3 "
    "are at least (e/2)(2γ_1 − F), and so are those of b_2. The loss e(2γ_1 − F) is ≤ ε_1 only for F ≥ γ_1, which b_3 = −b_2 = γ_1 "
    "attains. For two labels the theorem's ε_1 < γ_1/2 is where 1/4 is attained on the two points; more labels go further.",
)
def least_bound_on_a_line(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Margins of W* = e_1, for three labels with b_2 = −1, b_3 = 1; the smallest B."""
    here = Tight(**instance)
    if here.classes == 2:
        yield from margins(here)
    else:
        for x, y in zip(here.first, here.targets, strict=True):
            f = x / here.gamma
            below, above = (f + 1 if y == 2 else f - 1), (1 - f if y == 2 else -1 - f)
            yield sc.at_least(below if y == 3 else above if y == 1 else min(below, above), 1, "margin of W*")
    yield sc.equal(smallest(here), trial["c"] * in_units(here), "smallest B")


def on_a_cross(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for the norm of W; then (±γ, 0) and (0, ±M), for which (1 − 2e)M² ≥ 4eγ²."""
    yield {}
    for gamma, e, M in product((Fraction(3, 10), ONE), (Fraction(1, 50), Fraction(1, 10), Fraction(1, 6)), (1, 3, 10, 100)):
        arms = (gamma, ZERO), (-gamma, ZERO), (ZERO, Fraction(M)), (ZERO, -Fraction(M))
        gram = [[a * c + b * d for c, d in arms] for a, b in arms]
        yield domain([e, e, HALF - e, HALF - e], gram, [2, 1, 2, 1], gamma=gamma, gamma_1=SCALES[0], share=e, M=M, classes=2)


@sc.claim(
    "KJ-Thm14b-cross",
    section=SECTION,
    place="Theorem 14, second part, ours: a cross, with K(x, x) ≤ 1 for all margins up to 1/√2",
    kind=sc.TIGHTNESS,
    says=r"(±γ, 0) with mass ε_1/γ_1 each and (0, ±M), labels by the signs: the kernel's margin is g, **g² = γ²/(1 + γ²/M²)** (W = (1/γ, "
    r"1/M)), and the smallest B is γ_1²/(4ε_1γ²) = **(1 − g²/M²)/4** · γ_1²/(ε_1g²) where (1 − 2e)M² ≥ 4eγ², e = ε_1/γ_1. (In symbols; by "
    r"exact programmes.)",
    instances=on_a_cross,
    knobs={"own": 1},
    mutants={"γ for its margin": {"own": 0}},
    note="f(±γ, 0) = ±F with F ≤ 2eγ²B, so that the loss is ≥ 2e(γ_1 − F), which is ≤ ε_1 only for F ≥ γ_1/2; then b_2 = 0 attains it, as "
    "(1 − 2e)M²B ≥ γ_1 on the other arm. Margin 1 on both arms needs W_1 ≥ 1/γ and W_2 ≥ 1/M. For M = 1, 3, 10, 100 and γ = 3/10 the "
    "constant is .2294, .2475, .2498, .2500: it tends to 1/4, which the two points attain. With M = 1 K(x, x) ≤ 1, and every g ≤ 1/√2 "
    "occurs: at least 1/8.",
)
def least_bound_on_a_cross(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """‖W‖² = 1/g² and the constant, in symbols; the smallest B in units of γ_1²/(ε_1g²)."""
    if not instance:
        gamma, M = sc.symbols("gamma M")
        margin = gamma**2 / (1 + gamma**2 / M**2)  # g²
        yield sc.equal(1 / gamma**2 + 1 / M**2, 1 / margin, "‖W‖²")
        yield sc.equal(margin / gamma**2, 1 - margin / M**2, "g²/γ²")
        return
    here = Tight(**instance)
    square, M2 = here.gamma**2, Fraction(here.M) ** 2
    own = square / (1 + square / M2) if trial["own"] else square
    yield sc.at_most(4 * here.share * square, (1 - 2 * here.share) * M2, "hypothesis")
    unit = here.gamma_1 / (here.share * own)
    yield sc.equal(smallest(here) / unit, (1 - own / M2) / 4, "B_min ε_1g²/γ_1²")
