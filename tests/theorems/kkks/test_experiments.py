"""Section 6.1: the synthetic data, the errors on them, the figure, and the claims."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import simopt.claims.reproduction
from simopt.claims.tables import INSIDE, OTHER, OUTSIDE, Cell
from simopt.core.monotone_function import MonotoneFunction
from simopt.estimators.index_models.index_model import IndexModel
from simopt.estimators.index_models.index_record import LinearIndex
from simopt.estimators.index_models.isotron import isotron, l_isotron
from simopt.theorems.kkks import figure1
from simopt.theorems.kkks.synthetic import VARIANCE, all_points, at_one_half, draw, expected_error, ten_folds


@pytest.fixture(scope="module")
def done() -> simopt.claims.reproduction.Reproduction:
    """The figure at quick effort."""
    return simopt.claims.reproduction.reproduce("kkks-figure1")


def test_samples_are_as_the_paper_describes_them() -> None:
    sample = draw(np.random.default_rng(0), 3000, 5)
    first, rest = sample.features[:, 0], sample.features[:, 1:]
    assert set(first) == {-1.0, 0.0, 1.0}
    assert np.all(rest.sum(axis=1) == 1) and set(np.unique(rest)) == {0.0, 1.0}
    assert set(sample.labels) == {0.0, 1.0}
    for value in (-1.0, 0.0, 1.0):
        at = first == value
        assert np.mean(at) == pytest.approx(1 / 3, abs=0.05)
        assert np.mean(sample.labels[at]) == pytest.approx((1 + value) / 2, abs=0.06)
    assert sample.means == pytest.approx((1 + first) / 2)


def test_all_points_are_those_that_are_drawn_each_once() -> None:
    points = all_points(4)
    assert len({tuple(row) for row in points.features}) == len(points.features) == 9
    drawn = {tuple(row) for row in draw(np.random.default_rng(1), 500, 4).features}
    assert drawn == {tuple(row) for row in points.features}


def test_expected_error_is_that_of_many_samples() -> None:
    rng = np.random.default_rng(2)
    w = np.concatenate([[0.8], rng.normal(0, 0.2, 399)])
    model = IndexModel(LinearIndex(w), lambda t: np.clip((1 + t) / 2, 0, 1))
    sample = draw(rng, 40_000)
    assert expected_error(model) == pytest.approx(model.error(sample.features, sample.labels) / VARIANCE, abs=0.01)
    assert expected_error(lambda X: (1 + X[:, 0]) / 2) == pytest.approx(1 / 3)
    assert expected_error(lambda X: np.full(len(X), 0.5)) == pytest.approx(1.0)


def test_folds_are_tested_once_and_both_learners_see_the_same() -> None:
    sample = draw(np.random.default_rng(3), 100, 20)
    errors = ten_folds(sample, np.random.default_rng(4), 3, {"one": 1.0, "the same": 1.0, "Isotron": np.inf})
    assert all(values.shape == (10,) for values in errors.values())
    assert np.array_equal(errors["one"], errors["the same"])
    assert not np.array_equal(errors["one"], errors["Isotron"])


def test_one_round_predicts_the_mean() -> None:
    sample = draw(np.random.default_rng(5), 60, 10)
    model = l_isotron(sample.features, sample.labels, max_iter=1).model
    assert at_one_half(model, sample) == pytest.approx(sample.labels.mean())
    assert len(at_one_half(model, sample)) == np.sum(sample.features[:, 0] == 0)


def test_isotron_fits_at_least_as_closely_from_the_same_scores() -> None:
    sample = draw(np.random.default_rng(6))
    free = isotron(sample.features, sample.labels, max_iter=2)
    bound = l_isotron(sample.features, sample.labels, max_iter=2)
    assert free.errors[1] < bound.errors[1]  # both have the same w^2


@pytest.mark.slow  # a whole table
def test_the_figure_is_inside_and_isotron_jumps(done: simopt.claims.reproduction.Reproduction, tmp_path: Path) -> None:
    assert done.complete and done.count(OUTSIDE) == 0
    words = {row.name: {cell.agreement for cell in row.cells if cell.printed is not None} for row in done.rows}
    assert words == {figure1.FOLDS: {INSIDE}, figure1.FRESH: {OTHER}}
    cells = {(cell.row, cell.column): cell for row in done.rows for cell in row.cells}
    for row in (figure1.FOLDS, figure1.FRESH):
        apart = cells[row, "Isotron − L-Isotron"]
        assert apart.ours == pytest.approx(cells[row, "Isotron"].ours - cells[row, "L-Isotron"].ours)
    # Folds of 60 scatter as printed, samples of 600 less.
    assert cells[figure1.FRESH, "L-Isotron"].sd < cells[figure1.FOLDS, "L-Isotron"].sd
    curves = {curve.label: curve for row in done.rows for curve in row.curves}
    with np.errstate(divide="ignore", invalid="ignore"):  # points may coincide: a jump there is infinitely steep, 0/0 is no slope
        steepest = {name: np.nanmax(np.diff(curve.y) / np.diff(curve.x)) for name, curve in curves.items()}
    assert steepest["Isotron"] > 10 * steepest["L-Isotron"]
    assert all((curve.x[0], curve.x[-1]) == (-1.0, 1.0) for curve in curves.values())
    json.dumps(done.describe(), default=list)
    assert simopt.claims.reproduction.draw(done, tmp_path).is_file()


def test_a_constant_function_is_drawn_at_zero() -> None:
    places, values = figure1.normalised(MonotoneFunction(np.array([3.0]), np.array([0.5])))
    assert (places.tolist(), values.tolist()) == ([0.0], [0.5])


def test_a_cell_outside_is_explained_by_the_floor() -> None:
    cell = Cell(figure1.FRESH, "L-Isotron", 0.5, 0.02, 0.338, 0.058)
    sentence = figure1.why(cell, [cell, Cell(figure1.FRESH, "E[y|x]", 0.351)])
    assert cell.agreement == OUTSIDE
    assert "8.1 of our deviations" in sentence and "0.351" in sentence
