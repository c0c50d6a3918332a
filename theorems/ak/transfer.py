r"""Does weak equivalence under Assumptions 1 and 2 transfer stability? Counterexamples to Proposition 4.7 and what does hold.

The hypothesis space is ℝ, the constant functions: argmin_c (c − t)² learns the number t, so any function of λ and Z is a learner, κ = 1,
and ℓ(y, f) = |y − f| is 1-admissible; at y beyond both values its change is that of f. Sets enter by their size n only.

(i)  B(λ, Z) = bump(λ − L_n) for odd n and 0 for even n, bump(t) = max(0, 1 − |t|), with L_n → ∞ slowly: L_n = log₂ n at powers of 2,
     linear between. Φ_n(λ) = 2(L_n − 1)λ up to λ = 1/2, then L_n − 2 + 2λ. Then A(1) = B(Φ_n(1)) = bump(0) = 1 for every odd n.
(ii) B(λ, Z) = n^{−1−λ} for even n and 0 for odd n, Φ = λ/2: a strong equivalence, with C = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from simopt.claims import (
    AUDIFFREN_KADRI,
    EQUIVALENCE,
    HOLDS,
    INEQUALITY,
    REFUTED,
    SOME,
    SUBSTANTIVE,
    Check,
    Instance,
    Trial,
    at_most,
    claim,
    equal,
)

PLACE = "Proposition 4.7"


@dataclass(frozen=True)
class Pair:
    """Two weakly equivalent learners of numbers from sets of which only the size matters: A(λ, n) = B(Φ(λ, n), n)."""

    phi: Callable[[Fraction, int], Fraction]
    learner: Callable[[Fraction, int], Fraction]  # B
    cost: Callable[[int], Fraction]  # C(n) of Assumption 1
    gamma: Fraction | None  # Lipschitz constant of B in λ, None if there is none
    gamma_of_source: Fraction  # the same of A
    grid: Callable[[int], tuple[Fraction, ...]]  # increasing parameters at which the hypotheses are checked, at one size

    def source(self, lam: Fraction, n: int) -> Fraction:
        """A(λ)."""
        return self.learner(self.phi(lam, n), n)

    def change(self, lam: Fraction, n: int) -> Fraction:
        """Leave-one-out change of A: |A(λ, n) − A(λ, n − 1)|."""
        return abs(self.source(lam, n) - self.source(lam, n - 1))

    def beta(self, n: int, lam: Fraction) -> Fraction:
        """Leave-one-out change of B, its least β(n, λ)."""
        return abs(self.learner(lam, n) - self.learner(lam, n - 1))


def slow(n: int) -> Fraction:
    """L_n: log₂ of max(n, 4) at powers of 2, linear between; L_n − L_{n−1} = 2^{−⌊log₂(n−1)⌋} falls to 0."""
    m = max(n, 4)
    power = m.bit_length() - 1
    return power + Fraction(m - 2**power, 2**power)


def bump(t: Fraction) -> Fraction:
    """max(0, 1 − |t|)."""
    return max(Fraction(0), 1 - abs(t))


def broken(lam: Fraction, n: int) -> Fraction:
    """Φ_n of (i): an increasing bijection of (0, ∞), L_n at λ = 1."""
    level = slow(n)
    return 2 * (level - 1) * lam if lam <= Fraction(1, 2) else level - 2 + 2 * lam


def even_power(lam: Fraction, n: int) -> Fraction:
    """n^{−1−λ} for even n and 0 for odd n; rational, and computed, where 2λ is whole and an even n is a square."""
    if n % 2:
        return Fraction(0)
    exponent = 2 + 2 * lam
    if isqrt(n) ** 2 != n or exponent.denominator != 1:
        raise ValueError(f"n = {n}, λ = {lam}: a square and a multiple of 1/2 are needed")
    return Fraction(1, isqrt(n) ** int(exponent))


QUARTERS = tuple(Fraction(k, 4) for k in range(1, 17))
FAR = 2**80 + 1


def around_the_bump(n: int) -> tuple[Fraction, ...]:
    """Quarters up to 4, where A has its bump, and around L_n, where B has it."""
    return tuple(sorted({*QUARTERS, *(slow(n) + Fraction(k, 4) for k in range(-6, 7))}))


def whole(n: int) -> tuple[Fraction, ...]:
    """1, 2, 3, 4."""
    return tuple(Fraction(k) for k in range(1, 5))


BUMPS = Pair(
    phi=broken,
    learner=lambda lam, n: bump(lam - slow(n)) if n % 2 else Fraction(0),
    cost=lambda n: slow(max(n, 5)) - slow(max(n, 5) - 1),  # L_n is constant up to 4, C has to decrease
    gamma=Fraction(1),
    gamma_of_source=Fraction(2),
    grid=around_the_bump,
)
POWERS = Pair(
    phi=lambda lam, n: lam / 2,
    learner=even_power,
    cost=lambda n: Fraction(0),
    gamma=Fraction(1),
    gamma_of_source=Fraction(1),
    grid=whole,
)


def hypotheses(pair: Pair, n: int) -> list[Check]:
    """Assumptions 1 and 2 and the Lipschitz property of β on the grid at sizes n − 1 and n, exactly."""
    grid = pair.grid(n)
    steps = list(pairwise(grid))
    widths = [b - a for a, b in steps]
    found = [
        at_most([abs(pair.phi(lam, n) - pair.phi(lam, n - 1)) for lam in grid], [pair.cost(n)] * len(grid), "Assumption 1"),
        at_most([pair.cost(2 * n + 1)], [pair.cost(n)], "C decreases"),
        at_most([abs(pair.beta(n, b) - pair.beta(n, a)) for a, b in steps], [2 * width for width in widths], "β is Lipschitz in λ"),
        at_most([pair.beta(FAR, lam) for lam in whole(FAR)], [Fraction(1, 2**40)] * 4, "β → 0"),
    ]
    for size in (n - 1, n):
        phis = [pair.phi(lam, size) for lam in grid]
        found.append(at_most(phis[:-1], phis[1:], "Φ increases", strict=True))
        for name, value, gamma in (("B", pair.learner, pair.gamma), ("A", pair.source, pair.gamma_of_source)):
            if gamma is not None:
                rises = [abs(value(b, size) - value(a, size)) for a, b in steps]
                found.append(at_most(rises, [gamma * width for width in widths], f"Assumption 2 for {name}"))
    return found


def constants(trial: Trial) -> Iterator[Instance]:
    """Candidates for the constant hidden in O(·), up to any that one would call a constant."""
    for exponent in range(13):
        yield {"constant": 10**exponent}


@claim(
    "AK-P4.7",
    paper=AUDIFFREN_KADRI,
    place=PLACE,
    kind=EQUIVALENCE,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"Let A, B be weakly equivalent and satisfy Assumptions 1 and 2 (both are γ-Lipschitz in λ), β be locally Lipschitz in λ, "
    r"|f(x)| ≤ κ‖f‖ and ℓ be σ-admissible. If B is β-uniformly stable, then A is β'-uniformly stable with β'(·, λ) = O(β(·, λ) + C(·)), "
    r"the constant depending on λ.",
    instances=constants,
    quantifier=SOME,
    exhaustive=True,
    knobs={"at": "lambda"},
    mutants={"β at Φ(λ, Z) for β at λ": {"at": "phi"}},
    note="Two counterexamples against every constant M up to 10¹², by sizes n that are formulas in M and so exist for "
    "every M. The learners are numbers, ℓ(y, f) = |y − f|. (i) B = max(0, 1 − |λ − L_n|) for odd n, 0 for even n, L_n → ∞ like log₂ n and "
    "Φ = L_n at λ = 1: A(1) changes by 1 at every odd n, β_B(n, 1) = 0, C(n) → 0. (ii) B = n^{−1−λ} for even n, 0 for odd n, Φ = λ/2, a "
    "strong equivalence with C = 0: the ratio at λ = 1 is √(n − 1) = 3.16, 10, 31.6, 100 at n = 11, 101, 1001, 10001.",
)
def stability_is_transferred_at_its_own_rate(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Play a size n against the constant of the instance, for both pairs of learners, at λ = 1."""
    constant, lam = instance["constant"], Fraction(1)
    for name, pair, n in (("(i)", BUMPS, 2 ** (2 * constant).bit_length() + 1), ("(ii)", POWERS, (2 * constant + 2) ** 2 + 1)):
        where = lam if trial["at"] == "lambda" else pair.phi(lam, n)
        allowed = pair.beta(n, where) + pair.cost(n)
        check = at_most(pair.change(lam, n) / allowed, constant, f"{name}: change of A / (β(n, λ) + C(n))")
        yield check.given(*hypotheses(pair, n))


def sizes(trial: Trial) -> Iterator[Instance]:
    """Sizes from which on |λ' − λ| might be small: squares plus one, which suit both pairs."""
    for exponent in range(1, 13):
        yield {"size": 100**exponent + 1}


def _distance(pair: Pair, lam: Fraction, n: int, other: str) -> Fraction:
    """|Φ(λ, Z) − λ|, or |Φ(λ, Z) − Φ(λ, Z^i)|."""
    return abs(pair.phi(lam, n) - (lam if other == "lambda" else pair.phi(lam, n - 1)))


@claim(
    "AK-P4.7pf",
    paper=AUDIFFREN_KADRI,
    place=PLACE + ", proof, last line",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"Under Assumption 1, |λ' − λ| → 0 as n → ∞ for λ' = Φ(λ, Z), |Z| = n: from some size on it is below 1/4 at λ = 1.",
    instances=sizes,
    quantifier=SOME,
    exhaustive=True,
    knobs={"other": "lambda"},
    mutants={"λ'' = Φ(λ, Z^i) for λ": {"other": "neighbour"}},
    note="Φ = λ/2 satisfies Assumption 1 with C = 0, and |λ' − λ| = λ/2 whatever n; for the bumps it grows like log n.",
)
def parameter_comes_back(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The distance of Φ(1, Z) from 1 at one size."""
    n = instance["size"]
    for name, pair in (("λ/2", POWERS), ("the bumps", BUMPS)):
        check = at_most(_distance(pair, Fraction(1), n, trial["other"]), Fraction(1, 4), f"|λ' − λ|, Φ of {name}")
        yield check.given(*hypotheses(pair, n))


@claim(
    "AK-P4.7pf+",
    paper=AUDIFFREN_KADRI,
    place=PLACE + ", proof, corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Under Assumption 1, |Φ(λ, Z) − Φ(λ, Z^i)| ≤ C(n) → 0 as n = |Z| → ∞, so that λ' and λ'' = Φ(λ, Z^i) come together; where they "
    r"go is left open.",
    instances=sizes,
    knobs={"other": "neighbour"},
    mutants={"λ for λ''": {"other": "lambda"}},
    corrects="AK-P4.7pf",
)
def parameters_come_together(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The distance of the two parameters at one size, over the grid, and what C(n) has come down to."""
    n = instance["size"]
    for name, pair in (("λ/2", POWERS), ("the bumps", BUMPS)):
        for lam in pair.grid(n):
            yield at_most(_distance(pair, lam, n, trial["other"]), pair.cost(n), f"|λ' − λ''|, Φ of {name}")
        yield equal(min(pair.cost(n), Fraction(4, n)), pair.cost(n), "C(n) ≤ 4/n")
