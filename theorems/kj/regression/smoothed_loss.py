r"""Appendix D.1: the smoothed ε-insensitive loss ℓ̃_β, and what squared loss has to do with absolute loss."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.kj.goodness.finite_domains import insensitive

SECTION = "regression"
ZERO = Fraction(0)
GRID = [Fraction(k, 4) for k in range(-10, 11)]


def smoothed(r: Fraction, epsilon: Fraction, beta: Fraction) -> Fraction:
    """ℓ̃_β of a residual r: a parabola of width 1/β outside of the tube, then the loss less 1/(2β)."""
    over = insensitive(r, epsilon)
    return beta * over**2 / 2 if beta * over < 1 else over - 1 / (2 * beta)


def slope(r: Fraction, epsilon: Fraction, beta: Fraction) -> Fraction:
    """Derivative of ℓ̃_β in the residual: β(|r| − ε)₊, cut at 1, with the sign of r."""
    size = min(beta * insensitive(r, epsilon), Fraction(1))
    return size if r > 0 else -size


def shapes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """β and ε; with every pair of residuals of a grid that meets all kinks."""
    for beta, epsilon in itertools.product((Fraction(1, 2), Fraction(1), Fraction(4)), (ZERO, Fraction(1, 2), Fraction(1))):
        yield {"beta": beta, "epsilon": epsilon}


@sc.claim(
    "KJ-D-smoothdef",
    section=SECTION,
    place="Appendix D.1, definition of a β-smooth loss",
    kind=sc.DEFINITION,
    says=r"ℓ is β-smooth if ℓ(a) − ℓ(b) ≤ ℓ'(b)(a − b) + β(a − b)²/2 for all a, b. ℓ̃_β is β-smooth, not β'-smooth for any β' < β; ℓ_ε is "
    r"not smooth for any β. (Pairs of residuals of a grid.)",
    instances=shapes,
    knobs={"share": Fraction(1)},
    mutants={"9β/10": {"share": Fraction(9, 10)}},
)
def smoothness(beta: Fraction, epsilon: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """All pairs; the kink of ℓ_ε against β = 10⁶."""
    spread = trial["share"] * beta / 2
    for a, b in itertools.product(GRID, repeat=2):
        change = smoothed(a, epsilon, beta) - smoothed(b, epsilon, beta)
        yield sc.at_most(change, slope(b, epsilon, beta) * (a - b) + spread * (a - b) ** 2, "ℓ̃(a) − ℓ̃(b)")
    tiny = Fraction(1, 10**7)
    kink = (
        insensitive(epsilon + tiny, epsilon)
        + insensitive(epsilon - tiny if epsilon else -tiny, epsilon)
        - 2 * insensitive(epsilon, epsilon)
    )
    yield sc.true(kink > 10**6 * tiny**2, "ℓ_ε has a kink", evidence=sc.EXACT)


@sc.claim(
    "KJ-D-infconv",
    section=SECTION,
    place="Appendix D.1, explicit form of ℓ̃_β",
    kind=sc.IDENTITY,
    says=r"inf_v [βv²/2 + ℓ_ε(a − v, b)] is 0 for r = |a − b| ≤ ε, β(r − ε)²/2 for ε < r < ε + 1/β and r − ε − 1/(2β) beyond. For every t "
    r"in [−1, 1] and v, ℓ_ε(r − v) ≥ t(r − v) − |t|ε and βv²/2 − tv = (β/2)(v − t/β)² − t²/2β, so the infimum is ≥ tr − |t|ε − t²/2β: t = "
    r"0, t = β(r − ε) and t = 1 give the three lines, which v = 0, v = r − ε and v = 1/β attain.",
    exhaustive=True,
    knobs={"half": Fraction(1, 2)},
    mutants={"β(r − ε)²/3": {"half": Fraction(1, 3)}},
)
def infimal_convolution(trial: sc.Trial) -> Iterator[sc.Check]:
    """Lower bounds and values of the three pieces."""
    beta, epsilon, r, v, t = sc.symbols("beta epsilon r v t")
    half = trial["half"]
    yield sc.equal(beta * v**2 / 2 - t * v, beta / 2 * (v - t / beta) ** 2 - t**2 / (2 * beta), "square completed")

    def lower(at: Any) -> Any:
        return at * r - at * epsilon - at**2 / (2 * beta)

    middle, far = beta * half * (r - epsilon) ** 2, r - epsilon - 1 / (2 * beta)
    yield sc.equal(lower(beta * (r - epsilon)), middle, "ε < r < ε + 1/β, from below")
    yield sc.equal(beta * (r - epsilon) ** 2 / 2 + (r - (r - epsilon) - epsilon), middle, "ε < r < ε + 1/β, v = r − ε")
    one = beta / beta
    yield sc.equal(lower(one), far, "r ≥ ε + 1/β, from below")
    yield sc.equal(beta * (1 / beta) ** 2 / 2 + (r - 1 / beta - epsilon), far, "r ≥ ε + 1/β, v = 1/β")


@sc.claim(
    "KJ-D-eq1",
    section=SECTION,
    place="Appendix D.1, (1)",
    kind=sc.IDENTITY,
    says=r"0 ≤ ℓ_ε − ℓ̃_β ≤ 1/(2β). In the tube the difference is 0, beyond ε + 1/β it is 1/(2β): both ends are attained. Between, with 0 "
    r"< z = r − ε < 1/β, it is z − βz²/2 = z/2 + (β/2) z (1/β − z) > 0, and 1/(2β) − z + βz²/2 = (β/2)(1/β − z)² > 0.",
    exhaustive=True,
    knobs={"share": Fraction(1)},
    mutants={"0.49/β": {"share": Fraction(98, 100)}},
)
def smoothing_error(trial: sc.Trial) -> Iterator[sc.Check]:
    """The three pieces."""
    beta, z = sc.symbols("beta z")
    top = trial["share"] / (2 * beta)
    yield sc.equal(z - beta * z**2 / 2, z / 2 + beta / 2 * z * (1 / beta - z), "≥ 0")
    yield sc.equal(top - (z - beta * z**2 / 2), beta / 2 * (1 / beta - z) ** 2, "≤ 1/(2β)")
    yield sc.equal(z - (z - 1 / (2 * beta)), top, "beyond ε + 1/β")


@sc.claim(
    "KJ-D-huber",
    section=SECTION,
    place="Appendix D.1, after the explicit form",
    kind=sc.INEQUALITY,
    says=r"ℓ̃_β is convex and differentiable, its derivative β-Lipschitz, and it is 1-Lipschitz. (All triples and pairs of a grid that "
    r"meets every kink: midpoints, the derivative between one-sided quotients, quotients.)",
    instances=shapes,
    knobs={"lipschitz": Fraction(1)},
    mutants={"9/10": {"lipschitz": Fraction(9, 10)}},
)
def shape_of_the_smoothed_loss(beta: Fraction, epsilon: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Pairs a < b: tangents below, slopes monotone and Lipschitz, values Lipschitz."""
    for a, b in itertools.combinations(GRID, 2):
        low, high = smoothed(a, epsilon, beta), smoothed(b, epsilon, beta)
        down, up = slope(a, epsilon, beta), slope(b, epsilon, beta)
        yield sc.at_most(low + down * (b - a), high, "tangent at a")
        yield sc.at_most(high - up * (b - a), low, "tangent at b")
        yield sc.at_most(down, up, "slopes increase")
        yield sc.at_most(up - down, trial["lipschitz"] * beta * (b - a), "slopes are β-Lipschitz")
        yield sc.at_most(abs(high - low), trial["lipschitz"] * (b - a), "1-Lipschitz")


def residuals(trial: sc.Trial) -> Iterator[sc.Instance]:
    """|a − b| is 1/10 or 1, fairly."""
    yield {"p": [Fraction(1, 2)] * 2, "r": [Fraction(1, 10), Fraction(1)]}


@sc.claim(
    "KJ-D-sq1",
    section=SECTION,
    place="End of D.1, squared and absolute loss",
    kind=sc.IDENTITY,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"E (a − b)² = sup |a − b| · E |a − b|.",
    instances=residuals,
    knobs={"power": 2},
    mutants={"E |a − b| sup |a − b| on both sides": {"power": 1}},
    note="|a − b| ∈ {1/10, 1} fairly: 0.505 against 0.55. ≤ is meant, and is all that is used (KJ-D-sq1+).",
)
def squared_is_absolute(p: list[Fraction], r: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """Both sides."""
    top = Fraction(max(r))
    p, r = sc.inputs(p=p, r=r)
    left = sc.total(q * s ** trial["power"] * top ** (2 - trial["power"]) for q, s in zip(p, r, strict=True))
    yield sc.equal(left, top * sc.total(q * s for q, s in zip(p, r, strict=True)), "E (a − b)²")


@sc.claim(
    "KJ-D-sq1+",
    section=SECTION,
    place="End of D.1, squared and absolute loss, corrected",
    kind=sc.IDENTITY,
    says=r"With r = |a − b| ≤ M: M Σ p_i r_i − Σ p_i r_i² = Σ p_i r_i (M − r_i) ≥ 0. (In symbols, term by term.)",
    exhaustive=True,
    knobs={"power": 2},
    mutants={"M² E |a − b|": {"power": 3}},
    corrects="KJ-D-sq1",
)
def squared_is_at_most_absolute(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity."""
    M, p, r = sc.symbols("M p r")
    yield sc.equal(M * p * r - p * r ** trial["power"], p * r * (M - r), "M E|a − b| − E(a − b)², one term")


@sc.claim(
    "KJ-D-sq2",
    section=SECTION,
    place="End of D.1, absolute loss is not bounded by squared loss",
    kind=sc.TIGHTNESS,
    says=r"For |a − b| = c always, E |a − b| = E (a − b)²/inf |a − b| = c; the ratio E |a − b|/E (a − b)² = 1/c passes every bound as c → "
    r"0: it is any M > 0 at c = 1/M. (In symbols.)",
    exhaustive=True,
    knobs={"power": 1},
    mutants={"1/c²": {"power": 2}},
)
def absolute_over_squared(trial: sc.Trial) -> Iterator[sc.Check]:
    """The ratio."""
    c, M = sc.symbols("c M")
    yield sc.equal(c, c**2 / c ** trial["power"], "E |a − b|")
    yield sc.equal(c / c**2, 1 / c, "E |a − b|/E (a − b)²")
    yield sc.equal(1 / (1 / M), M, "E |a − b|/E (a − b)² at c = 1/M")
