r"""Uniform stability: the definition with its two conventions, strong equivalence transfers it (Definition 4.2, Lemma 4.3).

Exact KRR with |y| ≤ 1, k(x, x) ≤ 1, f_∅ = 0 and rational √λ. The β of KRR is the corrected one of the example (AK-Ex.b+), β(n, λ) = c
(2 (1 + 1/√λ))²/(2λn). Here c = 1 if Z^i divides by n, c = 2 if it divides by n − 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import simopt.claims as sc
from simopt.theorems.ak.rational_ridge import Sample, dot, eliminated, loss_change, random_samples, ridge, size, without

CONVENTIONS = ((1, "Z^i divided by n"), (2, "Z^i divided by n − 1"))


def beta(n: int, lam: Fraction, c: int) -> Fraction:
    """β(n, λ) of KRR for λ the square of a rational."""
    s = square_root(lam)
    return c * (2 * (1 + 1 / s)) ** 2 / (2 * lam * n)


def square_root(x: Fraction) -> Fraction:
    """√x of a square of a rational; ValueError for anything else."""
    x = Fraction(x)
    s = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if s * s != x:
        raise ValueError(f"{x} is not the square of a rational")
    return s


def largest_change(samples: Sequence[Sample], whole: Sequence[Any], left: Sequence[Any]) -> Any:
    """Largest change of the squared loss at the points of Z, with the worst y of [−1, 1], an end point, at each."""
    return max(loss_change(x, y, whole, left) for _, x, _ in samples for y in (-1, 1))


def growing_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sets of 1 to 10⁴ samples, with |y| ≤ 1 on the unit interval or in the unit disc, and √λ."""
    one, zero = Fraction(1), Fraction(0)
    for s in (Fraction(1, 2), Fraction(1), Fraction(30)):
        for n in (1, 2, 10, 100, 10_000):
            yield {"samples": [(n, [one, zero], one)], "root": s}
            yield {"samples": [(n - 1, [one, zero], zero), (1, [zero, one], one)][n == 1 :], "root": s}
            yield {"samples": [(n - 1, [one, zero], one), (1, [one, zero], -one)][n == 1 :], "root": s}
    for _ in range(trial.count(12, 120)):
        kinds = random_samples(trial.rng, 3)
        yield {
            "samples": [(int(trial.rng.integers(1, 40)), x, y) for _, x, y in kinds],
            "root": Fraction(2) ** int(trial.rng.integers(-3, 4)),
        }


def _ridge(lam: Fraction, n: int) -> Fraction:
    return lam * n


def _modified_ridge(lam: Fraction, n: int) -> Fraction:
    return lam


@sc.claim(
    "AK-D4.2",
    place="Definition 4.2",
    kind=sc.DEFINITION,
    says=r"A is β-uniformly stable w.r.t. ℓ, β(n, λ) → 0 as n → ∞, iff |ℓ(y, A(λ, Z)(x)) − ℓ(y, A(λ, Z^i)(x))| ≤ β(|Z|, λ) for all λ > "
    r"0, Z, i and (x, y), with f_∅ = 0. KRR (|y| ≤ 1, k(x, x) ≤ 1, squared loss) is so with β(n, λ) = c (2 (1 + 1/√λ))²/(2λn), whether "
    r"Z^i divides its sum by n (c = 1) or by n − 1 (c = 2); KRR with λ/|Z| is not.",
    instances=growing_sets,
    knobs={"penalty": _ridge, "empty": Fraction(0)},
    mutants={"KRR with λ/|Z|": {"penalty": _modified_ridge}, "f_∅ = 2": {"empty": Fraction(2)}},
    note="Printed without the argument (x), and with Z^i = ∅ for |Z| = 1, which is not a training set; f_∅ = 0 is our choice. Definition "
    "3.1 applied to Z^i divides by n − 1; Bousquet and Elisseeff, whom the proof of Theorem 3 follows, divide by n.",
)
def ridge_is_uniformly_stable(samples: list[tuple[int, list[Fraction], Fraction]], root: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Remove each kind of sample under both conventions; β(n, λ) n is constant, so a change that stays gets over it."""
    lam = root**2
    n, penalty = size(samples), trial["penalty"]
    whole = ridge(samples, penalty(lam, n), 2)
    for c, name in CONVENTIONS:
        worst = Fraction(0)
        for i in range(len(samples)):
            rest = without(samples, i)
            left = ridge(rest, penalty(lam, n if c == 1 else n - 1), 2) if rest else [trial["empty"], trial["empty"]]
            worst = max(worst, largest_change(samples, whole, left))
        yield sc.at_most(worst, beta(n, lam, c), f"change, {name}", scale=beta(n, lam, c))


@dataclass(frozen=True)
class ScaledLearner:
    """B(ν, Z) = argmin a(ν) (1/|Z|) Σ (y − f(x))² + b(ν) ‖f‖² over the space of the kernel t² k, strongly equivalent to KRR."""

    weight: Callable[[Fraction], Fraction]  # a
    penalty: Callable[[Fraction], Fraction]  # b
    stretch: int  # t: features t x, norm ‖f‖/t
    phi: Callable[[Fraction], Fraction]  # Φ(λ), of which neither `fitted` nor `stability` knows

    def fitted(self, nu: Fraction, samples: Sequence[Sample], divisor: Any) -> list[Any]:
        """B's function as a vector w, f(x) = ⟨w, x⟩: (K + (b/a) · divisor · I) α = y, K the Gram matrix of t² k, w = t² Σ α_i x_i."""
        ridge_of_dual, square = self.penalty(nu) / self.weight(nu) * divisor, self.stretch**2
        inputs = [x for _, x, _ in samples]
        rows = [
            [square * dot(x, z) + (ridge_of_dual if i == j else 0) for j, z in enumerate(inputs)] + [samples[i][2]]
            for i, x in enumerate(inputs)
        ]
        alpha = eliminated(rows)
        return [square * dot(alpha, [x[j] for x in inputs]) for j in range(len(inputs[0]))]

    def stability(self, n: int, nu: Fraction, c: int) -> Fraction:
        """β(n, ν) of B, which has the solution of KRR with b/(a t²)."""
        return beta(n, self.penalty(nu) / (self.weight(nu) * self.stretch**2), c)


PROGRAMMES = {
    "weight of the loss": ScaledLearner(lambda nu: nu, lambda nu: Fraction(1), 1, lambda lam: 1 / lam),
    "a quarter of the loss": ScaledLearner(lambda nu: Fraction(1, 4), lambda nu: nu, 1, lambda lam: lam / 4),
    "kernel 9k": ScaledLearner(lambda nu: Fraction(1), lambda nu: nu, 3, lambda lam: 9 * lam),
}
"""(ν/|Z|) Σ (y − f(x))² + ‖f‖²; (1/(4|Z|)) Σ (y − f(x))² + ν ‖f‖²; KRR with the kernel 9k."""


def sets_and_programmes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Training sets of different samples, a rational √λ and B; the first sets make β sharp as λ → ∞."""
    one = Fraction(1)
    for name in PROGRAMMES:
        yield {"samples": [(1, [one], one), (1, [one], -one)], "root": Fraction(1000), "programme": name}
        for _ in range(trial.count(8, 80)):
            samples = random_samples(trial.rng, int(trial.rng.integers(1, 5)))
            yield {"samples": samples, "root": Fraction(2) ** int(trial.rng.integers(-4, 6)), "programme": name}


@sc.claim(
    "AK-L4.3",
    place="Lemma 4.3",
    kind=sc.EQUIVALENCE,
    says=r"If A(λ) = B(Φ(λ)) for all λ > 0, as functions of Z (strong equivalence), and B is β-uniformly stable, then A is β(·, "
    r"Φ(·))-uniformly stable: the leave-one-out changes of A at λ are those of B at Φ(λ). Checked for A = KRR and three programmes B: "
    r"(ν/|Z|) Σ (y − f(x))² + ‖f‖² with Φ = 1/λ, (1/(4|Z|)) Σ (y − f(x))² + ν ‖f‖² with Φ = λ/4, KRR with the kernel 9k and Φ = 9λ.",
    instances=sets_and_programmes,
    knobs={"sizes": False, "at": "phi", "factor": Fraction(1)},
    mutants={
        "weak equivalence, Φ = λ|Z|": {"sizes": True},
        "β of B at λ": {"at": "lambda"},
        "a quarter of Φ": {"factor": Fraction(1, 4)},
    },
    note="A is fitted by the normal equations of its own objective, B by the dual system of its own at ν = Φ(λ), on Z and on each Z^i.",
)
def strong_equivalence_transfers_stability(
    samples: list[tuple[int, list[Fraction], Fraction]], root: Fraction, programme: str, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Fit both learners, each by its own programme, on Z and on each Z^i; compare functions, changes and β."""
    # "sizes" makes B's penalty ν/|Z|, whose Φ = λ|Z| (times that of B) is another one on Z^i.
    lam, B = root**2, PROGRAMMES[programme]
    nu = trial["factor"] * B.phi(lam)
    n, p = len(samples), len(samples[0][1])
    whole, other = ridge(samples, n * lam, p), B.fitted(nu, samples, n)
    yield sc.equal(whole, other, "A(λ)(Z) = B(Φ(λ))(Z)")
    for c, name in CONVENTIONS:
        divisor = n if c == 1 else n - 1
        ours = theirs = Fraction(0)
        for i in range(n):
            rest = without(samples, i)
            left, right = ridge(rest, divisor * lam, p), [Fraction(0)] * p
            if rest:
                right = B.fitted(nu, rest, Fraction(divisor * n, n - 1) if trial["sizes"] else divisor)
            ours, theirs = max(ours, largest_change(samples, whole, left)), max(theirs, largest_change(samples, other, right))
        yield sc.equal(ours, theirs, f"largest changes of A at λ and of B at Φ(λ), {name}")
        yield sc.at_most(theirs, B.stability(n, nu, c), f"B against its β(n, ν), {name}")
        yield sc.at_most(ours, B.stability(n, B.phi(lam) if trial["at"] == "phi" else lam, c), f"A against β(n, Φ(λ)), {name}")
