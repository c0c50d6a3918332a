"""Statistics and information: distributions and their entropies."""

import cvxpy as cp
import numpy as np


def maximum_entropy():
    r"""What moments say, and nothing else.

    Jaynes (1957): of all distributions $p$ whose moments $Fp$ are no larger than measured ones that with the largest entropy $-\sum_i
    p_i\log p_i$.
    """
    rng = np.random.default_rng(0)
    F, measured = rng.normal(size=(3, 15)), rng.dirichlet(np.ones(15))
    p = cp.Variable(15, name="p")
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [F @ p <= F @ measured, cp.sum(p) == 1])


def information_projection():
    r"""The nearest distribution.

    Csiszár (1975): the least relative entropy $\sum_i p_i\log(p_i/q_i)$ to $q$, of all $p$ with a bounded moment.
    """
    rng = np.random.default_rng(0)
    q, f = rng.dirichlet(np.ones(20)), rng.normal(size=20)
    p = cp.Variable(20, name="p")
    return cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(p, q))), [cp.sum(p) == 1, f @ p <= f @ q - 0.3])


def channel_capacity():
    r"""The capacity of a channel.

    Shannon (1948): input $j$ becomes output $i$ with probability $P_{ij}$; the mutual information of both is largest over the
    distribution $x$ of the input. Source: Boyd and Vandenberghe, exercise 4.57.
    """
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(6), size=5).T
    entropies = -(P * np.log2(P)).sum(axis=0)
    x = cp.Variable(5, name="x")
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(P @ x)) / np.log(2) - entropies @ x), [cp.sum(x) == 1, x >= 0])


def mixture_weights():
    r"""The weights of a mixture.

    Kiefer and Wolfowitz (1956): a density is a mixture of normal ones on a grid of centres, and $\sum_k\log\sum_j w_j\varphi(x_k - c_j)$
    is largest.
    """
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(-1, 0.5, 30), rng.normal(2, 0.5, 20)]
    densities = np.exp(-2 * np.subtract.outer(x, np.linspace(-3, 4, 12)) ** 2)
    w = cp.Variable(12, name="w")
    return cp.Problem(cp.Maximize(cp.sum(cp.log(densities @ w)) / 50), [cp.sum(w) == 1, w >= 0])


def log_concave_density():
    r"""A density with one mode.

    Dümbgen and Rufibach (2009): $f = e^g$ with $g$ concave on a grid, and the largest $\sum_k n_kg_k - N\sum_k h\,e^{g_k}$, whose optimum
    integrates to 1.
    """
    rng = np.random.default_rng(0)
    counts, edges = np.histogram(rng.normal(size=60), 12, range=(-3, 3))
    g = cp.Variable(12, name="g")
    mass = (edges[1] - edges[0]) * cp.sum(cp.exp(g))
    return cp.Problem(cp.Maximize(counts @ g / 60 - mass), [cp.diff(g, k=2) <= 0, g >= -10])


def ranking():
    r"""Strengths of players.

    Bradley and Terry (1952): player $i$ beats $j$ with probability $1/(1 + e^{s_j - s_i})$; the likelihood of all games, with a small
    square so that one strength is best.
    """
    rng = np.random.default_rng(0)
    games = rng.integers(6, size=(40, 2))
    games = games[games[:, 0] != games[:, 1]]
    A = np.eye(6)[games[:, 0]] - np.eye(6)[games[:, 1]]  # the first one won
    s = cp.Variable(6, name="s")
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-A @ s)) + 0.1 * cp.sum_squares(s)))


def contingency_table():
    r"""A table with known margins.

    Deming and Stephan (1940): of all tables with these row and column sums the one of the least relative entropy to an old one.
    """
    rng = np.random.default_rng(0)
    old = rng.integers(5, 30, (5, 4)) * 1.0
    rows, columns = rng.multinomial(400, np.ones(5) / 5), rng.multinomial(400, np.ones(4) / 4)
    X = cp.Variable((5, 4), name="X")
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(X, old))), [cp.sum(X, axis=1) == rows, cp.sum(X, axis=0) == columns])


def survival_regression():
    r"""What lengthens life.

    Cox (1972): the partial likelihood of covariates, $\sum_k\log\sum_{j \ge k}e^{w^\top x_j} - w^\top x_k$ over the deaths in their
    order.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    w = cp.Variable(3, name="w")
    terms = [cp.log_sum_exp(X[k:] @ w) - X[k] @ w for k in range(19)]
    return cp.Problem(cp.Minimize(sum(terms) / 20 + 0.01 * cp.sum_squares(w)))


def moment_bound():
    r"""Chebyshev's inequality with four moments.

    The largest probability that $|X| \ge 2$ for a distribution on a grid with mean 0, variance 1 and fourth moment 3 at most. Source:
    Boyd and Vandenberghe, §7.4.
    """
    t = np.linspace(-5, 5, 41)
    p = cp.Variable(41, name="p")
    rows = [p >= 0, cp.sum(p) == 1, t @ p == 0, t**2 @ p == 1, t**4 @ p <= 3]
    return cp.Problem(cp.Maximize((np.abs(t) >= 2) @ p), rows)
