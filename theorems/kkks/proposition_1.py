r"""Proposition 1 speaks of every t, and holds as long as w^t is short: the fit overtakes the noise of samples that share no direction.

Orthonormal samples. Let x be uniform on d ≥ 4m² axes, so that the m samples are different axes with probability ≥ 7/8. Let u = 1/2 and
w = 0: y ∈ {0, 1} is a fair coin and ỹ^t = 1/2. Let q be the fraction of ones. The scores of L-Isotron are g_t apart between ones and zeros,
LPAV fits ŷ = q + (1 − q)g_t and q − q g_t there (KK-T2-run), and w^t·x grows by (y − ŷ)/m. So g_{t+1} = g_t + (1 − g_t)/m, g_1 = 0. So
g_t = 1 − (1 − 1/m)^{t−1} ≥ s − s²/2 ≥ s/2 for s = (t − 1)/m ≤ 1. As |y − 1/2| = 1/2 and mean |ŷ^t − y| = 2q(1 − q)(1 − g_t) ≤ (1 − g_t)/2,
mean |ŷ^t − ỹ^t| ≥ g_t/2 ≥ s/4 whatever q is. That is 1/4 from t = m + 1 on, while (log(m/δ)/m)^{1/4} tends to 0. There ‖w^t‖ is of the
order √m.

With constants. The second form holds for all ‖w‖ ≤ R at once. The reason: û_w and ũ_w, fitted to y and to E[y|x] at the places w·x_i, are
projections of two vectors on the same convex set. So mean (û_w − ũ_w)² ≤ mean (y − E[y|x])(û_w − ũ_w): a shorter way than Lemmas 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np

import simopt.claims as sc
from simopt.theorems.kkks.finite_models import model_of
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO
from simopt.theorems.kkks.rational_tron import fitted, iterates
from simopt.theorems.kkks.theorem_3 import both_fits, largest, visited
from simopt.theorems.kkks.uniform_bounds import fits_apart

HALF = Fraction(1, 2)


def coins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Runs in fractions, for all numbers of ones; and for C = 1, 10³ and 10⁶ the size m = n⁴, n = 10 C²."""
    for m in (2, 3, 5):
        for ones in range(1, m):
            yield {"m": m, "ones": ones, "steps": 2 * m}
    for C in (1, 10**3, 10**6):
        yield {"C": C, "n": 10 * C**2}


def orthonormal_run(m: int, ones: int, steps: int) -> Iterator[sc.Check]:
    """ŷ^t of L-Isotron on the axes against the closed form, and mean |ŷ^t − 1/2| against g_t/2."""
    features = [[ONE if i == j else ZERO for j in range(m)] for i in range(m)]
    labels = [ONE] * ones + [ZERO] * (m - ones)
    q = Fraction(ones, m)
    for t, now in enumerate(islice(iterates(features, labels, fitted(labels, [1] * m)), steps), 1):
        g = 1 - (1 - Fraction(1, m)) ** (t - 1)
        name = f"m = {m}, {ones} ones, t = {t}"
        yield sc.equal(now.predictions, [q + (1 - q) * g] * ones + [q - q * g] * (m - ones), f"ŷ^t, {name}")
        yield sc.at_least(sum(abs(p - HALF) for p in now.predictions) / m, g / 2, f"mean |ŷ^t − 1/2|, {name}")


@sc.claim(
    "KK-P1",
    place="Proposition 1",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"There is a universal constant C such that for all W ≥ 1, d, m, δ, with probability ≥ 1 − δ, for **any t** of L-Isotron "
    r"mean |ŷ^t − ỹ^t| ≤ C (W² log(m/δ)/m)^{1/4}.",
    instances=coins,
    constants=("C",),
    defeats="m = (10 C²)⁴ defeats C ≥ 1, and with it all smaller ones. For every C: the arithmetic is KK_P1_no_constant.",
    resolution=0.0,
    knobs={"late": True},
    mutants={"t ≤ m^{1/4} + 1": {"late": False}},
    note="x uniform on d ≥ 4m² axes, u = 1/2, w = 0, W = 1, δ = 1/4: head of proposition_1.py. From t = m + 1 on the mean is ≥ 1/4. C = 1 "
    "fails at m = 10⁴, C at m = (10 C²)⁴, so that no constant will do. The first form of the proposition is above 1 here. The proof has "
    "the bound for ‖w‖ ≤ W, and Theorem 2 needs it up to the first good iterate, where ‖w^t‖ ≤ 2W (KK-wt+): KK-P1+.",
)
def bound_for_any_iterate(
    trial: sc.Trial, m: int | None = None, ones: int = 0, steps: int = 0, C: int = 0, n: int = 0
) -> Iterator[sc.Check]:
    """The closed form against the algorithm; or s/4 at s = (t − 1)/m against the bound, both to the fourth power."""
    if m is not None:
        yield from orthonormal_run(m, ones, steps)
        return
    name = f"C = {C}, m = {n}⁴"
    C, n = sc.inputs(C=C, n=n)
    size = n**4
    s = 1 if trial["late"] else n / size
    yield sc.at_most((s * Fraction(1, 4)) ** 4, C**4 * sc.log(4 * size) / size, name)


@sc.claim(
    "KK-P1+",
    place="Appendix B: 'It is easy to see that the proposition follows' from Theorem 3; corrected",
    kind=sc.IDENTITY,
    says=r"Let R, d ≥ 1, and let the bounds of Theorem 3 hold **for all ‖w‖ ≤ R at once**, with 𝒰 the **nondecreasing** functions and a "
    r"constant C ≥ 1. Then **for every t with ‖w^t‖ ≤ R** the bounds of Proposition 1 hold with R for W and 2C for C. For ŷ^t and ỹ^t are "
    r"û and ũ at w^t; with L ≤ L' the logarithms, a = (dR^{3/2}L'/m)^{1/3}, b = (R²L/m)^{1/2}, c = (dR²L'/m)^{1/3}: a ≤ c, as c³ − a³ = "
    r"(dL'/m)R^{3/2}(√R − 1); b ≤ c where b ≤ 1, as b = ρ³ ≤ ρ² ≤ c for ρ⁶ = R²L/m, ρ² − ρ³ = ρ²(1 − ρ), c³ − ρ⁶ = (R²/m)(dL' − L); and "
    r"where b > 1, c ≥ ρ² > 1, which no mean of |ŷ − ỹ| exceeds.",
    remains="Theorem 3 itself (KK-T3; its second form with constants and log²m is KK-P1-explicit), that ŷ^t and ỹ^t are û and ũ (KK-LPAV, "
    "KK-defU), and ‖w^t‖ ≤ 2W up to the first good iterate (KK-wt+)",
    exhaustive=True,
    resolution=0.0,
    knobs={"halves": 3},
    mutants={"R^{1/2} in Theorem 3": {"halves": 1}},
    corrects="KK-P1",
    note="Theorem 3 is printed 'with probability at least 1 − δ, for any fixed w', from which nothing follows for w^t, which the sample "
    "chooses; its proof has all w at once. R = v² for the half power, ρ⁶ for R²L/m.",
)
def theorem_3_gives_proposition_1(trial: sc.Trial) -> Iterator[sc.Check]:
    """The three differences."""
    d, L, more, m, v, rho = sc.symbols("d L more m v rho")  # L' = more
    R = v**2
    yield sc.equal(d * R**2 * more / m - d * v ** trial["halves"] * more / m, d * more / m * v**3 * (v - 1), "c³ − a³")
    yield sc.equal(rho**2 - rho**3, rho**2 * (1 - rho), "ρ² − b")
    yield sc.equal(d * R**2 * more / m - R**2 * L / m, R**2 / m * (d * more - L), "c³ − ρ⁶")


def settings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Models with many different x, where LPAV has most to fit; the bound is below 1, the largest value there is."""
    models = (("disc", "ramp around 0", 1.0, 1200), ("sphere", "sigmoid", 1.0, 4000), ("axes", "sigmoid", 2.0, 10**6))
    for points, transfer, W, m in models[: trial.count(2, 3)]:
        for delta in (0.1, 0.3)[: trial.count(1, 2)]:
            yield {"points": points, "transfer": transfer, "W": W, "m": m, "delta": delta, "vectors": trial.count(4, 20)}


@sc.claim(
    "KK-P1-explicit",
    place="Proposition 1, second form, with constants",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let R ≥ 1/2, ‖x‖ ≤ 1, y ∈ [0, 1]. For every w, mean (û_w − ũ_w)² ≤ mean (y − E[y|x])(û_w − ũ_w). With probability ≥ 1 − δ, for "
    r"all ‖w‖ ≤ R at once, mean |û_w − ũ_w| ≤ fits_apart(m, R, δ) of uniform_bounds.py, which is O(((R² log²m + log(1/δ))/m)^{1/4}), in "
    r"any dimension. (Tried with R = 2W at the first iterates of L-Isotron and at random w.)",
    instances=settings,
    resolution=1e-12,
    knobs={"share": 1.0},
    mutants={"a hundredth": {"share": 0.01}},
    note="Proof in the heads of uniform_bounds.py and proposition_1.py. E[y|x] need not be u(w·x) for any w. Slack, since the supremum "
    "over 𝒰 stands for the one fit: at fixed d the rate is m^{−1/3} (KK-T3).",
)
def fits_are_never_further_apart(
    points: str, transfer: str, W: float, m: int, delta: float, vectors: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The inequality for one sample, then draws of the event."""
    found = model_of(points, transfer, W)
    bound = trial["share"] * fits_apart(m, 2 * found.W, delta)
    first = found.sample(m, trial.rng)
    for w in visited(first):
        one, two = both_fits(first, w)
        residual = first.labels - first.means
        yield sc.at_most(first.frequencies @ np.square(one - two), first.frequencies @ (residual * (one - two)), "mean (û − ũ)²")
    for _ in trial.draws(100_000):
        sample = found.sample(m, trial.rng)
        chosen = trial.rng.standard_normal((vectors, sample.X.shape[1]))
        chosen *= 2 * found.W / np.linalg.norm(chosen, axis=1, keepdims=True)
        yield sc.outcome(largest(sample, [*visited(sample), *chosen]) > bound, delta)
