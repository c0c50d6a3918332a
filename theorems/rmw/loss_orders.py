r"""How losses order distributions over (score, label), in exact arithmetic: section 5 of the paper reduced to a few atoms.

Q ≤_ℓ Q' means E_Q ℓ ≤ E_Q' ℓ, so only the signed difference d = Q − Q' matters. Up to a positive factor every d with Σd = 0 is such a
difference. On three atoms with losses a that are not all equal, the d with Σd = 0 and ⟨d, a⟩ = 0 are the multiples of `level(a)`. For
every a, ⟨level(a), b⟩ is the determinant
`collinearity(a, b)`: it vanishes iff the three points (a, b) lie on a line. Two losses are therefore ordered alike iff b is an affine
increasing function of a (Lemma 23). Otherwise two or three atoms carry a Q and a Q' that show it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from simopt.theorems.small_worlds.worlds import Value, add, dot

Event = tuple[int, Value]  # (label, score)
Table = Mapping[Event, Value]  # a loss on finitely many atoms
Signed = Mapping[Event, Value]  # Q − Q'


def noisy(own: Value, other: Value, rate: Value) -> Value:
    """E ℓ(ỹ, v) when the label y is flipped with probability `rate`; `own` = ℓ(y, v), `other` = ℓ(−y, v)."""
    return (1 - rate) * own + rate * other


def corrected(own: Value, other: Value, rate: Value, other_rate: Value) -> Value:
    """((1 − σ_{−y}) ℓ(y, v) − σ_y ℓ(−y, v)) / (1 − σ_{−1} − σ_1), `rate` = σ_y, `other_rate` = σ_{−y}: Natarajan et al."""
    return ((1 - other_rate) * own - rate * other) / (1 - rate - other_rate)


def under_noise(loss: Table, rate: Value) -> dict[Event, Value]:
    """ℓ′ with E_Q ℓ′ = E_{Q_σ} ℓ: symmetric noise moved from the distribution to the loss."""
    return {(y, v): noisy(a, loss[-y, v], rate) for (y, v), a in loss.items()}


def correction(loss: Table, rate: Value) -> dict[Event, Value]:
    """ℓ_σ as a table."""
    return {(y, v): corrected(a, loss[-y, v], rate, rate) for (y, v), a in loss.items()}


def level(a: Sequence[Value]) -> list[Value]:
    """d on three atoms with Σd = 0 and ⟨d, a⟩ = 0."""
    return [a[1] - a[2], a[2] - a[0], a[0] - a[1]]


def collinearity(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """⟨level(a), b⟩: zero iff (a_i, b_i), i = 1, 2, 3, lie on a line."""
    return dot(level(a), b)


def excess(loss: Table, d: Signed) -> Value:
    """E_Q ℓ − E_Q' ℓ."""
    return add(mass * loss[atom] for atom, mass in d.items())


def as_pair(d: Signed) -> tuple[dict[Event, Fraction], dict[Event, Fraction]]:
    """Distributions Q and Q' whose difference is a positive multiple of d ≠ 0, Σd = 0."""
    half = add(mass for mass in d.values() if mass > 0)
    return {z: m / half for z, m in d.items() if m > 0}, {z: -m / half for z, m in d.items() if m < 0}


def differences(atoms: Sequence[Event], reach: int) -> Iterator[dict[Event, Fraction]]:
    """All d ≠ 0 with Σd = 0 and integer entries up to `reach`.

    For losses with values in {0, …, reach} they decide order equivalence: `level` and e_i − e_j are among them.
    """
    for entries in itertools.product(range(-reach, reach + 1), repeat=len(atoms)):
        if sum(entries) == 0 and any(entries):
            yield {atom: Fraction(mass) for atom, mass in zip(atoms, entries, strict=True) if mass}


def disagreement(first: Table, second: Table, tried: Iterable[Signed]) -> Signed | None:
    """The first d of `tried` that the two losses order differently (E ≤ 0 for one and not for the other), if there is one."""
    return next((d for d in tried if (excess(first, d) <= 0) != (excess(second, d) <= 0)), None)


def sums(loss: Table) -> dict[Any, Value]:
    """ℓ(1, v) + ℓ(−1, v) for every score v."""
    return {v: a + loss[-1, v] for (y, v), a in loss.items() if y == 1}


def label_free(loss: Table) -> bool:
    """Whether ℓ(1, v) = ℓ(−1, v) for every v."""
    return all(loss[-y, v] == a for (y, v), a in loss.items())


def fits_theorem_13(loss: Table) -> bool:
    """Whether ℓ(1, v) + ℓ(−1, v) does not depend on v."""
    return len(set(sums(loss).values())) <= 1
