"""Gain, discount, ‖·‖_D, η and NDCG against the enumeration of all orders; what is undefined is refused."""

import itertools
import math

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data import relevance as lists

LISTS = [[0, 1], [2, 2], [1, 0, 2], [0, 0, 1, 0], [3, 1, 1, 0, 2], [0.5, 0, 2, 1e-9, 4, 4]]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def sums(values, logarithm):
    """Σ v_i/F(π(i)) for every permutation π of the positions 1, …, m, with F written out."""
    log = math.log2 if logarithm == "binary" else math.log
    shares = [1.0 / log(2.0 + t) for t in range(len(values))]
    return [sum(v * shares[p] for v, p in zip(values, order, strict=True)) for order in itertools.permutations(range(len(values)))]


@pytest.mark.parametrize("logarithm", lists.LOGARITHMS)
@pytest.mark.parametrize("r", LISTS)
def test_the_norm_is_the_largest_sum_over_all_permutations(r, logarithm):
    gains = [2.0**v - 1.0 for v in r]
    every = sums(gains, logarithm)
    assert lists.list_norm(lists.gain(r), logarithm) == pytest.approx(max(every), rel=1e-14)
    assert lists.eta(r, logarithm) == pytest.approx(np.array(gains) / max(every), rel=1e-8)
    signed = np.array(gains) - 1.5
    assert lists.list_norm(signed, logarithm) == pytest.approx(max(sums(signed, logarithm)), rel=1e-13)


@pytest.mark.parametrize("r", LISTS)
def test_every_order_has_the_ndcg_of_its_sum(r):
    every = sums([2.0**v - 1.0 for v in r], "natural")
    for order, total in zip(itertools.permutations(range(len(r))), every, strict=True):
        scores = -np.array(order, dtype=float)  # document i stands at position order[i] + 1
        assert list(lists.positions(scores)) == [p + 1 for p in order]
        for ties in lists.TIES:
            assert lists.ndcg(scores, r, ties=ties) == pytest.approx(total / max(every), rel=1e-12)
    assert lists.random_ndcg(r) == pytest.approx(np.mean(every) / max(every), rel=1e-12)
    assert lists.ndcg(r, r) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 6, 10])
def test_ties_are_averaged_over_their_orders(k, rng):
    for _ in range(20):
        m = int(rng.integers(2, 7))
        scores, r = rng.integers(0, 3, size=m).astype(float), rng.integers(0, 3, size=m).astype(float)
        r[0] = 2.0
        values = []
        for order in itertools.permutations(range(m)):
            listed = scores[list(order)]
            if np.all(np.diff(listed) <= 0):
                gains = 2.0 ** r[list(order)][:k] - 1.0
                values.append(sum(g / math.log(2.0 + t) for t, g in enumerate(gains)))
        ideal = sum(g / math.log(2.0 + t) for t, g in enumerate(sorted(2.0**r - 1.0, reverse=True)[:k]))
        assert lists.ndcg(scores, r, k=k) == pytest.approx(np.mean(values) / ideal, rel=1e-12)
        assert lists.ndcg(scores, r, k=k, ties="worst") == pytest.approx(min(values) / ideal, rel=1e-12, abs=1e-15)
        assert min(values) / ideal - 1e-12 <= lists.ndcg(scores, r, k=k, ties="order") <= max(values) / ideal + 1e-12


def test_tied_documents_keep_their_order():
    assert list(lists.ranking([1.0, 2.0, 1.0, 2.0])) == [1, 3, 0, 2]
    assert list(lists.positions([1.0, 2.0, 1.0, 2.0])) == [3, 1, 4, 2]
    assert list(lists.ranking([0, 2, 2, 1])) == [1, 2, 3, 0]
    assert lists.ndcg([0.0, 0.0], [1, 0], ties="order") == 1.0
    assert lists.ndcg([0.0, 0.0], [1, 0], ties="worst") == pytest.approx(math.log(2) / math.log(3))


def test_the_loss_lies_between_minus_one_and_zero(rng):
    for _ in range(50):
        m = int(rng.integers(2, 12))
        r = rng.integers(0, 4, size=m).astype(float)
        r[int(rng.integers(m))] = 1.0
        loss = lists.ndcg_loss(rng.normal(size=m), r)
        assert -1.0 <= loss <= 0.0
        assert lists.ndcg_loss(r, r) == pytest.approx(-1.0, abs=1e-14)
        assert lists.ndcg_loss(-r, r) >= loss - 1e-15


def test_the_base_of_the_logarithm_changes_eta_only(rng):
    r, scores = [0, 1, 2, 0], rng.normal(size=4)
    assert lists.eta(r, "binary") == pytest.approx(lists.eta(r) / math.log(2))
    assert lists.ndcg(scores, r, logarithm="binary") == pytest.approx(lists.ndcg(scores, r), rel=1e-14)
    assert lists.eta([0, 0, 3])[2] == pytest.approx(math.log(2))
    assert lists.eta([0, 0, 3], "binary")[2] == 1.0


def test_gains_are_exact_for_whole_relevances_and_good_for_small_ones():
    assert list(lists.gain([0, 1, 2, 10])) == [0.0, 1.0, 3.0, 1023.0]
    assert lists.gain(1e-12) == pytest.approx(1e-12 * math.log(2), rel=1e-11)
    assert lists.discount(1, "binary") == 1.0
    assert list(lists.discounts(3)) == pytest.approx([1 / math.log(t) for t in (2, 3, 4)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lists.eta([1.0]), "at least 2"),
        (lambda: lists.eta([0, 0, 0]), "undefined"),
        (lambda: lists.ndcg([1, 2], [0, 0]), "undefined"),
        (lambda: lists.eta([0, 1, -2, 3]), "document 2 has relevance -2"),
        (lambda: lists.eta([0, 501]), "document 1"),
        (lambda: lists.eta([0, math.nan]), "index 1"),
        (lambda: lists.ndcg([1, 2, 3], [0, 1]), "3 values, expected 2"),
        (lambda: lists.ndcg([1, math.inf], [0, 1]), "scores"),
        (lambda: lists.ndcg([1, 2], [0, 1], k=0), "k: 0"),
        (lambda: lists.discount(0), "begin at 1"),
        (lambda: lists.discounts(0), "m: 0"),
    ],
)
def test_what_is_undefined_is_refused(call, message):
    with pytest.raises(InvalidProblem, match=message):
        call()


def test_names_are_checked():
    with pytest.raises(UnknownName, match="natural"):
        lists.eta([0, 1], "naturel")
    with pytest.raises(UnknownName, match="average"):
        lists.ndcg([0, 1], [0, 1], ties="averge")
