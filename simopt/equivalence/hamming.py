"""The generalised Hamming metric between training sets of any sizes (Audiffren & Kadri, Definition 4.4), in closed form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations

from simopt.equivalence.training import TrainingSet

Samples = TrainingSet | Sequence[Hashable]


def hamming(one: Samples, two: Samples) -> int:
    r"""H(Z_1, Z_2) = max(|Z_1|, |Z_2|) − |Z_1 ∩ Z_2|, with the intersection of multisets.

    The least number of deletions, insertions and changes of single elements that turn one set into the other. It depends on the sets as
    multisets only; on sequences it is a pseudometric, with H = 0 between a sequence and its permutations.

    Proof that this is Definition 4.4: let |Z_1| ≥ |Z_2|. A subset Z of Z_1 of |Z_2| elements and a bijection onto Z_2 agree in at most
    |Z_1 ∩ Z_2| places, and some such pair agrees in that many, so the minimum is |Z_1| − |Z_2| + (|Z_2| − |Z_1 ∩ Z_2|).

    Samples are equal when all their numbers are. O(n p). Source: Audiffren & Kadri, Definition 4.4.
    """
    first, second = Counter(elements(one)), Counter(elements(two))
    return max(first.total(), second.total()) - (first & second).total()


def permuted_hamming(one: Sequence[Hashable], two: Sequence[Hashable]) -> int:
    """G_n = min over permutations σ of the Hamming distance of z_σ(1), …, z_σ(n) to the second sequence (same length). Factorial cost."""
    if len(one) != len(two):
        raise ValueError(f"G_n compares sequences of one length, not {len(one)} and {len(two)}")
    return min(sum(a != b for a, b in zip(order, two, strict=True)) for order in permutations(one))


def elements(samples: Samples) -> tuple[Hashable, ...]:
    """The samples as hashable values: (x, y) as a tuple of numbers for a training set (so that −0.0 equals 0.0)."""
    if isinstance(samples, TrainingSet):
        rows: Iterable[list[float]] = samples.inputs.tolist()
        return tuple((*x, y) for x, y in zip(rows, samples.targets.tolist(), strict=True))
    return tuple(samples)
