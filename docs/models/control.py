"""Control and estimation: systems that move."""

import cvxpy as cp
import numpy as np


def optimal_control():
    r"""Bringing a mass to rest.

    A mass on a line is steered to rest at 0 within ten steps, with bounded force: $x_{t+1} = Ax_t + Bu_t$, $|u_t| \le 2$, and the least
    $\sum_t\|x_t\|^2 + 0.1\,u_t^2$.
    """
    A, B = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([[0.0], [0.2]])
    x, u = cp.Variable((2, 11), name="x"), cp.Variable((1, 10), name="u")
    rows = [x[:, 0] == np.array([1.0, 0.0]), x[:, 1:] == A @ x[:, :-1] + B @ u, cp.abs(u) <= 2]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), rows)


def predictive_control():
    r"""Predictive control, written in a loop.

    The same in the way that programs are written: a variable for each step, forces that change little and stay within bounds.
    """
    A, B = np.array([[1.0, 0.2], [-0.1, 0.9]]), np.array([0.0, 0.2])
    x, u = [cp.Variable(2, name=f"x{t}") for t in range(9)], [cp.Variable(name=f"u{t}") for t in range(8)]
    cost, rows = cp.sum_squares(x[8]), [x[0] == np.array([2.0, 0.0])]
    for t in range(8):
        cost += cp.sum_squares(x[t]) + 0.1 * cp.square(u[t])
        rows += [x[t + 1] == A @ x[t] + B * u[t], cp.abs(u[t]) <= 3]
        rows += [cp.abs(u[t] - u[t - 1]) <= 1.5] * (t > 0)
    return cp.Problem(cp.Minimize(cost), rows)


def minimal_fuel():
    r"""Minimal fuel.

    A system is brought to a state in 16 steps; an engine burns $|u|$, and twice as much beyond $|u| = 1$: $\max(|u|, 2|u| - 1)$. Source:
    Boyd and Vandenberghe, exercise 4.16.
    """
    A, b = np.array([[-1.0, 0.4, 0.8], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([1.0, 0.0, 0.3])
    u = cp.Variable(16, name="u")
    C = np.column_stack([np.linalg.matrix_power(A, 15 - t) @ b for t in range(16)])
    fuel = cp.sum(cp.maximum(cp.abs(u), 2 * cp.abs(u) - 1))
    return cp.Problem(cp.Minimize(fuel), [C @ u == np.array([7.0, 2.0, -6.0])])


def soft_landing():
    r"""A soft landing.

    Açıkmeşe and Ploen (2007): a rocket lands at rest at the origin. The thrust $f_t$ has a bounded length, the path stays within a cone
    above the ground, and the impulse $\sum_t\|f_t\|_2$, and with it the fuel, is least. At the landing itself its row would hold with
    equality, and no point would be inside.
    """
    g, h, T = np.array([0.0, 1.0]), 0.5, 12
    p, v, f = (cp.Variable((2, T + 1), name="p"), cp.Variable((2, T + 1), name="v"), cp.Variable((2, T), name="f"))
    rows = [v[:, 1:] == v[:, :-1] + h * (f - g[:, None]), p[:, 1:] == p[:, :-1] + h / 2 * (v[:, 1:] + v[:, :-1])]
    rows += [p[:, 0] == np.array([4.0, 8.0]), v[:, 0] == np.array([0.0, -1.0]), p[:, T] == 0, v[:, T] == 0]
    rows += [cp.norm(f, axis=0) <= 4, p[1, :-1] >= 0.5 * cp.abs(p[0, :-1])]
    return cp.Problem(cp.Minimize(h * cp.sum(cp.norm(f, axis=0))), rows)


def kalman_smoothing():
    r"""A path from noisy positions.

    Kalman smoothing is least squares: the path $x$ obeys $x_{t+1} = Ax_t + Bw_t$, the positions are $y_t = Cx_t + v_t$, and
    $\sum_t\|w_t\|^2 + \tau\|v_t\|^2$ is least.
    """
    rng = np.random.default_rng(0)
    A, B = np.array([[1.0, 0.2], [0.0, 0.9]]), np.array([[0.0], [1.0]])
    y = np.cumsum(rng.normal(size=12)) + 0.3 * rng.normal(size=12)
    x, w = cp.Variable((2, 13), name="x"), cp.Variable((1, 12), name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + 2 * cp.sum_squares(x[0, :-1] - y)), [x[:, 1:] == A @ x[:, :-1] + B @ w])


def robust_kalman():
    r"""A path from positions of which some are far off.

    A point moves in the plane. Misses of the positions count as in Huber's loss of their length.
    """
    rng = np.random.default_rng(0)
    A, B = np.array([[1.0, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, 0.2], [0.0, 0.0, 0.9, 0.0], [0.0, 0.0, 0.0, 0.9]]), np.eye(4)[:, 2:]
    seen = rng.normal(size=(2, 6)).cumsum(axis=1) * 0.2 + 5.0 * (rng.uniform(size=(2, 6)) < 0.2)
    x, w, v = cp.Variable((4, 7), name="x"), cp.Variable((2, 6), name="w"), cp.Variable((2, 6), name="v")
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ w, x[:2, :-1] + v == seen, x[:, 0] == 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + 2 * cp.sum(cp.huber(cp.norm(v, 2, axis=0), 0.5))), rows)


def battery():
    r"""A battery and a price that changes.

    Energy is bought at the price $p_t$, used or stored: $q_{t+1} = q_t + c_t$, $0 \le q \le Q$, $|c_t| \le C$, nothing is sold, and the
    day ends as it began.
    """
    hours = np.arange(24)
    p, used = 2 - np.cos((hours - 3) * np.pi / 12), 1.5 - np.cos((hours + 8) * np.pi / 6)
    q, c = cp.Variable(25, name="q"), cp.Variable(24, name="c")
    rows = [q[1:] == q[:-1] + c, q[0] == q[24], q >= 0, q <= 6, cp.abs(c) <= 2, used + c >= 0]
    return cp.Problem(cp.Minimize(p @ (used + c)), rows)


def hanging_chain():
    r"""A hanging chain.

    Links of a bounded length hang between two points, above a floor that rises, with the least potential energy $\sum_i y_i$. Source:
    Lobo, Vandenberghe, Boyd and Lebret, Applications of SOCP (1998).
    """
    n = 12
    x, y = cp.Variable(n + 1, name="x"), cp.Variable(n + 1, name="y")
    links = cp.norm(cp.vstack([cp.diff(x), cp.diff(y)]), axis=0)
    rows = [x[0] == 0, y[0] == 1, x[n] == 2, y[n] == 1, links <= 0.25, y >= 0.1 * x + 0.2]
    return cp.Problem(cp.Minimize(cp.sum(y)), rows)


def lyapunov_inequality():
    r"""A system is stable.

    $x' = Ax$ is stable if $V(x) = x^\top Px$ falls: $P \succeq I$ and $A^\top P + PA \preceq -I$. Of these the $P$ of the least trace.
    Source: Boyd, El Ghaoui, Feron and Balakrishnan, Linear Matrix Inequalities (1994).
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    A = A - (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(5)
    P = cp.Variable((5, 5), symmetric=True, name="P")
    return cp.Problem(cp.Minimize(cp.trace(P)), [P >> np.eye(5), A.T @ P + P @ A << -np.eye(5)])


def invariant_ellipsoid():
    r"""The states that bounded disturbances can reach.

    If $QA^\top + AQ + \alpha Q + \frac1\alpha BB^\top \preceq 0$, the ellipsoid $\{x : x^\top Q^{-1}x \le 1\}$ is never left by $x' = Ax
    + Bw$ with $\|w\| \le 1$. Of these the one of the least trace. Source: Abedor, Nagpal and Poolla (1996).
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    A, B = A - (np.linalg.eigvals(A).real.max() + 1.0) * np.eye(4), rng.normal(size=(4, 1))
    Q = cp.Variable((4, 4), PSD=True, name="Q")
    return cp.Problem(cp.Minimize(cp.trace(Q)), [Q @ A.T + A @ Q + Q + B @ B.T << 0])


def h_infinity_norm():
    r"""The largest gain of a system.

    The bounded real lemma: $x' = Ax + Bw$, $z = Cx$ has $\|z\|_2 \le \gamma\|w\|_2$ if a $P \succeq 0$ makes the block matrix of the code
    negative; $g$ is $\gamma^2$. A bound on $P$ keeps the set of all $P$ bounded. Source: Boyd et al. (1994), §6.3.2.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    A = A - (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(4)
    B, C = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    P, g = cp.Variable((4, 4), PSD=True, name="P"), cp.Variable(name="g")
    M = cp.bmat([[A.T @ P + P @ A + C.T @ C, P @ B], [B.T @ P, -g * np.eye(2)]])
    return cp.Problem(cp.Minimize(g), [M << 0, P << 1000 * np.eye(4)])


def state_feedback():
    r"""A feedback by a linear matrix inequality.

    $u = Kx$ with $K = YQ^{-1}$ makes $x' = (A + BK)x$ decay with rate $\alpha$ if $QA^\top + AQ + Y^\top B^\top + BY \preceq -2\alpha Q$.
    Small gains have a small $\|Y\|_F$; without $Q \preceq 100 I$ the best $Q$ may be at infinity. Source: Boyd et al. (1994), §7.2.
    """
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    Q, Y = cp.Variable((4, 4), symmetric=True, name="Q"), cp.Variable((2, 4), name="Y")
    falls = Q @ A.T + A @ Q + Y.T @ B.T + B @ Y + Q
    return cp.Problem(cp.Minimize(cp.norm(Y, "fro")), [Q >> np.eye(4), Q << 100 * np.eye(4), falls << 0])
