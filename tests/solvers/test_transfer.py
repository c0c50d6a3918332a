"""Transfers: the known ones pass their own check, and faults of others are found with a pair of points that shows them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.core.monotone_function import MonotoneFunction
from simopt.estimators.index_models.transfer import Transfer, checked_transfer, clipped_linear, find_fault, known_transfer

KNOWN = [
    *(known_transfer(name) for name in ("identity", "logistic", "probit", "clipped")),
    clipped_linear(0.5, 0.5),
    clipped_linear(3.0, -1.0),
]


@pytest.mark.parametrize("u", KNOWN, ids=lambda u: u.name)
def test_known_transfers_have_the_constant_they_say_and_no_smaller_one(u: Transfer) -> None:
    assert u.proven and find_fault(u, u.lipschitz) is None
    witness = find_fault(u, 0.999 * u.lipschitz)
    assert witness is not None and witness.fault == "too steep" and 0.999 * u.lipschitz < witness.slope <= u.lipschitz * (1 + 1e-6)
    assert float(u(np.array([witness.b]))[0] - u(np.array([witness.a]))[0]) > 0.999 * u.lipschitz * (witness.b - witness.a)


def bump(centre: float, width: float, height: float) -> Callable[[Array], Array]:
    return lambda t: 0.1 * t + height * np.exp(-(((t - centre) / width) ** 2))


@pytest.mark.parametrize(
    ("u", "fault"),
    [
        (lambda t: -1e-6 * t, "falls"),
        (np.sin, "falls"),
        (bump(0.123, 0.05, 0.02), "falls"),
        (lambda t: np.where(t < np.pi, 0.0, 1.0), "too steep"),
        (lambda t: np.where(t < np.pi, 1.0, 0.0), "falls"),
        (lambda t: np.sqrt(np.maximum(t - 1.234567, 0.0)) / 4, "too steep"),
        (lambda t: 0.2 * t - 0.01 * np.maximum(0.0, 1 - 40 * np.abs(t - 2.5)), "falls"),
        (lambda t: np.where(np.abs(t) < 0.003, np.nan, t / 2), "not finite"),
    ],
)
def test_faults_are_found_with_a_pair_that_shows_them(u: Callable[[Array], Array], fault: str) -> None:
    witness = find_fault(u, 0.25)
    assert witness is not None and witness.fault == fault
    if fault != "not finite":
        at = np.asarray(u(np.array([witness.a, witness.b])), dtype=float)
        assert at[0] == witness.at_a and at[1] == witness.at_b
        assert at[1] < at[0] if fault == "falls" else at[1] - at[0] > 0.25 * (witness.b - witness.a)
    with pytest.raises(InvalidProblem, match="transfer: .*u\\("):
        checked_transfer(u, 0.25)


def test_a_function_without_a_lipschitz_bound_need_only_be_monotone() -> None:
    assert find_fault(np.exp, math.inf) is None and find_fault(np.cbrt, math.inf) is None
    assert find_fault(np.cbrt, 5.0) is not None
    own = checked_transfer(np.tanh, 1.0, (-3, 3), "tanh")
    assert not own.proven and own.name == "tanh" and own(np.zeros(2)).tolist() == [0.0, 0.0]


def test_rounding_is_no_fault() -> None:
    assert find_fault(lambda t: 1e6 + t, 1.0) is None
    assert find_fault(lambda t: np.full_like(t, 1 / 3), 0.0) is None


def test_piecewise_linear_functions_are_decided_exactly() -> None:
    steep = MonotoneFunction(np.array([0.0, 1.0, 1.0 + 1e-9]), np.array([0.0, 0.5, 0.5 + 3e-9]))
    witness = find_fault(steep, 1.0)
    assert witness is not None and witness.a == 1.0 and witness.slope == pytest.approx(3.0, rel=1e-6)
    assert find_fault(steep, 3.1) is None and checked_transfer(steep, 3.1).proven
    assert find_fault(MonotoneFunction(np.zeros(1), np.ones(1)), 0.0) is None


def test_what_is_no_transfer_is_refused() -> None:
    with pytest.raises(UnknownName, match="logistic"):
        known_transfer("logistik")
    with pytest.raises(InvalidProblem, match="shape .* one number for each"):
        find_fault(lambda t: 0.0)
    with pytest.raises(InvalidProblem, match="interval"):
        find_fault(np.tanh, 1.0, (1.0, -1.0))
    with pytest.raises(InvalidProblem, match="interval: .* the length be finite"):
        find_fault(np.tanh, 1.0, (-1e308, 1e308))
    assert find_fault(np.tanh, 1.0, (1.0, float(np.nextafter(1.0, 2.0)))) is None
    with pytest.raises(InvalidProblem, match="identity has Lipschitz constant 1, at most 0.5"):
        checked_transfer("identity", 0.5)
    assert checked_transfer("logistic").name == "logistic"


def test_the_search_for_a_fault_takes_as_many_evaluations_as_it_says():
    evaluations = []

    def u(z):
        evaluations.append(z.size)
        return 0.5 * z

    assert find_fault(u) is None and 12_000 <= sum(evaluations) <= 16_000
