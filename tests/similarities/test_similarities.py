"""What the similarities say of themselves holds, and their values are those of the formulas."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data import similarities as sim
from simopt.data.similarities import distances
from simopt.data.similarities.base import _kinds

BASIC = [
    sim.Gaussian(1.7),
    sim.Gaussian.with_sigma(0.3),
    sim.Laplacian(2.0),
    sim.Laplacian(0.5, norm=2),
    sim.Sigmoid(0.5),
    sim.Sigmoid(0.0, 0.3),
    sim.Sigmoid(-1.0, 2.0),
    sim.Manhattan(),
    sim.Euclidean(),
    sim.Euclidean(squared=False),
    sim.Linear(),
    sim.Polynomial(3, 0.5, 1.0),
    sim.Polynomial(2, 1.0, -1.0),
    sim.Polynomial(3, -0.1, 0.5),
    sim.Polynomial(2, 0.0, -1.0),
]
COMBINED = [
    sim.Gaussian(1.0) + sim.Linear(),
    sim.Gaussian(1.0) * sim.Manhattan(),
    sim.Gaussian(2.0) * sim.Laplacian(1.0),
    0.25 * sim.Gaussian(1.0) + sim.Sigmoid(1.0) * 0.5,
    sim.Sum((sim.Gaussian(1.0), sim.Gaussian(9.0)), (1.0, -0.5)),
    sim.Sum((sim.Gaussian(1.0), sim.Manhattan()), (1.0, 0.0)),
    sim.Normalised(sim.Polynomial(2, 1.0, 1.0)),
    sim.Normalised(sim.Gaussian(1.0) + sim.Linear()) * sim.Laplacian(1.0),
]
ALL = BASIC + COMBINED
POINTS = arrays(np.float64, st.tuples(st.integers(1, 7), st.integers(1, 4)), elements=st.floats(-4, 4, width=16))


def test_none_of_ours_is_left_out() -> None:
    ours = {kind for kind in sim.kinds() if _kinds[kind].__module__.startswith("simopt.")}
    assert ours - {K.kind for K in ALL} == {
        "precomputed",
        "scaled",
    }  # of points with names, and of so many columns: they have tests of their own


def one(K: sim.Similarity, x: list[float], y: list[float]) -> float:
    """K(x, y) for two points."""
    return float(K([x], [y])[0, 0])


@pytest.mark.parametrize("K", ALL, ids=repr)
@given(X=POINTS)
@settings(max_examples=15, deadline=None)
def test_what_a_similarity_says_of_itself_holds(K: sim.Similarity, X: Array) -> None:
    gram = K.gram(X)
    size = max(float(np.max(np.abs(gram))), 1e-300)
    assert np.array_equal(gram, gram.T) == K.symmetric
    assert np.allclose(gram, K(X), rtol=1e-12, atol=1e-13 * size)
    assert np.allclose(np.diagonal(gram), K.diagonal(X), rtol=1e-12, atol=1e-13 * size)
    if K.psd:
        assert np.linalg.eigvalsh(gram)[0] >= -1e-12 * size * len(X)
    assert size <= K.bound * (1 + 1e-15)
    assert K.bounded == (K.bound <= 1)


@pytest.mark.parametrize("K", [K for K in ALL if not K.psd], ids=repr)
def test_what_is_not_known_to_be_psd_can_fail_to_be(K: sim.Similarity) -> None:
    rng = np.random.default_rng(5)
    lowest = min(float(np.linalg.eigvalsh(K.gram(rng.normal(scale=s, size=(6, 2))))[0]) for s in (0.1, 0.5, 1.0, 3.0) for _ in range(40))
    assert lowest < -1e-6


@pytest.mark.parametrize("K", [K for K in BASIC if not K.bounded], ids=repr)
def test_what_is_not_known_to_be_bounded_exceeds_one(K: sim.Similarity) -> None:
    X = np.random.default_rng(5).normal(scale=20.0, size=(6, 2))
    assert np.max(np.abs(K.gram(X))) > 1


@pytest.mark.parametrize("K", ALL, ids=repr)
def test_json_and_back_is_the_same_similarity(K: sim.Similarity) -> None:
    again = sim.from_json(json.loads(json.dumps(K.to_json(), allow_nan=False)))
    assert again == K and hash(again) == hash(K)
    assert again.fingerprint() == K.fingerprint()


def test_bounds_add_up_through_nested_sums_and_products() -> None:
    assert (0.25 * sim.Gaussian(1.0) + sim.Sigmoid(1.0) * 0.75).bounded
    assert not (0.25 * sim.Gaussian(1.0) + sim.Sigmoid(1.0)).bounded
    assert (0.5 * (sim.Gaussian(1.0) + sim.Sigmoid(1.0)) * sim.Laplacian(1.0)).bound == 1.0
    assert (sim.Gaussian(1.0) * sim.Manhattan()).bound == math.inf
    assert sim.Sum((sim.Gaussian(1.0), sim.Manhattan()), (1.0, 0.0)).bounded


def test_fingerprints_tell_all_of_them_apart() -> None:
    assert len({K.fingerprint() for K in ALL}) == len(ALL)


def test_values_by_hand() -> None:
    x, y = [1.0, 2.0], [3.0, -1.0]  # differences 2 and 3, inner product 1
    assert one(sim.Gaussian(6.5), x, y) == pytest.approx(math.exp(-2), rel=1e-15)
    assert one(sim.Gaussian.with_sigma(2.0), x, y) == pytest.approx(math.exp(-13 / 8), rel=1e-15)
    assert one(sim.Laplacian(2.5), x, y) == pytest.approx(math.exp(-2), rel=1e-15)
    assert one(sim.Laplacian(2.0, norm=2), x, y) == pytest.approx(math.exp(-math.sqrt(13) / 2), rel=1e-15)
    assert one(sim.Sigmoid.for_dimension(2), x, y) == pytest.approx(math.tanh(-0.5), rel=1e-15)
    assert one(sim.Manhattan(), x, y) == -5
    assert one(sim.Euclidean(), x, y) == -13
    assert one(sim.Euclidean(squared=False), x, y) == pytest.approx(-math.sqrt(13), rel=1e-15)
    assert one(sim.Linear(), x, y) == 1
    assert one(sim.Polynomial(3, 2.0, 1.0), x, y) == 27
    assert one(sim.Normalised(sim.Linear()), x, y) == pytest.approx(1 / math.sqrt(50), rel=1e-15)
    assert one(2.0 * sim.Linear() + sim.Manhattan() * sim.Manhattan(), x, y) == 27


@given(X=POINTS)
@settings(max_examples=30, deadline=None)
def test_bandwidth_rules_agree_with_their_double_sums(X: Array) -> None:
    n = len(X)
    square = np.array([[float(np.sum((a - b) ** 2)) for b in X] for a in X])
    if square.max() > 0:
        assert sim.Gaussian.mean_squared_distance(X).mu == pytest.approx(square.sum() / n**2, rel=1e-12)
        assert sim.Gaussian.mean_distance(X).sigma == pytest.approx(np.sqrt(square).sum() / (n * (n - 1)), rel=1e-12)
    else:
        assert sim.Gaussian.mean_squared_distance(X).mu == 1
        assert sim.Gaussian.mean_distance(X).sigma == pytest.approx(1, rel=1e-15)


def test_distances_are_accurate_in_high_dimension_far_from_the_origin() -> None:
    rng = np.random.default_rng(2)
    X = 1e4 + rng.normal(size=(40, 3 * distances.DIRECT))
    X[7] = X[3]
    X[9] = X[3] + 1e-6 * rng.normal(size=X.shape[1])
    exact = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    got = distances.squared(X, X)
    assert got[3, 7] == 0 and np.all(np.diagonal(got) == 0)
    assert np.allclose(got, exact, rtol=1e-11, atol=0)


@pytest.mark.parametrize("memory", [1, 1000, 10**9])
def test_blocks_put_together_are_the_gram_matrix(memory: int) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(23, 3)), rng.normal(size=(11, 3))
    K = sim.Gaussian(2.0)
    blocks = list(K.gram_blocks(X, Y, memory=memory))
    assert [rows.start for rows, _ in blocks] == [0, *(rows.stop for rows, _ in blocks[:-1])]
    assert np.allclose(np.vstack([block for _, block in blocks]), K(X, Y), rtol=1e-14)
    assert all(block.nbytes <= max(memory, 8 * len(Y)) for _, block in blocks)
    assert np.array_equal(K.gram(X, memory=memory), K.gram(X, memory=memory).T)


def test_no_points_and_points_without_coordinates_are_refused() -> None:
    for K, X, Y in ((sim.Gaussian(1.0), np.zeros((0, 3)), np.zeros((2, 3))), (sim.Manhattan(), np.zeros((2, 0)), np.zeros((3, 0)))):
        with pytest.raises(InvalidProblem, match="X: no (rows|columns), at least 1 needed"):
            K(X, Y)
        assert K.values(X, Y).shape == (len(X), len(Y))  # of what has been checked, there may be none


def test_precomputed_looks_its_matrix_up() -> None:
    K = sim.Precomputed(np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert K.psd and K.symmetric and K.bounded
    assert np.array_equal(K(K.points), K.matrix)
    assert K([[1.0]], [[0.0], [1.0]]).tolist() == [[0.5, 1.0]]
    assert sim.from_json(K.to_json()) == K
    lopsided = sim.Precomputed(np.array([[1.0, 3.0], [0.0, 1.0]]))
    assert not lopsided.symmetric and not lopsided.psd and not lopsided.bounded
    indefinite = sim.Precomputed(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert indefinite.symmetric and not indefinite.psd
    assert not (indefinite * sim.Precomputed(np.eye(2))).psd


@pytest.mark.parametrize("row", [2.0, -1.0, 0.5])
def test_precomputed_refuses_what_is_no_row_number(row: float) -> None:
    K = sim.Precomputed(np.eye(2))
    with pytest.raises(InvalidProblem, match="is not a row number between 0 and 1"):
        K([[row]], [[0.0]])


def test_named_rules_choose_parameters_from_the_data() -> None:
    X = np.random.default_rng(1).normal(size=(9, 4))
    assert sim.named("gaussian", X) == sim.Gaussian.mean_squared_distance(X)
    assert sim.named("Gaussian_Mean_Distance", X) == sim.Gaussian.mean_distance(X)
    assert sim.named("sigmoid", X) == sim.Sigmoid(0.25, -1.0)
    with pytest.raises(UnknownName, match="did you mean 'laplacian'"):
        sim.named("laplacean", X)


def test_bad_parameters_and_points_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="mu: 0 given, a number > 0 needed"):
        sim.Gaussian(0.0)
    with pytest.raises(InvalidProblem, match="degree: 1.5 given, a whole number >= 1 needed"):
        sim.Polynomial(1.5)
    with pytest.raises(InvalidProblem, match="X has 2 columns and Y has 3"):
        sim.Linear()(np.ones((1, 2)), np.ones((1, 3)))
    with pytest.raises(InvalidProblem, match="X: 1-dimensional with shape"):
        sim.Linear()(np.ones(3))
    with pytest.raises(InvalidProblem, match="K\\(x, x\\) = 0 at row 1"):
        sim.Normalised(sim.Linear())(np.array([[1.0], [0.0]]))
    for base in (sim.Manhattan(), sim.Euclidean(), sim.Euclidean(squared=False)):
        with pytest.raises(InvalidProblem, match=f"base: K\\(x, x\\) = 0 at every x for the {base.kind} similarity"):
            sim.Normalised(base)
        assert base.null_diagonal and not np.any(base.diagonal(np.ones((2, 3))))
    with pytest.raises(UnknownName, match="did you mean 'gaussian'"):
        sim.from_json({"kind": "gausian", "mu": 1.0})
    with pytest.raises(InvalidProblem, match="similarity gaussian"):
        sim.from_json({"kind": "gaussian", "width": 1.0})
    with pytest.raises(InvalidProblem, match="at least one similarity"):
        sim.Sum(())


STANDARDISED = ["standardised-gaussian", "standardised-gaussian-mean-distance"]


def test_scaled_is_the_similarity_of_scaled_columns() -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    for base in (sim.Gaussian(2.0), sim.Sigmoid(0.5), sim.Normalised(sim.Polynomial(2, 1.0, 1.0)) + sim.Linear()):
        K, by = sim.Scaled(base, (2.0, 0.0, 0.5)), np.array([2.0, 0.0, 0.5])
        np.testing.assert_array_equal(K(X, Y), base(X * by, Y * by))
        np.testing.assert_array_equal(K.diagonal(X), base.diagonal(X * by))
        assert (K.psd, K.bound, K.symmetric) == (base.psd, base.bound, base.symmetric)
        assert sim.from_json(json.loads(json.dumps(K.to_json()))) == K == K.set_params(**K.get_params())
    with pytest.raises(InvalidProblem, match="2 columns, but there are 3 factors"):
        K(X[:, :2])
    with pytest.raises(InvalidProblem, match="base: 'gaussian' is not a similarity"):
        sim.Scaled("gaussian", (1.0,))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STANDARDISED)
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_standardised_columns_have_no_units_and_constant_ones_no_say(name: str, unit: float) -> None:
    X = np.random.default_rng(6).normal(size=(20, 3))
    plain = sim.named(name.removeprefix("standardised-"), X / X.std(axis=0))
    moved = np.column_stack([unit * X[:, 0], X[:, 1] + 1e3, np.full(20, 0.1), X[:, 2]])
    K = sim.named(name, moved)
    np.testing.assert_allclose(K(moved), plain(X / X.std(axis=0)), atol=1e-11)
    other = moved + np.array([0.0, 0.0, 9.0, 0.0])
    np.testing.assert_array_equal(K(other), K(moved))
    assert isinstance(sim.named(name, np.ones((3, 2))), sim.Scaled)


@pytest.mark.parametrize("name", ["gaussian", "gaussian-mean-distance", "laplacian", *STANDARDISED])
def test_whole_weights_choose_the_width_that_repeated_points_choose(name: str) -> None:
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(12, 3)), rng.integers(0, 4, size=12)

    def width(similarity: sim.Similarity) -> float:
        if isinstance(similarity, sim.Scaled):
            return width(similarity.base) * float(np.prod(similarity.factors))
        return float(getattr(similarity, "mu", 0.0) or getattr(similarity, "width", 0.0))

    assert width(sim.named(name, X, weights)) == pytest.approx(width(sim.named(name, np.repeat(X, weights, axis=0))), rel=1e-12)
    assert width(sim.named(name, X, np.ones(12))) == pytest.approx(width(sim.named(name, X)), rel=1e-12)
    assert width(sim.named(name, X, np.full(12, 0.3))) == pytest.approx(width(sim.named(name, X)), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_width_is_not_chosen_from_squares_that_float64_does_not_hold(scale: float) -> None:
    X = np.random.default_rng(4).normal(size=(5, 2))
    with pytest.raises(InvalidProblem, match="inputs: .* cannot hold its square; change the unit"):
        sim.named("gaussian", X * scale)


@pytest.mark.parametrize("K", ALL, ids=repr)
def test_a_copy_with_its_own_parameters_is_the_same_similarity(K: sim.Similarity) -> None:
    shallow, deep = K.get_params(deep=False), K.get_params()
    assert shallow.items() <= deep.items()
    assert K.set_params(**shallow) == K == K.set_params(**deep)
    assert K.set_params() == K


def test_parameters_of_parts_are_set_under_the_names_they_are_told_by() -> None:
    K = sim.Sum((sim.Gaussian(1.0), sim.Normalised(sim.Polynomial(2))), (1.0, 0.5))
    assert {"terms__0__mu": 1.0, "terms__1__base__degree": 2, "weights": (1.0, 0.5)}.items() <= K.get_params().items()
    changed = K.set_params(terms__0__mu=3.0, terms__1__base__degree=4, weights=(2.0, 0.5))
    assert changed == sim.Sum((sim.Gaussian(3.0), sim.Normalised(sim.Polynomial(4))), (2.0, 0.5))
    assert K.terms[0] == sim.Gaussian(1.0)
    assert K.set_params(terms=(sim.Linear(), sim.Laplacian(1.0)), terms__1__width=2.0).terms == (sim.Linear(), sim.Laplacian(2.0))
    for wrong in ({"sigma": 1.0}, {"mu__base": 1.0}, {"terms__7__mu": 1.0}, {"terms__0__nu": 1.0}):
        with pytest.raises(UnknownName, match="unknown parameter of the (gaussian|sum) similarity"):
            K.set_params(**wrong)
    with pytest.raises(InvalidProblem, match="mu: -1 given"):
        K.set_params(terms__0__mu=-1.0)
