r"""How long w^t gets: Lemma 4 is applied to h^t "since ‖w^t‖ ≤ W", at the first iterate whose error is small. It may be longer.

‖w^t − w‖ falls as long as ε̂(h^t) is not small, so that ‖w^t‖ ≤ ‖w‖ + ‖w^t − w‖ ≤ 2W there. So the covers of Appendix B are needed on
[−2W, 2W], which changes constants only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.theorems.kkks.index_models import ball_point, least_bound, length, step, transfer
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, PiecewiseLinear, ramp, random_transfer
from simopt.theorems.kkks.rational_tron import fitted, iterates, known, mean
from simopt.theorems.small_worlds.worlds import dot, scaled, squared

CITATION = "Appendix A.1, last sentence; Section 5.1, use of Lemma 4"


def run_from_zero(
    features: list[list[Fraction]], labels: list[Fraction], counts: list[int], w: list[Fraction], u: PiecewiseLinear, **more: object
) -> sc.Instance:
    """A sample, w and u; W = max(1, ‖w‖)."""
    made = {"features": features, "labels": labels, "counts": counts, "w": w, "knots": list(u.knots), "values": list(u.values)}
    return made | {"W": least_bound(w)} | more


def two_directions(count: int) -> sc.Instance:
    """Two kinds of samples, each `count` times, without noise; u begins at 2.139. Found by search."""
    thousandth = Fraction(1, 1000)
    features = [scaled([Fraction(-397), Fraction(-453)], thousandth), scaled([Fraction(248), Fraction(-968)], thousandth)]
    w = scaled([Fraction(-1513), Fraction(-3632)], thousandth)
    u = ramp(2139 * thousandth)
    return run_from_zero(features, [u(Fraction(dot(w, x))) for x in features], [count, count], w, u)


def large_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The sample at m = 2·10⁹, δ = 1/10, where the printed η is small enough for a long run."""
    yield two_directions(10**9) | {"delta": Fraction(1, 10), "longest": 80}


@sc.claim(
    "KK-wt",
    place=CITATION,
    kind=sc.ALGORITHM,
    expected=sc.REFUTED,
    defect=sc.CONSTANT,
    says=r"In the situation of Theorem 1 with ‖w‖ ≤ W, GLM-tron has ‖w^t‖ ≤ W for all t up to the first with ε̂(h^t) ≤ 6Wη, η = 2 (1 + "
    r"√(log(1/δ)/2))/√m, so that Lemma 4 applies to h^t.",
    instances=large_samples,
    resolution=0.0,
    knobs={"times": 1},
    mutants={"2W for W": {"times": 2}},
    note="Noise-free, two kinds of samples in equal numbers, W = ‖w‖ = 3.93. The second sample is fitted at once, and the first keeps "
    "pulling w^t out: ‖w^t‖ > W from t = 45 on, while ε̂ = 0.0057; the first good iterate is 62 for m = 2·10⁹, with ‖w^62‖ = 1.11 W, and "
    "1.13 W is approached as m grows. Equal numbers do not matter: shares from 0.3 to 0.7 of the first kind lead to 1.11 W and more.",
)
def iterates_stay_in_the_ball(
    features: list[list[Fraction]],
    labels: list[Fraction],
    counts: list[int],
    w: list[Fraction],
    knots: list[Fraction],
    values: list[Fraction],
    delta: Fraction,
    longest: int,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """‖w^t‖² against W² up to the first good iterate."""
    W = length(Fraction(squared(w)))
    m = sum(counts)
    eta = 2 * (1 + sc.root(sc.log(1 / sc.rational(delta)) / 2)) / sc.root(m)
    good = 6 * W * eta
    u = transfer(knots, values)
    means = [u(Fraction(dot(w, x))) for x in features]
    made = iterates(features, labels, known(u), counts)
    for t, now in zip(range(1, longest + 1), made, strict=False):
        yield sc.at_most(Fraction(squared(now.w)), trial["times"] ** 2 * squared(w), f"‖w^{t}‖² against W²")
        if mean([(a - b) ** 2 for a, b in zip(now.predictions, means, strict=True)], counts) <= good.low:
            return


def nearly_balanced(rng: np.random.Generator, total: int) -> sc.Instance:
    """Each x with labels 0 and 1 in numbers that give its mean but for one sample, so that η₁ is small; or without noise."""
    p, kinds = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    size = Fraction(int(rng.integers(1, 5)))
    w = scaled(ball_point(rng, p), size)
    u = random_transfer(rng, math.ceil(size) + 1)
    features: list[list[Fraction]] = []
    labels: list[Fraction] = []
    counts: list[int] = []
    for x in (ball_point(rng, p) for _ in range(kinds)):
        ones = u(Fraction(dot(w, x))) * total
        whole = min(max(math.floor(ones) + int(rng.integers(0, 2)), 0), total)
        for label, count in ((ONE, whole), (ZERO, total - whole)):
            if count:
                features, labels, counts = [*features, x], [*labels, label], [*counts, count]
    return run_from_zero(features, labels, counts, w, u, longest=12)


def runs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The sample of KK-wt for 63 steps, and random ones with little noise."""
    yield two_directions(1) | {"longest": 63}
    for k in range(trial.count(16, 48)):
        yield nearly_balanced(trial.rng, (1000, 10**6)[k % 2])


@sc.claim(
    "KK-wt+",
    place=CITATION + ", corrected",
    kind=sc.ALGORITHM,
    says=r"Let W ≥ 1 and ‖w‖ ≤ W. Up to and including the first t with ε̂(h^t) ≤ 5W(η₁ + η₂), the distances ‖w^t − w‖ fall and ‖w^t‖ ≤ "
    r"2W, for L-Isotron and (η₂ = 0) GLM-tron. Lemma 4 is to be applied with 2W.",
    instances=runs,
    knobs={"times": 2},
    mutants={"W for 2W": {"times": 1}},
    corrects="KK-wt",
    note="By Lemmas 3 and 5. η₁ and η₂ are those of the sample at step t. Behind that iterate nothing is promised: on a single sample x = "
    "y = 1, w = 1, u = clip(z/2), where η₁ = 1/2 and t = 1 is good already, w^t → 2W, and for L-Isotron 2.76 W was met.",
)
def iterates_stay_in_the_double_ball(
    instance: sc.Instance,
    features: list[list[Fraction]],
    labels: list[Fraction],
    counts: list[int],
    w: list[Fraction],
    knots: list[Fraction],
    values: list[Fraction],
    W: Fraction,
    longest: int,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Both algorithms from w^1 = 0."""
    u = transfer(knots, values)
    for name, fit in (("GLM-tron", known(u)), ("L-Isotron", fitted(labels, counts))):
        before = Fraction(squared(w))
        made = iterates(features, labels, fit, counts)
        for t, now in zip(range(1, longest + 1), made, strict=False):
            s = step(instance | {"current": now.w}, known=name == "GLM-tron")
            yield sc.at_most(Fraction(squared(now.w)), (trial["times"] * W) ** 2, f"{name}: ‖w^{t}‖² against (2W)²")
            yield sc.at_most(s.square_before(), before, f"{name}: ‖w^{t} − w‖² falls")
            before = s.square_before()
            allowed = 5 * W * (s.eta1() + s.eta2())
            if s.error() <= (allowed.low if isinstance(allowed, sc.Expr) else allowed):
                break
