r"""What weak equivalence does transfer under Assumptions 1 and 2: Proposition 4.7 corrected, and its extension to the squared loss.

With λ' = Φ(λ, Z) and λ'' = Φ(λ, Z^i), go from A(λ, Z) = B(λ', Z) over B(λ', Z^i) to B(λ'', Z^i) = A(λ, Z^i): the first step changes the
loss by at most β(n, λ'), the second by σκ ‖B(λ', Z^i) − B(λ'', Z^i)‖ ≤ σκγ |λ' − λ''| ≤ σκγ C(n), with B's Lipschitz constant γ.

Learners of constant functions on sets of zeros and ones, of which k are ones: B(λ, Z) = t(n, k) + κγ g(λ), and Φ(λ, Z) = λ (1 + s(n, k))
up to λ = 1, λ + s(n, k) beyond: an increasing bijection of (0, ∞). The tables s, t hold the values of two sizes, n and n − 1. The norm is
‖f‖ = |f|/κ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from simopt.claims import *
from simopt.theorems.ak.transfer import RAMPS, SHARES, Pair
from simopt.theorems.ak.uniform_stability import square_root

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


LINES = Pair(
    phi=lambda lam, n: _line(lam, n) ** 2,
    learner=lambda lam, n: square_root(lam),
    cost=_line_cost,
    gamma=None,
    gamma_of_source=Fraction(2),
)
"""B = √λ is not Lipschitz in λ, while A(λ) = h_n(λ) = max(a_n λ, 2(λ − 1)) is, and C(n) = O(n⁻²); a_n = 1/n or 2/n by parity."""

PAIRS = {"ramps": RAMPS, "shares": SHARES, "lines": LINES}


def tables(trial: Trial) -> Iterator[Instance]:
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


def tables_and_pairs(trial: Trial) -> Iterator[Instance]:
    """Tables, then the counterexamples to the printed proposition and the pair whose B is not Lipschitz."""
    yield from tables(trial)
    for name in PAIRS:
        for n in (5, 101, 10_001):
            yield {"pair": name, "size": n}


def neighbours(instance: Instance) -> Iterator[tuple[int, int, tuple[Fraction, Fraction, Fraction]]]:
    """For each Z and each removal: k, k', and the values B(λ', Z), B(λ', Z^i), B(λ'', Z^i)."""
    (s, s_less), (t, t_less) = instance["s"], instance["t"]
    g, gamma, kappa = SHAPES[instance["shape"]], instance["gamma"], instance["kappa"]

    def phi(shift: Fraction) -> Fraction:
        return Fraction(instance["lam"] + shift * min(instance["lam"], Fraction(1)))

    for k in range(len(s)):
        for less in {k - 1, k} & set(range(len(s_less))):
            here, there = kappa * gamma * g(phi(s[k])), kappa * gamma * g(phi(s_less[less]))
            yield k, less, (t[k] + here, t_less[less] + here, t_less[less] + there)


def largest_step(instance: Instance) -> Fraction:
    """C(n): the largest |s(Z) − s(Z^i)|, which bounds |Φ(λ, Z) − Φ(λ, Z^i)| for all λ."""
    s, s_less = instance["s"]
    return Fraction(max(abs(s[k] - s_less[less]) for k, less, _ in neighbours(instance)))


@claim(
    "AK-P4.7+",
    paper=AUDIFFREN_KADRI,
    place="Proposition 4.7, corrected",
    kind=EQUIVALENCE,
    expected=HOLDS,
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
def stability_is_transferred_along_the_map(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Either one of the pairs at one size, or the tables of a random pair."""
    if "pair" in instance:
        pair, n, lam = PAIRS[instance["pair"]], instance["size"], Fraction(1)
        gamma = pair.gamma if trial["gamma"] == "B" else pair.gamma_of_source
        if gamma is None:
            yield vacuous(True, "B is not Lipschitz in λ", evidence=EXACT)
        else:
            yield at_most(pair.change(lam, n), pair.beta(n, pair.phi(lam, n)) + gamma * pair.cost(n), instance["pair"])
        return
    sigma, found = instance["sigma"], list(neighbours(instance))
    change = max(sigma * abs(one - three) for _, _, (one, _, three) in found)
    beta = max(sigma * abs(one - two) for _, _, (one, two, _) in found)
    extra = sigma * instance["kappa"] * instance["gamma"] * largest_step(instance)
    yield at_most(change, beta + trial["share"] * extra, "change of A")


def with_a_target_bound(trial: Trial) -> Iterator[Instance]:
    """The tables, shifted far from 0, with a bound on |y|."""
    for instance in tables(trial):
        far = Fraction(int(trial.rng.integers(-3, 4)))
        shifted = tuple([value + far for value in values] for values in instance["t"])
        yield instance | {"t": shifted, "target bound": Fraction(int(trial.rng.integers(1, 4)), 2)}


@claim(
    "AK-R4.8",
    paper=AUDIFFREN_KADRI,
    place="Remark 4.8",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"Proposition 4.7 as corrected extends to the squared loss: if |y| ≤ C_y and every function B(λ', Z), B(λ', Z^i), B(λ'', Z^i) "
    r"that occurs (λ' = Φ(λ, Z), λ'' = Φ(λ, Z^i)) has norm at most R, the loss is σ-admissible on them with σ = 2 (C_y + κR), and the "
    r"changes of A are at most sup_{|Z|=n} β(n, Φ(λ, Z)) + σκγ C(n).",
    instances=with_a_target_bound,
    knobs={"norm": 1, "share": Fraction(1)},
    mutants={"σ = 2 C_y": {"norm": 0}, "a quarter of σκγ C(n)": {"share": Fraction(1, 4)}},
    note="The remark inherits the defects of the printed proposition. For KRR R = C_y/√λ' depends on λ', so Φ has to stay away from 0.",
)
def squared_loss_is_transferred_too(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The same two steps with the squared loss, whose change is |f − g| |2y − f − g|, largest at y = ± C_y."""
    bound, found = instance["target bound"], list(neighbours(instance))

    def change(f: Fraction, g: Fraction) -> Fraction:
        return Fraction(abs(f - g) * (2 * bound + abs(f + g)))

    largest = max(max(abs(f) for f in values) for _, _, values in found)  # κR
    sigma = 2 * (bound + trial["norm"] * largest)
    extra: Any = sigma * instance["kappa"] * instance["gamma"] * largest_step(instance)
    beta = max(change(one, two) for _, _, (one, two, _) in found)
    yield at_most(max(change(one, three) for _, _, (one, _, three) in found), beta + trial["share"] * extra, "change of A")
