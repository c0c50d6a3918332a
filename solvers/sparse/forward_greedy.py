r"""Algorithm 2 of Kar & Jain, forward greedy selection over the ℓ₁ ball: as printed, as corrected, and with better steps.

Let R be the smoothed ε-insensitive loss, θ = ∇R(w), r the index of the largest |θ_j|, and δ = ⟨θ, w⟩ + C‖θ‖_∞ ≥ R(w) − R*. A step is
    w ← (1 − η) w − η C sign(θ_r) e_r.
The loss falls by at least ηδ − 2η²βC²X², X = max |Ψ_ij|, since |⟨ψ_i, v⟩| ≤ 2CX for the direction v, whatever the samples weigh. The
rules:
    "printed"      η = min(1, δ/(4C²β)), at most k = ⌈8C²/ε²⌉ steps: right for X ≤ 1 and β ≤ 1/ε, which the paper has in mind;
    "corrected"    η = min(1, δ/(4C²βX²)), k = ⌈8βC²X²/ε⌉: then R(w) − R* ≤ ε after k steps, whatever X, β and ε are;
    "line-search"  the best η in [0, 1]; k as corrected, as no step falls short of the one above;
    "pairwise"     weight goes from the worst vertex that has some to the best one, by exact line search: converges linearly; at most k
                   steps as corrected, which prove nothing here: a step that takes all weight from a vertex may be short;
    "corrective"   the same, and after as many steps as w has entries the loss is minimised over these by Newton's method: where features
                   are nearly dependent (smooth similarities of few points) pairwise steps take tens of thousands to trade them off.
Each stops where δ ≤ ε. Among w's entries at most one a step is not 0.
Source: Kar & Jain 2012, Algorithm 2 and Appendix D.1 (the first rule); Shalev-Shwartz, Srebro & Zhang 2010, Theorem 2.4 (the count);
Lacoste-Julien & Jaggi 2015 (pairwise steps).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.row_blocks import LARGE, RowBlocks
from simopt.data.rows import Indices
from simopt.model.problem import Problem
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.active_columns import ActiveSet, SmoothedLoss

RULES = ("printed", "corrected", "line-search", "pairwise", "corrective")
SOLVED = 0.1  # of δ: the gap that a correction leaves
MOST = 1e18  # steps that anybody can count
REFRESH = 1000  # steps after which predictions are computed afresh


@dataclass(frozen=True, eq=False)
class GreedyStep:
    """w^(t) with what line 3 to 6 of the algorithm find there: the gradient's c = ℓ', δ_t, η_t, the pick.

    η is 0 for the rules "pairwise" and "corrective", and where δ = 0.
    """

    weights: Array
    slopes: Array
    delta: float
    eta: float
    pick: int


@dataclass(frozen=True, eq=False)
class GreedyRun:
    """A run of Algorithm 2.

    Attributes
    ----------
    weights : (d,) array
        ŵ.
    deltas, etas, losses : (t + 1,) arrays
        δ, η and R at w^(0), …, w^(t) = ŵ.
    picks : (t + 1,) array of ints
        the coordinate of largest |θ_j| at each of these.
    limit : int
        k.
    reached : bool
        whether δ_t ≤ ε.
    """

    weights: Array
    deltas: Array
    etas: Array
    losses: Array
    picks: Indices
    limit: int
    reached: bool

    @property
    def steps(self) -> int:
        """t, which bounds the number of entries of ŵ that are not 0."""
        return len(self.deltas) - 1


def iteration_count(problem: SparseLandmarked, tolerance: float, rule: str = "printed") -> int:
    """k: ⌈8C²/ε²⌉ as printed, else ⌈8βC²X²/ε⌉."""
    accuracy = validate.positive("tolerance", tolerance)
    with np.errstate(all="ignore"):
        if rule == "printed":
            count = 8.0 * np.float64(problem.radius) ** 2 / np.float64(accuracy) ** 2
        else:
            count = 8.0 * problem.smoothness * np.float64(problem.radius * largest_entry(problem)) ** 2 / accuracy
    if not count < MOST:
        raise InvalidProblem(f"tolerance: {accuracy:g} takes {count:g} steps; a larger one needed")
    return math.ceil(count)


def largest_entry(problem: SparseLandmarked) -> float:
    """X = max |Ψ_ij| over the samples that count."""
    counted = problem.sample_weights.floats > 0.0
    return max(float(np.max(np.abs(block[counted[part]]), initial=0.0)) for part, block in RowBlocks(problem.features, LARGE))


def forward_greedy(problem: SparseLandmarked, tolerance: float, *, rule: str = "printed", steps: int | None = None) -> GreedyRun:
    """Algorithm 2 with error tolerance ε on one problem: one product Ψᵀc a step, and one Ψw for the record of R.

    Parameters
    ----------
    problem : SparseLandmarked
        with β < ∞; C is its radius.
    tolerance : float
        ε > 0, in the unit of the loss.
    rule : str
        "printed", "corrected", "line-search", "pairwise" or "corrective".
    steps : int, optional
        at most so many steps instead of k.

    Raises
    ------
    InvalidProblem
        for β = ∞, an unknown rule, or a tolerance that is not finite. Without `steps` also for a tolerance that is not positive or takes
        1e18 steps or more.
    """
    tolerance, rule = validate.finite("tolerance", tolerance), validate.choice("rule", rule, RULES)
    limit = iteration_count(problem, tolerance, rule) if steps is None else validate.whole("steps", steps)
    weights = problem.trivial_point()["w"]
    deltas, etas, losses, picks = [], [], [], []
    for t, step in enumerate(greedy_steps(problem, rule)):
        weights = step.weights.copy()
        deltas.append(step.delta)
        etas.append(step.eta)
        picks.append(step.pick)
        losses.append(float(problem.objective({"w": weights})))
        if step.delta <= tolerance or t == limit:
            break
    reached = deltas[-1] <= tolerance
    return GreedyRun(weights, np.array(deltas), np.array(etas), np.array(losses), np.array(picks, dtype=np.intp), limit, reached)


def greedy_steps(problem: SparseLandmarked, rule: str = "printed") -> Iterator[GreedyStep]:
    """w^(0) = 0, w^(1), … without end, until δ = 0 or no vertex is better than one with weight. A step's arrays are written on by the next.

    Raises
    ------
    InvalidProblem
        for β = ∞.
    """
    reason = rough(problem)
    if reason is not None:
        raise InvalidProblem(f"smoothness: {reason}")
    run = _GreedyFit(problem)
    if rule in ("pairwise", "corrective"):
        yield from run.pairwise(corrective=rule == "corrective")
        return
    curvature = 4.0 * problem.radius**2 * problem.smoothness * (1.0 if rule == "printed" else largest_entry(problem) ** 2)
    while True:
        theta, c = run.gradient()
        r, delta = run.pick(theta)
        eta = min(1.0, delta / curvature) if curvature > 0.0 else 1.0
        if delta == 0.0:
            yield GreedyStep(run.weights, c, delta, 0.0, r)
            return
        target = math.copysign(problem.radius, -theta[r])
        move = run.column(r) * target - run.predictions
        if rule == "line-search":
            eta = run.loss.best_step(run.predictions - problem.targets, move)
        yield GreedyStep(run.weights, c, delta, eta, r)
        run.weights *= 1.0 - eta
        run.weights[r] += eta * target
        run.advance(eta * move)


class _GreedyFit:
    """w, its predictions, and what a step asks of the features."""

    def __init__(self, problem: SparseLandmarked) -> None:
        self.problem, self.rows = problem, RowBlocks(problem.features, LARGE)
        self.loss = SmoothedLoss(problem.targets, problem.epsilon, problem.smoothness, problem.sample_weights.floats)
        self.n, self.d = self.rows.shape
        self.weights, self.predictions = np.zeros(self.d), np.zeros(self.n)
        self._taken = 0

    def gradient(self) -> tuple[Array, Array]:
        """θ = ∇R(w) and c."""
        c = self.loss.slopes(self.predictions - self.problem.targets)
        weighed = self.loss.sample_weights * c
        theta: Array = sum((weighed[part] @ block for part, block in self.rows), np.zeros(self.d))
        return theta, c

    def pick(self, theta: Array) -> tuple[int, float]:
        """r and δ, as a sum of non-negative terms."""
        r = int(np.argmax(np.abs(theta)))
        largest, size = abs(float(theta[r])), np.abs(self.weights)
        slack = max(self.problem.radius - float(np.sum(size)), 0.0) * largest
        return r, slack + float(size @ np.maximum(largest + np.sign(self.weights) * theta, 0.0))

    def column(self, j: int) -> Array:
        """Ψ e_j."""
        return np.concatenate([block[:, j] for _, block in self.rows])

    def advance(self, change: Array) -> None:
        """New predictions; from w itself every so often, as the changes' rounding adds up."""
        self._taken += 1
        if self._taken % REFRESH == 0:
            self.predictions = np.concatenate([block @ self.weights for _, block in self.rows])
        else:
            self.predictions = self.predictions + change

    def pairwise(self, *, corrective: bool = False) -> Iterator[GreedyStep]:
        """Steps between vertices: 0 (the first) and ±C e_j, of which w is the mean with masses α."""
        C, d = self.problem.radius, self.d
        alpha = np.zeros(2 * d + 1)
        alpha[0] = 1.0
        active, since = ActiveSet(self.problem.features, self.loss, C), 0
        while True:
            if corrective and since >= np.count_nonzero(self.weights) > 0:
                self.correct(active, alpha)
                since = 0
            since += 1
            theta, c = self.gradient()
            r, delta = self.pick(theta)
            yield GreedyStep(self.weights, c, delta, 0.0, r)
            if delta == 0.0:
                return
            scores = np.concatenate([[0.0], theta, -theta])
            best = int(np.argmin(scores))
            worst = int(np.argmax(np.where(alpha > 0.0, scores, -np.inf)))
            if not scores[best] < scores[worst]:
                return
            image = alpha[worst] * (self._vertex(best) - self._vertex(worst))
            step = self.loss.best_step(self.predictions - self.problem.targets, image)
            mass = alpha[worst] * step
            alpha[best] += mass
            alpha[worst] = 0.0 if step == 1.0 else alpha[worst] - mass
            self.weights[:] = C * (alpha[1 : d + 1] - alpha[d + 1 :])
            self.advance(step * image)

    def correct(self, active: ActiveSet, alpha: Array) -> None:
        """Minimise the loss over the entries of w that are not 0, and write w and its masses."""
        active.move_to(self.weights)
        active.correct(SOLVED * self.pick(active.gradient(self.loss.slopes(active.residual)))[1])
        self.weights[:] = active.weights_of_all()
        self.predictions = active.residual + self.problem.targets
        fractions = self.weights / self.problem.radius
        alpha[1 : self.d + 1], alpha[self.d + 1 :] = np.maximum(fractions, 0.0), np.maximum(-fractions, 0.0)
        alpha[0] = max(1.0 - float(np.sum(np.abs(fractions))), 0.0)

    def _vertex(self, v: int) -> Array:
        if v == 0:
            return np.zeros(self.n)
        return self.column((v - 1) % self.d) * (self.problem.radius if v <= self.d else -self.problem.radius)


def rough(problem: Problem) -> str | None:
    """Why Algorithm 2 does not apply: β = ∞; else None."""
    if isinstance(problem, SparseLandmarked) and problem.smoothness == math.inf:
        return "the ε-insensitive loss itself (β = ∞) is not smooth, and δ_t would not go to 0; Algorithm 2 needs a finite β"
    return None
