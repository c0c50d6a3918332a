r"""Theorem 31: good kernels are good similarities for ranking, by the weights 2mC(r_i − f_i) of the regularised optimum W'.

W' minimises ½‖W‖² + mC Σ μ_i (⟨W, Φ(z_i)⟩ − r_i)². With x = mC, W' = Σ α_i Φ(z_i) and (PG + I/2x) α = Pr, so that α_i = 2xμ_i (r_i − f_i),
f = Gα: the weights are w_i = 2x (r_i − f_i). All of it is rational. In symbols α, G, μ and x are free, and r_i = f_i + α_i/(2xμ_i) is what
they solve: every r arises so, once.

A competitor W has the loss ε_0 = m Σ μ (f − r̃)² (plus a constant that both sides share) and the margin γ = 1/‖W‖. Then C = 1/(2ε_1γ²) as
in the paper, or half of it (KJ-Thm31-e-sharp). From below: queries of alike documents, η = h = 1/Σ D_t, so that all is in closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.theorems.kj.goodness.admissible_weights import mapped, squared_norm
from simopt.theorems.kj.landmarks.piecewise_linear import crossing
from simopt.theorems.kj.ranking.relevance_lists import BITS, discounts
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "ordinal"
Numbers = list[Fraction]
Row = Sequence[Fraction]
ZERO, HALF = Fraction(0), Fraction(1, 2)
TURN = Fraction(8483, 10000)  # above 4/(5 − 2√2)² = 0.84823…


def domain(masses: Sequence[Any], gram: Sequence[Sequence[Any]], targets: Sequence[Any], x: Any, **more: Any) -> sc.Instance:
    """Pairs with masses μ, kernel G and targets r̃ (0 ≤ r̃ ≤ 1, for any logarithm), x = mC."""
    return {
        "masses": [Fraction(p) for p in masses],
        "gram": [[Fraction(k) for k in row] for row in gram],
        "targets": [Fraction(r) for r in targets],
        "x": Fraction(x),
        **more,
    }


def one_point(x: Any) -> sc.Instance:
    """K = r = 1."""
    return domain([1], [[1]], [1], x)


def opposite(x: Any, rare: Any = Fraction(1, 1000)) -> sc.Instance:
    """Φ = 1 and, rarely, Φ = −1; r = 1 at both: f is near −1 at the rare point."""
    return domain([1 - Fraction(rare), Fraction(rare)], [[1, -1], [-1, 1]], [1, 1], x)


def random_domain(rng: np.random.Generator, points: int) -> sc.Instance:
    """A kernel of rank one to `points` with K(z, z) ≤ 1, targets in [0, 1], x from 1/8 to 16."""
    factor = rng.integers(-2, 3, size=(int(rng.integers(1, points + 1)), points))
    largest = max(1, int((factor**2).sum(axis=0).max()))
    gram = [[Fraction(int(k), largest) for k in row] for row in factor.T @ factor]
    targets = [Fraction(int(v), 4) for v in rng.integers(0, 5, size=points)]
    return domain(weights(rng, points), gram, targets, Fraction(2) ** int(rng.integers(-3, 5)))


def domains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One point, two opposite ones, random domains of two to five."""
    for x in ("1/20", "1/8", "5/16", "1/2", "17/20", "2", "32"):
        yield one_point(x)
        yield opposite(x)
    for _ in range(trial.count(25, 200)):
        yield random_domain(trial.rng, int(trial.rng.integers(2, 6)))


def admitted(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The domains with competitors W' of 8C, C a number a list and m = 1, …, 4; mC ≥ 5/16."""
    for k, made in enumerate(domains(trial)):
        if made["x"] >= Fraction(5, 16):
            yield made | {"m": 1 + k % 4, "alone": len(made["masses"]) == 1}


def wide_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One point, K = r = 1, W* = 1 with γ = 100, so that ε_0 = m (1 − 1/γ)²; m = 2 and ε_1 = 1/50: mC = 1/200."""
    yield one_point("1/200") | {"m": 2, "alone": True, "gamma": Fraction(100)}


@dataclass(frozen=True)
class Optimum:
    """α, f = Gα, ‖W'‖² and w = α/μ."""

    alpha: Numbers
    predictions: Numbers
    square: Fraction
    weights: Numbers


def optimum(masses: Row, gram: list[Numbers], targets: Row, x: Fraction) -> Optimum:
    """Solve (PG + I/2x) α = Pr exactly; the matrix is never singular."""
    planes = [
        ([q * k + (1 / (2 * x) if i == j else 0) for j, k in enumerate(row)], q * v)
        for i, (q, row, v) in enumerate(zip(masses, gram, targets, strict=True))
    ]
    alpha = crossing(planes)
    if alpha is None:
        raise ArithmeticError("PG + I/2mC is singular")
    return Optimum(alpha, mapped(gram, alpha), squared_norm(gram, alpha), [a / q for a, q in zip(alpha, masses, strict=True)])


def loss(masses: Row, targets: Row, f: Row) -> Fraction:
    """Σ μ (f − r)²: the loss of lists is m times it, plus a constant."""
    return sum((q * (v - r) ** 2 for q, v, r in zip(masses, f, targets, strict=True)), ZERO)


def _competitor(
    masses: Row, gram: list[Numbers], targets: Row, x: Fraction, gamma: Fraction | None, part: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """ε_0/m and 1/γ² of the competitor, and ε_1/m for C = part/(ε_1γ²), mC = x."""
    if gamma is not None:
        level, inverse = loss(masses, targets, [1 / gamma]), 1 / gamma**2
    else:
        other = optimum(masses, gram, targets, 8 * x)
        level, inverse = loss(masses, targets, other.predictions), other.square
    return level, inverse, part * inverse / x


@sc.claim(
    "KJ-Thm31",
    section=SECTION,
    place="Theorem 31",
    kind=sc.EXISTENCE,
    says=r"Let **K(z, z) ≤ 1** and **ε_1γ² ≤ 1.6m**. A kernel that is (ε_0, γ)-good for ranking (‖W*‖ ≤ 1, E ℓ_sq ≤ ε_0) is (ε_0 + ε_1, "
    r"B)-good as a similarity with B = 5(m/(2ε_1γ²))^{3/2} = O(m√m/(ε_1√ε_1γ³)): w = 2mC(r̃ − f), C = 1/(2ε_1γ²). (Exactly, on random "
    r"domains, lists of one to four; ε_0 and γ of the optimum for 8C.)",
    instances=admitted,
    knobs={"square": Fraction(25)},
    mutants={"γ = 100": {"instances": wide_margins}, "√24 in the place of 5": {"square": Fraction(24)}},
    note="The paper's own steps need ε_1γ² ≤ 0.589m (KJ-Thm31-d-all), ours 1.6m (KJ-Thm31-d-sharp). For γ ≤ 1 neither matters where m ≥ 2: "
    "ε_1 ≥ 1 ≥ E ‖η‖² is reached by w = 0. For γ → ∞ it fails, as an O(·) too (KJ-Thm31-wide). |r̃| ≤ 1 is a fact (KJ-F-eta). Not sharp: "
    "KJ-Thm31-better.",
)
def good_kernels_rank_well(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    x: Fraction,
    m: int,
    alone: bool,
    trial: sc.Trial,
    gamma: Fraction | None = None,
) -> Iterator[sc.Check]:
    """Loss and size of the weights; on one point, the least loss that weights within the bound have."""
    found = optimum(masses, gram, targets, x)
    level, _, added = _competitor(masses, gram, targets, x, gamma, HALF)
    square = trial["square"] * x**3
    charges = [p * w for p, w in zip(masses, found.weights, strict=True)]
    f = mapped(gram, charges)
    if alone:
        bound = sc.root(sc.rational(square), bits=BITS)
        reached = (1 - bound) ** 2 if square < 1 else sc.rational(0)
        yield sc.at_most(reached, level + added, "least loss on one point")
    if gamma is None:
        yield sc.at_most(loss(masses, targets, f), level + added, "E ℓ_sq/m")
        yield sc.at_most(max(map(abs, found.weights)) ** 2, square, "w²")


def lists_in_symbols(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for lists of every size; numbers of documents of each query, and the length of lists."""
    yield {}
    for documents, m in (((2,), 2), ((2,), 3)):
        yield {"documents": list(documents), "m": m}


def _symbolic_lists(documents: Sequence[int], m: int) -> tuple[list[sc.Expr], list[tuple[sc.Expr, list[int], list[sc.Expr]]]]:
    """μ and all lists: mass, pairs, η. η of a document is a free symbol for each document and each choice of the others in the list."""
    first = sc.symbols("q")[0] if len(documents) == 2 else sc.rational(1)
    mu: list[sc.Expr] = []
    made = []
    for query, (weight, count) in enumerate(zip((first, 1 - first), documents, strict=False)):
        free = list(sc.symbols(" ".join(f"p{query}{k}" for k in range(count - 1))))
        laws = [*free, 1 - sc.total(free)]
        start = len(mu)
        mu += [weight * law for law in laws]
        for chosen in itertools.product(range(count), repeat=m):
            mass = weight
            for document in chosen:
                mass = mass * laws[document]
            others = ["".join(map(str, sorted(chosen[:i] + chosen[i + 1 :]))) for i in range(m)]
            etas = [sc.symbols(f"e{query}_{chosen[i]}_{others[i]}")[0] for i in range(m)]
            made.append((mass, [start + document for document in chosen], etas))
    return mu, made


@sc.claim(
    "KJ-Thm31-a",
    section=SECTION,
    place="Appendix F, proof of Theorem 31: from lists to pairs",
    kind=sc.IDENTITY,
    says=r"E ℓ_sq(f(x), η(r(x))) = m E_μ (f(z) − r̃(z))² + C_D, **r̃(z) = E[η_i | z_i = z]**, C_D = E Σ η_i² − m E_μ r̃², so that both "
    r"programmes have the same minimiser: the places of lists with z there, of masses c and η = e, add to Cf² − 2fS_1 + S_2, C = Σ c = "
    r"mμ(z) (KJ-F-mu), S_1 = Σ ce, S_2 = Σ ce², which is C(f − S_1/C)² + S_2 − S_1²/C. (In symbols, by induction over the places, for "
    r"every z with μ(z) > 0; and for all lists of two and three from two documents.)",
    instances=lists_in_symbols,
    exhaustive=True,
    knobs={"conditional": True},
    mutants={"r̃ of one list": {"conditional": False}},
    note="r̃ is the same for each i, because lists are exchangeable. It depends on m and on the other documents of the query.",
)
def lists_as_pairs(trial: sc.Trial, documents: list[int] | None = None, m: int = 0) -> Iterator[sc.Check]:
    """One more place, and all of them; both sides for all lists of the sizes."""
    if documents is None:
        v, c, e, C, first, second = sc.symbols("f c e C S1 S2")
        before = C * v**2 - 2 * v * first + second
        yield sc.equal(before + c * (v - e) ** 2, (C + c) * v**2 - 2 * v * (first + c * e) + (second + c * e**2), "one more place")
        yield sc.equal(before, C * (v - first / C) ** 2 + second - first**2 / C, "all places of z")
        return
    mu, found = _symbolic_lists(documents, m)
    f = sc.symbols(" ".join(f"f{z}" for z in range(len(mu))))
    relevance = []
    for z, p in enumerate(mu):
        reached = [(mass, e) for mass, pairs, etas in found for pair, e in zip(pairs, etas, strict=True) if pair == z]
        relevance.append(sc.total(mass * e for mass, e in reached) / (m * p) if trial["conditional"] else reached[0][1])
    left = sc.total(mass * sc.total((f[z] - e) ** 2 for z, e in zip(pairs, etas, strict=True)) for mass, pairs, etas in found)
    squares = sc.total(mass * sc.total(e**2 for e in etas) for mass, _, etas in found)
    constant = squares - m * sc.total(p * r**2 for p, r in zip(mu, relevance, strict=True))
    yield sc.equal(left, m * sc.total(p * (v - r) ** 2 for p, v, r in zip(mu, f, relevance, strict=True)) + constant, "E ℓ_sq")


def symbolic() -> tuple[sc.Expr, sc.Expr, sc.Expr, sc.Expr, sc.Expr]:
    """α, μ, f = Gα and r = f + α/(2xμ) at one point, and x = mC."""
    alpha, mu, f, x = sc.symbols("alpha mu f x")
    return alpha, mu, f, f + alpha / (2 * x * mu), x


@sc.claim(
    "KJ-Thm31-b",
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the coefficients α",
    kind=sc.IDENTITY,
    says=r"The minimiser of ½‖W‖² + mC Σ μ_i(⟨W, Φ(z_i)⟩ − r_i)² is W' = Σ α_i Φ(z_i), α = (PG + I/2mC)^{−1} Pr, and α_i = 2mCμ_i(r_i − "
    r"f_i), f = Gα: for every V the objective at W' + V is that at W' plus ½‖V‖² + mC Σ μ_i g_i², g_i = ⟨V, Φ(z_i)⟩, because ⟨W', V⟩ = Σ "
    r"α_i g_i. (In symbols, term by term.)",
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"(PG + I/mC)^{−1}": {"factor": 1}},
    note="The paper assumes that G is nonsingular. It is not needed: PG + I/2mC is always nonsingular, because PG has the nonnegative "
    "eigenvalues of √P G √P.",
)
def coefficients_of_the_optimum(trial: sc.Trial) -> Iterator[sc.Check]:
    """Optimality of α and the system it solves, at one point."""
    alpha, mu, f, r, x = symbolic()
    (g,) = sc.symbols("g")
    yield sc.equal(alpha * g + x * mu * ((f + g - r) ** 2 - (f - r) ** 2), x * mu * g**2, "objective at W' + V, one term")
    yield sc.equal(mu * f + alpha / (trial["factor"] * x), mu * r, "(PG + I/2mC) α = Pr, one row")
    yield sc.equal(2 * x * mu * (r - f), alpha, "α = 2mCμ(r − f)")


@sc.claim(
    "KJ-Thm31-c",
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the norm of W'",
    kind=sc.INEQUALITY,
    says=r"If **|r_i| ≤ 1** (printed: r_i ≤ 1), ‖W'‖ ≤ √(2mC). (Exactly, on random domains with K(z, z) ≤ 1; ½‖W'‖² ≤ mC Σ μ r² by "
    r"comparison with W = 0. KJ-Thm31-c-sharp has √(mC/2).)",
    instances=domains,
    knobs={"constant": Fraction(2)},
    mutants={"√(2mC/5)": {"constant": Fraction(2, 5)}},
    note="It is no loss of generality but a fact: r̃ is a mean of η_i, and 0 ≤ η_i ≤ F(1) ≤ 1 with either logarithm (KJ-F-eta). K(z, z) ≤ "
    "1 is not needed for it.",
)
def norm_of_the_optimum(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], x: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """‖W'‖² ≤ 2mC."""
    yield sc.at_most(optimum(masses, gram, targets, x).square, trial["constant"] * x, "‖W'‖²")


@sc.claim(
    "KJ-Thm31-c-sharp",
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: half the norm",
    kind=sc.IDENTITY,
    says=r"(mC/2) Σ μ_i r_i² − ‖W'‖² = 2mC Σ μ_i (f_i − r_i/2)² ≥ 0, so that ‖W'‖ ≤ **√(mC/2)** for |r| ≤ 1, with equality iff f = r/2 and "
    r"|r| = 1 everywhere: K = r = 1, mC = 1/2. (In symbols, term by term: ‖W'‖² = Σ α_i f_i.)",
    exhaustive=True,
    knobs={"part": Fraction(1, 2)},
    mutants={"2mC/5": {"part": Fraction(2, 5)}},
)
def half_the_norm(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity."""
    alpha, mu, f, r, x = symbolic()
    yield sc.equal(trial["part"] * x * mu * r**2 - alpha * f, 2 * x * mu * (f - r / 2) ** 2, "x/2 Σ μr² − ‖W'‖², one term")


@sc.claim(
    "KJ-Thm31-d",
    section=SECTION,
    place="Appendix F, proof of Theorem 31: |α_i| ≤ 5μ_i mC√(mC)",
    kind=sc.INEQUALITY,
    says=r"For C = 1/(2ε_1γ²), as it is set at the end, **γ ≤ 1, ε_1 ≤ 1 and m ≥ 2**: 2mCμ_i(1 + √(2mC)) ≤ 5μ_i mC√(mC). For e = ε_1γ² ≤ 1 "
    r"has mC − 1 = ((m − 2) + 2(1 − e))/(2e) ≥ 0, so s = √(mC) ≥ 1, and with q = √2 5s³ − 2s²(1 + qs) = s²((5 − 2q)(s − 1) + (3 − 2q)), "
    r"where 5 > 2q and 3 > 2q. (In symbols; √2 in enclosures.)",
    exhaustive=True,
    knobs={"constant": 5},
    mutants={"4 in the place of 5": {"constant": 4}},
    note="The hypotheses are those under which the theorem says anything: ε_1 ≥ 1 is reached by w = 0, since E ‖η‖² ≤ 1, and m = 1 is no "
    "ranking. For any C > 0 the step needs mC ≥ 0.8482 (KJ-Thm31-d-all).",
)
def printed_bound_of_weights(trial: sc.Trial) -> Iterator[sc.Check]:
    """mC ≥ 1; the difference; the signs of 5 − 2√2 and 3 − 2√2."""
    m, e, s, q = sc.symbols("m e s q")
    five = trial["constant"]
    yield sc.equal(m / (2 * e) - 1, ((m - 2) + 2 * (1 - e)) / (2 * e), "mC − 1")
    yield sc.equal(five * s**3 - 2 * s**2 * (1 + q * s), s**2 * ((five - 2 * q) * (s - 1) + (five - 2 - 2 * q)), "the difference")
    for left, name in ((five, "5 > 2√2"), (five - 2, "3 > 2√2")):
        yield sc.at_least(sc.rational(left), 2 * sc.root(2, bits=BITS), name, strict=True)


def strengths(trial: sc.Trial) -> Iterator[sc.Instance]:
    """mC just above and just below 4/(5 − 2√2)²; K = r = 1 at mC = 1/20 for the weights."""
    yield {"x": TURN}
    yield one_point("1/20")


def large_strengths(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = r = 1 at mC = 1."""
    yield one_point("1")


@sc.claim(
    "KJ-Thm31-d-all",
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: |α_i| ≤ 5μ_i mC√(mC) for every C > 0",
    kind=sc.COUNTEREXAMPLE,
    says=r"Asked for every C > 0, which is more than the proof needs, 2mCμ_i(1 + √(2mC)) ≤ 5μ_i(mC)^{3/2} fails for mC < 4/(5 − 2√2)² = "
    r"0.8482, that is for ε_1γ² > 0.589m: (5 − 2√2)√x − 2 grows in x = mC, is positive at 0.8483 and negative at 0.8482. The weights fail "
    r"as well: K = r = 1, mC = 1/20 has w = 1/11 = 0.0909 > 5(mC)^{3/2} = 0.0559.",
    remains="that (5 − 2√2)√x − 2 grows, and that w = 2mC/(1 + 2mC) on the single point",
    instances=strengths,
    exhaustive=True,
    knobs={},
    mutants={"mC = 1": {"instances": large_strengths}},
    note="With ‖W'‖ ≤ √(mC/2) the condition becomes mC ≥ 0.3111 (KJ-Thm31-d-sharp).",
)
def bound_of_weights_at_small_strengths(
    x: Fraction, masses: Row = (), gram: list[Numbers] | None = None, targets: Row = ()
) -> Iterator[sc.Check]:
    """5√x − 2(1 + √(2x)) above and below; the weight of one point."""
    s = sc.inputs(x=x)
    if gram is not None:
        yield sc.at_least((2 * s / (1 + 2 * s)) ** 2, 25 * s**3, "w²", strict=True)
        yield sc.equal(max(map(abs, optimum(masses, gram, targets, x).weights)), 2 * s / (1 + 2 * s), "w")
        return
    below = s - Fraction(1, 10000)
    yield sc.at_most(2 * (1 + sc.root(2 * s, bits=BITS)), 5 * sc.root(s, bits=BITS), "x = 0.8483", strict=True)
    yield sc.at_least(2 * (1 + sc.root(2 * below, bits=BITS)), 5 * sc.root(below, bits=BITS), "x = 0.8482", strict=True)


@sc.claim(
    "KJ-Thm31-d-sharp",
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: weights with half the norm",
    kind=sc.INEQUALITY,
    says=r"If 0 ≤ r ≤ 1 and K(z, z) ≤ 1, |w_i| ≤ **2mC(1 + √(mC/2))** for every mC > 0, and so |w_i| ≤ 5(mC)^{3/2} for **mC ≥ 5/16**, "
    r"that is ε_1γ² ≤ 1.6m. (Exactly, on random domains; Φ = ±1, the rarer one with w = 2mC(1 + 2mC/(1 + 2mC)), nearly attains it at mC = "
    r"1/2.)",
    instances=domains,
    knobs={"half": HALF, "cube": Fraction(25)},
    mutants={"2mC(1 + √(mC/8))": {"half": Fraction(1, 8)}, "√24 (mC)^{3/2}": {"cube": Fraction(24)}},
    note="2(1 + √(x/2)) ≤ 5√x iff (5 − √2)√x ≥ 2, x ≥ 0.3111. w_i = 2mC(r_i − f_i), |f_i| ≤ ‖W'‖.",
)
def weights_with_half_the_norm(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], x: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """max |w| against both."""
    largest = max(map(abs, optimum(masses, gram, targets, x).weights))
    yield sc.at_most(largest, 2 * x * (1 + sc.root(sc.rational(trial["half"] * x), bits=BITS)), "max |w|")
    if x >= Fraction(5, 16):
        yield sc.at_most(largest**2, trial["cube"] * x**3, "max |w|², 25x³")


@sc.claim(
    "KJ-Thm31-e",
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the loss of W'",
    kind=sc.INEQUALITY,
    says=r"If a kernel is (ε_0, γ)-good for ranking (‖W*‖ ≤ 1, E ℓ_sq ≤ ε_0), the regularised optimum has E ℓ_sq ≤ ε_0 + 1/(2Cγ²). "
    r"(Exactly, on random domains, against the best competitors: ε_0 = L(W), γ = 1/‖W‖ for W' of 2C, 8C and C/2.)",
    instances=domains,
    knobs={"constant": Fraction(1, 2)},
    mutants={"1/(5Cγ²)": {"constant": Fraction(1, 5)}},
    note="The best constant is 1/4: KJ-Thm31-e-sharp.",
)
def loss_of_the_optimum(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], x: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """m L(W') ≤ m L(a) + ‖a‖²/2C, divided by m: x = mC."""
    found = loss(masses, targets, optimum(masses, gram, targets, x).predictions)
    for factor in (HALF, Fraction(2), Fraction(8)):
        other = optimum(masses, gram, targets, factor * x)
        yield sc.at_most(
            found,
            loss(masses, targets, other.predictions) + trial["constant"] * other.square / x,
            "E ℓ_sq/m",
        )


@sc.claim(
    "KJ-Thm31-e-sharp",
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: half the excess",
    kind=sc.IDENTITY,
    says=r"C(L(a) − L(W')) + ‖a‖²/4 = ‖W' − a/2‖² + mC Σ μ_i (⟨a, Φ(z_i)⟩ − f_i)² ≥ 0 for every a, L the loss of lists: L(W') ≤ ε_0 + "
    r"**1/(4Cγ²)** with a = W*/γ. (In symbols, term by term: ⟨W', a⟩ = Σ α_i ⟨a, Φ(z_i)⟩, ‖W'‖² = Σ α_i f_i.)",
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"‖a‖²/5": {"part": Fraction(1, 5)}},
    note="1/4 is best: K = r = 1, mC → 0. So C = 1/(4ε_1γ²) will do in Theorem 31.",
)
def half_the_excess(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity."""
    alpha, mu, f, r, x = symbolic()
    image, size = sc.symbols("image size")  # ⟨a, Φ(z_i)⟩, and a share of ‖a‖² for each term
    gain = x * mu * ((image - r) ** 2 - (f - r) ** 2)
    square = alpha * f - alpha * image + Fraction(1, 4) * size  # ‖W' − a/2‖²
    yield sc.equal(gain + trial["part"] * size, square + x * mu * (image - f) ** 2, "C(L(a) − L(W')) + ‖a‖²/4, one term")


def compared(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The domains, all mC."""
    for k, made in enumerate(domains(trial)):
        yield made | {"m": 1 + k % 4}


@sc.claim(
    "KJ-Thm31-better",
    section=SECTION,
    place="Theorem 31, ours: a smaller bound",
    kind=sc.EXISTENCE,
    says=r"Let K(z, z) ≤ 1. A kernel that is (ε_0, γ)-good for ranking is (ε_0 + ε_1, B)-good as a similarity for **every** ε_1 > 0 with "
    r"**B = (m/(2ε_1γ²))(1 + (1 + √(1 + ε_0/ε_1))/(2γ))**, at most half of (m/(ε_1γ²))(1 + √(1 + ε_0/ε_1)/γ): O(m/(ε_1γ³)) for ε_0 ≤ "
    r"ε_1, where the theorem has (m/ε_1)^{3/2}/γ³. (Exactly, on random domains.)",
    instances=compared,
    knobs={"constant": Fraction(1, 2)},
    mutants={"m/(3ε_1γ²)": {"constant": Fraction(1, 3)}},
    note="C = 1/(4ε_1γ²) by KJ-Thm31-e-sharp. ⟨W', W' − a⟩ ≤ C(L(a) − L(W')) ≤ Cε_0 for a = W*/γ, because −W' is the gradient of CL at "
    "W', so that ‖W'‖ ≤ ‖a‖/2 + √(‖a‖²/4 + Cε_0) = (1 + √(1 + ε_0/ε_1))/(2γ), and |w| ≤ 2mC(1 + ‖W'‖). The order "
    "m/(ε_1γ³) is needed: KJ-Thm31-lower.",
)
def smaller_bound_of_weights(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], x: Fraction, m: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Loss and weights of the optimum for C = 1/(4ε_1γ²); ε_0 and γ of the optima for C/2, 4C and 16C."""
    found = optimum(masses, gram, targets, x)
    best = loss(masses, targets, found.predictions)
    for factor in (HALF, Fraction(4), Fraction(16)):
        other = optimum(masses, gram, targets, factor * x)
        if not other.square:
            continue
        level, inverse = loss(masses, targets, other.predictions), other.square
        added = inverse / (4 * x)  # ε_1/m
        yield sc.at_most(best, level + added, "E ℓ_sq/m")
        grown = 1 + sc.root(1 + sc.rational(level / added), bits=BITS)
        front = sc.rational(trial["constant"] * inverse / added)  # m/(ε_1γ²) = (1/γ²)/(ε_1/m)
        bound = front * (1 + grown * sc.root(sc.rational(inverse), bits=BITS) / 2)
        yield sc.at_most(max(map(abs, found.weights)), bound, f"max |w|, m = {m}")


def growing_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ from 10 to 10^8, lists of two to five documents."""
    for m in (2, 3, 5):
        for k in range(1, 9):
            yield {"m": m, "gamma": Fraction(10**k)}


@sc.claim(
    "KJ-Thm31-wide",
    section=SECTION,
    place="Theorem 31, ours: margins beyond 1",
    kind=sc.COUNTEREXAMPLE,
    says=r"Without a bound on ε_1γ²/m Theorem 31 is false, whatever the constant of O(·): K = 1, all documents equally relevant, η = h = "
    r"1/Σ D_t, W* = 1 at the margin γ/h has ε_0 = mh²(1 − 1/γ)²; for ε_1 = mh²/γ weights need B ≥ h(1 − √(1 − 1/γ + 1/γ²)) ≥ **(h√γ/4)** "
    r"· 5(mh²/(2ε_1γ²))^{3/2}, γ ≥ 10. (γ = 10, …, 10^8, m = 2, 3, 5.)",
    remains="other m and γ, and that the loss of weights bounded by B is what the formula says",
    instances=growing_margins,
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"(h√γ/3)": {"part": Fraction(1, 3)}},
    note="The loss m(h − B)² is to be ≤ mh²(1 − 1/γ + 1/γ²). With u = (1 − 1/γ)/γ ≥ 0.9/γ, 1 − √(1 − u) ≥ u/2 ≥ 0.45/γ, and the other "
    "side is 5h/(8√2γ) < 0.443h/γ. Margins γ > 1 cannot be reached with small loss where K(z, z) ≤ 1, and no one means them; Definition "
    "29 allows them.",
)
def wide_margins_need_larger_weights(gamma: Fraction, m: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The least B on one point against the printed order."""
    gamma = sc.inputs(gamma=gamma)
    h = 1 / sc.total(discounts(m))
    least = h * (1 - sc.root(1 - 1 / gamma + 1 / gamma**2, bits=128))  # m(h − B)² = ε_0 + ε_1
    strength = 1 / (2 * gamma)  # mC = m/(2ε_1(γ/h)²)
    printed = 5 * strength * sc.root(strength, bits=128)
    yield sc.at_least(least, trial["part"] * h * sc.root(gamma, bits=128) * printed, "least B")


def tilted(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for what holds in symbols; then g and e = ε_1/(mh²)."""
    yield {}
    for g in ("1/10", "1/20", "1/100", "1/1000"):
        for e in ("1/10", "1/20", "1/100", "1/1000"):
            yield {"g": Fraction(g), "e": Fraction(e)}


@sc.claim(
    "KJ-Thm31-lower",
    section=SECTION,
    place="Theorem 31, ours: a bound from below",
    kind=sc.TIGHTNESS,
    says=r"For every m, g ≤ 1/10 and ε_1 ≤ mh²/10 there is a (0, γ)-good kernel for ranking, K(z, z) ≤ 1, γ ≥ 4g/(5h), that is (ε_1, "
    r"B)-good only for **B ≥ m/(140ε_1γ³)**, so that B = O(m/(ε_1γ³)) of KJ-Thm31-better is the right order in m, ε_1 and γ, and "
    r"(m/ε_1)^{3/2}/γ³ of the theorem is not: a query with Φ = g e_0, and one of mass p = 200eg²/9, e = ε_1/(mh²), with Φ = (3e_0 − "
    r"4e_1)/5. (In symbols, and for g, e ∈ {1/10, 1/20, 1/100, 1/1000}.)",
    remains="other g and e, and that the two losses are those of the kernel and of weights bounded by B",
    instances=tilted,
    exhaustive=True,
    knobs={"part": 140},
    mutants={"m/(20ε_1γ³)": {"part": 20}},
    note="In units of h: with c_2 = pw_2 the predictions are f_1 and f_2 = sf_1 + 16c_2/25, s = 3/(5g), and the least loss is (s − 1 + "
    "16c_2/25)²/(1/p + s²/(1 − p)). It is ≤ e only if −16c_2/25 ≥ s − 1 − s/2 ≥ s/3, because 1/p + s²/(1 − p) ≤ s²/4e. The predictions of "
    "W*, f_1 = f_2 = 1, take a large component along e_1, which the rare query must pay for by itself.",
)
def weights_that_are_needed(trial: sc.Trial, g: Fraction | None = None, e: Fraction | None = None) -> Iterator[sc.Check]:
    """The form of the predictions and of the least loss in symbols; on the grid the least loss within B, against e, and the margin."""
    if g is None:
        p, s, t, f, length, c1, c2 = sc.symbols("p s t f g c1 c2")
        first, second = length**2 * c1 + Fraction(3, 5) * length * c2, Fraction(3, 5) * length * c1 + c2
        yield sc.equal(second, Fraction(3, 5) / length * first + Fraction(16, 25) * c2, "f_2")
        slope = (1 - p) + p * s**2
        best = ((1 - p) + p * s * (1 - t)) / slope
        least = (s - 1 + t) ** 2 / (1 / p + s**2 / (1 - p))
        yield sc.equal((1 - p) * (f - 1) ** 2 + p * (s * f + t - 1) ** 2, slope * (f - best) ** 2 + least, "loss for every f_1")
        return
    length, level = sc.inputs(g=g, e=e)
    p, s = 200 * level * length**2 / 9, 3 / (5 * length)
    square = 1 / length**2 + (3 / (4 * length) - Fraction(5, 4)) ** 2  # ‖W*/γ‖² of the vector that predicts 1 for both
    yield sc.at_most(square, (5 / (4 * length)) ** 2, "1/γ²")
    bound = square * sc.root(square, bits=96) / (trial["part"] * level)
    left = s - 1 - Fraction(16, 25) * p * bound
    yield sc.at_least(left, 0, "s − 1 + 16c_2/25 for w_2 = −B")
    yield sc.at_least(left**2 / (1 / p + s**2 / (1 - p)), level, "least loss within B", strict=True)
