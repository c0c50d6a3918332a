r"""Why Lemma 3 holds for every W ≥ 1 although its printed chain needs W ≥ 4/3: the constant of η₂ is 2W + 2, not 2W + 4.

Write e = ȳ − ỹ, a = ŷ − ỹ, D = w·x − w^t·x, |D_i| ≤ W, and r = D − e = (t − u(t)) − (z − ỹ) at t = w·x, z = w^t·x.
(i) |r_i| ≤ W. Let r_i > W; then e_i = D_i − r_i < 0. Let τ_i = −Σ_{j≤i} e_j, as in `cumulative_residuals`: where τ > 0 the step to the
right has its upper bound, so that z − ỹ does not change, and where τ < 0 it is level. If τ_i > 0, let j be the first index right of i
with e_j > 0; up to j τ stays > 0. If τ_i ≤ 0, τ_{i−1} < 0: let j be the first left of i with e_j > 0; from j on τ < 0. In both cases
ȳ_j > ỹ_j ≥ ỹ_i > ȳ_i and z_j − ỹ_j ≤ z_i − ỹ_i; as t − u(t) is nondecreasing, r_j ≥ r_i > W and e_j < 0: a contradiction. r_i < −W is
the same the other way round.
(ii) −Σ (ȳ − ŷ)(D − ȳ + ŷ) ≤ (W + 1) Σ |a|, because (W + 1)|a| + (e − a)(D − e + a) = e r + [W|a| − ar] + [|a| + a(e − a)], where the
first terms add up to ≥ 0 by (7) and the brackets are ≥ 0 by (i) and |e − a| = |ȳ − ŷ| ≤ 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kkks.index_models import ONE, decoded_narrow, of_every_width, step
from simopt.theorems.kkks.rational_tron import mean

LEMMA = "Section 5.1, Lemma 3"


@claim(
    "KK-L3-kappa",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place=LEMMA + ", ours: the constant of η₂",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Let |D_i| ≤ W. Then |D_i − (ȳ_i − ỹ_i)| ≤ W for all i, mean (ȳ_i − ỹ_i)(D_i − ȳ_i + ỹ_i) ≥ 0, and mean (ȳ_i − ŷ_i)(D_i − ȳ_i + "
    r"ŷ_i) ≥ −(W + 1)η₂. So the paper's chain gives decrease ≥ ε̂ − (2W + 3)η₁ − (2W + 2)η₂, and Lemma 3 as printed for all W ≥ 1.",
    instances=of_every_width,
    decode=decoded_narrow,
    dimension=10,
    evaluations=(150, 500),
    knobs={"extra": ONE, "range": ONE},
    mutants={"W + 9/10": {"extra": Fraction(9, 10)}, "|D − ȳ + ỹ| ≤ 0.99 W": {"range": Fraction(99, 100)}},
    cost=1.5,
    note="Proof in the head of fitted_errors.py, its algebra in KK-L3-algebra. Equality at x = −1, w = 1, w^t = 2, u = 0, y = 1: D = W = 1 "
    "and ŷ − ȳ = 1, so that W + 1 is best.",
)
def constant_of_the_fit(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The range of D − e, the sum with ỹ, and the sum with ŷ, with the largest |D_i| for W."""
    s = step(instance, known=False)
    W = max(map(abs, s.apart))
    rests = [D - (bar - tilde) for D, bar, tilde in zip(s.apart, s.means, s.hypothetical, strict=True)]
    yield at_most(max(map(abs, rests)), trial["range"] * W, "|D − ȳ + ỹ|")
    yield at_least(mean([(b - h) * r for b, h, r in zip(s.means, s.hypothetical, rests, strict=True)], s.counts), 0, "(7)")
    off = [a - b for a, b in zip(s.means, s.predictions, strict=True)]
    value = mean([o * (D - o) for o, D in zip(off, s.apart, strict=True)], s.counts)
    yield at_most(-value, (W + trial["extra"]) * s.eta2(), "−mean (ȳ − ŷ)(D − ȳ + ŷ)")


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: an identity in symbols."""
    yield {}


@claim(
    "KK-L3-algebra",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place=LEMMA + ", ours: the constant of η₂, algebra",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"With a = p − q, |a| = p + q and D = r + e: (W + 1)(p + q) + (e − a)(D − e + a) = e r + [p(W − r) + q(W + r)] + [p(1 + e − a) + "
    r"q(1 − e + a)].",
    instances=once,
    exhaustive=True,
    knobs={"extra": 1},
    mutants={"W + 1/2": {"extra": Fraction(1, 2)}},
)
def sum_in_visible_terms(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity of polynomials."""
    W, p, q, e, r = symbols("W p q e r")
    a = p - q
    right = e * r + p * (W - r) + q * (W + r) + p * (1 + e - a) + q * (1 - e + a)
    yield equal((W + trial["extra"]) * (p + q) + (e - a) * (r + a), right, "per sample")
