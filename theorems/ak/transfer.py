r"""Does weak equivalence under Assumptions 1 and 2 transfer stability? Counterexamples to Proposition 4.7 and what does hold.

The hypothesis space is ℝ, the constant functions: argmin_c (c − t)² learns the number t, so any function of λ and Z is a learner, κ = 1,
and ℓ(y, f) = |y − f| is 1-admissible; at y beyond both values its change is that of f. Sets enter by their size n only.

Ramps:  B(λ, Z) = min(1, λ/s_n) for odd n and 0 for even n, with 1 ≤ s_n → ∞ and s_n − s_{n−1} → 0 decreasing, as log₂ n has it.
        Φ_n(λ) = s_n λ up to λ = 1, then s_n + λ − 1: an increasing bijection of (0, ∞), and |Φ_n − Φ_{n−1}| ≤ s_n − s_{n−1} = C(n).
        A(λ, Z) = B(Φ_n(λ), Z) = min(1, λ) for odd n and 0 for even n: a sample that leaves changes it by min(1, λ), whatever n.
Shares: B(λ, Z) = (1 − λ)/((1 + λ) n), Φ = λ/2: a strong equivalence, with C = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from simopt.claims import *

PLACE = "Proposition 4.7"


@dataclass(frozen=True)
class Pair:
    """Two weakly equivalent learners of numbers from sets of which only the size matters: A(λ, n) = B(Φ(λ, n), n)."""

    phi: Callable[[Fraction, int], Fraction]
    learner: Callable[[Fraction, int], Fraction]  # B
    cost: Callable[[int], Fraction]  # C(n) of Assumption 1
    gamma: Fraction | None  # Lipschitz constant of B in λ, None if there is none
    gamma_of_source: Fraction  # the same of A

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
    """s_n: log₂ of max(n, 4) at powers of 2, linear between; s_n − s_{n−1} = 2^{−⌊log₂(n−1)⌋} falls to 0."""
    m = max(n, 4)
    power = m.bit_length() - 1
    return power + Fraction(m - 2**power, 2**power)


def steep(lam: Fraction, n: int) -> Fraction:
    """Φ_n of the ramps."""
    return slow(n) * lam if lam <= 1 else slow(n) + lam - 1


def share(lam: Any) -> Any:
    """n B(λ, n) of the shares: (1 − λ)/(1 + λ)."""
    return (1 - lam) / (1 + lam)


RAMPS = Pair(
    phi=steep,
    learner=lambda lam, n: min(Fraction(1), lam / slow(n)) if n % 2 else Fraction(0),
    cost=lambda n: slow(max(n, 5)) - slow(max(n, 5) - 1),  # s_n is constant up to 4, C has to decrease
    gamma=Fraction(1),
    gamma_of_source=Fraction(1),
)
SHARES = Pair(
    phi=lambda lam, n: lam / 2,
    learner=lambda lam, n: Fraction(share(lam) / n),
    cost=lambda n: Fraction(0),
    gamma=Fraction(2),
    gamma_of_source=Fraction(1),
)


def ramps_satisfy_the_hypotheses() -> list[Check]:
    """What Proposition 4.7 asks of A, B and Φ, for all λ = t ≤ 1, λ = 1 + v, s = s_n and r = s_{n−1} with s ≥ r ≥ 1: in symbols.

    The sign of each right side can be read off. That min(1, λ) is 1-Lipschitz needs no formula.
    """
    s, r, t, u, v = symbols("s r t u v")
    return [
        equal([s * t / s, (s + v) / s], [t, 1 + v / s], "A(λ) = B(Φ(λ)): t up to 1, and 1 beyond, where the ramp is over"),
        equal([(s - r) - (s * t - r * t), (s + v) - (r + v)], [(1 - t) * (s - r), s - r], "|Φ_n(λ) − Φ_{n−1}(λ)| ≤ C(n) = s − r"),
        equal((t - u) - (t / s - u / s), (1 - 1 / s) * (t - u), "B is 1-Lipschitz in λ: 1 − 1/s ≥ 0"),
        equal([t / r - t / s, t / r - u / r], [t * (s - r) / (r * s), (t - u) / r], "B changes by at most β(n, λ) = λ/s_{n−1}, Lipschitz"),
    ]


def shares_satisfy_the_hypotheses() -> list[Check]:
    """The same for λ = t, u and all n; Φ does not contain Z."""
    n, t, u = symbols("n t u")
    return [
        equal(share(t) - share(u), 2 * (u - t) / ((1 + t) * (1 + u)), "B is 2-Lipschitz in λ, and so is A"),
        equal(share(t) / (n - 1) - share(t) / n, share(t) / (n * (n - 1)), "B changes by β(n, λ) = |1 − λ|/((1 + λ) n(n − 1))"),
    ]


def both_pairs(trial: Trial) -> Iterator[Instance]:
    """The ramps and the shares at λ = 1, in the limit n → ∞, where 1/s_{n−1} and C(n) are 0."""
    yield {"pair": "ramps", "at": 1, "reciprocal": 0, "step": 0}
    yield {"pair": "shares", "at": 1}


@claim(
    "AK-P4.7",
    paper=AUDIFFREN_KADRI,
    place=PLACE,
    kind=EQUIVALENCE,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"Let A, B be weakly equivalent and satisfy Assumptions 1 and 2 (both are γ-Lipschitz in λ), β be locally Lipschitz in λ, "
    r"|f(x)| ≤ κ‖f‖ and ℓ be σ-admissible. If B is β-uniformly stable, then A is β'-uniformly stable with β'(·, λ) = O(β(·, λ) + C(·)), "
    r"the constant depending on λ: so where β(n, λ) + C(n) → 0 the changes of A tend to 0, and where it is 0 they are 0.",
    instances=both_pairs,
    knobs={"at": "lambda"},
    mutants={"β at Φ(λ, Z) for β at λ": {"at": "phi"}},
    note="The learners are numbers, ℓ(y, f) = |y − f|. Ramps: B = min(1, λ/s_n) for odd n and 0 for even n, s_n → ∞ like log₂ n, Φ = s_n λ "
    "up to λ = 1: β(n, λ) = λ/s_{n−1} and C(n) = s_n − s_{n−1} tend to 0, but A changes by min(1, λ) for every n: it is stable at no λ. "
    "Shares: B = (1 − λ)/((1 + λ)n) with Φ = λ/2, a strong equivalence with C = 0: β(n, 1) = 0, and A(1) changes by 1/(3n(n − 1)). All "
    "hypotheses are identities in symbols, for every n and λ, and a constant M in O(·) multiplies 0.",
)
def stability_is_transferred_at_its_own_rate(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Limits of the change of A at λ = 1 and of β + C: as n → ∞ (ramps), and of n(n − 1) times both, where n drops out (shares)."""
    own = trial["at"] == "lambda"
    if instance["pair"] == "ramps":
        lam, reciprocal, step = inputs(at=instance["at"], reciprocal=instance["reciprocal"], step=instance["step"])
        where = lam * reciprocal if own else lam * (1 + step * reciprocal)  # β(n, ·) at λ and at Φ_n(λ) = s_n λ, s_n = s_{n−1} + C(n)
        check = at_most(lam, where + step, "ramps: change of A against the limit of M (β + C)")
        yield check.given(*ramps_satisfy_the_hypotheses())
    else:
        lam = inputs(at=instance["at"])
        check = at_most(
            abs(share(lam / 2)), abs(share(lam if own else lam / 2)), "shares: n(n − 1) · change of A against n(n − 1) · M (β + C)"
        )
        yield check.given(*shares_satisfy_the_hypotheses())


def one_parameter(trial: Trial) -> Iterator[Instance]:
    """λ = 1."""
    yield {"at": 1}


@claim(
    "AK-P4.7pf",
    paper=AUDIFFREN_KADRI,
    place=PLACE + ", proof, last line",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"Under Assumption 1, |λ' − λ| → 0 as n → ∞ for λ' = Φ(λ, Z), |Z| = n.",
    instances=one_parameter,
    knobs={"other": "lambda"},
    mutants={"λ'' = Φ(λ, Z^i) for λ": {"other": "neighbour"}},
    note="Φ = λ/2 (KRR and KRR with 2λ in the place of λ) does not contain Z: it satisfies Assumption 1 with C = 0, and |λ' − λ| = λ/2 for "
    "every n. For the ramps of AK-P4.7 it is s_n − 1 at λ = 1, and grows without bound.",
)
def parameter_comes_back(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Φ = λ/2: the limit of a sequence that is the same for every n."""
    lam = inputs(at=instance["at"])
    other = lam if trial["other"] == "lambda" else lam / 2
    yield at_most(abs(lam / 2 - other), 0, "limit of |λ' − λ|")


def sizes(trial: Trial) -> Iterator[Instance]:
    """Sizes of sets."""
    for exponent in range(1, 13):
        yield {"size": 100**exponent + 1}


PARAMETERS = tuple(Fraction(k, 4) for k in range(1, 17))


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
    """The distance of the two parameters at one size, for λ = 1/4, …, 4, and what C(n) has come down to."""
    n = instance["size"]
    for name, pair in (("λ/2", SHARES), ("the ramps", RAMPS)):
        for lam in PARAMETERS:
            other = lam if trial["other"] == "lambda" else pair.phi(lam, n - 1)
            yield at_most(abs(pair.phi(lam, n) - other), pair.cost(n), f"|λ' − λ''|, Φ of {name}")
        yield at_most(pair.cost(n), Fraction(4, n), "C(n) ≤ 4/n")
