"""Networks: transport, power, data."""

import cvxpy as cp
import numpy as np


def transport():
    r"""Transport at the least cost.

    Hitchcock (1941): from factories to customers, at a cost of $c_{ij}$ a unit, within what is produced and for what is needed.
    """
    rng = np.random.default_rng(0)
    costs, supply, demand = rng.uniform(1, 5, (6, 9)), rng.integers(12, 20, 6), rng.integers(3, 8, 9)
    X = cp.Variable((6, 9), nonneg=True, name="X")
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, X))), [cp.sum(X, axis=1) <= supply, cp.sum(X, axis=0) >= demand])


def entropic_transport():
    r"""Entropic optimal transport.

    Cuturi (2013): the cost of moving one distribution into another, less $\varepsilon$ times the entropy of the plan.
    """
    rng = np.random.default_rng(0)
    a, b = rng.multinomial(2**10, np.ones(8) / 8, size=2) / 2**10
    costs = np.abs(np.subtract.outer(np.arange(8), np.arange(8))) / 8
    X = cp.Variable((8, 8), name="X")
    value = cp.sum(cp.multiply(costs, X)) - 0.05 * cp.sum(cp.entr(X))
    return cp.Problem(cp.Minimize(value), [cp.sum(X, axis=1) == a, cp.sum(X, axis=0) == b])


def assignment():
    r"""Persons and tasks.

    Kuhn (1955): each person does one task, each task is done once. The relaxation of $X_{ij} \in \{0, 1\}$ has an integer optimum.
    """
    rng = np.random.default_rng(0)
    costs = rng.integers(1, 30, (7, 7))
    X = cp.Variable((7, 7), boolean=True, name="X")
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, X))), [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1])


def maximal_flow():
    r"""The largest flow.

    Ford and Fulkerson (1956): edges have capacities, what enters a node leaves it, and the flow out of the source is largest.
    """
    rng = np.random.default_rng(0)
    tails, heads = np.array([[i, j] for i in range(10) for j in range(10) if i != j and j != 0 and i != 9 and (j - i) % 10 < 4]).T
    nodes = np.arange(10)[:, None]
    incidence = 1.0 * (tails == nodes) - (heads == nodes)
    f = cp.Variable(len(tails), name="f")
    return cp.Problem(cp.Maximize(incidence[0] @ f), [incidence[1:9] @ f == 0, f >= 0, f <= rng.integers(1, 10, len(tails))])


def convex_flow():
    r"""A flow with delays.

    A flow from node 0 to node 7; an edge of capacity $c$ that has the flow $f$ delays by $f/(c - f)$, as a queue does. Source: Boyd and
    Vandenberghe, §5.5.6 and exercise 10.12.
    """
    rng = np.random.default_rng(0)
    tails, heads = np.array([[i, j] for i in range(8) for j in range(i + 1, min(i + 4, 8))]).T
    incidence = 1.0 * (tails == np.arange(8)[:, None]) - (heads == np.arange(8)[:, None])
    capacity = rng.uniform(2, 5, len(tails))
    f = cp.Variable(len(tails), name="f")
    delay = cp.sum(cp.multiply(capacity, cp.inv_pos(capacity - f)) - 1)
    return cp.Problem(cp.Minimize(delay), [incidence[:-1] @ f == 3.0 * np.eye(8)[0, :-1], f >= 0])


def traffic_equilibrium():
    r"""Drivers who take the shortest way.

    Beckmann (1956): with travel times $t_a(1 + 0.15(f_a/c_a)^4)$ the equilibrium has the least sum of their integrals; flows of routes
    are variables.
    """
    rng = np.random.default_rng(0)
    routes = (rng.random((12, 10)) < 0.4) * 1.0  # which edges a route has
    times, capacity = rng.uniform(1, 3, 12), rng.uniform(1, 3, 12)
    h = cp.Variable(10, nonneg=True, name="h")
    f = routes @ h
    integrals = times @ f + 0.03 * cp.sum(cp.multiply(times / capacity**4, cp.power(f, 5)))
    return cp.Problem(cp.Minimize(integrals), [cp.sum(h[:5]) == 4, cp.sum(h[5:]) == 3])


def rate_control():
    r"""Fair rates.

    Kelly, Maulloo and Tan (1998): users send at rates $x$ over shared lines, $Rx \le c$; proportional fairness is the largest $\sum_i\log
    x_i$.
    """
    rng = np.random.default_rng(0)
    R = (rng.random((8, 15)) < 0.4) * 1.0
    R[rng.integers(8, size=15), np.arange(15)] = 1.0
    x = cp.Variable(15, name="x")
    return cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [R @ x <= rng.uniform(1, 3, 8)])


def water_filling():
    r"""Power for many channels.

    The rate $\sum_i\log(\alpha_i + x_i)$ is largest for powers $x \ge 0$ of sum 1. Source: Boyd and Vandenberghe, example 5.2.
    """
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.1, 1.0, 20)
    x = cp.Variable(20, name="x")
    return cp.Problem(cp.Maximize(cp.sum(cp.log(alpha + x))), [x >= 0, cp.sum(x) == 1])


def power_control():
    r"""Transmitters that disturb one another.

    A geometric programme: each receiver needs a signal of ten times the interference and noise, $10\,(\sum_{j\ne i}G_{ij}p_j + \sigma)
    \le G_{ii}p_i$, at the least total power. Source: Boyd, Kim, Vandenberghe and Hassibi, A Tutorial on Geometric Programming (2007).
    """
    rng = np.random.default_rng(0)
    G = 0.01 * rng.uniform(0.5, 1.0, (5, 5)) + np.diag(rng.uniform(0.5, 1.0, 5))
    p = cp.Variable(5, pos=True, name="p")
    rows = [10 * (sum(G[i, j] * p[j] for j in range(5) if j != i) + 0.1) <= G[i, i] * p[i] for i in range(5)]
    return cp.Problem(cp.Minimize(cp.sum(p)), rows)


def power_flow():
    r"""Optimal power flow, direct current.

    Plants feed a ring of ten buses with three chords. A line carries $b_{ij}(\theta_i - \theta_j)$ within its limit, and plants cost $a
    p^2 + c p$.
    """
    rng = np.random.default_rng(0)
    tails, heads = np.r_[0:10, 0, 2, 4], np.r_[1:10, 0, 5, 7, 9]
    incidence = 1.0 * (tails == np.arange(10)[:, None]) - (heads == np.arange(10)[:, None])
    load, a, c = rng.uniform(0.5, 1.5, 10), rng.uniform(0.1, 0.5, 4), rng.uniform(1, 2, 4)
    angle, p = cp.Variable(10, name="angle"), cp.Variable(4, nonneg=True, name="p")
    flow = cp.multiply(rng.uniform(5, 10, 13), incidence.T @ angle)
    balance = np.eye(10)[:, [0, 3, 5, 8]] @ p - load == incidence @ flow
    return cp.Problem(cp.Minimize(a @ cp.square(p) + c @ p), [balance, cp.abs(flow) <= 3, p <= 6, angle[0] == 0])


def power_flow_relaxation():
    r"""Optimal power flow, alternating current.

    Lavaei and Low (2012): powers are quadratic in the complex voltages $v$, so linear in $W = vv^*$. Rank 1 is left out, $W \succeq 0$
    stays. Three buses: two plants and a load, losses least.
    """
    y = {(0, 1): 1 / (0.02 + 0.1j), (1, 2): 1 / (0.03 + 0.12j), (0, 2): 1 / (0.02 + 0.08j)}
    Y = np.zeros((3, 3), dtype=complex)
    for (i, j), admittance in y.items():
        Y[[i, j], [i, j]] += admittance
        Y[[i, j], [j, i]] -= admittance
    W = cp.Variable((3, 3), hermitian=True, name="W")
    power = cp.sum(cp.multiply(np.conj(Y), W), axis=1)
    active, size = cp.real(power), cp.real(cp.diag(W))
    rows = [W >> 0, size >= 0.9**2, size <= 1.1**2, active[2] <= -1.0, cp.imag(power)[2] <= -0.4]
    return cp.Problem(cp.Minimize(cp.sum(active)), [*rows, active[:2] >= 0, active[:2] <= 0.8])


def fastest_mixing():
    r"""The Markov chain that mixes fastest.

    Boyd, Diaconis and Xiao (2004): symmetric transition probabilities on the edges of a graph; the distance to the uniform distribution
    falls like $\|P - \frac1n\mathbf 1\mathbf 1^\top\|_2^t$.
    """
    n = 8
    gaps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    absent = (np.minimum(gaps, n - gaps) > 2) * 1.0  # a ring, with chords over one node
    P = cp.Variable((n, n), symmetric=True, name="P")
    rows = [P >= 0, P @ np.ones(n) == 1, cp.multiply(absent, P) == 0]
    return cp.Problem(cp.Minimize(cp.sigma_max(P - np.ones((n, n)) / n)), rows)


def unit_commitment():
    r"""Which plants run.

    A plant is on or off in each hour, $u \in \{0, 1\}$; on, it makes between half and all of what it can. Load is met, and starting
    costs, too.
    """
    rng = np.random.default_rng(0)
    size, fuel, start = rng.uniform(2, 4, 5), rng.uniform(1, 2, 5), rng.uniform(1, 3, 5)
    load = 6 - 2 * np.cos(np.arange(8) * np.pi / 4)
    u, p, s = cp.Variable((5, 8), boolean=True, name="u"), cp.Variable((5, 8), name="p"), cp.Variable((5, 7), nonneg=True, name="s")
    most = np.diag(size) @ u
    rows = [p >= most / 2, p <= most, cp.sum(p, axis=0) >= load, s >= u[:, 1:] - u[:, :-1]]
    return cp.Problem(cp.Minimize(cp.sum(fuel @ p) + cp.sum(start @ s) + 0.3 * cp.sum(u)), rows)
