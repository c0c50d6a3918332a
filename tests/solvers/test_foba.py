"""Costs of moves against least squares from scratch; exchanges end where no exchange helps, FoBa against its definition."""

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem
from simopt.solvers.sparse import support_moves
from simopt.solvers.sparse.feature_gram import METHODS, FeatureGram
from simopt.solvers.sparse.foba import FEW, forward_backward, forward_backward_gram, forward_swap, forward_swap_gram
from simopt.solvers.sparse.forward_selection import CORRECTIONS, corrected, forward_selection
from simopt.solvers.sparse.support_moves import Support


def landmarks(n, d, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(size=(n, 2))
    squares = ((Z[:, None, :] - Z[None, rng.choice(n, d, replace=False), :]) ** 2).sum(axis=2)
    return np.exp(-squares) / np.sqrt(d), np.sin(6 * Z[:, 0]) + Z[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def square(X, y, support):
    support = list(support)
    if not support:
        return float(y @ y)
    w, *_ = np.linalg.lstsq(X[:, support], y, rcond=None)
    return float(np.sum((y - X[:, support] @ w) ** 2))


def slow_foba(X, y, count, ratio):
    """Zhang's FoBa, every residual by least squares from scratch."""
    support: list[int] = []
    gains = [0.0] * (count + 1)
    while True:
        while len(support) > 1:
            now = square(X, y, support)
            costs = [square(X, y, [s for s in support if s != i]) - now for i in support]
            if min(costs) > ratio * gains[len(support)]:
                break
            support.pop(int(np.argmin(costs)))
        if len(support) == count:
            return sorted(support)
        now = square(X, y, support)
        gain = [now - square(X, y, [*support, j]) if j not in support else -np.inf for j in range(X.shape[1])]
        support.append(int(np.argmax(gain)))
        gains[len(support)] = max(gain)


def state_of(X, y, columns):
    G = X.T @ X
    state = Support(X.T @ y, float(y @ y), np.diagonal(G).copy(), len(columns) + 3, 1000)
    state.refit(np.array(columns, dtype=np.intp), G, np.arange(len(G)))
    return state, G


def test_costs_of_moves_are_exact():
    X, y = landmarks(60, 14)
    columns = [1, 4, 7, 9]
    state, _ = state_of(X, y, columns)
    now = square(X, y, columns)
    assert state.left == pytest.approx(now, rel=1e-9)
    T = state.tableau
    for i, cost in zip(columns, T.w[:4] ** 2 / np.diagonal(T.M)[:4], strict=True):
        assert cost == pytest.approx(square(X, y, [c for c in columns if c != i]) - now, rel=1e-7)
    for j, gain in enumerate(state.addition_gains()):
        assert gain == pytest.approx(now - square(X, y, {*columns, j}), rel=1e-7, abs=1e-12)
    values = {(i, j): now - square(X, y, [*(c for c in columns if c != i), j]) for i in columns for j in range(14) if j not in columns}
    best = max(values, key=lambda pair: values[pair])
    i, j, gain, cost = support_moves._best_exchange(T)
    assert (T.support[i], j) == best
    assert gain - cost == pytest.approx(values[best], rel=1e-8)


@pytest.mark.slow
def test_moves_keep_the_state_right():
    X, y = landmarks(80, 20, seed=1)
    state, G = state_of(X, y, [2, 5])
    every = np.arange(20)
    while state.forward_backward(G, every, 1.0, 5, 0.9, 0.0)[0] == 5:
        pass
    fresh, _ = state_of(X, y, state.columns)
    for name in ("M", "B", "w", "a", "h"):
        k = len(state.columns)
        one, two = (getattr(s.tableau, name)[:k] if name in "MBw" else getattr(s.tableau, name) for s in (state, fresh))
        one, two = (one[:, :k], two[:, :k]) if name == "M" else (one, two)
        np.testing.assert_allclose(one, two, atol=1e-9 * np.abs(two).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("criterion", ["omp", "ols"])
def test_no_exchange_improves_the_result_of_exchanges(criterion, method):
    X, y = landmarks(120, 30, seed=2)
    fit = forward_swap(X, y, count=5, criterion=criterion, method=method)
    start = forward_selection(X, y, count=5, criterion=criterion)
    best = fit.residuals[-1]
    assert best == pytest.approx(square(X, y, fit.indices), rel=1e-10)
    assert best <= start.residuals[-1] * (1 + 1e-12)
    assert fit.reached
    for i in fit.indices:
        for j in set(range(30)) - set(fit.indices.tolist()):
            assert square(X, y, [*(c for c in fit.indices if c != i), j]) >= best * (1 - 1e-5)
    given = forward_swap_gram(X.T @ X, X.T @ y, float(y @ y), count=5, criterion=criterion)
    assert set(given.indices) == set(fit.indices)
    assert list(fit.visited[1::2]) == sorted(fit.visited[1::2], reverse=True)


def test_exchanges_improve_on_matching_pursuit_with_landmarks():
    X, y = landmarks(400, 150, seed=3)
    plain, better = forward_selection(X, y, count=10), forward_swap(X, y, count=10)
    assert better.residuals[-1] < 0.92 * plain.residuals[-1]
    np.testing.assert_allclose(X[:, better.indices].T @ (y - X @ better.weights), 0.0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.9])
def test_foba_is_that_of_the_definition(ratio, method):
    X, y = landmarks(100, 25, seed=4)
    fit = forward_backward(X, y, count=8, ratio=ratio, method=method)
    assert sorted(fit.indices.tolist()) == slow_foba(X, y, 8, ratio)
    given = forward_backward_gram(X.T @ X, X.T @ y, float(y @ y), count=8, ratio=ratio)
    assert sorted(given.indices.tolist()) == slow_foba(X, y, 8, ratio)
    if ratio == 0.0:
        assert sorted(fit.indices.tolist()) == sorted(forward_selection(X, y, count=8, criterion="ols").indices.tolist())
    if ratio == 0.9:
        assert len(fit.visited) > 8  # columns were taken back: the case is not the one above


def test_foba_stops_at_the_tolerance_or_where_nothing_helps():
    X, y = landmarks(100, 25, seed=4)
    fit = forward_backward(X, y, tolerance=0.05)
    assert fit.unexplained <= 0.05 < fit.residuals[-2] / fit.residuals[0] and fit.reached
    twice = np.repeat(X[:, :3], 2, axis=1)
    fit = forward_backward(twice, y, count=6)
    assert len(fit) == 3 and not fit.reached and "no addition helps" in fit.message
    assert len(forward_backward(X, np.zeros(100), count=4)) == 0
    assert len(forward_swap(X, np.zeros(100), count=4)) == 0
    assert len(forward_swap(twice, y, count=6)) == 3


def test_what_takes_columns_back_asks_for_their_lengths_in_double_precision(monkeypatch):
    asked, prepare = [], FeatureGram.prepare

    def seen(self, method, count, demanding=False):
        asked.append(demanding)
        return prepare(self, method, count, demanding)

    monkeypatch.setattr(FeatureGram, "prepare", seen)
    X, y = landmarks(100, 25, seed=4)
    forward_backward(X, y, count=4)
    forward_swap(X, y, count=4)
    assert asked == [True, True]


def test_bad_input_is_named():
    X, y = landmarks(30, 6)
    with pytest.raises(InvalidProblem, match="ratio"):
        forward_backward(X, y, count=2, ratio=1.0)
    with pytest.raises(InvalidProblem, match="count: 7 columns"):
        forward_swap(X, y, count=7)
    with pytest.raises(InvalidProblem, match="max_moves"):
        forward_swap(X, y, count=2, max_moves=-1)
    assert forward_swap(X, y, count=2, max_moves=0).visited == ()


def test_exchanges_say_how_many_passes_they_may_take(monkeypatch):
    """Where rows are guessed, the matrix is made after FEW further passes, or at once where more have been taken."""
    asked = []
    monkeypatch.setattr(FeatureGram, "limit_passes", lambda self, more: asked.append(more))
    X, y = landmarks(100, 25, seed=4)
    forward_swap(X, y, count=4)
    assert asked in ([FEW], [0])


def test_corrections_go_on_as_long_as_they_lower_the_residual():
    """The factor is that of 1.2 G, so that each step leaves a sixth of the error."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    source, picks, start = FeatureGram(X, y, 1e9), np.arange(4), rng.normal(size=4)
    factor = np.asfortranarray(np.linalg.cholesky(1.2 * X.T @ X).T)
    weights, square = corrected(source, picks, factor, start, float(np.sum((y - X @ start) ** 2)))
    assert square == pytest.approx(float(np.sum((y - X @ weights) ** 2)), rel=1e-12)
    assert np.linalg.norm(X.T @ (y - X @ weights)) <= (1 / 6 + 0.01) ** CORRECTIONS * np.linalg.norm(X.T @ (y - X @ start))
