r"""The matching loss over a ball: GLM-tron with projection, and Newton steps that solve the quadratic model over the ball exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array
from simopt.problems.matching_loss import MatchingLoss
from simopt.solving.solution import Iterate

RIDGE = 1e-13  # of the largest curvature, so that flat directions have a step
SHORT = 0.25  # a line search that takes less of a Newton step asks for more curvature in the next one
LEAST, VANISHING, FACTOR = 1e-4, 1e-10, 10.0  # of the largest curvature: what is asked for at first, what is let go, and the ratio between
HALVINGS = 60


def projected_gradients(problem: MatchingLoss, max_iter: int, every: int) -> Iterator[Iterate]:
    """w ← w + η Σ p (y − u(⟨w, x⟩)) x, drawn back into the ball: gradient descent with η = 1/(Lip(u) λ_max(Σ p xxᵀ)), p = 1/m or shares."""
    X, y, link, p = problem.features, problem.targets, problem.link, problem.sample_weights.floats
    (m, d), rows = X.shape, X * np.sqrt(p)[:, None]
    small = rows @ rows.T if m < d else rows.T @ rows
    curvature = link.lipschitz * float(np.linalg.eigvalsh(small)[-1])
    w = np.zeros(d)
    for t in range(max_iter):
        g = X.T @ (p * (link.transfer(X @ w) - y))
        if t % every == 0 or t == max_iter - 1:
            yield Iterate({"w": w}, None, problem.radius * float(np.linalg.norm(g)) + float(g @ w))
        if curvature == 0.0:
            return
        w = _inside(w - g / curvature, problem.radius)


def _inside(w: Array, radius: float) -> Array:
    length = float(np.linalg.norm(w))
    return w if length <= radius else w * (radius / length)


def newton_in_ball(problem: MatchingLoss, max_iter: int) -> Iterator[Iterate]:
    """v minimises the second-order model of the loss over ‖v‖ ≤ W; the loss is then minimised between w and v.

    The clipped transfer has no curvature beyond its kinks, and the model's minimum may be far off. If the line search takes little of the
    way, curvatures are raised to a fraction of the largest one, Lip(u), ever more until it takes enough. Then the fraction falls again.
    With d > m all happens in the span of the samples.
    """
    X, basis = problem.features, None
    if X.shape[1] > X.shape[0]:
        basis, triangle = np.linalg.qr(X.T)
        X = triangle.T
    y, link, radius, p = problem.targets, problem.link, problem.radius, problem.sample_weights.floats
    w, f = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    least = 0.0  # curvature of every sample, as a fraction of Lip(u)
    for _ in range(max_iter):
        s = link.transfer(f)
        g = X.T @ (p * (s - y))
        slope = np.maximum(link.slope(f), least * link.lipschitz)
        v = ball_step((X.T * (slope * p)) @ X, g, w, radius)
        move = v - w
        image = X @ move
        decrement = -float(g @ move)
        gap = min(radius * float(np.linalg.norm(g)) + float(g @ w), 2.0 * decrement if least == 0.0 else math.inf)
        yield Iterate({"w": w if basis is None else basis @ w}, None, max(gap, 0.0))
        if decrement <= 0.0:
            return
        ratio = _line_search(problem, f, image)
        w, f = w + ratio * move, f + ratio * image
        if ratio < SHORT:
            least = min(max(least * FACTOR, LEAST), 1.0)
        else:
            least = least / FACTOR if least > VANISHING else 0.0


def ball_step(H: Array, g: Array, w: Array, radius: float) -> Array:
    """argmin over ‖v‖ ≤ W of ⟨g, v − w⟩ + ½(v − w)ᵀH(v − w), H positive semidefinite: v = (H + μI)^{−1}(Hw − g) with ‖v‖ = W or μ = 0.

    H has 1e-13 of its largest eigenvalue added to each. One eigendecomposition; then 1/‖v(μ)‖ is concave and nearly linear in μ, and
    Newton's method finds where it is 1/W.
    """
    values, basis = np.linalg.eigh(H)
    values = np.maximum(values, 0.0)
    ridge = RIDGE * float(values[-1])
    if ridge == 0.0:
        length = float(np.linalg.norm(g))
        return w.copy() if length == 0.0 else g * (-radius / length)
    values = values + ridge
    b = values * (basis.T @ w) - basis.T @ g
    mu = 0.0
    for _ in range(100):
        v = b / (values + mu)
        length = float(np.linalg.norm(v))
        if length <= radius * (1.0 + 1e-14):
            break
        derivative = float(np.sum(v * v / (values + mu))) / length
        mu += (length - radius) / radius * length / derivative
    out: Array = basis @ v
    return _inside(out, radius)


def _line_search(problem: MatchingLoss, f: Array, image: Array) -> float:
    """The t in (0, 1] that minimises the loss at f + t image: by bisection, until its slope is a tenth of that at 0, or 60 times; or 1."""
    link, y, pull = problem.link, problem.targets, problem.sample_weights.floats * image

    def slope(t: float) -> float:
        return float(pull @ (link.transfer(f + t * image) - y))

    start = slope(0.0)
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(HALVINGS):
        here = slope(t)
        if abs(here) <= 0.1 * abs(start) or (here < 0.0 and t == 1.0):
            break
        low, high = (t, high) if here < 0.0 else (low, t)
        t = 0.5 * (low + high)
    return t
