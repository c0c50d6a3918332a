r"""Finite worlds of ranking lists: queries, documents, m of them drawn independently given the query, and losses of predictors on pairs.

A pair z = (q, p) has the mass μ(z) = P(q) P(p | q), and a predictor gives f(z). A list of m pairs has the normalised relevances η_i, which
are enclosures because of their logarithms.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import simopt.claims as sc
from simopt.theorems.kj.ranking.relevance_lists import NATURAL, eta
from simopt.theorems.small_worlds.sampled_worlds import weights

Numbers = list[Fraction]


class RankingWorld(NamedTuple):
    """Masses of queries, masses and grades of the documents of each query, the length of lists, and the base of the logarithm in η."""

    queries: Numbers
    documents: list[Numbers]
    grades: list[list[int]]
    m: int
    base: str

    def masses(self) -> Numbers:
        """μ over the pairs."""
        return masses(self.queries, self.documents)


def world_of(instance: sc.Instance) -> RankingWorld:
    """That of an instance, which has more entries."""
    return RankingWorld(**{name: instance[name] for name in RankingWorld._fields})


def world(queries: Sequence[Any], documents: Sequence[Sequence[Any]], grades: Sequence[Sequence[int]], m: int, **more: Any) -> sc.Instance:
    """Masses of queries, masses and grades of the documents of each query, and the length of lists.

    Every query has a relevant document and no irrelevant one, or lists that are all irrelevant would have no η.
    """
    return {
        "queries": [Fraction(p) for p in queries],
        "documents": [[Fraction(p) for p in row] for row in documents],
        "grades": [list(row) for row in grades],
        "m": m,
        "base": NATURAL,
        **more,
    }


def random_world(rng: np.random.Generator, m: int, **more: Any) -> sc.Instance:
    """One to three queries of one to three documents with grades 1 to 3."""
    count = int(rng.integers(1, 4))
    shapes = [int(rng.integers(1, 4)) for _ in range(count)]
    chances = weights(rng, count) if count > 1 else [Fraction(1)]
    laws = [weights(rng, size) if size > 1 else [Fraction(1)] for size in shapes]
    return world(chances, laws, [[int(g) for g in rng.integers(1, 4, size=size)] for size in shapes], m, **more)


def masses(queries: list[Fraction], documents: Any) -> Numbers:
    """μ over the pairs, query by query."""
    return [p * law for p, laws in zip(queries, documents, strict=True) for law in laws]


def drawn(here: RankingWorld) -> Iterator[tuple[Fraction, tuple[int, ...], list[sc.Expr]]]:
    """Probability, pairs (numbered as in `masses`) and η of every list."""
    start = 0
    for p, laws, grades in zip(here.queries, here.documents, here.grades, strict=True):
        for chosen in itertools.product(range(len(laws)), repeat=here.m):
            mass = p
            for document in chosen:
                mass *= laws[document]
            yield mass, tuple(start + document for document in chosen), eta([grades[document] for document in chosen], here.base)
        start += len(laws)


def squared_loss(here: RankingWorld, f: Sequence[Any]) -> sc.Expr:
    """E ℓ_sq(f(x), η(r(x))) = E Σ_i (f(z_i) − η_i)²."""
    return sc.total(mass * sc.total((f[z] - e) ** 2 for z, e in zip(pairs, etas, strict=True)) for mass, pairs, etas in drawn(here))


def expected_relevance(here: RankingWorld) -> tuple[list[sc.Expr], sc.Expr]:
    """r̃(z) = E[η_i | z_i = z], and C_D = E Σ η_i² − m E_μ r̃²."""
    mu, m = here.masses(), here.m
    sums: list[list[Any]] = [[] for _ in mu]
    squares = []
    for mass, pairs, etas in drawn(here):
        for z, e in zip(pairs, etas, strict=True):
            sums[z].append(mass * e)
        squares.append(mass * sc.total(e**2 for e in etas))
    mean = [sc.total(parts) / (m * p) for parts, p in zip(sums, mu, strict=True)]
    return mean, sc.total(squares) - m * sc.total(p * r**2 for p, r in zip(mu, mean, strict=True))


def mean(here: RankingWorld, values: Sequence[Any]) -> sc.Expr:
    """E_μ."""
    return sc.total(p * sc.rational(v) for p, v in zip(here.masses(), values, strict=True))
