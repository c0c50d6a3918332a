"""Single-index predictors and their fits: files, pickles, pictures, one line of print, runs that diverge, arguments of the wrong kind."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.alternating_sim import alternating_sim
from simopt.estimators.index_models.index_model import IndexFit, IndexModel
from simopt.estimators.index_models.isotron import glm_tron, isotron, l_isotron
from simopt.estimators.index_models.kernel_isotron import kernel_glm_tron, kernel_isotron, kernel_l_isotron
from simopt.estimators.index_models.transfer import checked_transfer, clipped_linear
from simopt.estimators.index_models.update_rules import FittedTransfer
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic


def samples(m: int = 80, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) / np.sqrt(d)
    return X, (rng.uniform(size=m) < 1 / (1 + np.exp(-4 * X[:, 0]))).astype(float)


X, Y = samples()
Z = TrainingSet(X, Y, Gaussian(mu=2.0))
STAIRS = MonotoneFunction(np.array([-1.0, 0.0, 2.0]), np.array([0.1, 0.2, 0.9]), "linear")
FITS = {
    "glm logistic": lambda: glm_tron(X, Y, "logistic", max_iter=9),
    "glm clipped": lambda: glm_tron(X, Y, clipped_linear(0.5, 0.4), max_iter=9),
    "glm fitted": lambda: glm_tron(X, Y, STAIRS, max_iter=9),
    "isotron": lambda: isotron(X, Y, max_iter=9),
    "l-isotron": lambda: l_isotron(X, Y, max_iter=9),
    "sim": lambda: alternating_sim(X, Y, max_iter=4),
    "kernel glm": lambda: kernel_glm_tron(Z, "probit", max_iter=9),
    "kernel isotron": lambda: kernel_isotron(Z, max_iter=9),
    "kernel l-isotron": lambda: kernel_l_isotron(Z, max_iter=9),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_predictors_come_back_from_files_and_pickles_as_they_were(name: str, suffix: str, tmp_path: Path) -> None:
    model = FITS[name]().model
    model.save(tmp_path / f"model.{suffix}")
    outside = samples(seed=1)[0]
    for again in (IndexModel.load(tmp_path / f"model.{suffix}"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again(outside), model(outside))
    assert isinstance(model.transfer, MonotoneFunction) == ("glm" not in name)


def test_what_no_file_can_hold_is_refused_and_so_is_what_is_no_model(tmp_path: Path) -> None:
    own = glm_tron(X, Y, checked_transfer(np.arctan, name="arctan"), max_iter=2).model
    with pytest.raises(InvalidProblem, match="transfer: arctan is a function of your own, which no file can hold; pickle it"):
        own.save(tmp_path / "own.json")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(own))(X), own(X))
    kernel = kernel_l_isotron(TrainingSet(X, Y, lambda A, B: A @ B.T), max_iter=2).model
    with pytest.raises(InvalidProblem, match="index: KernelFunction is neither linear nor of a similarity of simopt"):
        kernel.save(tmp_path / "own.npz")
    with pytest.raises(InvalidProblem, match="an index model is saved as .npz or .json"):
        l_isotron(X, Y, max_iter=2).model.save(tmp_path / "own.txt")
    assert not list(tmp_path.iterdir())

    model = l_isotron(X, Y, max_iter=2).model
    model.save(tmp_path / "model.json")
    whole: dict[str, Any] = json.loads((tmp_path / "model.json").read_text())
    for change in (
        {"index": {"kind": "cubic"}},
        {"transfer": {"kind": "known", "name": "sine"}},
        {"transfer": {}},
        {"index": {"kind": "linear"}},
    ):
        (tmp_path / "changed.json").write_text(json.dumps(whole | change))
        with pytest.raises(InvalidFile, match="not a whole index model"):
            IndexModel.load(tmp_path / "changed.json")
    (tmp_path / "changed.json").write_text(json.dumps(whole | {"format": "another"}))
    with pytest.raises(InvalidFile, match="not an index model of format"):
        IndexModel.load(tmp_path / "changed.json")


def test_rounds_that_diverge_give_the_round_of_least_error_without_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = glm_tron(100.0 * X, Y, "identity", max_iter=1000)
        outside = glm_tron(100.0 * X, Y, "identity", max_iter=1000, validation=samples(seed=1))
    assert fit.stopped == outside.stopped == "diverged" and len(fit.trace) < 1000
    assert fit.chosen == 1 + int(np.argmin(fit.errors)) and fit.model.error(100.0 * X, Y) == pytest.approx(fit.errors.min())
    assert outside.chosen == 1 + int(np.argmin(outside.held_out))


def test_a_fit_prints_as_one_line() -> None:
    fit = l_isotron(X, Y, max_iter=5, validation=samples(seed=1))
    row = fit.trace[fit.chosen - 1]
    assert str(fit).startswith(
        f"round {fit.chosen} of 5 (iteration limit), mean squared error {row.error:.4g}, {row.held_out:.4g} on the hold-out; x ↦ u("
    )
    assert "\n" not in str(fit) and str(fit.model.transfer) in str(fit) and len(repr(fit)) < 3000
    assert str(glm_tron(X, Y, max_iter=2).model).endswith("u: logistic")
    assert str(glm_tron(X, Y, STAIRS, max_iter=2).model).endswith(f"u: {STAIRS}")
    assert "u(Σ α_j k(x, x_j) with 80 centres); u: monotone" in str(kernel_l_isotron(Z, max_iter=2))
    alone = lipschitz_isotonic(X[:, 0], Y, 2.0)
    assert str(alone).startswith("fit of 80 samples, L = 2: ") and str(alone.certificate) in str(alone)


@pytest.mark.parametrize("name", FITS)
def test_fits_draw_their_errors_and_their_function(name: str) -> None:
    pytest.importorskip("matplotlib")
    fit: IndexFit = FITS[name]()
    for given in ((), (X, Y)):
        errors, function = fit.plot(*given).axes
        np.testing.assert_array_equal(errors.lines[0].get_ydata(), fit.errors)
        places, values = (np.asarray(part, dtype=float) for part in function.lines[0].get_data())
        np.testing.assert_allclose(fit.model.transfer(places), values, atol=1e-12)
        assert len(function.collections) == (1 if given else 0)
    with pytest.raises(InvalidProblem, match="X, y: one without the other"):
        fit.plot(X)


def test_an_isotonic_fit_draws_its_samples_and_its_function() -> None:
    pytest.importorskip("matplotlib")
    fit = lipschitz_isotonic(X[:, 0], Y, 0.7, np.arange(80.0))
    (axes,) = fit.plot().axes
    assert np.asarray(axes.collections[0].get_offsets()).shape == (80, 2)
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata(), dtype=float)[1:-1], fit.function.values)


def test_errors_about_isotonic_fits_name_the_sample_that_was_given() -> None:
    z, y = np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.9])
    with pytest.raises(InvalidProblem, match="weights: entry 2 is -1"):
        lipschitz_isotonic(z, y, weights=[1.0, 1.0, -1.0])
    with pytest.raises(InvalidProblem, match=r"1 of 3 lie outside of the declared range \[0, 0.8\] .first at index 2: 0.9"):
        lipschitz_isotonic(z, y, low=0.0, high=0.8)
    clipped = lipschitz_isotonic(z, y, low=0.0, high=0.8, outside="clip")
    np.testing.assert_array_equal(clipped.fitted, lipschitz_isotonic(z, np.minimum(y, 0.8), low=0.0, high=0.8).fitted)


def test_arguments_of_the_wrong_kind_are_named() -> None:
    for validation, message in (
        (X, "80 entries, expected a pair"),
        ((X,), "1 entries, expected a pair"),
        ((X, Y[1:]), "79 values, expected 80"),
    ):
        for fit in (l_isotron, glm_tron, alternating_sim):
            with pytest.raises(InvalidProblem, match=f"validation: {message}"):
                fit(X, Y, validation=validation)
        with pytest.raises(InvalidProblem, match=f"validation: {message}"):
            kernel_l_isotron(Z, validation=validation)
    with pytest.raises(InvalidProblem, match=r"training: ndarray given, TrainingSet\(inputs, targets, similarity\) needed"):
        kernel_isotron(X)
    with pytest.raises(UnknownName, match="extrapolation"):
        lipschitz_isotonic([0.0, 1.0], [0.0, 1.0], extrapolation="linaer")
    for huge in (lambda: l_isotron(X, 1e200 * Y), lambda: alternating_sim(X, 1e200 * Y), lambda: glm_tron(X, Y, validation=(X, 1e200 * Y))):
        with pytest.raises(InvalidProblem, match="(y|validation): the largest entry is 1e.200"):
            huge()
    with pytest.raises(InvalidProblem, match="targets: the largest entry is 1e.200"):
        kernel_isotron(TrainingSet(X, 1e200 * Y, Linear()))
    model = l_isotron(X, Y, max_iter=2).model
    with pytest.raises(InvalidProblem, match="X: 1 of 6 values is not finite"):
        model([[0.0, 1.0, 2.0], [0.0, np.nan, 0.0]])
    with pytest.raises(InvalidProblem, match="y: 3 values, expected 2"):
        model.error([[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]], [0.0, 1.0, 2.0])
    assert model(np.zeros((0, 3))).shape == (0,)
    with pytest.raises(InvalidProblem, match="lipschitz"):
        kernel_l_isotron(TrainingSet(X, Y, Linear()), -1.0)


def test_fits_begin_at_the_last_one_by_default_in_either_space():
    defaults = [inspect.signature(call).parameters["warm"].default for call in (l_isotron, kernel_l_isotron, FittedTransfer)]
    assert defaults == [True] * 3


def test_a_fitted_transfer_says_how_long_it_sorted_and_fitted():
    rule = FittedTransfer(np.arange(50.0))
    rule.fit(np.random.default_rng(0).normal(size=50))
    assert set(rule.seconds) == {"sort", "fit"} and all(0.0 <= seconds < 60.0 for seconds in rule.seconds.values())
