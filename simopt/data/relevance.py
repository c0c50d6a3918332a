r"""Relevance lists: gain, discount, the norm ‖·‖_D, normalised relevance η, and NDCG with defined ties.

For a list of m documents with relevances r ≥ 0 and scores s,

    G(r) = 2^r − 1,    F(t) = log(1 + t) for the position t = 1, …, m,    ‖v‖_D = max_π Σ_i v_i/F(π(i)),    η(r) = G(r)/‖G(r)‖_D,
    NDCG(s, r) = (1/‖G(r)‖_D) Σ_i G(r_i)/F(π_s(i)),    ℓ_NDCG = −NDCG,

where π_s(i) is the position of document i when scores descend. 1/F decreases, so the maximum is where v descends too (rearrangement
inequality): ‖·‖_D takes a sort and not m! permutations. NDCG does not depend on the base of the logarithm, but η does. With the natural
logarithm η_i ≤ log 2 = 0.693, with base 2 η_i ≤ 1, both attained by a list with one relevant document. The paper writes "log"; natural is
the default.
If all relevances are 0, ‖G(r)‖_D = 0, and η and NDCG are undefined: an error here, never a 0 or a 1 that would enter a mean.

Ties. Equal scores do not define π_s. The default, "average", takes the mean over all orders of the tied documents: each of them gets the
mean of their discounts (McSherry & Najork 2008). With "order" tied documents stay in the order of the list, with "worst" the less relevant
comes first.

Source: Kar & Jain 2012, Appendix F.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

NATURAL, BINARY = "natural", "binary"
LOGARITHMS = (NATURAL, BINARY)
AVERAGE, ORDER, WORST = "average", "order", "worst"
TIES = (AVERAGE, ORDER, WORST)
LEAVE_OUT = "leave it out (leave_out=True of rank and evaluate)"
LARGEST = 500.0  # relevance whose gain, and sums of as many as its square root, stay far inside float64


def relevance(name: str, r: npt.ArrayLike, *, minimum: int = 2) -> Array:
    """One list of relevances: at least `minimum` numbers, finite, 0 ≤ r ≤ 500.

    Raises
    ------
    InvalidProblem
        naming the document.
    """
    out = validate.vector(name, r, minimum=minimum)
    wrong = (out < 0.0) | (out > LARGEST)
    if np.any(wrong):
        first = int(np.argmax(wrong))
        raise InvalidProblem(f"{name}: document {first} has relevance {out[first]:g}, numbers from 0 to {LARGEST:g} needed")
    return out


def gain(r: npt.ArrayLike) -> Array:
    """G(r) = 2^r − 1 entry by entry: exact for whole r up to 53, and to rounding for small r."""
    values = validate.all_finite("relevance", validate.numbers("relevance", r))
    out: Array = np.where(np.abs(values) < 0.5, np.expm1(values * np.log(2.0)), np.exp2(values) - 1.0)
    return out


def discount(t: npt.ArrayLike, logarithm: str = NATURAL) -> Array:
    """F(t) = log(1 + t), for positions that begin at 1."""
    positions = validate.all_finite("positions", validate.numbers("positions", t))
    if np.any(positions < 1.0):
        raise InvalidProblem(f"positions: the least is {float(np.min(positions)):g}, and they begin at 1: numbers ≥ 1 needed")
    binary = validate.choice("logarithm", logarithm, LOGARITHMS) == BINARY
    out: Array = np.log2(1.0 + positions) if binary else np.log1p(positions)
    return out


def discounts(m: int, logarithm: str = NATURAL) -> Array:
    """1/F(1), …, 1/F(m), descending."""
    return 1.0 / discount(np.arange(1, validate.whole("m", m, minimum=1) + 1), logarithm)


def list_norm(v: npt.ArrayLike, logarithm: str = NATURAL, k: int | None = None) -> float:
    """‖v‖_D = max over permutations π of Σ v_i/F(π(i)), of the first k positions where k is given. O(m log m).

    Any real v is allowed without k; with k the maximum is that of v ≥ 0.

    Raises
    ------
    InvalidProblem
        for values that are not finite numbers, and for none.
    """
    given = validate.vector("v", v)
    values = np.sort(given)[::-1][: _cut(k, given.size)]
    return float(values @ discounts(len(values), logarithm))


def eta(r: npt.ArrayLike, logarithm: str = NATURAL, *, name: str = "relevance") -> Array:
    """η(r) = G(r)/‖G(r)‖_D, (m,). It depends on the whole list.

    Raises
    ------
    InvalidProblem
        for a list of one document, for relevances that are negative, too large or not finite, and where all of them are 0.
    """
    values = relevance(name, r)
    defined_list(name, values)
    gains = gain(values)
    out: Array = gains / list_norm(gains, logarithm)
    return out


def ranking(scores: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Documents from the highest score to the lowest, (m,); tied documents in the order of the list. O(m log m)."""
    return np.argsort(-validate.vector("scores", scores), kind="stable")


def positions(scores: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """π_s: the position 1, …, m of every document, the inverse of `ranking`."""
    order = ranking(scores)
    out = np.empty_like(order)
    out[order] = np.arange(1, len(order) + 1)
    return out


def ndcg(
    scores: npt.ArrayLike, r: npt.ArrayLike, *, k: int | None = None, ties: str = AVERAGE, logarithm: str = NATURAL, name: str = "relevance"
) -> float:
    """NDCG@k in [0, 1] of one list: Σ over the first k positions of G/F, over the largest such sum. O(m log m).

    k None or larger than m: all positions. `ties` as above; without ties all three agree. The base of the logarithm cancels to rounding.

    Raises
    ------
    InvalidProblem
        as `eta`, and for scores that are not finite or not as many as documents.
    """
    values = relevance(name, r)
    defined_list(name, values)
    s = validate.vector("scores", scores, length=len(values), like=name)
    validate.choice("ties", ties, TIES)
    return float(ndcg_at(s, gain(values), (k,), ties, logarithm)[0])


def ndcg_at(scores: Array, gains: Array, cuts: Sequence[int | None], ties: str = AVERAGE, logarithm: str = NATURAL) -> Array:
    """NDCG@k of one list for several k, of scores and gains that have been checked."""
    m = len(gains)
    weights = np.zeros((len(cuts), m))
    every = discounts(m, logarithm)
    for row, k in zip(weights, cuts, strict=True):
        row[: _cut(k, m)] = every[: _cut(k, m)]
    best = weights @ np.sort(gains)[::-1]
    order = np.lexsort((gains, -scores)) if ties == WORST else np.argsort(-scores, kind="stable")
    if ties == AVERAGE:
        listed = scores[order]
        starts = np.concatenate([[0], 1 + np.flatnonzero(listed[1:] != listed[:-1])])
        if len(starts) < m:  # ties: the mean of their discounts for each
            lengths = np.diff(starts, append=m)
            weights = np.repeat(np.add.reduceat(weights, starts, axis=1) / lengths, lengths, axis=1)
    out: Array = np.minimum(1.0, weights @ gains[order] / best)
    return out


def ndcg_loss(scores: npt.ArrayLike, r: npt.ArrayLike, *, ties: str = AVERAGE, logarithm: str = NATURAL) -> float:
    """ℓ_NDCG(s, r) = −NDCG(s, r), in [−1, 0]; the regret is 1 + ℓ_NDCG."""
    return -ndcg(scores, r, ties=ties, logarithm=logarithm)


def random_ndcg(r: npt.ArrayLike, *, k: int | None = None, logarithm: str = NATURAL, name: str = "relevance") -> float:
    """The mean of NDCG@k over all m! orders, in closed form: that of scores which are all equal."""
    values = relevance(name, r)
    return ndcg(np.zeros(len(values)), values, k=k, logarithm=logarithm, name=name)


def _cut(k: int | None, m: int) -> int:
    return m if k is None else min(validate.whole("k", k, minimum=1), m)


def defined_list(name: str, r: Array) -> None:
    """Refuse a list without a relevant document: its η and NDCG are 0/0."""
    if not np.any(r):
        raise InvalidProblem(f"{name}: all {len(r)} documents have relevance 0, so ‖G(r)‖_D = 0, and η and NDCG are undefined; {LEAVE_OUT}")
