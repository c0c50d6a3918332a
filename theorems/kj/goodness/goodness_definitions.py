r"""Definitions 1 and 2: when a similarity is (ε_0, B)-good, and the remarks that the paper makes after them.

On finite domains both ask for the value of a programme. Definition 2 does not reduce to Definition 1 for ℓ(a, b) = 1{a ≠ b}
(KJ-Def2-rem1, corrected); Definition 3 of Balcan & Blum ([6]) is as we read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.problems.goodness import Goodness
from simopt.solvers.goodness.exact import exact_goodness, exact_smallest_bound
from simopt.solving.entry_points import solve
from simopt.theorems.kj.goodness.finite_domains import (
    HALF,
    ONE,
    ZERO,
    domain,
    insensitive_loss,
    least_loss,
    least_violation,
    mean,
    predicted,
    random_domain,
    random_domains,
    with_targets_in_weights,
)

SECTION = "regression"
FAR = Fraction(10**6)  # a bound beyond which the curves of the small domains here are flat; that they are is checked


def violated(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Diagonal similarities, at bounds where a point is just reached and just not; constant ones with a disturbed target; random ones."""
    masses = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    diagonal = [[2, 0, 0], [0, -1, 0], [0, 0, 4]]
    for bound in ("9/10", "1", "3/2", "2", "3"):
        yield domain(masses, diagonal, [1, -3, 2], bound=Fraction(bound), kind="diagonal")
    yield domain(masses, diagonal, [1, 0, 2], bound=HALF, kind="diagonal")
    for moved in (Fraction(1, 10), Fraction(1, 10**4)):
        yield domain(masses, [[1] * 3] * 3, [1, 1, 1 + moved], bound=Fraction(2), kind="constant")
    for _ in range(trial.count(6, 15)):
        made = random_domain(trial.rng, int(trial.rng.integers(2, 4)), targets=[-1, 1, 2])
        yield made | {"bound": Fraction(int(trial.rng.integers(1, 5))), "kind": "any"}


@sc.claim(
    "KJ-Def1",
    section=SECTION,
    place="Definition 1",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, B)-good if some w: X → [−B, B] has y(x) = E[w(x') y(x') K(x, x')] on mass ≥ 1 − ε_0: iff ε_0 ≥ ε_0*(B), the least "
    r"mass of {y ≠ f}, a minimum on finite domains. It falls in B. For diagonal K it is the mass of {y ≠ 0, p|K|B < 1}: steps, so that "
    r"it is not convex in B. It is rigid, as the paper says: with K = 1 any change of one target, however small, costs the mass of that "
    r"point.",
    instances=violated,
    knobs={"reached": True, "cost": ONE},
    mutants={"p|K|B ≤ 1": {"reached": False}, "half the mass": {"cost": HALF}},
    note="By enumeration of the sets on which f = y, each decided by an exact linear programme.",
)
def least_violated_mass(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], bound: Fraction, kind: str, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The mass against its closed form, or against the mass at 2B."""
    weighted = with_targets_in_weights(domain(masses, gram, targets))
    found = least_violation(weighted, bound)
    if kind == "diagonal":
        own = [p * abs(row[i]) * bound for i, (p, row) in enumerate(zip(masses, gram, strict=True))]
        out = [y != 0 and (v < 1 if trial["reached"] else v <= 1) for y, v in zip(targets, own, strict=True)]
        yield sc.equal(found, mean(masses, [Fraction(flag) for flag in out]), "least violated mass")
    elif kind == "constant":
        yield sc.equal(found, trial["cost"] * masses[-1], "mass of the point that was moved")
    else:
        yield sc.at_most(least_violation(weighted, 2 * bound), found, "least violated mass at 2B")


def domains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random domains of two to four points."""
    yield from random_domains(trial.rng, trial.count(20, 50))


def _dual(masses: Any, gram: Any, epsilon: Fraction, targets: Any, q: Any, bound: Fraction) -> Fraction:
    """Σ q y − ε Σ|q| − B Σ_j p_j |Σ_i q_i K_ij|: with |q_i| ≤ p_i, q_i(f_i − y_i) ≥ −p_i ℓ_ε(f_i − y_i) − ε|q_i|."""
    q = [max(-p, min(p, v)) for p, v in zip(masses, q, strict=True)]
    pull = [sum((a * row[j] for a, row in zip(q, gram, strict=True)), ZERO) for j in range(len(q))]
    fixed = sum((a * y - epsilon * abs(a) for a, y in zip(q, targets, strict=True)), ZERO)
    return Fraction(fixed - bound * mean(masses, [abs(g) for g in pull]))


@sc.claim(
    "KJ-Def2",
    section=SECTION,
    place="Definition 2",
    kind=sc.DEFINITION,
    says=r"K is (ε_0, B)-good for ℓ if some w: X → [−B, B] has E ℓ(f(x), y(x)) ≤ ε_0, f(x) = E[w(x') K(x, x')]: iff ε_0 ≥ ε_0(B). For "
    r"ℓ_ε on a finite domain ε_0(B) is a minimum, and equals the largest of Σ q_i y_i − ε Σ|q_i| − B Σ_j p_j |Σ_i q_i K(x_i, x_j)| over "
    r"|q_i| ≤ p_i. It depends on K and B through BK only.",
    instances=domains,
    knobs={"reach": ONE},
    mutants={"multipliers at 9B/10": {"reach": Fraction(9, 10)}},
    note="Weights and multipliers of every instance are found, and judged here by their formulas in fractions.",
)
def value_of_a_programme(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], bound: Fraction, epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Weights within B, whose loss is the value of the multipliers; the same value for 2K and B/2."""
    found = exact_goodness(gram, targets, bound, masses, epsilon=epsilon)
    yield sc.at_most(max(map(abs, found.weights)), bound, "max |w|")
    loss = insensitive_loss(masses, targets, predicted(masses, gram, found.weights), epsilon)
    value = _dual(masses, gram, epsilon, targets, found.multipliers, trial["reach"] * bound)
    yield sc.equal(loss, value, "loss of w, and value of q")
    doubled = domain(masses, [[2 * k for k in row] for row in gram], targets)
    yield sc.equal(least_loss(doubled, bound / 2, epsilon), loss, "2K and B/2")


def curves(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random domains for the exact curve of ℓ_ε, larger ones in floats for the squared loss."""
    for made in random_domains(trial.rng, trial.count(7, 20)):
        yield made | {"loss": "insensitive"}
    for _ in range(trial.count(4, 8)):
        size = int(trial.rng.integers(5, 20))
        yield {"loss": "squared", "gram": trial.rng.normal(size=(size, size)), "targets": trial.rng.normal(size=size),
               "masses": trial.rng.dirichlet(np.ones(size)), "bound": 2.0}  # fmt: skip


def _squared_curve(masses: Any, gram: Any, targets: Any, bound: float, half: Fraction) -> Iterator[sc.Check]:
    values = []
    for k in (1, 2, 3):
        problem = Goodness(gram, targets, k * bound, masses, "squared")
        found = solve(problem, "interior-point", tol=1e-10)
        if found.certificate is None:
            raise ArithmeticError("no certificate for the squared loss")
        values.append((found.certificate.lower, found.certificate.upper))
    chord = sc.between(*(float(half) * (values[0][end] + values[2][end]) for end in (0, 1)))
    yield sc.at_most(sc.between(*values[1]), chord, "midpoint, squared loss")
    yield sc.at_most(sc.between(*values[2]), sc.between(*values[0]), "nonincreasing, squared loss")


@sc.claim(
    "KJ-Def2-mono",
    section=SECTION,
    place="After Definition 2: convex losses; implicit",
    kind=sc.INEQUALITY,
    says=r"For a convex loss B ↦ ε_0(B) is nonincreasing and convex. For ℓ_ε on a finite domain it is constant from some B_max on, and "
    r"larger before. (Midpoints at B_max/4, …, 5B_max/4 exactly; the squared loss to the certified gaps.)",
    instances=curves,
    knobs={"half": HALF, "flat": ONE},
    mutants={"9/20 of the sum at the ends": {"half": Fraction(9, 20)}, "constant from 9B_max/10 on": {"flat": Fraction(9, 10)}},
    note="E ℓ(f, y) is convex in w, and the w with |w| ≤ B are a convex set of (w, B) that grows with B. On a finite domain E ℓ_ε is "
    "polyhedral and ≥ 0, so that some w are best of all; B_max is the least max |w| of these, and below it no weights do as well. (By "
    "Newton's method in fractions.) On infinite domains the infimum over B need not be reached: K = 1{x = x'} with masses "
    "2^{−i} and y = 1 has ε_0(B) > 0 for every B, and ε_0(B) → 0.",
)
def falling_and_convex(
    masses: Any, gram: Any, targets: Any, bound: Any, loss: str, trial: sc.Trial, epsilon: Fraction = ZERO
) -> Iterator[sc.Check]:
    """The curve at five bounds, and where it becomes flat."""
    if loss == "squared":
        yield from _squared_curve(masses, gram, targets, bound, trial["half"])
        return
    floor = exact_goodness(gram, targets, FAR, masses, epsilon=epsilon)
    yield sc.equal(floor.influence, 0, "slope at B = 10⁶")
    here, last = domain(masses, gram, targets), exact_smallest_bound(gram, targets, floor.upper, masses, epsilon=epsilon).upper
    if not last:  # w = 0 is optimal
        yield sc.equal(least_loss(here, ZERO, epsilon), floor.upper, "constant")
        return
    values = [Fraction(least_loss(here, Fraction(k, 4) * last, epsilon).high) for k in range(6)]
    for low, middle, high in zip(values, values[1:], values[2:], strict=False):
        yield sc.at_most(middle, trial["half"] * (low + high), "midpoint")
        yield sc.at_most(high, middle, "nonincreasing")
    yield sc.at_most(least_loss(here, trial["flat"] * last, epsilon), floor.upper, "ε_0(B_max)")
    yield sc.at_least(least_loss(here, Fraction(99, 100) * last, epsilon), floor.upper, "before B_max", strict=True)


def targets_of_other_sizes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One point with y = 2; two points with y = (1, 0), where the second informs about the first."""
    yield domain([1], [[1]], [2], bound=ONE)
    yield domain([HALF, HALF], [[0, 1], [0, 0]], [1, 0], bound=Fraction(2))


def signs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random domains with y = ±1."""
    for _ in range(6):
        yield random_domain(trial.rng, 2, targets=[-1, 1]) | {"bound": Fraction(2)}


@sc.claim(
    "KJ-Def2-rem1",
    section=SECTION,
    place="After Definition 2: it reduces to Definition 1 for ℓ(a, b) = 1{a ≠ b}",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"K is (ε_0, B)-good by Definition 1 iff it is by Definition 2 with ℓ(a, b) = 1{a ≠ b}.",
    instances=targets_of_other_sizes,
    knobs={},
    mutants={"|y| = 1": {"instances": signs}},
    note="X = {x}, K = 1, y = 2, B = 1: w y K = 2 but |w K| ≤ 1. Conversely y = (1, 0), K(x_1, x_2) = 1 and else 0: w(x_2) = 2 gives f = "
    "y, but y(x_2) = 0 takes it away in Definition 1, for every B; merging w and y (the next remark) does not help there. True for |y| = 1 "
    "(KJ-Def2-rem1+).",
)
def same_violated_mass(masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], bound: Fraction) -> Iterator[sc.Check]:
    """Both least masses."""
    here = domain(masses, gram, targets)
    first = least_violation(with_targets_in_weights(here), bound)
    yield sc.equal(first, least_violation(here, bound), "least violated masses of Definitions 1 and 2")


def any_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Targets ±1; of sizes 1/2, 1 and 2; with zeros. One point with y = 2."""
    yield domain([1], [[1]], [2], bound=ONE)
    yield domain([HALF, HALF], [[1, 0], [0, 1]], [HALF, 2], bound=Fraction(2))
    for _ in range(trial.count(4, 12)):
        bound = Fraction(int(trial.rng.integers(1, 7)), 2)
        for targets in ([-1, 1], [-2, -HALF, 1, 2], [-1, 0, 2]):
            yield random_domain(trial.rng, int(trial.rng.integers(2, 4)), targets=targets) | {"bound": bound}


@sc.claim(
    "KJ-Def2-rem1+",
    section=SECTION,
    place="After Definition 2: it reduces to Definition 1 for ℓ(a, b) = 1{a ≠ b}, corrected",
    kind=sc.INEQUALITY,
    says=r"With ℓ(a, b) = 1{a ≠ b}: if |y| = 1, both definitions agree. If |y| ≤ M, (ε_0, B)-goodness by Definition 1 implies (ε_0, "
    r"**BM**)-goodness by Definition 2; if |y| ≥ m > 0, (ε_0, B)-goodness by Definition 2 implies (ε_0, **B/m**)-goodness by Definition 1.",
    instances=any_targets,
    knobs={"sizes": 1},
    mutants={"the same B": {"sizes": 0}},
    corrects="KJ-Def2-rem1",
    note="w' = w y, and w = w'/y. Least masses by enumeration of the sets on which f = y.",
)
def violated_masses_with_sizes(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], bound: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Both implications, as inequalities between least masses."""
    second, sizes = domain(masses, gram, targets), [abs(y) for y in targets]
    first = with_targets_in_weights(second)
    most, least = (max(sizes), min(sizes)) if trial["sizes"] else (ONE, ONE)
    yield sc.at_most(least_violation(second, bound * most), least_violation(first, bound), "from Definition 1 to 2")
    if min(sizes) > 0:
        yield sc.at_most(least_violation(first, bound / least), least_violation(second, bound), "from Definition 2 to 1")


@sc.claim(
    "KJ-Def2-rem2",
    section=SECTION,
    place="After Definition 2: goodness by [6] for ℓ(a, b) = 1{ab ≤ Bγ}, as we read [6]",
    kind=sc.IDENTITY,
    says=r"Goodness by [6] is a special case of Definition 2: let y = ±1, and let some u: X → [0, 1] have E[uK | y' = y] ≥ E[uK | y' ≠ y] "
    r"+ γ on mass ≥ 1 − ε_0. With the masses P of the class of x', P_= and P_≠ of that of x and of the other, and **p ≤ both**, w = "
    r"**y**u Bp/P has |w| ≤ B and y f(x) = Bp(E[uK | y' = y] − E[uK | y' ≠ y]): K is (ε_0, B)-good for ℓ(a, b) = 1{ab **<** B**p**γ}; for "
    r"classes of equal mass p = 1/2. (In symbols, point by point of x'.)",
    exhaustive=True,
    knobs={"share": 1},
    mutants={"Bγ, without p": {"share": 0}},
    note="The text of [6] was not at hand: what is tested is our reading of its Definition 3, the condition on u. The paper prints the "
    "margin Bγ and no sign of w; so taken the two are not the same (KJ-Def2-rem2-same).",
)
def margins_of_classes(trial: sc.Trial) -> Iterator[sc.Check]:
    """One x' of each class: its term of y f(x), and the slack that |w| ≤ B leaves."""
    B, p, same, other, q, u, K = sc.symbols("B p same other q u K")
    scale = B * p if trial["share"] else B
    w = u * B * p
    yield sc.equal(q * (w / same) * K, scale * (q * u * K / same), "y' = y")
    yield sc.equal(q * (-w / other) * K, -scale * (q * u * K / other), "y' ≠ y")
    for mass in (same, other):
        yield sc.equal(B - w / mass, B * ((mass - p) + p * (1 - u)) / mass, "B − |w|")


def binary(masses: Sequence[Fraction], gram: Sequence[Sequence[int]], gamma: Fraction, w: Sequence[int], u: Sequence[int]) -> sc.Instance:
    """Two points of labels + and −, with weights w for Definition 2 (B = 1) and u ∈ [0, 1] for [6]."""
    return domain(masses, gram, [1, -1], gamma=gamma, w=[Fraction(a) for a in w], u=[Fraction(a) for a in u])


def unlike_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K(x, x) = −1 and else 0, where only negative weights help; K = y y' with a margin that [6] alone allows."""
    for gamma in (Fraction(1, 10), Fraction(1, 4)):
        yield binary([HALF, HALF], [[-1, 0], [0, -1]], gamma, [-1, 1], [0, 0])
    yield binary([HALF, HALF], [[1, -1], [-1, 1]], Fraction(3, 2), [1, -1], [1, 1])


def like_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = 1{x = x'}, weights of the signs of the labels, small margins."""
    for gamma in (Fraction(1, 10), Fraction(1, 4)):
        yield binary([HALF, HALF], [[1, 0], [0, 1]], gamma, [1, -1], [1, 1])


def _mass(masses: Sequence[Fraction], flags: Sequence[bool]) -> Fraction:
    return sum((p for p, flag in zip(masses, flags, strict=True) if flag), ZERO)


def _conditional(masses: Any, targets: Any, gram: Any, i: int) -> list[Fraction]:
    """Coefficients of u in E[uK | y' = y] − E[uK | y' ≠ y] at x_i."""
    y = targets
    shares = {label: _mass(masses, [b == label for b in y]) for label in (1, -1)}
    return [p * k * (1 if b == y[i] else -1) / shares[int(b)] for p, k, b in zip(masses, gram[i], y, strict=True)]


@sc.claim(
    "KJ-Def2-rem2-same",
    section=SECTION,
    place="After Definition 2, ours: Definition 2 with ℓ(a, b) = 1{ab ≤ Bγ} beside [6], as we read [6]",
    kind=sc.COUNTEREXAMPLE,
    says=r"Read as an equivalence, which is more than a special case, 'we recover the definition of [6]' does not hold: K(x, x) = −1, "
    r"K(+, −) = 0, masses ½, has yf = B/2 > Bγ for w = −By and γ = 1/10, 1/4, while no u ∈ [0, 1] gives [6] a positive margin; K = yy' and "
    r"γ = 3/2 has the margin 2 ≥ γ by [6], but yf ≤ B < Bγ for all w. (Least masses with a smaller margin, of both.)",
    instances=unlike_margins,
    exhaustive=True,
    knobs={},
    mutants={"K = 1{x = x'}, γ < ½": {"instances": like_margins}},
    note="Weights of [6] are ≥ 0 and its means are given the class: the sign of w and the factor p of KJ-Def2-rem2. The text of [6] was "
    "not at hand.",
)
def margins_as_printed(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], gamma: Fraction, w: list[Fraction], u: list[Fraction]
) -> Iterator[sc.Check]:
    """Brackets of both least masses: a witness above; below, the mass of points that no weights satisfy even alone."""
    margins = [a * b for a, b in zip(predicted(masses, gram, w), targets, strict=True)]
    best = [mean(masses, [abs(k) for k in row]) for row in gram]
    ours = sc.between(_mass(masses, [m <= gamma for m in best]), _mass(masses, [m <= gamma for m in margins]))
    rows = [_conditional(masses, targets, gram, i) for i in range(len(targets))]
    reached = [sum((c * v for c, v in zip(row, u, strict=True)), ZERO) for row in rows]
    most = [sum((max(c, ZERO) for c in row), ZERO) for row in rows]
    theirs = sc.between(_mass(masses, [m < gamma for m in most]), _mass(masses, [m < gamma for m in reached]))
    yield sc.distinct(ours, theirs, "least masses with a smaller margin")


def merged(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random targets, and two of the same size, where BM is just enough."""
    yield domain([HALF, HALF], [[1, 0], [0, 1]], [3, -3], bound=Fraction(2), epsilon=ZERO)
    for _ in range(trial.count(12, 40)):
        made = random_domain(trial.rng, int(trial.rng.integers(2, 5)), targets=[-3, -1, 0, HALF, 2])
        yield made | {"bound": Fraction(int(trial.rng.integers(1, 7)), 2), "epsilon": Fraction(int(trial.rng.integers(0, 2)), 4)}


@sc.claim(
    "KJ-Def2-rem3",
    section=SECTION,
    place="After Definition 2: merging w(x')y(x') into w(x')",
    kind=sc.INEQUALITY,
    says=r"If |y| ≤ M, predictors E[w(x')y(x')K(x, x')] with |w| ≤ B are predictors E[w(x')K(x, x')] with |w| ≤ **BM**: ε_0(BM) ≤ the "
    r"least loss of the former. (ℓ_ε on finite domains, exactly; equality for |y| = M.)",
    instances=merged,
    knobs={"size": 1},
    mutants={"|w| ≤ B": {"size": 0}},
    note="B grows by sup |y|, of which the remark asks only that it is finite.",
)
def merging_costs_the_size(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], bound: Fraction, epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Both exact values."""
    here, size = domain(masses, gram, targets), max((abs(y) for y in targets), default=ZERO)
    wide, apart = bound * size if trial["size"] else bound, least_loss(with_targets_in_weights(here), bound, epsilon)
    yield sc.at_most(least_loss(here, wide, epsilon), apart, "ε_0(BM)")
    if len({abs(y) for y in targets}) == 1 and size:
        yield sc.at_most(apart, least_loss(here, bound * size, epsilon), "|y| = M")
