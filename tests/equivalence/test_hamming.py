from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest

from simopt.data.similarities import Linear
from simopt.equivalence.hamming import hamming, permuted_hamming
from simopt.equivalence.training import TrainingSet

MULTISETS = [m for size in range(1, 5) for m in combinations_with_replacement("abc", size)]


def hamming_by_definition(one, two):
    """H straight from Definition 4.4: the minimum over subsets of the larger set and over permutations. Factorial cost."""
    larger, smaller = sorted((one, two), key=len, reverse=True)
    nearest = min(permuted_hamming(subset, smaller) for subset in combinations(larger, len(smaller)))
    return len(larger) - len(smaller) + nearest


def test_closed_form_is_the_definition_on_every_pair_of_small_multisets():
    assert len(MULTISETS) == 34
    table = {(a, b): hamming(a, b) for a, b in product(MULTISETS, repeat=2)}
    assert all(value == hamming_by_definition(a, b) for (a, b), value in table.items())
    assert all((value == 0) == (a == b) for (a, b), value in table.items())
    assert all(value == table[b, a] for (a, b), value in table.items())
    assert all(table[a, c] <= table[a, b] + table[b, c] for a, b, c in product(MULTISETS, repeat=3))


def test_order_does_not_count_so_it_is_a_pseudometric_on_sequences():
    assert hamming("ab", "ba") == 0
    assert sum(x != y for x, y in zip("ab", "ba", strict=True)) == 2
    assert all(hamming(order, "aabc") == 0 for order in permutations("aabc"))


def test_permuted_hamming_wants_one_length():
    assert permuted_hamming("aab", "bba") == 1
    with pytest.raises(ValueError, match="one length"):
        permuted_hamming("a", "ab")


def test_training_sets_are_compared_as_samples():
    Z = TrainingSet(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]), np.array([1.0, 2.0, 1.0]), Linear())
    assert hamming(Z, Z.subset([2, 1, 0])) == 0
    assert hamming(Z, Z.without(1)) == 1
    assert hamming(Z, Z.subset([0, 1])) == 1
    assert hamming(Z, Z.replace(0, [-0.0, 1.0], 1.0)) == 0
    assert hamming(Z, Z.with_targets([1.0, 2.0, 4.0])) == 1
    assert hamming(Z.subset([0, 1]), Z.replace(0, [9.0, 9.0], 9.0).subset([0])) == 2
