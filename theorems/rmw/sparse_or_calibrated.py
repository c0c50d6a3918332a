r"""Section 6.7: sparse solutions against calibrated probability estimates (Bartlett and Tewari), and whose trade-off it is.

With the regulariser (λ/2)‖ω‖² the solution is Σ α_i y_i φ(x_i), nλα_i ∈ −∂ψ(y_i f(x_i)): the i-th point can go without weight only if 0 ∈
∂ψ(y_i f(x_i)). Let ∂ψ(t) = [−A, −a] and ∂ψ(−t) = [−B, −b], all four ≥ 0 for a convex potential. A score t is best for η = P(Y = 1 | x),
that is, minimises ηψ(v) + (1 − η)ψ(−v), if and only if ηA ≥ (1 − η)b and ηa ≤ (1 − η)B. That is, the odds η/(1 − η) lie in [b/A, B/a]. If a
positive point with the score t may have no weight, a = 0. Then t is best for all η in
[b/(A + b), 1), or for none: it does not tell η. For a negative point it is b = 0, and (0, B/(a + B)]. If t tells η, then a > 0 and b > 0:
every point with this score has weight, whatever its label.

With another regulariser the weights do not come from ∂ψ alone. The squared hinge is calibrated, η = (1 + t)/2, and for |t| ≤ 1
ηψ(t) + (1 − η)ψ(−t) = (t − f)² + 1 − f², f = 2η − 1. On two points, equally likely, with K = (1, ½; ½, 1) and f = cK(·, x_1), let the
score be c_1 K(·, x_1) + c_2 K(·, x_2). The penalty λ(|c_1| + |c_2|) gives c_1 = c − 4λ/5 and c_2 = 0, as the slopes of the risk there are
−λ and −4λ/5; (λ/2)‖ω‖² gives (K + λ)(c_1, c_2) = f.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.potentials import LOGISTIC, random_mixture
from simopt.theorems.small_worlds.worlds import add, dot, minus

CITATION = "Section 6.7, the 'trade off' of Bartlett and Tewari"
NEAR = Fraction(1, 1000)  # less than the distances between the bends


def losses_and_scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The hinge, mixtures of hinges, and scores at the bends, their opposites and between; the logistic loss."""
    mixtures = [([Fraction(1)], [Fraction(1)])] + [random_mixture(trial.rng) for _ in range(trial.count(12, 60))]
    for weights, bends in mixtures:
        for t in sorted({*bends, *(-kink for kink in bends), Fraction(0), Fraction(1, 3)}):
            yield {"weights": weights, "bends": bends, "score": t}
    for score in (-2, 0, 5):
        yield {"loss": "logistic", "score": Fraction(score)}


def value(weights: Sequence[Fraction], kinks: Sequence[Fraction], v: Fraction) -> Fraction:
    """ψ(v) = Σ c_k [b_k − v]_+."""
    return Fraction(add(c * max(b - v, Fraction(0)) for c, b in zip(weights, kinks, strict=True)))


def slopes(weights: Sequence[Fraction], kinks: Sequence[Fraction], v: Fraction) -> tuple[Fraction, Fraction]:
    """The ends of −∂ψ(v), the larger first: minus the left and minus the right derivative."""
    pairs = list(zip(weights, kinks, strict=True))
    return add(c for c, b in pairs if v <= b), add(c for c, b in pairs if v < b)


def is_best(weights: Sequence[Fraction], kinks: Sequence[Fraction], eta: Fraction, t: Fraction) -> bool:
    """Whether t minimises ηψ(v) + (1 − η)ψ(−v), by values: at all kinks, and next to t on either side."""

    def risk(v: Fraction) -> Fraction:
        return eta * value(weights, kinks, v) + (1 - eta) * value(weights, kinks, -v)

    rivals = [sign * kink for kink in kinks for sign in (1, -1)] + [t - NEAR, t + NEAR]
    return all(risk(t) <= risk(rival) for rival in rivals)


@sc.claim(
    "RMW-6.7-tradeoff",
    place=CITATION,
    kind=sc.INEQUALITY,
    says=r"With the regulariser (λ/2)‖ω‖² a convex potential ψ trades sparsity for calibration, **score by score**: if a point with the "
    r"score t may have no weight, 0 ∈ ∂ψ(yt), then t minimises ηψ(v) + (1 − η)ψ(−v) for an interval of η = P(Y = 1 | x), or for no "
    r"0 < η < 1, and does not tell η. If t is best for one 0 < η < 1 only, every point with this score has weight, whatever its label.",
    instances=losses_and_scores,
    resolution=0.0,
    knobs={"place": Fraction(1, 2)},
    mutants={"beyond the interval": {"place": Fraction(-1, 100)}},
    note="Proof in the head of sparse_or_calibrated.py. Hinge: t = 1 for all η ≥ ½, and positive points at 1 may go without weight; "
    "logistic and squared hinge: t tells η, and all points with 0 < η < 1 have weight. Bartlett and Tewari show what share of the points "
    "this is as n → ∞. Scores are tried by the values of the risk, not by its slopes.",
)
def scores_without_weight_determine_no_probability(
    instance: sc.Instance, score: Fraction, trial: sc.Trial, loss: str | None = None, weights: Sequence[Fraction] = ()
) -> Iterator[sc.Check]:
    """The odds at which t is best, from values; for each label that may go without weight, two η of the interval."""
    t = score
    if loss is not None:
        for y in (1, -1):
            yield sc.at_most(LOGISTIC.slope(y * t), 0, f"ψ′(yt) of the logistic loss, y = {y}", strict=True)
        return
    kinks = instance["bends"]
    (A, a), (B, b) = slopes(weights, kinks, t), slopes(weights, kinks, -t)
    for label, free, most, least in ((1, a == 0, A, b), (-1, b == 0, B, a)):
        if free and most > 0:
            end = least / (most + least)
            for share in (end, end + trial["place"] * (1 - end)):
                eta = share if label == 1 else 1 - share
                if 0 < eta < 1:
                    yield sc.true(is_best(weights, kinks, eta, t), f"t is best for η = {eta}", evidence=sc.EXACT)
        elif free:
            for k in range(1, 8):
                yield sc.true(
                    is_best(weights, kinks, Fraction(k, 8), t) is (least == 0),
                    f"best for η = {k}/8 as for all",
                    evidence=sc.EXACT,
                )
    if a > 0 and b > 0 and b * a == A * B:
        eta = b / (A + b)
        yield sc.true(is_best(weights, kinks, eta, t), f"t is best for η = {eta}", evidence=sc.EXACT)
        for near in (eta - NEAR * eta * (1 - eta), eta + NEAR * eta * (1 - eta)):
            yield sc.true(not is_best(weights, kinks, near, t), f"and not for η = {near}", evidence=sc.EXACT)


@sc.claim(
    "RMW-6.7-regulariser",
    place="Section 6.7, 'this is for this particular choice of regularizer'",
    kind=sc.COUNTEREXAMPLE,
    says=r"With another regulariser the trade-off need not be made: a calibrated loss and a sparse solution. Two points, equally likely, "
    r"K(x_1, x_1) = K(x_2, x_2) = 1, K(x_1, x_2) = ½, η = ½ + (c/2)K(·, x_1), 0 < c < 1, and the squared hinge, for which η = (1 + t)/2. "
    r"With **λ(|c_1| + |c_2|)**, 0 < λ < c, the minimiser is (c − 4λ/5) K(·, x_1), one point of two, and estimates η to 2λ/5; with "
    r"(λ/2)‖ω‖² it has weight on both points for every λ > 0.",
    remains="that a convex function is least where a subgradient is 0, and scores are at most 1",
    exhaustive=True,
    resolution=0.0,
    knobs={"shrinkage": Fraction(4, 5)},
    mutants={"c_1 = c − λ": {"shrinkage": Fraction(1)}},
    note="The paper names the LASSO. The second regulariser is the trade-off's own, on the same points: c_2 = cλ/(2(1 + λ)² − ½).",
)
def absolute_values_leave_a_calibrated_loss_sparse(trial: sc.Trial) -> Iterator[sc.Check]:
    """The risk; its slopes at the sparse point, −λ and inside [−λ, λ]; and the solution with the other regulariser."""
    c, lam, eta, t = sc.symbols("c lam eta t")
    f = 2 * eta - 1
    yield sc.equal(eta * (1 - t) ** 2 + (1 - eta) * (1 + t) ** 2, (t - f) ** 2 + 1 - f**2, "ηψ(t) + (1 − η)ψ(−t), |t| ≤ 1")
    K = [[Fraction(1), Fraction(1, 2)], [Fraction(1, 2), Fraction(1)]]
    best = [c * k for k in K[0]]

    def scores(weights: Sequence[Any]) -> list[Any]:
        return [dot(row, weights) for row in K]

    sparse = [c - trial["shrinkage"] * lam, Fraction(0) * lam]
    wrong = minus(scores(sparse), best)  # half the mean of 2(t − f)K(·, x_j): the slopes of the risk
    yield sc.equal(dot(wrong, K[0]), -lam, "slope along c_1 > 0")
    yield sc.equal(dot(wrong, K[1]), -4 * lam / 5, "slope along c_2 = 0, inside [−λ, λ]")
    yield sc.equal(wrong[0] / 2, -2 * lam / 5, "error of the estimate of η at x_1")
    yield sc.equal(wrong[1] / 2, -lam / 5, "error of the estimate of η at x_2")
    whole = (1 + lam) ** 2 - Fraction(1, 4)
    dense = [c * (lam + Fraction(3, 4)) / whole, c * lam / (2 * whole)]
    for j in range(2):
        yield sc.equal(scores(dense)[j] + lam * dense[j], best[j], f"(K + λ)c = f, coordinate {j + 1}, with c_2 ≠ 0")
