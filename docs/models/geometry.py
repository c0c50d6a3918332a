"""Geometry: balls, ellipsoids, distances."""

import cvxpy as cp
import numpy as np


def chebyshev_centre():
    r"""The largest ball in a polyhedron.

    The ball of centre $x$ and radius $r$ lies in $\{x : Ax \le b\}$ where $a_i^\top x + r\|a_i\| \le b_i$. Source: Boyd and Vandenberghe,
    §8.5.1.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 3))
    b = A @ np.ones(3) + rng.uniform(0.5, 2.0, 20)
    x, r = cp.Variable(3, name="x"), cp.Variable(name="r")
    return cp.Problem(cp.Maximize(r), [A @ x + r * np.linalg.norm(A, axis=1) <= b])


def analytic_centre():
    r"""The analytic centre of a polyhedron.

    The point with the largest product of slacks, $\sum_i\log(b_i - a_i^\top x)$. Source: Boyd and Vandenberghe, §8.5.3.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 3))
    b = A @ np.ones(3) + rng.uniform(0.5, 2.0, 20)
    x = cp.Variable(3, name="x")
    return cp.Problem(cp.Maximize(cp.sum(cp.log(b - A @ x))))


def smallest_ball():
    r"""The smallest ball around points.

    Sylvester (1857): the centre $c$ with the least $\max_k\|x_k - c\|_2$.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    c = cp.Variable((1, 3), name="c")
    return cp.Problem(cp.Minimize(cp.max(cp.norm(X - np.ones((40, 1)) @ c, axis=1))))


def fermat_weber():
    r"""A meeting point.

    Weber (1909): the point with the least weighted sum of distances to given points.
    """
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20, 2)), rng.uniform(1, 3, 20)
    c = cp.Variable((1, 2), name="c")
    return cp.Problem(cp.Minimize(weights @ cp.norm(X - np.ones((20, 1)) @ c, axis=1)))


def placement():
    r"""Placing points with springs.

    Free points lie so that the fourth powers of the lengths of all links are least; some points are fixed. Source: Boyd and Vandenberghe,
    §8.7.
    """
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    P = cp.Variable((6, 2), name="P")
    to_corners = P[[0, 1, 3, 4]] - corners
    to_each_other = P - P[[1, 2, 3, 4, 5, 0]]
    links = cp.norm(cp.vstack([to_corners, to_each_other]), axis=1)
    return cp.Problem(cp.Minimize(cp.sum(cp.power(links, 4))))


def polyhedra_distance():
    r"""The distance between two polyhedra.

    The least $\|x - y\|_2$ with $Ax \le b$ and $Cy \le d$. Source: Boyd and Vandenberghe, §8.2.2.
    """
    rng = np.random.default_rng(0)
    A, C = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    b, d = A @ np.array([3.0, 3.0, 3.0]) + 1, C @ np.array([-3.0, -3.0, -3.0]) + 1
    x, y = cp.Variable(3, name="x"), cp.Variable(3, name="y")
    return cp.Problem(cp.Minimize(cp.norm(x - y)), [A @ x <= b, C @ y <= d])


def intersection_projection():
    r"""The nearest point of an intersection.

    Of all points in a ball, a half-space and a second-order cone the one nearest to a point outside.
    """
    a = np.array([3.0, -2.0, 1.0])
    x = cp.Variable(3, name="x")
    rows = [cp.norm(x) <= 2, cp.sum(x) <= 1, cp.norm(x[:2]) <= x[2] + 1]
    return cp.Problem(cp.Minimize(cp.sum_squares(x - a)), rows)


def minimum_volume_ellipsoid():
    r"""The smallest ellipsoid around points.

    Löwner and John: $\{x : \|Ax + b\| \le 1\}$ has the volume $1/\det A$ in units of the ball's. Source: Boyd and Vandenberghe, §8.4.1.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    A, b = cp.Variable((2, 2), PSD=True, name="A"), cp.Variable((1, 2), name="b")
    return cp.Problem(cp.Minimize(-cp.log_det(A)), [cp.norm(X @ A + np.ones((20, 1)) @ b, axis=1) <= 1])


def centred_ellipsoid():
    r"""The smallest ellipsoid around points, with its centre at 0.

    $\{x : x^\top Mx \le 1\}$ with $x_k^\top Mx_k \le 1$, and the largest $\log\det M$. Its dual is D-optimal design (Titterington 1975).
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    M = cp.Variable((3, 3), PSD=True, name="M")
    squares = np.array([np.outer(x, x).ravel() for x in X]) @ cp.vec(M, order="C")
    return cp.Problem(cp.Maximize(cp.log_det(M)), [squares <= 1])


def inscribed_ellipsoid():
    r"""The largest ellipsoid in a polyhedron.

    $\{Bu + d : \|u\| \le 1\}$ lies in $\{x : Ax \le b\}$ where $\|Ba_i\| + a_i^\top d \le b_i$. Source: Boyd and Vandenberghe, §8.4.2.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 2))
    b = rng.uniform(0.5, 2.0, 12)
    B, d = cp.Variable((2, 2), PSD=True, name="B"), cp.Variable(2, name="d")
    return cp.Problem(cp.Maximize(cp.log_det(B)), [cp.norm(A @ B, axis=1) + A @ d <= b])


def euclidean_distances():
    r"""Points from some of their distances.

    Alfakih, Khandani and Wolkowicz (1999): squared distances $G_{ii} + G_{jj} - 2G_{ij}$ are linear in the Gram matrix $G \succeq 0$,
    which fits those that were measured, and has a small trace.
    """
    rng = np.random.default_rng(0)
    points = rng.normal(size=(8, 2))
    pairs = [(i, j) for i in range(8) for j in range(i) if rng.random() < 0.6]
    steps = np.eye(8)[[i for i, _ in pairs]] - np.eye(8)[[j for _, j in pairs]]
    seen = ((steps @ points) ** 2).sum(axis=1) * (1 + 0.1 * rng.normal(size=len(pairs)))
    G = cp.Variable((8, 8), PSD=True, name="G")
    squares = np.array([np.outer(step, step).ravel() for step in steps]) @ cp.vec(G, order="C")
    return cp.Problem(cp.Minimize(cp.norm1(squares - seen) + 0.1 * cp.trace(G)))


def sensor_localization():
    r"""Where sensors are.

    Biswas and Ye (2004): positions $x_i$ in the plane, of which distances to anchors and to each other are measured. With $Y \succeq
    X^\top X$ they are linear in $Z = \begin{pmatrix}I & X\\X^\top & Y\end{pmatrix} \succeq 0$.
    """
    rng = np.random.default_rng(0)
    anchors, points = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), rng.uniform(-1, 1, (4, 2))
    rays = [np.r_[a, -np.eye(4)[i]] for a in anchors for i in range(4)]
    rays += [np.r_[0, 0, np.eye(4)[i] - np.eye(4)[j]] for i in range(4) for j in range(i)]
    truth = np.vstack([np.eye(2), points]) @ np.vstack([np.eye(2), points]).T
    A = np.array([np.outer(ray, ray).ravel() for ray in rays])
    seen = A @ truth.ravel() * (1 + 0.05 * rng.normal(size=len(rays)))
    Z = cp.Variable((6, 6), PSD=True, name="Z")
    return cp.Problem(cp.Minimize(cp.norm1(A @ cp.vec(Z, order="C") - seen)), [Z[:2, :2] == np.eye(2)])
