r"""Definition 3: useful similarities, and what no learner can do. Points that K does not tell apart get the same prediction.

If K(x, ·) and K(·, x) are the same for all x of a cell, every predictor that sees data through K is constant on cells, whatever it was
trained on. Its risk is at least the risk of the best constant in each cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import simopt.claims as sc
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, domain, least_loss
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"
FAR = Fraction(10**4)


def within_cells(cells: list[int], masses: list[Fraction], targets: list[Fraction]) -> Fraction:
    """Least absolute error of predictors that are constant on the cells: a median in each."""
    left = ZERO
    for cell in set(cells):
        inside = [(p, y) for p, y, c in zip(masses, targets, cells, strict=True) if c == cell]
        left += min(sum((p * abs(c - y) for p, y in inside), ZERO) for _, c in inside)
    return left


def cells(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Five points in one to three cells; K constant on them, at random or 1{same cell}."""
    rng = trial.rng
    for k in range(trial.count(10, 40)):
        count = int(rng.integers(1, 4))
        where = [int(c) for c in (*range(count), *rng.integers(0, count, size=5 - count))]
        apart = [[Fraction(int(v), 2) if k % 2 else Fraction(i == j) for j, v in enumerate(row)]
                 for i, row in enumerate(rng.integers(-2, 3, size=(count, count)))]  # fmt: skip
        gram = [[apart[a][b] for b in where] for a in where]
        targets = [Fraction(int(y), 2) for y in rng.integers(-4, 5, size=5)]
        yield domain(weights(rng, 5), gram, targets, cells=where, alike=k % 2 == 0)


@sc.claim(
    "KJ-Def3",
    section=SECTION,
    place="Definition 3",
    kind=sc.DEFINITION,
    says=r"K is ε_0-useful for ℓ_actual if some learner that sees data through K only reaches E ℓ_actual ≤ ε_0 + ε_1 with probability ≥ 1 "
    r"− δ from poly(1/ε_1, log(1/δ)) samples, for all ε_1, δ > 0. So ε_0 ≥ the within-cell Bayes risk, for cells that K does not tell "
    r"apart; and so is ε_0(B) for ℓ_0 and every B; with K = 1{same cell} and B large both are equal.",
    instances=cells,
    knobs={"share": ONE},
    mutants={"11/10 of the Bayes risk": {"share": Fraction(11, 10)}},
    note="The number of samples may depend on neither K nor the domain (KJ-H1). A training point met again is not recognised inside its "
    "cell, so that no sample size helps.",
)
def no_better_than_cells(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], cells: list[int], alike: bool, trial: sc.Trial
) -> Iterator[sc.Check]:
    """ε_0(10⁴) by an exact linear programme against medians."""
    floor, value = within_cells(cells, masses, targets), least_loss(domain(masses, gram, targets), FAR)
    yield sc.at_least(value, (trial["share"] if alike else ONE) * floor, "ε_0(B)")
    if alike:
        yield sc.equal(value, floor, "K = 1{same cell}")


def sizes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """m samples on N = 100m points; and all samples and labels of small domains."""
    for m in (1, 10, 100, 1000):
        yield {"m": m, "N": 100 * m}
    for N, m in product((1, 2, 3), (0, 1, 2)):
        yield {"m": m, "N": N, "enumerate": True}


@sc.claim(
    "KJ-H1",
    section=SECTION,
    place="Section 2.1, Lemma 15, Theorems 5, 8 and 9: a hypothesis that is nowhere written",
    kind=sc.COUNTEREXAMPLE,
    says=r"Without **|K| ≤ 1** utility fails: on N points of equal mass with y = ±1 at random, K = N·1{x = x'} is (0, 1)-good for ℓ_0 (w = "
    r"y), but every learner from m samples, landmarks included, has an expected absolute error ≥ (1 − 1/N)^m, ≥ 99/100 for N = 100m. (In "
    r"fractions for m = 1, 10, 100, 1000 and N = 100m; the best learner over all samples for N ≤ 3, m ≤ 2.)",
    remains="that every learner loses 1 on average at a point that it has not met, and all other m and N",
    instances=sizes,
    exhaustive=True,
    knobs={"height": 1},
    mutants={"K = 1{x = x'}": {"height": 0}},
    note="At a point that was not met the label is a fair coin, and (|c − 1| + |c + 1|)/2 ≥ 1 for every prediction c. With |K| ≤ 1 the "
    "same similarity loses 1 − 1/N at B = 1. Appendix B has K ≤ 1, which allows K = −N.",
)
def unbounded_similarities(N: int, m: int, trial: sc.Trial, enumerate: bool = False) -> Iterator[sc.Check]:
    """ε_0 of w = y, and the chance that a new point was not met."""
    points, sampled = sc.inputs(N=N, m=m)
    height = points if trial["height"] else points / points
    yield sc.at_most(abs(1 - height / points), 0, "loss of w = y")
    if enumerate:
        yield sc.equal((1 - 1 / points) ** m, _least_expected_error(N, m), "expected error of the best learner")
        return
    yield sc.at_least((1 - 1 / points) ** m, Fraction(99, 100), "(1 − 1/N)^m")
    yield sc.equal(100 * sampled, points, "N = 100m")


def _least_expected_error(N: int, m: int) -> Fraction:
    """Over all samples, labels and new points: repeat the label if met, else the best constant, which is in [−1, 1]."""
    total, cases = ZERO, 0
    for seen in product(range(N), repeat=m):
        for new in range(N):
            errors = [sum((abs(c - y) for y in (-1, 1)), ZERO) / 2 for c in (-ONE, -HALF, ZERO, HALF, ONE)]
            total, cases = total + (ZERO if new in seen else min(errors)), cases + 1
    return total / cases
