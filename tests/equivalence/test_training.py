import pickle

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Linear, Sigmoid
from simopt.equivalence.training import KernelFunction, TrainingSet, merged, zero


def test_without_replace_and_subset_are_the_sets_they_say(gaussian):
    whole = gaussian.gram
    part = gaussian.without(3)
    assert part.n == gaussian.n - 1
    np.testing.assert_array_equal(part.gram, np.delete(np.delete(whole, 3, 0), 3, 1))
    np.testing.assert_array_equal(part.gram, TrainingSet(part.inputs, part.targets, part.similarity).gram)
    changed = gaussian.replace(2, np.zeros(3), 7.0)
    assert changed.targets[2] == 7.0 and gaussian.targets[2] != 7.0
    np.testing.assert_array_equal(np.flatnonzero(np.any(changed.inputs != gaussian.inputs, axis=1)), [2])
    np.testing.assert_array_equal(gaussian.subset([4, 4, 0]).targets, gaussian.targets[[4, 4, 0]])


def test_equal_points_are_kept(linear):
    doubled = linear.subset([0, 0, 1])
    assert doubled.n == 3
    assert np.linalg.matrix_rank(doubled.gram) == 2


def test_fingerprint_follows_the_content(gaussian):
    copy = TrainingSet(gaussian.inputs.copy(), gaussian.targets.copy(), Gaussian(3.0))
    assert copy.fingerprint() == gaussian.fingerprint()
    others = [gaussian.replace(0, gaussian.inputs[0], 5.0), TrainingSet(gaussian.inputs, gaussian.targets, Gaussian(3.1))]
    assert all(other.fingerprint() != gaussian.fingerprint() for other in others)
    assert pickle.loads(pickle.dumps(gaussian)).fingerprint() == gaussian.fingerprint()


@pytest.mark.parametrize(
    ("inputs", "targets", "message"),
    [
        (np.zeros((0, 2)), np.zeros(0), "at least 1"),
        (np.zeros((3, 2)), np.zeros(2), "disagree"),
        (np.zeros((2, 2)), np.array([0.0, np.nan]), "not finite"),
        (np.array([[np.inf], [0.0]]), np.zeros(2), "not finite"),
    ],
)
def test_bad_data_are_refused(inputs, targets, message):
    with pytest.raises(InvalidProblem, match=message):
        TrainingSet(inputs, targets, Linear())


def test_the_empty_set_is_not_a_training_set():
    one = TrainingSet(np.ones((1, 1)), np.ones(1), Linear())
    with pytest.raises(InvalidProblem, match="empty"):
        one.without(0)
    with pytest.raises(InvalidProblem, match="samples 0 to 0"):
        one.without(1)


def test_norms_need_a_positive_semidefinite_similarity(gaussian):
    bad = TrainingSet(gaussian.inputs, gaussian.targets, Sigmoid(0.5, -1.0))
    with pytest.raises(InvalidProblem, match="smallest eigenvalue"):
        bad.function(np.ones(bad.n)).norm()


def test_the_norm_is_that_of_the_weight_vector(linear):
    a = np.random.default_rng(2).normal(size=linear.n)
    w = linear.inputs.T @ a
    f = linear.function(a)
    homeless = KernelFunction(linear.similarity, linear.inputs, a)
    assert f.norm() == pytest.approx(np.linalg.norm(w), rel=1e-13)
    assert homeless.norm() == pytest.approx(np.linalg.norm(w), rel=1e-12)
    points = np.random.default_rng(3).normal(size=(5, 3))
    np.testing.assert_allclose(f(points), points @ w, atol=1e-12)


def test_distance_on_one_set_has_no_square_root_floor(gaussian):
    a = np.random.default_rng(4).normal(size=gaussian.n)
    f = gaussian.function(a)
    for small in (1e-9, 1e-11, 1e-13):
        g = gaussian.function(a * (1 + small))
        assert f.distance(g) == pytest.approx(small * f.norm(), rel=1e-2)
    assert f.distance(gaussian.function(a.copy())) == 0.0


def test_distance_across_sets_merges_equal_centres(gaussian):
    a = np.random.default_rng(5).normal(size=gaussian.n)
    part = gaussian.without(gaussian.n - 1)
    f, g = gaussian.function(a), part.function(a[:-1] * (1 + 1e-12))
    last = gaussian.function(np.append(np.zeros(gaussian.n - 1), a[-1]))
    assert (f - g).coefficients.size == gaussian.n
    assert f.distance(g) == pytest.approx(last.norm(), rel=1e-10)
    same = KernelFunction(gaussian.similarity, gaussian.inputs[::-1], a[::-1])
    assert f.distance(same) == 0.0


def test_difference_is_the_difference_of_the_values(gaussian):
    rng = np.random.default_rng(6)
    f = gaussian.function(rng.normal(size=gaussian.n), error=0.25)
    g = KernelFunction(gaussian.similarity, rng.normal(size=(4, 3)), rng.normal(size=4), error=0.5)
    points = rng.normal(size=(6, 3))
    np.testing.assert_allclose((f - g)(points), f(points) - g(points), atol=1e-12)
    assert (f - g).error == 0.75
    assert f.inner(g) == pytest.approx(float(f.coefficients @ g(gaussian.inputs)), rel=1e-9)
    assert f.inner(f) == pytest.approx(f.norm() ** 2, rel=1e-12)


def test_merging_adds_and_drops():
    centres = np.array([[0.0], [1.0], [-0.0], [1.0]])
    points, coefficients = merged(centres, np.array([1.0, 2.0, 3.0, -2.0]))
    np.testing.assert_array_equal(points, [[0.0]])
    np.testing.assert_array_equal(coefficients, [4.0])


def test_zero_and_functions_of_other_spaces(gaussian, linear):
    nothing = zero(gaussian.similarity, 3)
    f = gaussian.function(np.ones(gaussian.n))
    assert nothing.norm() == 0.0 and nothing.size() == -np.inf
    assert f.distance(nothing) == pytest.approx(f.norm(), rel=1e-12)
    assert np.all(nothing(np.ones((2, 3))) == 0.0)
    with pytest.raises(InvalidProblem, match="different spaces"):
        f.distance(linear.function(np.ones(linear.n)))


def test_the_norm_of_what_cancels_grows_with_its_coefficients():
    """Two centres so near that the quadratic form cancels: ‖c(k_x − k_y)‖ = |c|‖k_x − k_y‖, about |c| |x − y| / width."""
    centres, similarity = np.array([[0.0], [1e-6]]), Gaussian(1.0)
    norms = [KernelFunction(similarity, centres, size * np.array([1.0, -1.0])).norm() for size in (1.0, 1e3)]
    assert norms[1] == pytest.approx(1e3 * norms[0], rel=1e-6) and norms[0] == pytest.approx(norms[1] / 1e3, rel=1e-6) and norms[0] > 0


@pytest.mark.parametrize("error", [0, 2, np.float64(0.5), 1.5, np.inf])
def test_an_error_is_kept_as_a_float(error):
    kept = KernelFunction(Linear(), np.ones((1, 1)), np.ones(1), error=error).error
    assert type(kept) is float and kept == error


@pytest.mark.parametrize("error", [-1.0, np.nan, "1"])
def test_an_error_that_is_no_radius_is_refused(error):
    with pytest.raises(InvalidProblem, match="error"):
        KernelFunction(Linear(), np.ones((1, 1)), np.ones(1), error=error)


def test_a_function_has_one_finite_coefficient_for_each_centre():
    kept = KernelFunction(Linear(), [[1.0], [2.0]], [3, 4]).coefficients
    assert kept.dtype == float and kept.tolist() == [3.0, 4.0]
    for coefficients in ([1.0], [1.0, 2.0, 3.0], [1.0, np.nan], [[1.0, 2.0]]):
        with pytest.raises(InvalidProblem, match="coefficients"):
            KernelFunction(Linear(), np.ones((2, 1)), coefficients)


@pytest.mark.parametrize("step", [10.0**-k for k in range(2, 7)])
def test_the_norm_of_a_third_difference_is_small_and_never_no_number(step):
    """The quadratic form is rounding there, of either sign; the factor of K gives a norm of that size at most."""
    for start in np.linspace(0.0, 1.0, 7):
        centres = start + step * np.arange(4.0)[:, None]
        norm = KernelFunction(Gaussian(1.0), centres, np.array([1.0, -3.0, 3.0, -1.0])).norm()
        assert 0.0 <= norm <= 10.0 * step**3 + 1e-6
