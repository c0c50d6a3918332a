"""Forward selection against scikit-learn, exhaustive least squares and exact arithmetic; ties, duplicates, ranks; memory maps and Dask."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.solvers.sparse import feature_gram
from simopt.solvers.sparse.feature_gram import METHODS, FeatureGram
from simopt.solvers.sparse.fit import SparseFit
from simopt.solvers.sparse.forward_selection import forward_selection, forward_selection_gram, select
from simopt.solvers.sparse.gram_rows import WholeGuess
from simopt.solvers.sparse.sampled_gram import SampledGram


def gauss(n, d, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, : d // 4] @ rng.normal(size=d // 4) + noise * rng.normal(size=n)


def landmarks(n, d, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    squares = ((Z[:, None, :] - Z[None, rng.choice(n, d, replace=False), :]) ** 2).sum(axis=2)
    return np.exp(-squares / 6) / np.sqrt(d), np.sin(Z[:, 0]) + Z[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def refitted(X, y, support):
    w, *_ = np.linalg.lstsq(X[:, support], y, rcond=None)
    return w, float(np.sum((y - X[:, support] @ w) ** 2))


def slow(X, y, count, criterion):
    """Picks straight from the definition, every residual by least squares from scratch."""
    picks: list[int] = []
    for _ in range(count):
        r = y if not picks else y - X[:, picks] @ refitted(X, y, picks)[0]
        if criterion == "omp":
            scores = np.abs(X.T @ r)
        else:
            scores = np.array([-refitted(X, y, [*picks, j])[1] for j in range(X.shape[1])])
        scores[picks] = -np.inf
        picks.append(int(np.argmax(scores)))
    return picks


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("criterion", ["omp", "ols"])
@pytest.mark.parametrize("make", [gauss, landmarks])
def test_picks_are_those_of_the_definition(make, criterion, method):
    X, y = make(90, 30)
    fit = forward_selection(X, y, count=12, criterion=criterion, method=method)
    assert fit.indices.tolist() == slow(X, y, 12, criterion)
    w, square = refitted(X, y, fit.indices)
    np.testing.assert_allclose(fit.coefficients, w, rtol=1e-7, atol=1e-9 * np.abs(w).max())
    assert fit.residuals[-1] == pytest.approx(square, rel=1e-10)
    for k in range(13):
        assert fit.residuals[k] == pytest.approx(refitted(X, y, fit.indices[:k])[1] if k else float(y @ y), rel=1e-9)


@pytest.mark.parametrize("make", [gauss, landmarks])
@pytest.mark.parametrize(("n", "d", "k"), [(1500, 400, 20), (300, 40, 15), (40, 60, 12)])
def test_the_support_is_that_of_scikit_learn(make, n, d, k):
    from sklearn.linear_model import orthogonal_mp, orthogonal_mp_gram

    X, y = make(n if n >= d or make is gauss else 80, d)
    w = orthogonal_mp(X, y, n_nonzero_coefs=k)
    fits = [forward_selection(X, y, count=k, method=method) for method in METHODS]
    fits.append(forward_selection_gram(X.T @ X, X.T @ y, float(y @ y), count=k))
    for fit in fits:
        assert set(fit.indices) == set(np.flatnonzero(w))
        np.testing.assert_allclose(fit.weights, w, atol=1e-7 * np.abs(w).max())
    again = orthogonal_mp_gram(X.T @ X, X.T @ y, n_nonzero_coefs=k)
    assert set(fits[-1].indices) == set(np.flatnonzero(again))


def test_guesses_in_single_precision_are_replayed_when_they_are_wrong():
    X, y = landmarks(600, 300)
    source = FeatureGram(X, y)
    source.prepare("float32", 60)
    assert source.guess is not None
    right = source.guess.rows
    wrong = np.random.default_rng(1).normal(size=right.shape)  # not even symmetric
    truth = forward_selection(X, y, count=60, method="gram").indices
    for guess in (right, wrong, np.full_like(right, np.nan)):
        other = FeatureGram(X, y)
        other.guess = WholeGuess(other, guess, 1.0)
        assert select(other, 60, 0.0, "omp")[0].picks.tolist() == truth.tolist()


def test_a_guess_from_few_rows_is_exact_where_rows_are_known_and_close_elsewhere():
    X, y = landmarks(5000, 300)
    X[:, 7], X[:, 9] = X[:, 8], 0.0  # equal columns, and one of zeros
    X *= 10.0 ** np.linspace(-9, 9, 300)  # columns have units of their own
    G, units = X.T @ X, np.linalg.norm(X, axis=0)
    guess = SampledGram(X.T @ y, float(y @ y), np.sqrt(10.0) * X[::10])
    everything, beside = np.arange(300), np.maximum(np.outer(units, units), 1e-300)
    known = np.array([], dtype=int)
    errors = []
    for more in (everything[0:10], everything[:60:5], everything[::4]):
        guess.learn(more, G[more])
        known = np.union1d(known, more)
        guess.fetch(everything)
        difference = np.abs(guess.rows[guess.row_of] - G) / beside
        assert difference[known].max() <= 1e-11 and difference[:, known].max() <= 1e-11
        errors.append(difference.max())
    assert errors[2] < 1e-3 * errors[0]  # what is known leaves next to nothing to be estimated


@pytest.mark.parametrize("make", [gauss, landmarks])
@pytest.mark.parametrize("criterion", ["omp", "ols"])
def test_guesses_from_few_rows_are_replayed_and_given_up_where_they_do_not_help(make, criterion, monkeypatch):
    X, y = make(3000, 250)
    X[:, 3], X[:, 5] = X[:, 4], 0.0
    truth = forward_selection(X, y, count=40, criterion=criterion, method="gram")
    monkeypatch.setattr(feature_gram, "ENOUGH", 0)
    monkeypatch.setattr(feature_gram, "COHERENT", 0.0)
    monkeypatch.setattr(feature_gram, "SMOOTH", np.inf)
    for tries in (feature_gram.TRIES, 1):
        monkeypatch.setattr(feature_gram, "TRIES", tries)
        source = FeatureGram(X, y)
        source.prepare("auto", 40)
        assert isinstance(source.guess, SampledGram)
        state, _ = select(source, 40, 0.0, criterion)
        assert state.picks.tolist() == truth.indices.tolist()
        if tries == 1:
            assert not isinstance(source.guess, SampledGram)
        elif make is landmarks:
            assert isinstance(source.guess, SampledGram) and source.passes < tries  # 40 picks in few passes
    for rows in (slice(0, 1), slice(0, 2)):  # the fewest rows that there can be, and rows that say nothing
        source = FeatureGram(X, y)
        source.guess = SampledGram(source.products, source.square, 0.0 * X[rows])
        assert select(source, 40, 0.0, criterion)[0].picks.tolist() == truth.indices.tolist()


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_units_do_not_matter(scale):
    X, y = landmarks(200, 60)
    fit = forward_selection(X, y, count=15, method="float32")
    other = forward_selection(scale * X, y / scale, count=15, method="float32")
    assert fit.indices.tolist() == other.indices.tolist()
    np.testing.assert_allclose(other.coefficients * scale**2, fit.coefficients, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9), st.sampled_from(["omp", "ols"]))
def test_small_integer_data_with_ties_and_dependent_columns(seed, n, d, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 2, size=(n, d)).astype(float), rng.integers(-2, 3, size=n).astype(float)
    rank = np.linalg.matrix_rank(X)
    for method in METHODS:
        fit = forward_selection(X, y, count=d, criterion=criterion, method=method)
        assert len(fit) <= rank
        assert len(set(fit.indices.tolist())) == len(fit)
        assert np.linalg.matrix_rank(X[:, fit.indices]) == len(fit)
        best = refitted(X, y, np.arange(d))[1]
        assert fit.residuals[-1] == pytest.approx(best, abs=1e-9)  # it ends only where nothing helps
        np.testing.assert_allclose(X.T @ (y - X @ fit.weights), 0.0, atol=1e-9)


def test_ties_go_to_the_lowest_index_and_of_equal_columns_one_is_picked():
    X = np.zeros((6, 6))
    X[:, 1] = X[:, 4] = [1, 1, 0, 0, 0, 0]
    X[:, 2] = X[:, 3] = [0, 0, 1, 1, 0, 0]
    y = np.array([2.0, 2.0, 1.0, 1.0, 0.5, 0.0])
    for criterion in ("omp", "ols"):
        fit = forward_selection(X, y, count=6, criterion=criterion)
        assert fit.indices.tolist() == [1, 2]
        np.testing.assert_allclose(fit.coefficients, [2.0, 1.0])
        assert not fit.reached
        assert fit.residuals[-1] == pytest.approx(0.25)


def test_targets_zero_or_orthogonal_to_all_columns():
    X, _ = gauss(20, 4)
    fit = forward_selection(X, np.zeros(20), count=3)
    assert len(fit) == 0 and "0" in fit.message and np.array_equal(fit.predict(X), np.zeros(20))
    y = np.linalg.qr(np.c_[X, np.ones(20)])[0][:, 4]
    fit = forward_selection(X, y, count=3)
    assert len(fit) == 0 and "orthogonal" in fit.message and fit.unexplained == pytest.approx(1.0)
    assert forward_selection(np.zeros((5, 3)), np.ones(5), count=2).indices.size == 0


def test_a_sparse_target_without_noise_is_found_and_no_column_is_added_to_it():
    X, _ = gauss(80, 40)
    w = np.zeros(40)
    w[[3, 11, 30]] = [2.0, -1.0, 0.5]
    fit = forward_selection(X, X @ w, count=20)
    np.testing.assert_allclose(fit.weights, w, atol=1e-13)
    assert len(fit) == 3 and fit.unexplained < 1e-28


def test_tolerance_stops_as_soon_as_it_is_met():
    X, y = landmarks(200, 60)
    whole = forward_selection(X, y, count=30)
    shares = whole.residuals / whole.residuals[0]
    fit = forward_selection(X, y, tolerance=float(shares[7]) * 1.0000001)
    assert len(fit) == 7 and fit.reached and "≤" in fit.message
    assert not forward_selection(X, y, count=5, tolerance=float(shares[7])).reached
    assert forward_selection(X, y, tolerance=1.0).indices.size == 0


def test_nearly_dependent_columns_keep_the_digits_of_the_columns():
    rng = np.random.default_rng(2)
    base = rng.normal(size=(300, 1))
    X = base + 1e-5 * rng.normal(size=(300, 8))
    y = X @ rng.normal(size=8) + 1e-6 * rng.normal(size=300)
    fit = forward_selection(X, y, count=8, criterion="ols")
    w, square = refitted(X, y, fit.indices)
    assert fit.residuals[-1] == pytest.approx(square, rel=1e-9)
    np.testing.assert_allclose(fit.coefficients, w, rtol=1e-4)


def test_one_column_of_many_rows_that_are_coherent():
    """The decay of the spectrum is compared with that at half of the columns, which is none of one."""
    rng = np.random.default_rng(0)
    X = 1.0 + 0.3 * rng.normal(size=(6000, 60))
    y = X @ rng.normal(size=60)
    (pick,) = forward_selection(X, y, count=1).indices
    assert pick == np.argmax(np.abs(X.T @ y))


def test_the_first_picks_of_a_fit_are_the_fit_with_fewer_picks():
    X, y = landmarks(200, 60)
    fit = forward_selection(X, y, count=20)
    for k in (0, 1, 7, 20):
        less = fit.first(k)
        if k:
            alone = forward_selection(X, y, count=k)
            assert less.indices.tolist() == alone.indices.tolist()
            np.testing.assert_allclose(less.coefficients, alone.coefficients, rtol=1e-6)
        assert len(less.residuals) == k + 1
    with pytest.raises(InvalidProblem, match="only 20 columns"):
        fit.first(21)


@pytest.mark.slow  # a scheduler is started
@pytest.mark.parametrize("memory", [4096.0, 2.0**28])
def test_memory_maps_and_dask_arrays_give_the_same_picks(tmp_path, memory):
    da = pytest.importorskip("dask.array")
    X, y = landmarks(400, 50)
    np.save(tmp_path / "x.npy", X)
    plain = forward_selection(X, y, count=12)
    for lazy in (np.load(tmp_path / "x.npy", mmap_mode="r"), da.from_array(X, chunks=(70, 20))):
        fit = forward_selection(lazy, y, count=12, memory=memory)
        assert fit.indices.tolist() == plain.indices.tolist()
        np.testing.assert_allclose(fit.coefficients, plain.coefficients, rtol=1e-7)
        np.testing.assert_allclose(fit.predict(lazy), plain.predict(X), atol=1e-10)


def test_fits_are_frozen_pickled_saved_and_drawn(tmp_path):
    X, y = landmarks(100, 30)
    fit = forward_selection(X, y, count=5)
    with pytest.raises(ValueError, match="read-only"):
        fit.coefficients[0] = 1.0
    twins = [pickle.loads(pickle.dumps(fit))]
    for name in ("fit.npz", "fit.json"):
        fit.save(tmp_path / name)
        twins.append(SparseFit.load(tmp_path / name))
    for twin in twins:
        assert twin.indices.tolist() == fit.indices.tolist() and np.array_equal(twin.coefficients, fit.coefficients)
        assert str(twin) == str(fit) and np.array_equal(twin.factor, fit.factor) and not twin.factor.flags.writeable
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(InvalidFile, match="not a sparse fit"):
        SparseFit.load(tmp_path / "bad.json")
    pytest.importorskip("matplotlib")
    assert fit.plot().axes[0].get_xlabel() == "columns"


def test_bad_input_is_named():
    X, y = gauss(20, 4)
    with pytest.raises(InvalidProblem, match="count: give"):
        forward_selection(X, y)
    with pytest.raises(InvalidProblem, match="5 columns asked"):
        forward_selection(X, y, count=5)
    with pytest.raises(InvalidProblem, match="count"):
        forward_selection(X, y, count=0)
    with pytest.raises(InvalidProblem, match="tolerance"):
        forward_selection(X, y, tolerance=-1.0)
    with pytest.raises(UnknownName, match="criterion"):
        forward_selection(X, y, count=2, criterion="opm")
    with pytest.raises(InvalidProblem, match="targets: 19 values, expected 20"):
        forward_selection(X, y[:-1], count=2)
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(InvalidProblem, match="row 3, column 2"):
        forward_selection(bad, y, count=2)
    with pytest.raises(InvalidProblem, match="X: 3 columns, the fit has 4"):
        forward_selection(X, y, count=2).predict(X[:, :3])
    G, b = X.T @ X, X.T @ y
    with pytest.raises(InvalidProblem, match="gram: shape"):
        forward_selection_gram(G[:3], b, 1.0, count=2)
    with pytest.raises(InvalidProblem, match="positive semidefinite"):
        forward_selection_gram(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, 0.9]), 4.0, count=2)
    with pytest.raises(InvalidProblem, match=r"not symmetric, entry \(0, 1\) is 0.5 and \(1, 0\) is 0.1"):
        forward_selection_gram(np.array([[1.0, 0.5], [0.1, 1.0]]), np.array([1.0, 0.9]), 4.0, count=2)
    with pytest.raises(InvalidProblem, match="not finite"):
        forward_selection_gram(np.array([[1.0, np.nan], [np.nan, 1.0]]), np.array([1.0, 0.9]), 4.0, count=2)
