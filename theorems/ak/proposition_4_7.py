r"""Proposition 4.7: does weak equivalence under Assumptions 1 and 2 transfer stability? Counterexamples, and what it does transfer.

**Printed** (AK-P4.7, refuted). The hypothesis space is ℝ, the constant functions. argmin_c (c − t)² learns the number t, so any function
of λ and Z is a learner, κ = 1, and ℓ(y, f) = |y − f| is 1-admissible. At y beyond both values its change is that of f. Sets enter by their
size n only.

Ramps:  B(λ, Z) = min(1, λ/s_n) for odd n and 0 for even n, with 1 ≤ s_n → ∞ and s_n − s_{n−1} → 0 decreasing, as log₂ n has it.
        Φ_n(λ) = s_n λ up to λ = 1, then s_n + λ − 1: an increasing bijection of (0, ∞), and |Φ_n − Φ_{n−1}| ≤ s_n − s_{n−1} = C(n).
        A(λ, Z) = B(Φ_n(λ), Z) = min(1, λ) for odd n and 0 for even n: a sample that leaves changes it by min(1, λ), whatever n.
Shares: B(λ, Z) = (1 − λ)/((1 + λ) n), Φ = λ/2: a strong equivalence, with C = 0.

**Corrected** (AK-P4.7+, and for the squared loss Remark 4.8). With λ' = Φ(λ, Z) and λ'' = Φ(λ, Z^i), go from A(λ, Z) = B(λ', Z) over
B(λ', Z^i) to B(λ'', Z^i) = A(λ, Z^i). The first step changes the loss by at most β(n, λ'), the second by σκ ‖B(λ', Z^i) − B(λ'', Z^i)‖ ≤
σκγ |λ' − λ''| ≤ σκγ C(n), with B's Lipschitz constant γ. It is tried on learners of constant functions on sets of zeros and ones, of which
k are ones. B(λ, Z) = t(n, k) + κγ g(λ), and Φ(λ, Z) = λ (1 + s(n, k)) up to λ = 1, λ + s(n, k) beyond: an increasing bijection of (0, ∞).
The tables s, t hold the values of two sizes, n and n − 1. The norm is ‖f‖ = |f|/κ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import simopt.claims as sc
from simopt.theorems.ak.uniform_stability import square_root

CITATION = "Proposition 4.7"


@dataclass(frozen=True)
class LearnerPair:
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


def fraction(lam: Any) -> Any:
    """n B(λ, n) of the shares: (1 − λ)/(1 + λ)."""
    return (1 - lam) / (1 + lam)


RAMPS = LearnerPair(
    phi=steep,
    learner=lambda lam, n: min(Fraction(1), lam / slow(n)) if n % 2 else Fraction(0),
    cost=lambda n: slow(max(n, 5)) - slow(max(n, 5) - 1),  # s_n is constant up to 4, C has to decrease
    gamma=Fraction(1),
    gamma_of_source=Fraction(1),
)
FRACTIONS = LearnerPair(
    phi=lambda lam, n: lam / 2,
    learner=lambda lam, n: Fraction(fraction(lam) / n),
    cost=lambda n: Fraction(0),
    gamma=Fraction(2),
    gamma_of_source=Fraction(1),
)


def ramps_satisfy_the_hypotheses() -> list[sc.Check]:
    """The hypotheses of Proposition 4.7 on A, B and Φ, for all λ = t ≤ 1, λ = 1 + v, s = s_n and r = s_{n−1} with s ≥ r ≥ 1: in symbols.

    The sign of each right side can be read off. That min(1, λ) is 1-Lipschitz needs no formula.
    """
    s, r, t, u, v = sc.symbols("s r t u v")
    return [
        sc.equal([s * t / s, (s + v) / s], [t, 1 + v / s], "A(λ) = B(Φ(λ)): t up to 1, and 1 beyond, where the ramp is over"),
        sc.equal([(s - r) - (s * t - r * t), (s + v) - (r + v)], [(1 - t) * (s - r), s - r], "|Φ_n(λ) − Φ_{n−1}(λ)| ≤ C(n) = s − r"),
        sc.equal((t - u) - (t / s - u / s), (1 - 1 / s) * (t - u), "B is 1-Lipschitz in λ: 1 − 1/s ≥ 0"),
        sc.equal(
            [t / r - t / s, t / r - u / r], [t * (s - r) / (r * s), (t - u) / r], "B changes by at most β(n, λ) = λ/s_{n−1}, Lipschitz"
        ),
    ]


def fractions_satisfy_the_hypotheses() -> list[sc.Check]:
    """The same for λ = t, u and all n; Φ does not contain Z."""
    n, t, u = sc.symbols("n t u")
    return [
        sc.equal(fraction(t) - fraction(u), 2 * (u - t) / ((1 + t) * (1 + u)), "B is 2-Lipschitz in λ, and so is A"),
        sc.equal(fraction(t) / (n - 1) - fraction(t) / n, fraction(t) / (n * (n - 1)), "B changes by β(n, λ) = |1 − λ|/((1 + λ) n(n − 1))"),
    ]


def both_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The ramps and the shares at λ = 1, in the limit n → ∞, where 1/s_{n−1} and C(n) are 0."""
    yield {"pair": "ramps", "at": 1, "reciprocal": 0, "step": 0}
    yield {"pair": "shares", "at": 1}


@sc.claim(
    "AK-P4.7",
    place=CITATION,
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"Let A, B be weakly equivalent and satisfy Assumptions 1 and 2 (both are γ-Lipschitz in λ), β be locally Lipschitz in λ, "
    r"|f(x)| ≤ κ‖f‖ and ℓ be σ-admissible. If B is β-uniformly stable, then A is β'-uniformly stable with β'(·, λ) = O(β(·, λ) + C(·)), "
    r"the constant depending on λ: so where β(n, λ) + C(n) → 0 the changes of A tend to 0, and where it is 0 they are 0.",
    instances=both_pairs,
    defeats="M · 0 = 0 for every constant M of O(·), and 0 is what it multiplies: the limit of β + C for the ramps, β + C itself for the "
    "shares. A changes by more.",
    knobs={"at": "lambda"},
    mutants={"β at Φ(λ, Z) for β at λ": {"at": "phi"}},
    note="The learners are numbers, ℓ(y, f) = |y − f|. Ramps: B = min(1, λ/s_n) for odd n and 0 for even n, s_n → ∞ like log₂ n, Φ = s_n λ "
    "up to λ = 1: β(n, λ) = λ/s_{n−1} and C(n) = s_n − s_{n−1} tend to 0, but A changes by min(1, λ) for every n: it is stable at no λ. "
    "Shares: B = (1 − λ)/((1 + λ)n) with Φ = λ/2, a strong equivalence with C = 0: β(n, 1) = 0, and A(1) changes by 1/(3n(n − 1)). All "
    "hypotheses are identities in symbols, for every n and λ, and a constant M in O(·) multiplies 0.",
)
def stability_is_transferred_at_its_own_rate(
    pair: str, at: int, trial: sc.Trial, reciprocal: int | None = None, step: int | None = None
) -> Iterator[sc.Check]:
    """Limits of the change of A at λ = 1 and of β + C: as n → ∞ (ramps), and of n(n − 1) times both, where n drops out (shares)."""
    own = trial["at"] == "lambda"
    if pair == "ramps":
        lam, inverse, jump = sc.inputs(at=at, reciprocal=reciprocal, step=step)
        where = lam * inverse if own else lam * (1 + jump * inverse)  # β(n, ·) at λ and at Φ_n(λ) = s_n λ, s_n = s_{n−1} + C(n)
        check = sc.at_most(lam, where + jump, "ramps: change of A against the limit of M (β + C)")
        yield check.assuming(*ramps_satisfy_the_hypotheses())
    else:
        lam = sc.inputs(at=at)
        check = sc.at_most(
            abs(fraction(lam / 2)), abs(fraction(lam if own else lam / 2)), "shares: n(n − 1) · change of A against n(n − 1) · M (β + C)"
        )
        yield check.assuming(*fractions_satisfy_the_hypotheses())


def sizes_beyond_the_limit(trial: sc.Trial) -> Iterator[sc.Instance]:
    """λ = 1, ε = 1/4, and a size n = N for every N from which on |λ' − λ| should stay below ε."""
    for N in (1, 10, 10**3, 10**6, 10**12):
        yield {"at": 1, "epsilon": Fraction(1, 4), "N": N, "n": N}


@sc.claim(
    "AK-P4.7pf",
    place=CITATION + ", proof, last line",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"Under Assumption 1, |λ' − λ| → 0 as n → ∞ for λ' = Φ(λ, Z), |Z| = n: for each ε > 0 there is an N with |λ' − λ| ≤ ε for n ≥ N.",
    instances=sizes_beyond_the_limit,
    constants=("N",),
    defeats="n = N defeats N, at ε = 1/4 and λ = 1: |λ' − λ| = 1/2 for every Z. All λ and N: AK_P4_7pf_no_limit, AK_P4_7pf_negated.",
    knobs={"other": "lambda"},
    mutants={"λ'' = Φ(λ, Z^i) for λ": {"other": "neighbour"}},
    note="Φ = λ/2 (KRR and KRR with 2λ in the place of λ) does not contain Z: it satisfies Assumption 1 with C = 0, and |λ' − λ| = λ/2 for "
    "every n. For the ramps of AK-P4.7 it is s_n − 1 at λ = 1, and grows without bound.",
)
def parameter_comes_back(at: int, epsilon: Fraction, n: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Φ = λ/2, whatever Z is."""
    lam, epsilon = sc.inputs(at=at, epsilon=epsilon)
    other = lam if trial["other"] == "lambda" else lam / 2
    yield sc.at_most(abs(lam / 2 - other), epsilon, f"|λ' − λ|, n = {n}")


def sizes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sizes of sets."""
    for exponent in range(1, 13):
        yield {"size": 100**exponent + 1}


PARAMETERS = tuple(Fraction(k, 4) for k in range(1, 17))


@sc.claim(
    "AK-P4.7pf+",
    place=CITATION + ", proof, corrected",
    kind=sc.INEQUALITY,
    says=r"Under Assumption 1, |Φ(λ, Z) − Φ(λ, Z^i)| ≤ C(n) → 0 as n = |Z| → ∞, so that λ' and λ'' = Φ(λ, Z^i) come together; where they "
    r"go is left open.",
    instances=sizes,
    knobs={"other": "neighbour"},
    mutants={"λ for λ''": {"other": "lambda"}},
    corrects="AK-P4.7pf",
)
def parameters_come_together(size: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The distance of the two parameters at one size, for λ = 1/4, …, 4, and what C(n) has come down to."""
    n = size
    for name, pair in (("λ/2", FRACTIONS), ("the ramps", RAMPS)):
        for lam in PARAMETERS:
            other = lam if trial["other"] == "lambda" else pair.phi(lam, n - 1)
            yield sc.at_most(abs(pair.phi(lam, n) - other), pair.cost(n), f"|λ' − λ''|, Φ of {name}")
        yield sc.at_most(pair.cost(n), Fraction(4, n), "C(n) ≤ 4/n")


SHAPES: dict[str, Callable[[Fraction], Fraction]] = {
    "rising": lambda lam: min(lam, Fraction(2)),
    "falling": lambda lam: -min(lam, Fraction(2)),
    "kinked": lambda lam: abs(min(lam, Fraction(2)) - 1),
}
"""Functions g of λ with |g(λ) − g(μ)| ≤ |λ − μ|."""


def _parity(n: int) -> Fraction:
    return Fraction(1 if n % 2 else 2, n)


def _line(lam: Fraction, n: int) -> Fraction:
    return max(_parity(n) * lam, 2 * (lam - 1))


def _line_cost(n: int) -> Fraction:
    """C(n) ≥ sup_λ |h_n² − h_{n−1}²|: the lines part only up to λ = 2/(2 − a), a ≤ 2/(n − 1), where h ≤ aλ."""
    a = Fraction(2, n - 1)
    return (2 * a / (2 - a)) ** 2


LINES = LearnerPair(
    phi=lambda lam, n: _line(lam, n) ** 2,
    learner=lambda lam, n: square_root(lam),
    cost=_line_cost,
    gamma=None,
    gamma_of_source=Fraction(2),
)
"""B = √λ is not Lipschitz in λ, while A(λ) = h_n(λ) = max(a_n λ, 2(λ − 1)) is, and C(n) = O(n⁻²); a_n = 1/n or 2/n by parity."""

PAIRS = {"ramps": RAMPS, "shares": FRACTIONS, "lines": LINES}


def tables(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Tables aligned so that nothing is lost, then random ones."""
    for n in (2, 10, 100):
        step = Fraction(1, 10 * n)
        for shape, sign in (("rising", 1), ("falling", -1)):
            yield {
                "s": ([Fraction(0)] * (n + 1), [step] * n), "t": ([sign * (n - 1) * step] * (n + 1), [sign * n * step] * n), "shape": shape,
                "gamma": Fraction(1), "lam": Fraction(3, 2), "sigma": Fraction(1), "kappa": Fraction(1),
            }  # fmt: skip
    for _ in range(trial.count(60, 600)):
        n, rng = int(trial.rng.integers(2, 6)), trial.rng
        yield {
            "s": tuple([Fraction(int(k), 12 * n) for k in rng.integers(0, 13, size=length)] for length in (n + 1, n)),
            "t": tuple([Fraction(int(k), 12 * n) for k in rng.integers(-12, 13, size=length)] for length in (n + 1, n)),
            "shape": list(SHAPES)[int(rng.integers(len(SHAPES)))], "gamma": Fraction(int(rng.integers(1, 5))),
            "lam": Fraction(int(rng.integers(1, 9)), 4),
            "sigma": Fraction(int(rng.integers(1, 4))), "kappa": Fraction(int(rng.integers(1, 4))),
        }  # fmt: skip


def tables_and_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Tables, then the counterexamples to the printed proposition and the pair whose B is not Lipschitz."""
    yield from tables(trial)
    for name in PAIRS:
        for n in (5, 101, 10_001):
            yield {"pair": name, "size": n}


class Tables(NamedTuple):
    """A pair of learners: s of Φ and t of B, for sets of one size by their number of ones, and for sets of one sample less."""

    s: tuple[list[Fraction], list[Fraction]]
    t: tuple[list[Fraction], list[Fraction]]
    shape: str
    gamma: Fraction
    lam: Fraction
    sigma: Fraction
    kappa: Fraction


def tables_of(instance: sc.Instance) -> Tables:
    """Those of an instance, which may have more entries."""
    return Tables(**{name: instance[name] for name in Tables._fields})


def neighbours(here: Tables) -> Iterator[tuple[int, int, tuple[Fraction, Fraction, Fraction]]]:
    """For each Z and each removal: k, k', and the values B(λ', Z), B(λ', Z^i), B(λ'', Z^i)."""
    (s, s_less), (t, t_less) = here.s, here.t
    g, slope = SHAPES[here.shape], here.kappa * here.gamma

    def phi(shift: Fraction) -> Fraction:
        return Fraction(here.lam + shift * min(here.lam, Fraction(1)))

    for k in range(len(s)):
        for less in {k - 1, k} & set(range(len(s_less))):
            own, other = slope * g(phi(s[k])), slope * g(phi(s_less[less]))
            yield k, less, (t[k] + own, t_less[less] + own, t_less[less] + other)


def largest_step(here: Tables) -> Fraction:
    """C(n): the largest |s(Z) − s(Z^i)|, which bounds |Φ(λ, Z) − Φ(λ, Z^i)| for all λ."""
    s, s_less = here.s
    return Fraction(max(abs(s[k] - s_less[less]) for k, less, _ in neighbours(here)))


@sc.claim(
    "AK-P4.7+",
    place="Proposition 4.7, corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let A, B be weakly equivalent with Assumption 1 (2), B be γ-Lipschitz in λ (in the norm of H) uniformly over Z, |f(x)| ≤ "
    r"κ‖f‖, ℓ be σ-admissible. If B is β-uniformly stable, then the leave-one-out changes of A at λ are at most β'(n, λ) = sup_{|Z|=n} "
    r"β(n, Φ(λ, Z)) + σκγ C(n). This makes A uniformly stable only if sup_{|Z|=n} β(n, Φ(λ, Z)) → 0.",
    instances=tables_and_pairs,
    knobs={"gamma": "B", "share": Fraction(1)},
    mutants={"γ of A for γ of B": {"gamma": "A"}, "half of σκγ C(n)": {"share": Fraction(1, 2)}},
    corrects="AK-P4.7",
    note="Assumption 2 is needed of B, whose values the proof compares; of A alone it is not enough: B = √λ and A = max(a_n λ, 2(λ − 1)) "
    "has β = 0, C(n) = O(n⁻²) and changes of A(1) ~ 1/n. Sharp: where the two steps point the same way.",
)
def stability_is_transferred_along_the_map(
    instance: sc.Instance, trial: sc.Trial, pair: str | None = None, size: int = 0
) -> Iterator[sc.Check]:
    """Either one of the pairs at one size, or the tables of a random pair."""
    if pair is not None:
        two, lam = PAIRS[pair], Fraction(1)
        gamma = two.gamma if trial["gamma"] == "B" else two.gamma_of_source
        if gamma is None:
            yield sc.vacuous(True, "B is not Lipschitz in λ", evidence=sc.EXACT)
        else:
            yield sc.at_most(two.change(lam, size), two.beta(size, two.phi(lam, size)) + gamma * two.cost(size), pair)
        return
    here = tables_of(instance)
    sigma, found = here.sigma, list(neighbours(here))
    change = max(sigma * abs(one - three) for _, _, (one, _, three) in found)
    beta = max(sigma * abs(one - two) for _, _, (one, two, _) in found)
    extra = sigma * here.kappa * here.gamma * largest_step(here)
    yield sc.at_most(change, beta + trial["share"] * extra, "change of A")


def with_a_target_bound(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The tables, shifted far from 0, with a bound on |y|."""
    for instance in tables(trial):
        far = Fraction(int(trial.rng.integers(-3, 4)))
        shifted = tuple([value + far for value in values] for values in instance["t"])
        yield instance | {"t": shifted, "target bound": Fraction(int(trial.rng.integers(1, 4)), 2)}


@sc.claim(
    "AK-R4.8",
    place="Remark 4.8",
    kind=sc.EQUIVALENCE,
    says=r"Proposition 4.7 as corrected extends to the squared loss: if |y| ≤ C_y and every function B(λ', Z), B(λ', Z^i), B(λ'', Z^i) "
    r"that occurs (λ' = Φ(λ, Z), λ'' = Φ(λ, Z^i)) has norm at most R, the loss is σ-admissible on them with σ = 2 (C_y + κR), and the "
    r"changes of A are at most sup_{|Z|=n} β(n, Φ(λ, Z)) + σκγ C(n).",
    instances=with_a_target_bound,
    knobs={"norm": 1, "share": Fraction(1)},
    mutants={"σ = 2 C_y": {"norm": 0}, "a quarter of σκγ C(n)": {"share": Fraction(1, 4)}},
    note="The remark inherits the defects of the printed proposition. For KRR R = C_y/√λ' depends on λ', so Φ has to stay away from 0.",
)
def squared_loss_is_transferred_too(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The same two steps with the squared loss, whose change is |f − g| |2y − f − g|, largest at y = ± C_y."""
    here, bound = tables_of(instance), instance["target bound"]
    found = list(neighbours(here))

    def change(f: Fraction, g: Fraction) -> Fraction:
        return Fraction(abs(f - g) * (2 * bound + abs(f + g)))

    largest = max(max(abs(f) for f in values) for _, _, values in found)  # κR
    sigma = 2 * (bound + trial["norm"] * largest)
    extra: Any = sigma * here.kappa * here.gamma * largest_step(here)
    beta = max(change(one, two) for _, _, (one, two, _) in found)
    yield sc.at_most(max(change(one, three) for _, _, (one, _, three) in found), beta + trial["share"] * extra, "change of A")
