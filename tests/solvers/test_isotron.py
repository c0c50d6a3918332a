"""GLM-tron, Isotron, L-Isotron and the alternating heuristic: single steps by hand, distances to the truth, choice, stops, kernels."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.similarities import Gaussian, Linear
from simopt.equivalence.training import TrainingSet
from simopt.estimators.index_models.alternating_sim import alternating_sim
from simopt.estimators.index_models.index_model import Round
from simopt.estimators.index_models.isotron import glm_tron, isotron, l_isotron
from simopt.estimators.index_models.kernel_isotron import kernel_glm_tron, kernel_isotron, kernel_l_isotron
from simopt.estimators.index_models.transfer import clipped_linear
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic


def model(m: int = 300, d: int = 4, noise: bool = True, seed: int = 0) -> tuple[Array, Array, Array]:
    """Samples in the unit ball with E y = ½ + ½⟨w, x⟩ and labels, or y = that mean itself."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    mean = 0.5 + 0.5 * X @ w
    return X, (rng.uniform(size=m) < mean).astype(float) if noise else mean, w


def test_the_first_two_rounds_of_l_isotron_by_hand() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    y = np.array([1.0, 0.5, 0.0])
    fit = l_isotron(X, y, max_iter=3, keep=True)
    assert fit.states is not None
    # w¹ = 0: all scores tie, u¹ = ȳ = ½; w² = (½ x_1 − ½ x_3)/3 = (1/3, 0)
    np.testing.assert_allclose(fit.states[1], [1 / 3, 0.0], atol=1e-16)
    # scores 1/3, 0, −1/3: steps at most 1/3, residuals sum to 0, so u² = (5/6, 1/2, 1/6) and r = (1/6, 0, −1/6)
    np.testing.assert_allclose(fit.states[2], [1 / 3 + 1 / 9, 0.0], atol=1e-15)
    assert [row.t for row in fit.trace] == [1, 2, 3] and fit.chosen == 3 and fit.stopped == "iteration limit"
    assert fit.trace[0].error == pytest.approx(1 / 6) and fit.trace[0].step == pytest.approx(1 / 3) and fit.trace[0].norm == 0.0


def test_each_round_of_glm_tron_is_its_formula() -> None:
    X, y, _ = model()
    fit = glm_tron(X, y, "logistic", max_iter=6, keep=True, rate=0.7)
    w = np.zeros(4)
    assert fit.states is not None
    for t in range(6):
        np.testing.assert_allclose(fit.states[t], w, atol=1e-15)
        w = w + 0.7 / len(y) * X.T @ (y - 1 / (1 + np.exp(-X @ w)))
    np.testing.assert_allclose(fit.model(X), 1 / (1 + np.exp(-X @ fit.states[-1])), atol=1e-15)
    assert fit.model.error(X, y) == pytest.approx(fit.trace[-1].error)


@pytest.mark.parametrize("known", [True, False])
def test_without_noise_every_round_comes_nearer_to_the_truth(known: bool) -> None:
    X, y, w = model(noise=False)
    u = clipped_linear(0.5, 0.5)
    fit = glm_tron(X, y, u, max_iter=150, keep=True) if known else l_isotron(X, y, max_iter=150, keep=True)
    assert fit.states is not None
    distance = np.sum((fit.states - w) ** 2, axis=1)
    # Lemmas 3 and 5 with η = 0: the squared distance falls by the error at least
    assert np.all(distance[:-1] - distance[1:] >= fit.errors[:-1] - 1e-12)
    assert fit.errors[-1] < 1e-3


def test_the_fitted_function_is_the_lipschitz_isotonic_fit_to_the_scores() -> None:
    X, y, _ = model()
    for lipschitz in (0.5, 1.0, math.inf):
        fit = l_isotron(X, y, lipschitz, max_iter=20)
        index: Any = fit.model.index
        z = X @ index.direction
        alone = lipschitz_isotonic(z, y, lipschitz)
        np.testing.assert_allclose(fit.model(X), alone.fitted, atol=1e-12)
        assert isinstance(fit.model.transfer, MonotoneFunction) and isinstance(alone.problem, LipschitzIsotonic)
        assert fit.model.transfer.lipschitz <= lipschitz * (1 + 1e-6)
        assert fit.trace[-1].error == pytest.approx(float(np.mean((alone.fitted - y) ** 2)), rel=1e-12)
    np.testing.assert_array_equal(isotron(X, y, max_iter=20).errors, fit.errors)


def test_the_round_of_least_error_on_the_hold_out_is_chosen_and_patience_ends_the_run() -> None:
    X, y, _ = model(m=560, d=30, seed=2)
    (X, outside), (y, held) = np.split(X, [60]), np.split(y, [60])
    fit = l_isotron(X, y, validation=(outside, held), max_iter=80)
    assert fit.chosen == 1 + int(np.argmin(fit.held_out)) and len(fit.trace) == 80
    assert fit.model.error(outside, held) == pytest.approx(float(fit.held_out.min()), rel=1e-12)
    assert fit.chosen < 80, "60 samples in 30 dimensions are overfitted sooner or later"
    last = [1 + int(np.argmin(fit.held_out[:t])) for t in range(1, 81)]  # the best round among the first t
    for patience in (1, 5):
        short = l_isotron(X, y, validation=(outside, held), max_iter=80, patience=patience)
        end = next(t for t in range(1, 81) if t - last[t - 1] >= patience)
        assert short.stopped == "no progress" and len(short.trace) == end and short.chosen == last[end - 1]
    with pytest.raises(InvalidProblem, match="patience: needs samples that are held out"):
        l_isotron(X, y, patience=3)


def test_steps_that_vanish_end_the_run() -> None:
    X, y, _ = model(m=80)
    fit = glm_tron(X, y, "identity", max_iter=20_000, tol=1e-12)
    index: Any = fit.model.index
    assert fit.stopped == "converged"
    np.testing.assert_allclose(index.direction, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-9)


@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e100])
def test_when_a_step_is_small_does_not_depend_on_the_unit_of_y(unit: float) -> None:
    X, y, _ = model(m=80, noise=False)
    plain, other = l_isotron(X, y, tol=1e-6), l_isotron(X, unit * y, tol=1e-6)
    assert plain.stopped == other.stopped == "converged" and 5 < len(plain.trace) == len(other.trace)
    np.testing.assert_allclose(other.errors, unit**2 * plain.errors, rtol=1e-6, atol=1e-12 * unit**2)


@pytest.mark.parametrize("algorithm", [l_isotron, isotron, glm_tron])
def test_degenerate_samples(algorithm: Any) -> None:
    X, y, _ = model(m=60, noise=False)
    doubled = algorithm(np.repeat(X, 2, axis=0), np.repeat(y, 2), max_iter=30)
    np.testing.assert_allclose(doubled.errors, algorithm(X, y, max_iter=30).errors[: len(doubled.trace)], rtol=1e-9, atol=1e-15)
    for features in (np.zeros((60, 3)), np.full((60, 3), 0.5)):
        fit = algorithm(features, y, max_iter=400)
        assert np.ptp(fit.model(features)) == 0.0 and fit.stopped == "converged"
        if algorithm is not glm_tron:
            np.testing.assert_allclose(fit.model(features), y.mean(), rtol=1e-14)
    single = algorithm(X[:1], y[:1], max_iter=400)
    assert single.stopped == "converged" and single.model(X[:1])[0] == pytest.approx(y[0], abs=1e-8)
    fitted = algorithm(X, np.full(60, 0.3), max_iter=400)
    assert algorithm is glm_tron or (fitted.errors[0] <= 1e-30 and fitted.stopped == "converged")
    shifted = algorithm(X, 5.0 * y - 7.0, max_iter=30)
    assert np.all(np.isfinite(shifted.errors)) and (algorithm is glm_tron or shifted.errors[-1] < shifted.errors[0])


@pytest.mark.parametrize("algorithm", [l_isotron, isotron, glm_tron])
def test_inputs_of_any_kind_are_read_and_left_alone(algorithm: Any, tmp_path: Path) -> None:
    X, y, _ = model(m=60)
    plain = algorithm(X, y, max_iter=20)
    frozen, labels, start = X.copy(), y.copy(), np.zeros(4)
    frozen.flags.writeable = labels.flags.writeable = start.flags.writeable = False
    np.save(tmp_path / "X.npy", X)
    for features in (frozen, np.load(tmp_path / "X.npy", mmap_mode="r"), X.tolist(), np.hstack([X, X])[:, :4]):
        fit = algorithm(features, labels, start=start, validation=(features, labels), max_iter=20)
        np.testing.assert_array_equal(fit.errors, plain.errors)
        np.testing.assert_allclose(fit.held_out, fit.errors, rtol=1e-12)
        assert fit.chosen == 1 + int(np.argmin(fit.held_out)), "the hold-out may be the samples themselves"
    single, both = algorithm(X.astype(np.float32), y, max_iter=20), algorithm(X.astype(np.float32).astype(float), y, max_iter=20)
    np.testing.assert_array_equal(single.errors, both.errors)


def test_ctrl_c_hands_over_what_is_found() -> None:
    X, y, _ = model()
    seen: list[int] = []

    def stop(row: Round) -> None:
        seen.append(row.t)
        if row.t == 5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        l_isotron(X, y, progress=stop)
    fit = caught.value.done
    assert seen == [1, 2, 3, 4, 5] and fit.stopped == "interrupted" and fit.chosen == 5
    np.testing.assert_array_equal(fit.model(X), l_isotron(X, y, max_iter=5).model(X))
    again = pickle.loads(pickle.dumps(caught.value)).done
    np.testing.assert_array_equal(again.model(X), fit.model(X))


def test_warm_fits_and_single_precision_change_little() -> None:
    X, y, _ = model(m=6000, d=10)
    plain = l_isotron(X, y, warm=False, max_iter=30)
    np.testing.assert_allclose(l_isotron(X, y, warm=True, max_iter=30).errors, plain.errors, rtol=1e-12)
    single = l_isotron(X, y, single=True, max_iter=30)
    assert single.model.error(X, y) == pytest.approx(plain.trace[-1].error, rel=1e-4)
    assert set(plain.seconds()) == {"product", "sort", "fit", "check"} and all(value >= 0 for value in plain.seconds().values())


@pytest.mark.parametrize("algorithm", ["glm", "l", "iso"])
def test_the_linear_kernel_gives_the_linear_algorithm(algorithm: str) -> None:
    X, y, _ = model(m=120)
    outside, held, _ = model(m=50, seed=9)
    training = TrainingSet(X, y, Linear())
    options: dict[str, Any] = {"validation": (outside, held), "max_iter": 25}
    plain = {"glm": lambda: glm_tron(X, y, **options), "l": lambda: l_isotron(X, y, **options), "iso": lambda: isotron(X, y, **options)}
    kernel = {
        "glm": lambda: kernel_glm_tron(training, **options),
        "l": lambda: kernel_l_isotron(training, **options),
        "iso": lambda: kernel_isotron(training, **options),
    }
    one, two = plain[algorithm](), kernel[algorithm]()
    np.testing.assert_allclose(two.errors, one.errors, rtol=1e-9)
    np.testing.assert_allclose(two.held_out, one.held_out, rtol=1e-9)
    np.testing.assert_allclose([row.norm for row in two.trace], [row.norm for row in one.trace], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([row.step for row in two.trace], [row.step for row in one.trace], rtol=1e-9)
    assert one.chosen == two.chosen
    np.testing.assert_allclose(two.model(outside), one.model(outside), atol=1e-9)


def test_a_kernel_learns_what_no_direction_can() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(float)
    linear, kernel = l_isotron(X / 4, y, max_iter=100), kernel_l_isotron(TrainingSet(X, y, Gaussian(1.0)), 5.0, max_iter=100)
    assert kernel.trace[-1].error < 0.5 * linear.trace[-1].error


def test_without_a_lipschitz_bound_the_papers_example_is_overfitted() -> None:
    """§6.1 at its size: w = (1, 0, …), u(t) = (1 + t)/2, one of 399 irrelevant coordinates set to 1."""
    rng = np.random.default_rng(5)

    def draw(n: int) -> tuple[Array, Array]:
        X = np.zeros((n, 400))
        X[:, 0] = rng.integers(-1, 2, size=n)
        X[np.arange(n), rng.integers(1, 400, size=n)] = 1.0
        return X, (rng.uniform(size=n) < 0.5 + 0.5 * X[:, 0]).astype(float)

    (X, y), test = draw(600), draw(600)
    with_bound, without = l_isotron(X, y, max_iter=30).model, isotron(X, y, max_iter=30).model
    assert with_bound.error(*test) < without.error(*test)
    middle = X[:, 0] == 0
    extreme = [float(np.mean(np.abs(fit(X)[middle] - 0.5) > 0.4)) for fit in (with_bound, without)]
    assert extreme[0] < 0.1 < 0.5 < extreme[1]


def test_the_alternating_heuristic_lowers_its_error_in_every_round() -> None:
    X, y, w = model(m=400)
    fit = alternating_sim(X, y, max_iter=40)
    assert np.all(np.diff(fit.errors) <= 1e-12)
    index: Any = fit.model.index
    direction = index.direction / np.linalg.norm(index.direction)
    assert float(direction @ w) > 0.9
    assert fit.errors[-1] <= l_isotron(X, y, max_iter=300).errors.min() * 1.05
    outside = model(m=200, seed=8)[:2]
    chosen = alternating_sim(X, y, validation=outside, max_iter=10)
    assert chosen.model.error(*outside) == pytest.approx(float(chosen.held_out.min()), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.array([[np.nan]])}, "X: 1 of 1 values is not finite"),
        ({"y": np.zeros(3)}, "y: 3 values, expected 5"),
        ({"rate": 0.0}, "rate"),
        ({"max_iter": 0}, "max_iter"),
        ({"start": np.zeros(3)}, "start: 3 values, expected 2"),
        ({"validation": (np.zeros((2, 3)), np.zeros(2))}, "validation: shape .2, 3. has 3 columns, expected 2"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"X": np.ones((5, 2)), "y": np.ones(5)}
    with pytest.raises(InvalidProblem, match=message):
        l_isotron(**{**good, **arguments})


def test_faulty_transfers_and_unknown_options_are_refused() -> None:
    X, y, _ = model(m=20)
    with pytest.raises(InvalidProblem, match="not monotone: u\\("):
        glm_tron(X, y, np.sin)
    with pytest.raises(InvalidProblem, match="not 1-Lipschitz: u\\("):
        glm_tron(X, y, lambda t: 3.0 * t)
    with pytest.raises(UnknownName, match="patience"):
        kernel_isotron(TrainingSet(X, y, Linear()), patienc=3)
    with pytest.raises(InvalidProblem, match="lipschitz"):
        l_isotron(X, y, -1.0)
    with pytest.raises(InvalidProblem, match="X: shape"):
        l_isotron(X, y, max_iter=2).model(X[:, :2])
