"""Appendix E on small powers, on grids and on work; display (11): the examples against other computations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from simopt.claims import catalogue
from simopt.data.datasets import friedman
from simopt.solvers.power.stationary import stationary_points
from simopt.theorems.ak.representer import coefficients
from simopt.theorems.ak.small_powers import ValidationCost, pairs_of_roots, printed_rows
from tests.theorems.conftest import quick


def objective(f: np.ndarray, lam: float, m: float) -> np.ndarray:
    return (1 - f) ** 2 + lam * f**m


def least(lam: float, m: float) -> float:
    """The minimiser over a fine grid of f in [0, 1]."""
    grid = np.linspace(0, 1, 200_001)
    return float(grid[np.argmin(objective(grid, lam, m))])


def test_pairs_of_roots_are_the_stationary_points_that_the_library_finds() -> None:
    for instance in pairs_of_roots(quick("AK-E.1lam2+")):
        t = float(instance["t"])
        q = 1 + t + t * t
        a, b = sorted(((1 - t * t) / q, (2 * t + t * t) / q))
        found = stationary_points([[1.0]], [1.0], 4 * a * (1 - a * a), 0.5)
        values = sorted(found.coefficients(point)[0] for point in found.points if np.isfinite(point.log_mu))
        assert values == pytest.approx([a * a, b * b], rel=1e-9)
        best = found.coefficients(found.minimisers[0])[0]
        assert best == pytest.approx(b * b if b * b > 2 / 3 else 0.0, abs=1e-9)


def test_solutions_for_the_power_one_half_leave_out_what_the_claim_says() -> None:
    found = [least(lam, 0.5) for lam in np.linspace(0.02, 3.0, 150)]
    positive = [f for f in found if f > 0]
    assert min(positive) >= 2 / 3 - 1e-4 and min(positive) < 0.68  # up to the edge
    assert 0.0 in found


def test_parameters_of_the_grids_give_these_functions() -> None:
    for lam, f in ((10 / 9, 4 / 9), (66 / 5, 1 / 100)):
        assert brentq(lambda g, lam=lam: 2 * (g - 1) + 1.5 * lam * np.sqrt(g), 1e-9, 1.0) == pytest.approx(f, rel=1e-9)
        assert least(lam, 1.5) == pytest.approx(f, abs=1e-5)


def test_rows_of_the_table_are_the_printed_numbers() -> None:
    rows = {instance["row"]: instance for instance in printed_rows(quick("AK-Tab1m"))}
    assert len(rows) == 8
    assert rows["Yacht Hydro"] == {"row": "Yacht Hydro", "numbers": [165_000, 11_300, 15_600, 7_530], "tenths": 1}
    assert rows["Housing"]["numbers"] == [106_000, 7_980, 72_600, 9_920]
    gaps = {name: (row["numbers"][0] - row["numbers"][2]) / (row["numbers"][1] + row["numbers"][3]) for name, row in rows.items()}
    assert sorted(name for name, gap in gaps.items() if gap > 1) == ["Compressive", "Housing", "Parkinson", "Synthetic", "Yacht Hydro"]


def test_work_counts_what_is_done() -> None:
    source = friedman(np.random.default_rng(3), n=40)
    work = ValidationCost()
    d, y = work.decomposed(source.features, source.targets)
    work.ridge_fit(d, y)
    assert (work.kernel, work.decompositions, work.products, work.terms) == (1600, [40], 1, 40)
    assert work.operations == 40**3 + 40**2 + 40
    work.power_fit(d, y, 0.1, 1.5)
    assert work.products == 2 and work.terms >= 40 + 5 * 40 and work.terms % 40 == 0
    work.decomposed(source.features[:30], source.targets[:30])
    assert work.operations == 40**3 + 30**3 + 2 * 40**2 + work.terms


def test_coefficients_are_those_of_the_least_squares_fit() -> None:
    rng = np.random.default_rng(6)
    for count in (1, 2, 3):
        X, w = rng.integers(-4, 5, (count, 4)), rng.integers(-4, 5, 4)
        if np.linalg.matrix_rank(X) < count:
            continue
        exact = coefficients([[Fraction(int(v)) for v in row] for row in X], [Fraction(int(v)) for v in w])
        assert np.allclose([float(a) for a in exact], np.linalg.lstsq(X.T.astype(float), w.astype(float), rcond=None)[0])


def test_representer_claim_tries_every_power_and_a_part_outside() -> None:
    instances = list(catalogue.find("AK-11").instances(quick("AK-11")))
    assert {instance["power"] for instance in instances} == {Fraction(k, 2) for k in (1, 2, 3, 4, 6, 8)}
    for instance in instances:
        rows = np.array([[float(v) for v in row] for row in (*instance["inputs"], instance["w"])])
        assert np.linalg.matrix_rank(rows) == len(rows)
