"""Regression: a function for measured values."""

import cvxpy as cp
import numpy as np


def elastic_net():
    r"""The elastic net.

    Zou and Hastie (2005): least squares with $\lambda_1\|w\|_1 + \lambda_2\|w\|^2$; the first makes coefficients 0, the second those of
    similar columns equal.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = X[:, :4] @ np.ones(4) + 0.3 * rng.normal(size=60)
    w = cp.Variable(20, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 120 + 0.1 * cp.norm1(w) + 0.05 * cp.sum_squares(w)))


def group_lasso():
    r"""Whole groups of coefficients.

    Yuan and Lin (2006): least squares with an intercept and $\lambda\sum_g\|w_g\|_2$, so that all four coefficients of a group are 0, or
    none.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = X[:, :4] @ np.ones(4) + 0.3 * rng.normal(size=60)
    w, b = cp.Variable(12, name="w"), cp.Variable(name="b")
    groups = cp.norm(cp.reshape(w, (3, 4), order="C"), 2, axis=1)
    return cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w - b) / 120 + 0.1 * cp.sum(groups)))


def square_root_lasso():
    r"""The lasso that needs no variance of the noise.

    Belloni, Chernozhukov and Wang (2011): $\|y - Xw\|_2 + \lambda\|w\|_1$, in which the right $\lambda$ does not depend on the noise.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20))
    y = X[:, :3] @ np.ones(3) + 0.5 * rng.normal(size=50)
    w = cp.Variable(20, name="w")
    return cp.Problem(cp.Minimize(cp.norm(X @ w - y) + 2 * cp.norm1(w)))


def dantzig_selector():
    r"""The Dantzig selector.

    Candès and Tao (2007): the least $\|w\|_1$ whose residual has small correlation with each column, $\|X^\top(y - Xw)\|_\infty \le
    \lambda$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 40))
    y = X[:, :3] @ np.ones(3) + 0.1 * rng.normal(size=30)
    w = cp.Variable(40, name="w")
    return cp.Problem(cp.Minimize(cp.norm1(w)), [cp.norm_inf(X.T @ (y - X @ w)) <= 2])


def huber_regression():
    r"""Lines that gross errors do not bend.

    Huber (1964): a loss that is $r^2$ for $|r| \le M$ and $2M|r| - M^2$ beyond. Source: Boyd and Vandenberghe, §6.1.2.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X @ np.ones(4) + 0.1 * rng.normal(size=80) + 10 * (rng.random(80) < 0.1)
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(X @ w + b - y, 0.3))))


def quantile_regression():
    r"""The 90 % quantile as a line.

    Koenker and Bassett (1978): the loss $\max(0.9\,r, -0.1\,r)$ of $r = y - w^\top x - b$ leaves a tenth of the values above the line.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ np.ones(4) + rng.standard_t(2, size=60)
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    r = y - X @ w - b
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.9 * r, -0.1 * r))))


def quantile_curves():
    r"""Quantiles that do not cross.

    Three quantile lines at once, each at most the next one at every sample.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X.sum(axis=1) + rng.standard_t(3, size=40)
    W, b = cp.Variable((3, 3), name="W"), cp.Variable((1, 3), name="b")
    lines = X @ W + np.ones((40, 1)) @ b
    r, level = np.tile(y[:, None], 3) - lines, np.tile([0.1, 0.5, 0.9], (40, 1))
    loss = cp.sum(cp.maximum(cp.multiply(level, r), cp.multiply(level - 1, r)))
    return cp.Problem(cp.Minimize(loss), [lines[:, 0] <= lines[:, 1], lines[:, 1] <= lines[:, 2]])


def poisson_regression():
    r"""Counts.

    The count $y_k$ is Poisson with mean $e^{w^\top x_k}$: the negative log-likelihood is $\sum_k e^{w^\top x_k} - y_k w^\top x_k$.
    Source: Boyd and Vandenberghe, §7.1.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) / 2
    y = rng.poisson(np.exp(X @ np.ones(5)))
    w = cp.Variable(5, name="w")
    return cp.Problem(cp.Minimize((cp.sum(cp.exp(X @ w)) - y @ X @ w) / 60 + 0.01 * cp.sum_squares(w)))


def trend_filter():
    r"""A trend with few kinks.

    Kim, Koh, Boyd and Gorinevsky (2009): $\frac12\|y - x\|^2 + \lambda\|D^2x\|_1$, of which the second differences are 0 but at kinks.
    """
    rng = np.random.default_rng(0)
    y = np.cumsum(np.repeat([0.1, -0.2, 0.15], 20)) + 0.2 * rng.normal(size=60)
    x = cp.Variable(60, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(y - x) / 2 + 2 * cp.norm1(cp.diff(x, k=2))))


def fused_lasso():
    r"""Few values, few jumps.

    Tibshirani et al. (2005): $\frac12\|y - x\|^2 + \lambda_1\|x\|_1 + \lambda_2\sum_i|x_{i+1} - x_i|$.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 2.0, 0.0, -1.0], 15) + 0.3 * rng.normal(size=60)
    x = cp.Variable(60, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(y - x) / 2 + 0.1 * cp.norm1(x) + cp.tv(x)))


def isotonic_regression():
    r"""A monotone function.

    Values $x_1 \le \dots \le x_n$ with the least $\|y - x\|^2$. Source: Barlow et al. (1972).
    """
    rng = np.random.default_rng(0)
    y = np.linspace(0, 3, 60) + rng.normal(size=60)
    x = cp.Variable(60, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(y - x)), [cp.diff(x) >= 0])


def convex_regression():
    r"""A convex function.

    A function with values $f_i$ and slopes $g_i$ at $x_i$ is convex if $f_j \ge f_i + g_i(x_j - x_i)$; in one dimension neighbours
    suffice. Source: Boyd and Vandenberghe, §6.5.5.
    """
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 30))
    y = x**2 + 0.1 * rng.normal(size=30)
    f = cp.Variable(30, name="f")
    slopes = cp.multiply(1 / np.diff(x), cp.diff(f))
    return cp.Problem(cp.Minimize(cp.sum_squares(f - y)), [cp.diff(slopes) >= 0])


def minimax_approximation():
    r"""A polynomial with the least largest error.

    Of polynomials of degree 6 in Chebyshev's basis the one with the least $\max_k|p(t_k) - e^{|t_k|}|$. Source: Boyd and Vandenberghe,
    §6.5.
    """
    t = np.linspace(-1, 1, 80)
    T = np.polynomial.chebyshev.chebvander(t, 6)
    c = cp.Variable(7, name="c")
    return cp.Problem(cp.Minimize(cp.norm_inf(T @ c - np.exp(np.abs(t)))))


def landmark_regression():
    r"""Regression on landmarks.

    Features are similarities to ten of the samples, the loss is $\max(|r| - \varepsilon, 0)$, and $\|w\|_2 \le B$ as for [landmarked
    regression](../methods/landmarked_regression.md).
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=60)
    features = np.exp(-((X[:, None] - X[:10]) ** 2).sum(axis=2)) / np.sqrt(10)
    w = cp.Variable(10, name="w")
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(cp.abs(features @ w - y) - 0.1)) / 60), [cp.norm(w) <= 5])


def multi_task_regression():
    r"""Related tasks.

    Argyriou, Evgeniou and Pontil (2008): a column of $W$ for each task, and a nuclear norm by which they lie in few directions: $\|Y -
    XW\|_F^2/2 + \lambda\|W\|_*$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8))
    Y = X @ rng.normal(size=(8, 2)) @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(30, 5))
    W = cp.Variable((8, 5), name="W")
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ W - Y) / 2 + 10 * cp.normNuc(W)))
