"""Design: circuits, structures, floors."""

import cvxpy as cp
import numpy as np


def transistor_sizing():
    r"""Gates of a circuit.

    A geometric programme: gate $i$ of a chain has the size $x_i$, and delays by $(1 + x_{i+1}/x_i)$; the delay is bounded, the area
    least. Source: Boyd, Kim, Patil and Horowitz, Digital Circuit Optimization via Geometric Programming (2005).
    """
    x = cp.Variable(5, pos=True, name="x")
    area = np.array([1.0, 2.0, 1.5, 1.0, 2.0]) @ x
    loads = [x[1] / x[0], x[2] / x[1], x[3] / x[2], x[4] / x[3], 64 / x[4]]
    return cp.Problem(cp.Minimize(area), [x >= 1, sum(loads) + 5 <= 18])


def gate_network():
    r"""The slowest way through a circuit.

    A geometric programme: a path's delay is the sum of its gates' delays, and the longest path is a maximum of posynomials.
    """
    x = cp.Variable(4, pos=True, name="x")
    delay = [(x[1] + x[2]) / x[0], x[3] / x[1], 10 / x[2], 10 / x[3]]
    slowest = cp.maximum(delay[0] + delay[1] + delay[3], delay[0] + delay[2])
    return cp.Problem(cp.Minimize(slowest), [cp.sum(x) <= 20, x >= 0.5])


def floor_planning():
    r"""Four rooms in a rectangle.

    A geometric programme: rooms A, B above C, D side by side; each has its area and a bounded aspect, and the rectangle is smallest.
    Source: Boyd, Kim, Vandenberghe and Hassibi (2007), §6.1.
    """
    areas = np.array([2.0, 3.0, 4.0, 2.5])
    w, h = cp.Variable(4, pos=True, name="w"), cp.Variable(4, pos=True, name="h")
    W, H = cp.Variable(pos=True, name="W"), cp.Variable(pos=True, name="H")
    rows = [w[0] + w[1] <= W, w[2] + w[3] <= W, cp.maximum(h[0], h[1]) + cp.maximum(h[2], h[3]) <= H]
    rows += [cp.multiply(w, h) >= areas, h / w <= 2, w / h <= 2]
    return cp.Problem(cp.Minimize(W * H), rows)


def cantilever_beam():
    r"""A cantilever beam.

    A geometric programme: five segments of width $w_i$ and height $h_i$ carry a load at the end. Stress is bounded by $6iF/(w_ih_i^2) \le
    \sigma$, the shape by $h_i/w_i$, and the volume is least. Source: Boyd et al. (2007), §6.2, without the deflection.
    """
    w, h = cp.Variable(5, pos=True, name="w"), cp.Variable(5, pos=True, name="h")
    lever = np.arange(1, 6)
    stress = cp.multiply(6 * lever, cp.multiply(w**-1, h**-2))
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(w, h))), [stress <= 10, h / w <= 3, w / h <= 3, w >= 0.5])


def floor_plan_of_fixed_order():
    r"""A floor plan of least perimeter.

    With the order of the rooms fixed, the convex constraint $w_ih_i \ge a_i$ is $\sqrt{w_ih_i} \ge \sqrt{a_i}$, and the half perimeter is
    least. Source: Boyd and Vandenberghe, §8.8.
    """
    areas = np.array([2.0, 3.0, 4.0, 2.5])
    w, h, size = cp.Variable(4, name="w"), cp.Variable(4, name="h"), cp.Variable(2, name="size")
    rows = [w[0] + w[1] <= size[0], w[2] + w[3] <= size[0], cp.maximum(h[0], h[1]) + cp.maximum(h[2], h[3]) <= size[1]]
    rows += [cp.geo_mean(cp.hstack([w[i], h[i]])) >= np.sqrt(areas[i]) for i in range(4)]
    return cp.Problem(cp.Minimize(cp.sum(size)), [*rows, h <= 2 * w, w <= 2 * h])


def truss():
    r"""The lightest truss.

    Dorn, Gomory and Greenberg (1964): bars between the nodes of a grid, with forces $q$ in balance, $Bq = f$; a bar needs material in
    proportion to length and force, $\sum_i\ell_i|q_i|$.
    """
    nodes = np.array([[x, y] for x in range(4) for y in range(3)], float)
    pairs = [(i, j) for i in range(12) for j in range(i) if np.abs(nodes[i] - nodes[j]).max() == 1]
    B, lengths = np.zeros((12, 2, len(pairs))), np.array([np.linalg.norm(nodes[i] - nodes[j]) for i, j in pairs])
    for k, (i, j) in enumerate(pairs):
        B[i, :, k], B[j, :, k] = (nodes[i] - nodes[j]) / lengths[k], (nodes[j] - nodes[i]) / lengths[k]
    load = np.zeros((12, 2))
    load[10, 1] = -1.0  # at the middle of the right side; the left side is a wall
    q = cp.Variable(len(pairs), name="q")
    return cp.Problem(cp.Minimize(lengths @ cp.abs(q)), [B[3:].reshape(18, -1) @ q == load[3:].ravel()])


def truss_compliance():
    r"""The stiffest truss.

    Ben-Tal and Nemirovski (1997): bars of volumes $t \ge 0$ have the stiffness $K(t) = \sum_i t_ib_ib_i^\top$, and the load $f$ does the
    work $f^\top K(t)^{-1}f$, a `matrix_frac`.
    """
    rng = np.random.default_rng(0)
    b, f = rng.normal(size=(4, 12)), rng.normal(size=4)
    t = cp.Variable(12, nonneg=True, name="t")
    return cp.Problem(cp.Minimize(cp.matrix_frac(f, b @ cp.diag(t) @ b.T)), [cp.sum(t) == 1])


def hanging_springs():
    r"""Masses on springs.

    Lobo et al. (1998): springs between masses have an energy $\frac12 k\,(\ell - \ell_0)_+^2$ where they are stretched; weights pull
    down, and the equilibrium has the least energy.
    """
    n = 8
    p = cp.Variable((n + 1, 2), name="p")
    stretched = cp.pos(cp.norm(p[1:] - p[:-1], axis=1) - 0.2)
    energy = 25 * cp.sum_squares(stretched) + cp.sum(p[1:-1, 1])
    return cp.Problem(cp.Minimize(energy), [p[0] == np.array([0.0, 1.0]), p[n] == np.array([2.0, 1.0])])


def d_optimal_design():
    r"""Experiments that say most, by volume.

    Weights $\lambda$ of twelve experiments $v_i$; the confidence ellipsoid is smallest where $\log\det\sum_i\lambda_iv_iv_i^\top$ is
    largest. Source: Boyd and Vandenberghe, §7.5.
    """
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3, 12))
    w = cp.Variable(12, nonneg=True, name="w")
    return cp.Problem(cp.Maximize(cp.log_det(V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


def a_optimal_design():
    r"""Experiments that say most, by mean error.

    The sum of the variances is $\operatorname{tr}(\sum_i\lambda_iv_iv_i^\top)^{-1}$. Source: Boyd and Vandenberghe, §7.5.
    """
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3, 12))
    w = cp.Variable(12, nonneg=True, name="w")
    return cp.Problem(cp.Minimize(cp.tr_inv(V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


def e_optimal_design():
    r"""Experiments that say most, by the worst direction.

    The largest variance in any direction is 1 over the least eigenvalue of $\sum_i\lambda_iv_iv_i^\top$. Source: Boyd and Vandenberghe,
    §7.5.
    """
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3, 12))
    w = cp.Variable(12, nonneg=True, name="w")
    return cp.Problem(cp.Maximize(cp.lambda_min(V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


def c_optimal_design():
    r"""Experiments for one quantity.

    Elfving (1952): the variance of $c^\top x$ is $c^\top(\sum_i\lambda_iv_iv_i^\top)^{-1}c$.
    """
    rng = np.random.default_rng(0)
    V, c = rng.normal(size=(3, 12)), rng.normal(size=3)
    w = cp.Variable(12, nonneg=True, name="w")
    return cp.Problem(cp.Minimize(cp.matrix_frac(c, V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


def sensor_placement():
    r"""Where sensors stand.

    Joshi and Boyd (2009): of 15 sensors five are chosen, $z_i \in \{0, 1\}$ relaxed to $[0, 1]$; what they measure leaves the smallest
    confidence ellipsoid.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(15, 3))
    z = cp.Variable(15, name="z")
    return cp.Problem(cp.Maximize(cp.log_det(A.T @ cp.diag(z) @ A)), [cp.sum(z) == 5, z >= 0, z <= 1])
