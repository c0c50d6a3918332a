r"""The remarks after Definition 2: what it has to do with Definition 1, and with Definition 3 of Balcan & Blum ([6]) as we read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.goodness.finite_domains import (
    HALF,
    ONE,
    ZERO,
    domain,
    least_loss,
    least_violation,
    mean,
    predicted,
    random_domain,
    with_targets_in_weights,
)

SECTION = "regression"


def targets_of_other_sizes(trial: Trial) -> Iterator[Instance]:
    """One point with y = 2; two points with y = (1, 0), where the second informs about the first."""
    yield domain([1], [[1]], [2], bound=ONE)
    yield domain([HALF, HALF], [[0, 1], [0, 0]], [1, 0], bound=Fraction(2))


def signs(trial: Trial) -> Iterator[Instance]:
    """Random domains with y = ±1."""
    for _ in range(6):
        yield random_domain(trial.rng, 2, targets=[-1, 1]) | {"bound": Fraction(2)}


@claim(
    "KJ-Def2-rem1",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2: it reduces to Definition 1 for ℓ(a, b) = 1{a ≠ b}",
    kind=EQUIVALENCE,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"K is (ε_0, B)-good by Definition 1 iff it is by Definition 2 with ℓ(a, b) = 1{a ≠ b}.",
    instances=targets_of_other_sizes,
    knobs={},
    mutants={"|y| = 1": {"instances": signs}},
    note="X = {x}, K = 1, y = 2, B = 1: w y K = 2 but |w K| ≤ 1. Conversely y = (1, 0), K(x_1, x_2) = 1 and else 0: w(x_2) = 2 gives f = "
    "y, but y(x_2) = 0 takes it away in Definition 1, for every B; merging w and y (the next remark) does not help there. True for |y| = 1 "
    "(KJ-Def2-rem1+).",
)
def same_violated_mass(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both least masses."""
    bound = instance["bound"]
    first = least_violation(with_targets_in_weights(instance), bound)
    yield equal(first, least_violation(instance, bound), "least violated masses of Definitions 1 and 2")


def any_targets(trial: Trial) -> Iterator[Instance]:
    """Targets ±1; of sizes 1/2, 1 and 2; with zeros. One point with y = 2."""
    yield domain([1], [[1]], [2], bound=ONE)
    yield domain([HALF, HALF], [[1, 0], [0, 1]], [HALF, 2], bound=Fraction(2))
    for _ in range(trial.count(4, 12)):
        bound = Fraction(int(trial.rng.integers(1, 7)), 2)
        for targets in ([-1, 1], [-2, -HALF, 1, 2], [-1, 0, 2]):
            yield random_domain(trial.rng, int(trial.rng.integers(2, 4)), targets=targets) | {"bound": bound}


@claim(
    "KJ-Def2-rem1+",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2: it reduces to Definition 1 for ℓ(a, b) = 1{a ≠ b}, corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"With ℓ(a, b) = 1{a ≠ b}: if |y| = 1, both definitions agree. If |y| ≤ M, (ε_0, B)-goodness by Definition 1 implies (ε_0, "
    r"**BM**)-goodness by Definition 2; if |y| ≥ m > 0, (ε_0, B)-goodness by Definition 2 implies (ε_0, **B/m**)-goodness by Definition 1.",
    instances=any_targets,
    knobs={"sizes": 1},
    mutants={"the same B": {"sizes": 0}},
    corrects="KJ-Def2-rem1",
    note="w' = w y, and w = w'/y. Least masses by enumeration of the sets on which f = y.",
    cost=0.5,
)
def violated_masses_with_sizes(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both implications, as inequalities between least masses."""
    bound, sizes = instance["bound"], [abs(y) for y in instance["targets"]]
    first, second = with_targets_in_weights(instance), instance
    most, least = (max(sizes), min(sizes)) if trial["sizes"] else (ONE, ONE)
    yield at_most(least_violation(second, bound * most), least_violation(first, bound), "from Definition 1 to 2")
    if min(sizes) > 0:
        yield at_most(least_violation(first, bound / least), least_violation(second, bound), "from Definition 2 to 1")


def binary(masses: Sequence[Fraction], gram: Sequence[Sequence[int]], gamma: Fraction, w: Sequence[int], u: Sequence[int]) -> Instance:
    """Two points of labels + and −, with weights w for Definition 2 (B = 1) and u ∈ [0, 1] for [6]."""
    return domain(masses, gram, [1, -1], gamma=gamma, w=[Fraction(a) for a in w], u=[Fraction(a) for a in u])


def unlike_margins(trial: Trial) -> Iterator[Instance]:
    """K(x, x) = −1 and else 0, where only negative weights help; K = y y' with a margin that [6] alone allows."""
    for gamma in (Fraction(1, 10), Fraction(1, 4)):
        yield binary([HALF, HALF], [[-1, 0], [0, -1]], gamma, [-1, 1], [0, 0])
    yield binary([HALF, HALF], [[1, -1], [-1, 1]], Fraction(3, 2), [1, -1], [1, 1])


def like_margins(trial: Trial) -> Iterator[Instance]:
    """K = 1{x = x'}, weights of the signs of the labels, small margins."""
    for gamma in (Fraction(1, 10), Fraction(1, 4)):
        yield binary([HALF, HALF], [[1, 0], [0, 1]], gamma, [1, -1], [1, 1])


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Def2-rem2",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2: goodness by [6] for ℓ(a, b) = 1{ab ≤ Bγ}, as we read [6]",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"Goodness by [6] is a special case of Definition 2: let y = ±1, and let some u: X → [0, 1] have E[uK | y' = y] ≥ E[uK | y' ≠ y] "
    r"+ γ on mass ≥ 1 − ε_0. With the masses P of the class of x', P_= and P_≠ of that of x and of the other, and **p ≤ both**, w = "
    r"**y**u Bp/P has |w| ≤ B and y f(x) = Bp(E[uK | y' = y] − E[uK | y' ≠ y]): K is (ε_0, B)-good for ℓ(a, b) = 1{ab **<** B**p**γ}; for "
    r"classes of equal mass p = 1/2. (In symbols, point by point of x'.)",
    instances=once,
    exhaustive=True,
    knobs={"share": 1},
    mutants={"Bγ, without p": {"share": 0}},
    note="The text of [6] was not at hand: what is tested is our reading of its Definition 3, the condition on u. The paper prints the "
    "margin Bγ and no sign of w; so taken the two are not the same (KJ-Def2-rem2-same).",
)
def margins_of_classes(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One x' of each class: its term of y f(x), and the room that |w| ≤ B leaves."""
    B, p, same, other, q, u, K = symbols("B p same other q u K")
    scale = B * p if trial["share"] else B
    w = u * B * p
    yield equal(q * (w / same) * K, scale * (q * u * K / same), "y' = y")
    yield equal(q * (-w / other) * K, -scale * (q * u * K / other), "y' ≠ y")
    for mass in (same, other):
        yield equal(B - w / mass, B * ((mass - p) + p * (1 - u)) / mass, "B − |w|")


@claim(
    "KJ-Def2-rem2-same",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2, ours: Definition 2 with ℓ(a, b) = 1{ab ≤ Bγ} beside [6], as we read [6]",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
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
def margins_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Brackets of both least masses: a witness above; below, the mass of points that no weights satisfy even alone."""
    masses, gram, y, gamma = (instance[key] for key in ("masses", "gram", "targets", "gamma"))
    margins = [a * b for a, b in zip(predicted(instance, instance["w"]), y, strict=True)]
    best = [mean(instance, [abs(k) for k in row]) for row in gram]
    ours = between(_mass(masses, [m <= gamma for m in best]), _mass(masses, [m <= gamma for m in margins]))
    rows = [_conditional(instance, i) for i in range(len(y))]
    reached = [sum((c * u for c, u in zip(row, instance["u"], strict=True)), ZERO) for row in rows]
    most = [sum((max(c, ZERO) for c in row), ZERO) for row in rows]
    theirs = between(_mass(masses, [m < gamma for m in most]), _mass(masses, [m < gamma for m in reached]))
    yield distinct(ours, theirs, "least masses with a smaller margin")


def _mass(masses: Sequence[Fraction], flags: Sequence[bool]) -> Fraction:
    return sum((p for p, flag in zip(masses, flags, strict=True) if flag), ZERO)


def _conditional(instance: Instance, i: int) -> list[Fraction]:
    """Coefficients of u in E[uK | y' = y] − E[uK | y' ≠ y] at x_i."""
    masses, y = instance["masses"], instance["targets"]
    shares = {label: _mass(masses, [b == label for b in y]) for label in (1, -1)}
    return [p * k * (1 if b == y[i] else -1) / shares[int(b)] for p, k, b in zip(masses, instance["gram"][i], y, strict=True)]


def merged(trial: Trial) -> Iterator[Instance]:
    """Random targets, and two of the same size, where BM is just enough."""
    yield domain([HALF, HALF], [[1, 0], [0, 1]], [3, -3], bound=Fraction(2), epsilon=ZERO)
    for _ in range(trial.count(12, 40)):
        made = random_domain(trial.rng, int(trial.rng.integers(2, 5)), targets=[-3, -1, 0, HALF, 2])
        yield made | {"bound": Fraction(int(trial.rng.integers(1, 7)), 2), "epsilon": Fraction(int(trial.rng.integers(0, 2)), 4)}


@claim(
    "KJ-Def2-rem3",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Definition 2: merging w(x')y(x') into w(x')",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If |y| ≤ M, predictors E[w(x')y(x')K(x, x')] with |w| ≤ B are predictors E[w(x')K(x, x')] with |w| ≤ **BM**: ε_0(BM) ≤ the "
    r"least loss of the former. (ℓ_ε on finite domains, exactly; equality for |y| = M.)",
    instances=merged,
    knobs={"size": 1},
    mutants={"|w| ≤ B": {"size": 0}},
    note="B grows by sup |y|, of which the remark asks only that it is finite.",
    cost=0.4,
)
def merging_costs_the_size(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both exact values."""
    bound, epsilon = instance["bound"], instance["epsilon"]
    size = max((abs(y) for y in instance["targets"]), default=ZERO)
    wide = bound * size if trial["size"] else bound
    yield at_most(least_loss(instance, wide, epsilon), least_loss(with_targets_in_weights(instance), bound, epsilon), "ε_0(BM)")
    if len({abs(y) for y in instance["targets"]}) == 1 and size:
        yield at_most(least_loss(with_targets_in_weights(instance), bound, epsilon), least_loss(instance, bound * size, epsilon), "|y| = M")
