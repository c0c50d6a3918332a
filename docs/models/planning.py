"""Planning: products, stores and orders, some in whole numbers."""

import cvxpy as cp
import numpy as np


def blending():
    r"""A blend.

    Ingredients of known content are mixed to a product whose contents stay within limits, at the least cost. A linear programme of
    Dantzig's time.
    """
    rng = np.random.default_rng(0)
    content, costs = rng.uniform(0, 1, (4, 10)), rng.uniform(1, 3, 10)
    x = cp.Variable(10, name="x")
    mean = content.mean(axis=1)
    return cp.Problem(cp.Minimize(costs @ x), [x >= 0, x <= 0.5, cp.sum(x) == 1, content @ x >= 0.9 * mean, content @ x <= 1.1 * mean])


def diet():
    r"""The cheapest diet.

    Stigler (1945): amounts of foods that have enough of each nutrient, at the least cost.
    """
    rng = np.random.default_rng(0)
    nutrients, costs = rng.uniform(0, 1, (8, 20)), rng.uniform(1, 3, 20)
    x = cp.Variable(20, nonneg=True, name="x")
    return cp.Problem(cp.Minimize(costs @ x), [nutrients @ x >= rng.uniform(2, 4, 8), x <= 2])


def production_planning():
    r"""Production and stores.

    What is made in a month is sold or stored, $s_{t+1} = s_t + x_t - d_t$. Costs are convex: overtime makes the last units dear.
    """
    rng = np.random.default_rng(0)
    demand = rng.uniform(5, 15, 12)
    x, s = cp.Variable(12, nonneg=True, name="x"), cp.Variable(13, nonneg=True, name="s")
    costs = cp.sum(x) + 2 * cp.sum(cp.pos(x - 10)) + 0.2 * cp.sum(s)
    return cp.Problem(cp.Minimize(costs), [s[1:] == s[:-1] + x - demand, s[0] == 4])


def newsvendor():
    r"""Orders before the demand is known.

    Orders $x$ cost $c$, and sell for $p$ up to a demand that has one of fifty values: the largest mean of $p^\top\min(x, d_k) - c^\top
    x$, within a budget. Source: Birge and Louveaux, Introduction to Stochastic Programming.
    """
    rng = np.random.default_rng(0)
    D, c, p = rng.gamma(4.0, 2.0, (50, 5)), rng.uniform(1, 2, 5), rng.uniform(3, 5, 5)
    x = cp.Variable(5, nonneg=True, name="x")
    sold = cp.minimum(np.ones((50, 1)) @ cp.reshape(x, (1, 5), order="C"), D)
    return cp.Problem(cp.Maximize(cp.sum(sold @ p) / 50 - c @ x), [c @ x <= 50])


def market_equilibrium():
    r"""Prices at which a market clears.

    Eisenberg and Gale (1959): buyers with budgets $b_i$ split goods; the largest $\sum_i b_i\log\sum_j U_{ij}X_{ij}$ is an equilibrium,
    and the multipliers of the goods are their prices.
    """
    rng = np.random.default_rng(0)
    U, budget = rng.uniform(0.1, 1.0, (6, 4)), rng.uniform(1, 3, 6)
    X = cp.Variable((6, 4), nonneg=True, name="X")
    return cp.Problem(cp.Maximize(budget @ cp.log(cp.sum(cp.multiply(U, X), axis=1))), [cp.sum(X, axis=0) <= 1])


def robust_linear_programme():
    r"""A linear programme with uncertain rows.

    The row $a_i$ is known up to $\|a_i - \bar a_i\|_2 \le \rho$: all of them hold if $\bar a_i^\top x + \rho\|x\|_2 \le b_i$. Source:
    Boyd and Vandenberghe, §4.4.2.
    """
    rng = np.random.default_rng(0)
    A, c = rng.uniform(0.2, 1.2, (12, 6)), rng.uniform(0.5, 1.0, 6)
    x = cp.Variable(6, name="x")
    return cp.Problem(cp.Maximize(c @ x), [A @ x + 0.1 * cp.norm(x) <= 5, x >= 0])


def chance_constraint():
    r"""A row that holds with 95 %.

    If $a \sim N(\bar a, \Sigma)$, then $a^\top x \le b$ with probability 0.95 where $\bar a^\top x + 1.645\|\Sigma^{1/2}x\|_2 \le b$.
    Source: Boyd and Vandenberghe, §4.4.2.
    """
    rng = np.random.default_rng(0)
    mean, half, c = rng.uniform(1, 2, 8), 0.3 * rng.normal(size=(8, 8)), rng.uniform(1, 2, 8)
    x = cp.Variable(8, nonneg=True, name="x")
    return cp.Problem(cp.Maximize(c @ cp.sqrt(x)), [mean @ x + 1.645 * cp.norm(half @ x) <= 10])


def knapsack():
    r"""A knapsack.

    The largest value of things whose weights sum to $W$ at most, $x \in \{0, 1\}^n$. The gap is that of the relaxation.
    """
    rng = np.random.default_rng(0)
    values, weights = rng.integers(10, 40, 20), rng.integers(5, 25, 20)
    x = cp.Variable(20, boolean=True, name="x")
    return cp.Problem(cp.Maximize(values @ x), [weights @ x <= 100])


def facility_location():
    r"""Which stores to open.

    A store costs $f_i$ if it is open, $y_i \in \{0, 1\}$, and customer $j$ costs $c_{ij}$ from it: $X_{ij} \le y_i$, $\sum_i X_{ij} = 1$.
    """
    rng = np.random.default_rng(0)
    stores, customers = rng.uniform(size=(6, 2)), rng.uniform(size=(15, 2))
    costs = np.linalg.norm(stores[:, None] - customers, axis=2)
    y, X = cp.Variable(6, boolean=True, name="y"), cp.Variable((6, 15), nonneg=True, name="X")
    rows = [cp.sum(X, axis=0) == 1, X <= cp.reshape(y, (6, 1), order="C") @ np.ones((1, 15))]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, X)) + cp.sum(y)), rows)


def set_cover():
    r"""The fewest sets that cover all.

    Each element is in some chosen set: $Ax \ge 1$, $x \in \{0, 1\}^n$, and $\sum_i x_i$ is least.
    """
    rng = np.random.default_rng(0)
    A = (rng.random((20, 15)) < 0.25) * 1
    A[np.arange(20), rng.integers(15, size=20)] = 1
    x = cp.Variable(15, boolean=True, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [A @ x >= 1])


def lot_sizing():
    r"""Lots.

    Wagner and Whitin (1958): a lot costs a fixed sum, $y_t \in \{0, 1\}$, whatever its size, and stores cost by the unit. A lot is no
    larger than all demand to come, so that a fraction of a lot makes what is needed at once: the relaxation says little.
    """
    rng = np.random.default_rng(0)
    demand = rng.integers(5, 20, 10)
    y, x, s = cp.Variable(10, boolean=True, name="y"), cp.Variable(10, nonneg=True, name="x"), cp.Variable(11, nonneg=True, name="s")
    to_come = demand[::-1].cumsum()[::-1]
    rows = [s[1:] == s[:-1] + x - demand, s[0] == 0, x <= cp.multiply(to_come, y)]
    return cp.Problem(cp.Minimize(20 * cp.sum(y) + cp.sum(s)), rows)


def lot_sizing_by_purpose():
    r"""Lots, said better.

    The same problem, where $Z_{ts}$ is the fraction of what month $s$ needs that is made in month $t$, and $Z_{ts} \le y_t$. Krarup and
    Bilde (1977): this relaxation has an integer optimum, so that the bounds meet.
    """
    rng = np.random.default_rng(0)
    demand = rng.integers(5, 20, 10)
    y, Z = cp.Variable(10, boolean=True, name="y"), cp.Variable((10, 10), boolean=True, name="Z")
    stored = np.abs(np.subtract.outer(np.arange(10), np.arange(10))) * demand
    rows = [Z <= cp.reshape(y, (10, 1), order="C") @ np.ones((1, 10))]
    rows += [cp.sum(Z[: s + 1, s]) == 1 for s in range(10)]  # what is needed has been made by then
    return cp.Problem(cp.Minimize(20 * cp.sum(y) + cp.sum(cp.multiply(stored, Z))), rows)
