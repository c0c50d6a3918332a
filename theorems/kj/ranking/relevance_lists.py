r"""Relevance lists in enclosed arithmetic: discounts 1/F(1) ≥ … ≥ 1/F(m), gains, ‖·‖_D, η, and the nearest scores that give an order.

`simopt.data.relevance` has the same in floats. Gains 2^r − 1 are integers, logarithms are enclosures, so that sums are enclosed and the
projections on orders are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.exact_tails import logarithm

NATURAL, BINARY = "natural", "binary"
BITS = 64


@cache
def discounts(m: int, base: str = NATURAL) -> tuple[sc.Expr, ...]:
    """1/F(t), F(t) = log(1 + t), t = 1, …, m; with base 2 the first is exactly 1."""
    unit = sc.rational(1) if base == NATURAL else logarithm(2)
    return tuple(sc.rational(1) if base == BINARY and t == 1 else unit / logarithm(t + 1) for t in range(1, m + 1))


def gains(r: Sequence[int]) -> list[int]:
    """2^r − 1."""
    return [2**grade - 1 for grade in r]


def inner(D: Sequence[Any], values: Sequence[Any]) -> sc.Expr:
    """Σ D_t v_t."""
    return sc.total(d * v for d, v in zip(D, values, strict=True))


def descending(values: Sequence[Any]) -> list[Any]:
    """The numbers from the largest to the smallest."""
    return sorted(values, reverse=True)


def list_norm(values: Sequence[Any], base: str = NATURAL) -> sc.Expr:
    """‖v‖_D = max_π Σ v_i/F(π(i)): the largest first, by the rearrangement inequality (which KJ-F-ndcg checks)."""
    return inner(discounts(len(values), base), descending(values))


def eta(r: Sequence[int], base: str = NATURAL) -> list[sc.Expr]:
    """G(r)/‖G(r)‖_D; for lists that are not all 0."""
    g = gains(r)
    norm = list_norm(g, base)
    return [v / norm for v in g]


def lists(m: int, grades: int) -> Iterator[tuple[int, ...]]:
    """All lists of m documents with grades 0, …, `grades` that are not all 0."""
    yield from (r for r in itertools.product(range(grades + 1), repeat=m) if any(r))


def nearest_descending(v: Sequence[Any]) -> list[Fraction]:
    """The point of {s: s_1 ≥ … ≥ s_m} nearest to v: means over blocks, pooled from the left where they ascend. Exact, O(m²)."""
    blocks: list[tuple[Fraction, int]] = []
    for value in v:
        blocks.append((Fraction(value), 1))
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            (a, k), (b, n) = blocks[-2:]
            blocks[-2:] = [((a * k + b * n) / (k + n), k + n)]
    return [mean for mean, count in blocks for _ in range(count)]
