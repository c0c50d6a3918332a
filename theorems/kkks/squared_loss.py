r"""Appendix B: what the proofs of Lemma 7, Lemma 9 and Theorem 3 use about the square loss, on finite worlds in rational numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from simopt.claims import *
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, PiecewiseLinear, interpolating
from simopt.theorems.kkks.rational_lpav import lpav
from simopt.theorems.small_worlds.exact_hull import nearest
from simopt.theorems.small_worlds.sampled_worlds import weights

Numbers = Sequence[Fraction]


def one_tenth(trial: Trial) -> Iterator[Instance]:
    """Predictions 1 and 9/10 of the label 0."""
    yield {"a": ONE, "b": Fraction(9, 10), "y": ZERO}


@claim(
    "KK-L7pf",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix B, proof of Lemma 7",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONSTANT,
    says=r"The square loss is 1-Lipschitz on [0, 1]: |(a − y)² − (b − y)²| ≤ |a − b| for a, b, y in [0, 1].",
    instances=one_tenth,
    resolution=0.0,
    knobs={"constant": 1},
    mutants={"2-Lipschitz": {"constant": 2}},
    note="a = 1, b = 9/10, y = 0: 19/100 > 1/10. So the classes of squares need covers at ε/2, which changes constants only.",
)
def loss_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both sides as formulas."""
    a, b, y = inputs(a=instance["a"], b=instance["b"], y=instance["y"])
    yield at_most(abs((a - y) ** 2 - (b - y) ** 2), trial["constant"] * abs(a - b), "change of the loss")


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: identities in symbols."""
    yield {}


@claim(
    "KK-L7pf+",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix B, proof of Lemma 7, corrected",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"The square loss is 2-Lipschitz on [0, 1]: (a − y)² − (b − y)² = (a − b) s, s = a + b − 2y, and with a − b = p − q, |a − b| = p "
    r"+ q, 2(p + q) ± (p − q)s = p(2 ± s) + q(2 ∓ s), where 2 + s = a + b + 2(1 − y) and 2 − s = (1 − a) + (1 − b) + 2y are ≥ 0.",
    instances=once,
    exhaustive=True,
    knobs={"constant": 2},
    mutants={"1-Lipschitz": {"constant": 1}},
    corrects="KK-L7pf",
    note="The classes of squares are covered at ε by covers at ε/2: (4/ε)(2m + 1)^{1 + 32W²/ε²}. The class of |u(w·x) − u'(w·x)| needs "
    "covers at ε/4 of u, of u' and of w, so that (4/ε)² stands where the paper has 4/ε: (16/ε²)(2m + 1)^{1 + 32W²/ε²}.",
)
def loss_corrected(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identities."""
    a, b, y, p, q, s = symbols("a b y p q s")
    yield equal((a - y) ** 2 - (b - y) ** 2, (a - b) * (a + b - 2 * y), "difference of squares")
    for sign in (1, -1):
        yield equal(trial["constant"] * (p + q) + sign * (p - q) * s, p * (2 + sign * s) + q * (2 - sign * s), f"bound, sign {sign}")
    yield equal(2 + (a + b - 2 * y), a + b + 2 * (1 - y), "2 + s")
    yield equal(2 - (a + b - 2 * y), (1 - a) + (1 - b) + 2 * y, "2 − s")


def grid_values(rng: np.random.Generator, count: int) -> list[Fraction]:
    """Numbers k/8 in [0, 1]."""
    return [Fraction(int(k), 8) for k in rng.integers(0, 9, count)]


def hulls(trial: Trial) -> Iterator[Instance]:
    """Up to four functions on up to four points with masses, and E[y | x] at each: in the hull or not, in U∘W or not."""
    for k in range(trial.count(80, 240)):
        points, count = int(trial.rng.integers(1, 5)), int(trial.rng.integers(1, 5))
        functions = [grid_values(trial.rng, points) for _ in range(count)]
        means = grid_values(trial.rng, points) if k % 3 else functions[0]
        yield {
            "masses": weights(trial.rng, points),
            "functions": functions,
            "means": means,
            "share": Fraction(int(trial.rng.integers(1, 8)), 8),
        }


def weighted_mean(masses: Numbers, values: Numbers) -> Fraction:
    """E v."""
    return sum((p * v for p, v in zip(masses, values, strict=True)), ZERO)


def apart(masses: Numbers, f: Numbers, g: Numbers) -> Fraction:
    """E (f − g)²."""
    return weighted_mean(masses, [(a - b) ** 2 for a, b in zip(f, g, strict=True)])


def gap(masses: Numbers, f: Numbers, g: Numbers) -> Fraction:
    """E |f − g|."""
    return weighted_mean(masses, [abs(a - b) for a, b in zip(f, g, strict=True)])


def risk(masses: Numbers, f: Numbers, means: Numbers) -> Fraction:
    """E (f − y)² for y in {0, 1} with these means."""
    return weighted_mean(masses, [m * (1 - a) ** 2 + (1 - m) * a**2 for a, m in zip(f, means, strict=True)])


def mixture(functions: Sequence[Numbers], shares: Numbers) -> list[Fraction]:
    """Σ c_j f_j."""
    return [weighted_mean(shares, column) for column in zip(*functions, strict=True)]


@claim(
    "KK-L9",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix B, Lemma 9",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Let F be convex, f* a minimiser of E (f − y)² over F (**which exists**). Then for all f in F: E (f − y)² − E (f* − y)² ≥ E (f "
    r"− f*)² ≥ (E |f − f*|)². E[y | x] need not lie in U∘W.",
    instances=hulls,
    knobs={"convex": True},
    mutants={"F = the corners only": {"convex": False}},
    note="F is the hull of up to four functions on up to four points, y in {0, 1}; f* is exact (Wolfe's method). In the proof the left "
    "side of (18) is expanded, not the right.",
)
def excess_in_a_convex_class(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Corners and mixtures."""
    masses, functions, means = instance["masses"], instance["functions"], instance["means"]
    if trial["convex"]:
        gram = [[weighted_mean(masses, [a * b for a, b in zip(f, g, strict=True)]) for g in functions] for f in functions]
        best = mixture(functions, nearest(gram, [weighted_mean(masses, [a * b for a, b in zip(f, means, strict=True)]) for f in functions]))
    else:
        best = min(functions, key=lambda f: risk(masses, f, means))
    mixed = mixture(functions[:2], [instance["share"], 1 - instance["share"]]) if len(functions) > 1 and trial["convex"] else functions[0]
    for f in (*functions, mixed):
        square = apart(masses, f, best)
        yield at_most(square, risk(masses, f, means) - risk(masses, best, means), "E (f − f*)² against the excess")
        yield at_most(gap(masses, f, best) ** 2, square, "(E |f − f*|)² against E (f − f*)²")


@claim(
    "KK-17",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix B, (17), (19), (21)",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"(17) at one x with mass P, s = E y and q = E y² there, u = s/P: (f²P − 2fs + q) − (g²P − 2gs + q) = P[(f − u)² − (g − u)²]; "
    r"both sides add over x. Exponents, with W = v² and r = ρ³: √(W r^{2/3}) = v ρ = (W^{3/2} r)^{1/3}, as in (19); with W = v² and "
    r"log(m/δ)/m = ρ⁴: √(√(W² ρ⁴)) = v ρ = (W² ρ⁴)^{1/4}, as in (21).",
    instances=once,
    exhaustive=True,
    knobs={"times": 1, "halves": 3},
    mutants={"u = 2 E y/P": {"times": 2}, "W² in (19), as in Proposition 1": {"halves": 4}},
)
def bias_and_exponents(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Identities of rational functions."""
    P, s, q, f, g, v, rho = symbols("P s q f g v rho")
    u = trial["times"] * s / P
    yield equal((f**2 * P - 2 * f * s + q) - (g**2 * P - 2 * g * s + q), P * ((f - u) ** 2 - (g - u) ** 2), "(17)")
    W = v**2
    yield equal((v * rho) ** 2, W * rho**2, "square of (19): W r^{2/3}")
    yield equal((v * rho) ** 3, v ** trial["halves"] * rho**3, "cube of (19): W^{3/2} r")
    yield equal(((v * rho) ** 2) ** 2, W**2 * rho**4, "fourth power of (21): W² log(m/δ)/m")


def sampled_worlds(trial: Trial) -> Iterator[Instance]:
    """Up to five points z = w·x with masses and means of y in {0, 1}, some tied, and a sample of them."""
    for _ in range(trial.count(50, 150)):
        points = int(trial.rng.integers(2, 6))
        z = [Fraction(int(k), 4) for k in trial.rng.integers(-4, 5, points)]
        means = grid_values(trial.rng, points)
        masses = weights(trial.rng, points)
        drawn = trial.rng.choice(points, size=int(trial.rng.integers(3, 13)), p=[float(p) for p in masses])
        labels = [int(trial.rng.random() < float(means[i])) for i in drawn]
        yield {"z": z, "means": means, "masses": masses, "drawn": [int(i) for i in drawn], "labels": labels}


@claim(
    "KK-17/19/20-23",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix B, proof of Theorem 3, (17), (19) to (23)",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For a fixed w let u* minimise E (u − y)² over U, û the mean of (u − y_i)² on a sample, ũ that against E[y | x_i] (LPAV all "
    r"three, KK-defU). (17) holds; u* also minimises E (u − E[y | x])²; (19), (21): (E |û − u*|)² ≤ excess of û ≤ the deviations of û and "
    r"of u* added up; (20), (22): the same for ũ; (23): the mean of |û − ũ| on the sample is ≤ E |û − u*| + E |ũ − u*| + its own "
    r"deviation. So the rates of Lemmas 7 and 8 give those of Theorem 3.",
    instances=sampled_worlds,
    knobs={"lipschitz": ONE},
    mutants={"û from a smaller class": {"lipschitz": Fraction(1, 8)}},
    note="Beyond the sample û and ũ are constant. The proof writes û(w·x_i) and y_i in the third display, where the point is a new one.",
)
def from_deviations_to_the_fits(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Every step on one world and one sample."""
    z, means, masses = instance["z"], instance["means"], instance["masses"]
    best = lpav(z, means, masses)
    drawn = instance["drawn"]
    share = [Fraction(sum(i == k for i in drawn), len(drawn)) for k in range(len(z))]
    places = [z[i] for i in drawn]
    fits = [
        lpav(places, values, None, trial["lipschitz"]) for values in ([Fraction(v) for v in instance["labels"]], [means[i] for i in drawn])
    ]
    hat, tilde = (on(interpolating(places, fit), z) for fit in fits)
    found = [
        Fraction(sum(v for i, v in zip(drawn, instance["labels"], strict=True) if i == k), max(drawn.count(k), 1)) for k in range(len(z))
    ]
    reach = []
    for name, u, loss, seen in (("û", hat, risk, found), ("ũ", tilde, apart, means)):
        excess = loss(masses, u, means) - loss(masses, best, means)
        yield equal(
            risk(masses, u, means) - risk(masses, best, means), apart(masses, u, means) - apart(masses, best, means), f"(17), {name}"
        )
        yield at_least(excess, 0, f"u* is best, {name}")
        reach.append(gap(masses, u, best))
        yield at_most(reach[-1] ** 2, excess, f"(E |{name} − u*|)²")
        off = sum(abs(loss(share, f, seen) - loss(masses, f, means)) for f in (u, best))
        yield at_most(excess, off, f"excess of {name} against the deviations")
    between = gap(share, hat, tilde)
    yield at_most(between, sum(reach) + abs(between - gap(masses, hat, tilde)), "(23)")


def on(u: PiecewiseLinear, places: Numbers) -> list[Fraction]:
    """u at these places."""
    return [u(t) for t in places]
