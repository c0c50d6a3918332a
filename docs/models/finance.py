"""Finance: how a capital is split, and what may be lost."""

import cvxpy as cp
import numpy as np


def portfolio():
    r"""Expected return minus risk.

    Markowitz (1952): of weights $w$ the return $\mu^\top w$ counts for, the variance $w^\top(F^\top F + D)w$ of a model of four factors
    against them. Source: Boyd and Vandenberghe, §4.4.1.
    """
    rng = np.random.default_rng(0)
    returns, factors = rng.uniform(0.0, 0.3, 12), rng.normal(size=(4, 12))
    w = cp.Variable(12, name="w")
    risk = cp.sum_squares(factors @ w) / 4 + cp.sum_squares(w) / 2
    return cp.Problem(cp.Maximize(returns @ w - risk), [cp.sum(w) == 1, w >= 0])


def sharpe_ratio():
    r"""The largest Sharpe ratio.

    Excess return over standard deviation, $\bar\mu^\top w/\sqrt{w^\top\Sigma w}$, is quasi-concave. With $y = w/\bar\mu^\top w$ it is the
    convex problem of the least $y^\top\Sigma y$ with $\bar\mu^\top y = 1$. Source: Cornuéjols and Tütüncü, Optimization Methods in
    Finance.
    """
    rng = np.random.default_rng(0)
    factors, excess = rng.normal(size=(6, 15)), rng.uniform(0.01, 0.1, 15)
    y, k = cp.Variable(15, name="y"), cp.Variable(name="k")
    risk = cp.sum_squares(factors @ y) / 6 + 0.1 * cp.sum_squares(y)
    return cp.Problem(cp.Minimize(risk), [excess @ y == 1, cp.sum(y) == k, y >= 0, y <= 0.25 * k])


def index_tracking():
    r"""Following an index at little cost.

    The error of the returns, $\|R(w - b)\|_2$, and costs in proportion to what is traded, $c\|w - w_0\|_1$, are smallest together.
    """
    rng = np.random.default_rng(0)
    R, b, w0 = 0.02 * rng.normal(size=(60, 20)), rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20))
    w = cp.Variable(20, name="w")
    error, traded = cp.norm(R @ (w - b)), cp.norm1(w - w0)
    return cp.Problem(cp.Minimize(error + 0.01 * traded), [cp.sum(w) == 1, w >= 0, w <= 0.2])


def market_impact():
    r"""Trading with market impact.

    A trade $z_i$ of an asset moves its price: the cost is $a_i|z_i| + b_i|z_i|^{3/2}$. Source: Boyd et al., Multi-Period Trading via
    Convex Optimization (2017).
    """
    rng = np.random.default_rng(0)
    returns, F, w0 = 0.05 * rng.normal(size=10), rng.normal(size=(3, 10)), rng.dirichlet(np.ones(10))
    z = cp.Variable(10, name="z")
    w = w0 + z
    risk = cp.sum_squares(F @ w) / 20 + cp.sum_squares(w) / 10
    costs = 0.001 * cp.norm1(z) + 0.02 * cp.sum(cp.power(cp.abs(z), 1.5))
    return cp.Problem(cp.Maximize(returns @ w - risk - costs), [cp.sum(z) == 0, w >= 0])


def kelly():
    r"""Bets for the largest growth.

    Kelly (1956): the capital is multiplied by $r_k^\top b$ with probability $\pi_k$, and grows fastest where $\sum_k \pi_k\log r_k^\top
    b$ is largest. Source: Busseti, Ryu and Boyd, Risk-Constrained Kelly Gambling (2016).
    """
    rng = np.random.default_rng(0)
    R = np.exp(0.3 * rng.normal(size=(40, 8)))
    R[:, 0] = 1.0  # cash
    chances = rng.dirichlet(np.ones(40))
    b = cp.Variable(8, name="b")
    return cp.Problem(cp.Maximize(chances @ cp.log(R @ b)), [cp.sum(b) == 1, b >= 0])


def drawdown_kelly():
    r"""Kelly bets with a bound on the drawdown.

    The probability that the capital ever falls to the fraction $\alpha$ is at most $\beta$ if $\log\sum_k \pi_k (r_k^\top b)^{-\lambda}
    \le 0$ with $\lambda = \log\beta/\log\alpha$. Source: Busseti, Ryu and Boyd (2016).
    """
    rng = np.random.default_rng(0)
    R, chances = np.exp(0.3 * rng.normal(size=(30, 6))), rng.dirichlet(np.ones(30))
    R[:, 0] = 1.0  # cash
    power = np.log(0.1) / np.log(0.7)
    b = cp.Variable(6, name="b")
    risk = cp.log_sum_exp(np.log(chances) - power * cp.log(R @ b))
    return cp.Problem(cp.Maximize(chances @ cp.log(R @ b)), [cp.sum(b) == 1, b >= 0, risk <= 0])


def risk_parity():
    r"""Equal contributions to the risk.

    At the optimum of $\frac12 x^\top\Sigma x - \sum_i\log x_i$ each $x_i(\Sigma x)_i$ is 1; the weights are $x/\sum_i x_i$. Source:
    Spinu, An Algorithm for Computing Risk Parity Weights (2013).
    """
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(15, 10))
    x = cp.Variable(10, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(factors @ x) / 30 + 0.05 * cp.sum_squares(x) - cp.sum(cp.log(x))))


def conditional_value_at_risk():
    r"""The mean of the worst tenth.

    Rockafellar and Uryasev (2000): the expected loss of the worst fraction $\alpha$ is $\min_t\; t + \frac{1}{\alpha m}\sum_k (-r_k^\top
    w - t)_+$, here with a bound on the least expected return.
    """
    rng = np.random.default_rng(0)
    R = 0.02 + 0.1 * rng.standard_t(4, size=(80, 8))
    w, t = cp.Variable(8, name="w"), cp.Variable(name="t")
    tail = t + cp.sum(cp.pos(-R @ w - t)) / (0.1 * 80)
    return cp.Problem(cp.Minimize(tail), [cp.sum(w) == 1, w >= 0, R.mean(axis=0) @ w >= np.median(R.mean(axis=0))])


def entropic_value_at_risk():
    r"""An entropic bound of the loss.

    Ahmadi-Javid (2012): for a risk aversion $\theta$ the bound is $\theta\log\frac{1}{\alpha m}\sum_k e^{-r_k^\top w/\theta}$, a
    perspective of log-sum-exp; here $\theta$ is fixed.
    """
    rng = np.random.default_rng(0)
    R = 0.02 + 0.1 * rng.normal(size=(50, 8))
    w = cp.Variable(8, name="w")
    return cp.Problem(cp.Minimize(0.1 * (cp.log_sum_exp(-10 * R @ w) - np.log(0.05 * 50))), [cp.sum(w) == 1, w >= 0])


def tax_aware_sale():
    r"""Selling with the least tax.

    Lots of shares were bought at different prices. A fraction $x$ of each is sold; gains are taxed, losses count against them, and the
    tax is never negative: $\tau\,(g^\top x)_+$. What remains must stay near the index. Source: Moehle et al., Tax-Aware Portfolio
    Construction (2020).
    """
    rng = np.random.default_rng(0)
    worth, gains, F = rng.uniform(1, 3, 20), rng.normal(0.5, 1.0, 20), rng.normal(size=(4, 20))
    x = cp.Variable(20, name="x")
    away = cp.multiply(worth, x - 0.3)  # from selling the same fraction of each
    tax = 0.25 * cp.pos(gains @ x)
    error = cp.sum_squares(F @ away) / 10 + cp.sum_squares(away) / 20
    return cp.Problem(cp.Minimize(tax + error), [x >= 0, x <= 1, worth @ x == 12])


def worst_case_risk():
    r"""The worst risk of a covariance known within bounds.

    Of all $\Sigma \succeq 0$ with $L \le \Sigma \le U$ in each entry the one with the largest $w^\top\Sigma w$. Source: Boyd and
    Vandenberghe, §4.6.3.
    """
    rng = np.random.default_rng(0)
    F, w = rng.normal(size=(8, 5)), rng.dirichlet(np.ones(5))
    C = F.T @ F / 8
    S = cp.Variable((5, 5), PSD=True, name="S")
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(np.outer(w, w), S))), [cp.abs(S - C) <= 0.2])


def portfolios_of_few_funds():
    r"""Portfolios of many clients, of low rank.

    The columns of $W$ are portfolios. A nuclear norm $\|W\|_*$ makes them mixtures of few funds.
    """
    rng = np.random.default_rng(0)
    returns, F = rng.uniform(0.0, 0.3, (8, 5)), rng.normal(size=(4, 8))
    W = cp.Variable((8, 5), name="W")
    risk = cp.sum_squares(F @ W) / 4 + cp.sum_squares(W) / 2
    gain = cp.sum(cp.multiply(returns, W))
    return cp.Problem(cp.Maximize(gain - risk - 0.05 * cp.normNuc(W)), [cp.sum(W, axis=0) == 1, W >= 0])


def few_assets():
    r"""At most four assets.

    The risk is smallest where at most four weights are not 0: $w \le z$, $z \in \{0, 1\}^n$, $\sum_i z_i \le 4$.
    """
    rng = np.random.default_rng(0)
    R = 0.02 + 0.1 * rng.normal(size=(24, 8))
    w, z = cp.Variable(8, name="w"), cp.Variable(8, boolean=True, name="z")
    deviation = cp.norm1(R @ w - R.mean(axis=0) @ w) / 24
    return cp.Problem(cp.Minimize(deviation), [cp.sum(w) == 1, w >= 0, w <= z, cp.sum(z) <= 4])
