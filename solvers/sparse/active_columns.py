r"""The smoothed ε-insensitive loss over the ℓ₁ ball: Newton steps on a growing set S of columns, projected gradients over all of them.

On S the model has the curvature β Σ_{i∈A} p_i x_i x_iᵀ of the samples A in the quadratic zone, p_i = 1/n or the weights of the samples.
`damping` times that of all samples is added: it keeps few samples in A from sending the others far. With damping 1 the model lies above the
loss, and steps are whole. It is minimised over the ball (see `l1_face`), the loss along the segment to its minimiser. Steps below ½ raise
the damping. So do whole ones after which the gap is no smaller, but not beyond 1e-6; the other whole ones lower it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.data.row_blocks import LARGE, RowBlocks
from simopt.solvers.sparse.l1_face import model_minimiser, project

FEWEST = 10  # columns that may always join S at once
STEPS = 30
POWER_STEPS = 20
FIRST_DAMPING, LEAST_DAMPING = 0.1, 1e-10
FIRM = 1e-6  # damping with which a step is rounded by ε / 1e-6 = 2e-10 of itself at most
EASIER, SHORT = 10.0, 0.5


class SmoothedLoss:
    """Σ p_i ℓ̃_β(r_i) of residuals r = Xw − y, p_i = 1/n or weights: slopes, curvatures and the best step along a line."""

    def __init__(self, targets: Array, epsilon: float, smoothness: float, sample_weights: Array | None = None) -> None:
        self.targets, self.epsilon, self.beta = targets, epsilon, smoothness
        self.sample_weights = np.full(len(targets), 1.0 / len(targets)) if sample_weights is None else sample_weights

    def slopes(self, residual: Array) -> Array:
        """c = ℓ̃_β'(r) in [−1, 1]."""
        size = np.minimum(np.maximum(np.abs(residual) - self.epsilon, 0.0) * self.beta, 1.0)
        signed: Array = np.copysign(size, residual)
        return signed

    def curvatures(self, residual: Array, damping: float) -> Array:
        """β in the quadratic zone ε < |r| < ε + 1/β, and `damping` · β besides, everywhere."""
        over = (np.abs(residual) - self.epsilon) * self.beta
        quadratic = ((over > 0.0) & (over < 1.0)).astype(np.float64)
        return self.beta * (quadratic + damping)

    def best_step(self, residual: Array, image: Array) -> float:
        """The t in [0, 1] at which the loss of r + t·image is least: the slope is piecewise linear and increasing in t.

        Bisection and false position by turns, until the slope is 1e-9 of its value at 0, or 50 times.
        """

        weighed = self.sample_weights * image

        def slope(t: float) -> float:
            return float(weighed @ self.slopes(residual + t * image))

        high, above = 1.0, slope(1.0)
        if above <= 0.0:
            return 1.0
        low, below = 0.0, slope(0.0)
        if below >= 0.0:
            return 0.0
        start, t = below, 0.0
        for k in range(50):
            t = low - below * (high - low) / (above - below) if k % 2 else 0.5 * (low + high)
            here = slope(t)
            if abs(here) <= 1e-9 * abs(start):
                break
            if here < 0.0:
                low, below = t, here
            else:
                high, above = t, here
        return t


class ActiveSet:
    """w on S, its residual, and the Newton steps on S."""

    def __init__(self, features: Any, loss: SmoothedLoss, radius: float) -> None:
        self.rows = RowBlocks(features, LARGE)
        self.loss, self.radius = loss, radius
        self.S = np.empty(0, dtype=np.intp)
        self.columns = np.empty((self.rows.shape[0], 0))
        self.w = np.empty(0)
        self.residual = -loss.targets
        self.damping = FIRST_DAMPING

    @cached_property
    def largest_square(self) -> float:
        """1.05 times what 20 steps of the power method say of λ_max(Σ p_i x_i x_iᵀ); no proven bound on it."""
        d = self.rows.shape[1]
        v, size = 1.0 + np.arange(d) % 7 / 8, 0.0
        for _ in range(POWER_STEPS):
            v = v / np.linalg.norm(v)
            v = sum(((self.loss.sample_weights[part] * (block @ v)) @ block for part, block in self.rows), np.zeros(d))
            size = float(np.linalg.norm(v))
            if size == 0.0:
                return 0.0
        return 1.05 * size

    def gradient(self, c: Array) -> Array:
        """G = Σ p_i c_i x_i over all columns."""
        weighed = self.loss.sample_weights * c
        return sum((weighed[part] @ block for part, block in self.rows), np.zeros(self.rows.shape[1]))

    def predict(self, w: Array) -> Array:
        """Xw."""
        return np.concatenate([block @ w for _, block in self.rows])

    def _read(self, chosen: npt.NDArray[np.intp]) -> Array:
        return np.concatenate([block[:, chosen] for _, block in self.rows])

    def gap(self, G: Array) -> float:
        """⟨G, w⟩ + B‖G‖_∞ as a sum of non-negative terms; G over all columns or over S."""
        here = G[self.S] if len(G) == self.rows.shape[1] else G
        largest = float(np.max(np.abs(G), initial=0.0))
        slack = max(self.radius - float(np.sum(np.abs(self.w))), 0.0) * largest
        return slack + float(np.abs(self.w) @ np.maximum(largest + np.sign(self.w) * here, 0.0))

    def grow(self, G: Array, fraction: float) -> bool:
        """Columns with |G_j| ≥ fraction · max join, at most max(10, |S|/2) of them, the largest first; columns of weight 0 leave.

        False if none joins.
        """
        keep = self.w != 0.0
        if not np.all(keep):
            self.S, self.w, self.columns = self.S[keep], self.w[keep], self.columns[:, keep]
        size = np.abs(G)
        size[self.S] = 0.0
        enough = fraction * float(np.max(np.abs(G), initial=0.0))
        most = max(FEWEST, len(self.S) // 2)
        order = np.argsort(-size, kind="stable")[:most]
        new = order[(size[order] >= enough) & (size[order] > 0.0)]
        if not new.size:
            return False
        self.S = np.concatenate([self.S, new])
        self.w = np.concatenate([self.w, np.zeros(len(new))])
        self.columns = np.column_stack([self.columns, self._read(new)])
        return True

    def correct(self, goal: float) -> None:
        """Newton steps on S until its gap is at most `goal`, or no step helps though the damping is 1, or 30 have been made."""
        before, step = math.inf, 0.0
        for _ in range(STEPS if self.S.size else 0):
            g = (self.loss.sample_weights * self.loss.slopes(self.residual)) @ self.columns
            gap = self.gap(g)
            if step == 1.0 and gap < before:
                self.damping = max(self.damping / EASIER, LEAST_DAMPING)
            elif step == 1.0:  # nothing gained: either the samples in A change, or the model is too flat to be solved more closely
                self.damping = max(self.damping, min(self.damping * EASIER, FIRM))
            if gap <= goal:
                break
            before, step = gap, self._step(g)
            if step == 0.0 and self.damping >= 1.0:
                break
            if step < SHORT:
                self.damping = min(self.damping / max(step, 0.1), 1.0)
        self.refresh()

    def refresh(self) -> None:
        """The residual afresh from w."""
        self.residual = self.columns @ self.w - self.loss.targets

    def _step(self, g: Array) -> float:
        weights = self.loss.curvatures(self.residual, self.damping) * self.loss.sample_weights
        sign = np.where(self.w != 0.0, np.sign(self.w), -np.sign(g))
        signed = self.columns * sign
        H = signed.T @ (signed * weights[:, None])
        slope = sign * g
        # a column of weight 0 is free where weight that moves to it, from the others if the ball is full, lowers the loss
        full = float(np.sum(np.abs(self.w))) >= self.radius * (1.0 - 1e-12)
        level = min(float(g @ self.w) / self.radius, 0.0) if full else 0.0
        z = model_minimiser(H, slope, np.abs(self.w), self.radius, (self.w != 0.0) | (slope < level))
        move = sign * z - self.w
        if not float(g @ move) < 0.0:
            return 0.0
        image = self.columns @ move
        step = self.loss.best_step(self.residual, image)
        self.w = sign * z if step == 1.0 else self.w + step * move
        self.residual = self.residual + step * image
        return step

    def weights_of_all(self) -> Array:
        """w over all columns."""
        out = np.zeros(self.rows.shape[1])
        out[self.S] = self.w
        return out

    def move_to(self, w: Array) -> None:
        """Another w."""
        self.S = np.flatnonzero(w)
        self.w, self.columns = w[self.S], self._read(self.S)
        self.refresh()


def accelerated(active: ActiveSet, steps: int) -> None:
    """Projected gradient steps with momentum over all columns, restarted where the momentum points uphill. Two products with X a step."""
    loss, curvature = active.loss, active.loss.beta * active.largest_square
    if curvature == 0.0:
        return
    w = active.weights_of_all()
    f = active.predict(w)
    point, image = w, f
    theta = 1.0
    for _ in range(steps):
        G = active.gradient(loss.slopes(image - loss.targets))
        new = project(point - G / curvature, active.radius)
        f_new = active.predict(new)
        if float((point - new) @ (new - w)) > 0.0:
            theta = 1.0
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
        momentum = (theta - 1.0) / following
        point, image = new + momentum * (new - w), f_new + momentum * (f_new - f)
        w, f, theta = new, f_new, following
    active.move_to(w)
