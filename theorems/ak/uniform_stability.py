r"""Uniform stability: the definition with its two conventions, strong equivalence transfers it (Definition 4.2, Lemma 4.3).

Exact KRR with |y| ≤ 1, k(x, x) ≤ 1, f_∅ = 0 and rational √λ. The β of KRR is the corrected one of the example (AK-Ex.b+):
β(n, λ) = c (2 (1 + 1/√λ))²/(2λn), c = 1 if Z^i divides by n, c = 2 if it divides by n − 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

from simopt.claims import AUDIFFREN_KADRI, DEFINITION, EQUIVALENCE, HOLDS, Check, Instance, Trial, at_most, claim, equal
from simopt.theorems.ak.rational_ridge import Sample, loss_change, random_samples, ridge, size, without

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


def growing_sets(trial: Trial) -> Iterator[Instance]:
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


@claim(
    "AK-D4.2",
    paper=AUDIFFREN_KADRI,
    place="Definition 4.2",
    kind=DEFINITION,
    expected=HOLDS,
    says=r"A is β-uniformly stable w.r.t. ℓ, β(n, λ) → 0 as n → ∞, iff |ℓ(y, A(λ, Z)(x)) − ℓ(y, A(λ, Z^i)(x))| ≤ β(|Z|, λ) for all λ > "
    r"0, Z, i and (x, y), with f_∅ = 0. KRR (|y| ≤ 1, k(x, x) ≤ 1, squared loss) is so with β(n, λ) = c (2 (1 + 1/√λ))²/(2λn), whether "
    r"Z^i divides its sum by n (c = 1) or by n − 1 (c = 2); KRR with λ/|Z| is not.",
    instances=growing_sets,
    knobs={"penalty": _ridge, "empty": Fraction(0)},
    mutants={"KRR with λ/|Z|": {"penalty": _modified_ridge}, "f_∅ = 2": {"empty": Fraction(2)}},
    note="Printed without the argument (x), and with Z^i = ∅ for |Z| = 1, which is not a training set; f_∅ = 0 is our choice. Definition "
    "3.1 applied to Z^i divides by n − 1; Bousquet and Elisseeff, whom the proof of Theorem 3 follows, divide by n.",
)
def ridge_is_uniformly_stable(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Remove each kind of sample under both conventions; β(n, λ) n is constant, so a change that stays gets over it."""
    samples, lam = instance["samples"], instance["root"] ** 2
    n, penalty = size(samples), trial["penalty"]
    whole = ridge(samples, penalty(lam, n), 2)
    for c, name in CONVENTIONS:
        worst = Fraction(0)
        for i in range(len(samples)):
            rest = without(samples, i)
            left = ridge(rest, penalty(lam, n if c == 1 else n - 1), 2) if rest else [trial["empty"], trial["empty"]]
            worst = max(worst, largest_change(samples, whole, left))
        yield at_most(worst, beta(n, lam, c), f"change, {name}", scale=beta(n, lam, c))


Map = Callable[[Fraction], Fraction]

MAPS: dict[str, tuple[Map, Map]] = {
    "4λ": (lambda t: 4 * t, lambda t: t / 4),
    "λ/9": (lambda t: t / 9, lambda t: 9 * t),
    "1/λ": (lambda t: 1 / t, lambda t: 1 / t),
}
"""Bijections Φ of (0, ∞) that know nothing of Z, with their inverses."""


def mapped_sets(trial: Trial) -> Iterator[Instance]:
    """Training sets, a rational √λ and a bijection; the first sets make β sharp as λ → ∞."""
    one = Fraction(1)
    for name in MAPS:
        yield {"samples": [(1, [one], one), (1, [one], -one)], "root": Fraction(1000), "map": name}
        for _ in range(trial.count(8, 80)):
            samples = random_samples(trial.rng, int(trial.rng.integers(1, 5)))
            yield {"samples": samples, "root": Fraction(2) ** int(trial.rng.integers(-4, 6)), "map": name}


@claim(
    "AK-L4.3",
    paper=AUDIFFREN_KADRI,
    place="Lemma 4.3",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"If A(λ) = B(Φ(λ)) for all λ > 0, as functions of Z (strong equivalence), and B is β-uniformly stable, then A is β(·, "
    r"Φ(·))-uniformly stable: the leave-one-out changes of A at λ are those of B at Φ(λ). Checked for A = KRR and Φ = 4λ, λ/9 and 1/λ.",
    instances=mapped_sets,
    knobs={"sizes": False, "at": "phi"},
    mutants={"weak equivalence, Φ = λ|Z|": {"sizes": True}, "β of B at λ": {"at": "lambda"}},
)
def strong_equivalence_transfers_stability(instance: Instance, trial: Trial) -> Iterator[Check]:
    """A and B are fitted each by its own objective, on Z and on each Z^i."""
    # B(ν) is KRR at Φ⁻¹(ν); "sizes" makes it KRR with ν/|Z|, whose Φ = λ|Z| is another one on Z^i.
    samples, lam = instance["samples"], instance["root"] ** 2
    there, back = MAPS[instance["map"]]
    n, p, nu = size(samples), len(samples[0][1]), there(lam)
    for c, name in CONVENTIONS:
        divisor = n if c == 1 else n - 1
        ours = theirs = Fraction(0)
        for i in range(len(samples)):
            rest = without(samples, i)
            changes = []
            for strength, left in ((lam, lam), (back(nu), back(nu) * (Fraction(n, n - 1) if trial["sizes"] and n > 1 else 1))):
                changes.append(largest_change(samples, ridge(samples, n * strength, p), ridge(rest, divisor * left, p)))
            ours, theirs = max(ours, changes[0]), max(theirs, changes[1])
        yield equal(ours, theirs, f"largest changes of A at λ and of B at Φ(λ), {name}")
        yield at_most(ours, beta(n, back(nu if trial["at"] == "phi" else lam), c), f"A against β(n, Φ(λ)), {name}")
