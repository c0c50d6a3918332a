"""Step rules of Frank–Wolfe methods on ‖ω − ω̃‖² over a hull of atoms: where to go from ω̃, and how far.

With the gradient g_j = ⟨ω̃ − ω, ψ_j⟩, s = argmin_j g_j over all atoms and a = argmax_j g_j over those with weight,

    uniform        ω̃ ← (t ω̃ + ψ_s)/(t + 1): every pick weighs the same                    O(1/t) for the error in low dimension, else 1/√t
    line-search    towards ψ_s, as far as the error falls (Algorithm 1 of the paper)        O(1/t) for the squared error
    away           towards ψ_s or away from ψ_a, whichever descends faster                  linear (Lacoste-Julien & Jaggi 2015)
    pairwise       weight from ψ_a to ψ_s                                                   linear
    blended        weight from ψ_a to the best atom that has weight, again and again        linear, and few atoms
                   while that descends as fast as a step to ψ_s would; else towards ψ_s      (Tsuji, Tanaka & Pokutta 2022)

A step costs O(k) and one or two columns; a blended one among m atoms O(mk), with O(m) for each of its exchanges, at most 10 m. The rule
that solves for all weights at once is in `min_norm_point`. `frank_wolfe.STEPS` maps the names to the rules; an object of a subclass of
`StepRule` may be given in place of a name (docs/extending.md).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.data.rows import Indices
from simopt.solvers.herding.gaussian_tiles import Floats
from simopt.solvers.herding.walk import Walk

STEP_TAKEN = ""
STALLED = "no step decreases the error any further"
EXCHANGES = 10  # for each atom with weight, between two passes over all atoms
FULL = "all the atoms asked for have weight"


class StepRule(ABC):
    """The direction and the length of a step. A rule may keep what it computed from step to step: each run has a copy of its own (`begin`).

    Attributes
    ----------
    keeps_columns : bool
        whether the rule comes back to columns ⟨ψ_i, ψ_j⟩ that it has read; then they are stored, as far as the memory goes.
    descends : bool
        whether no step increases the error ‖ω − ω̃‖.
    converges_linearly : bool
        whether the gap falls by a constant factor every so many steps, on every hull.

    The tests hold a rule of `STEPS` against what it says of itself in the last two; a rule that says nothing promises neither.
    Weights are those of a sum whose total is `walk.mass`: a step γ towards ψ_s, ω̃ + γ(ψ_s − ω̃), is `walk.shift(s, γ/(1 − γ) · walk.mass)`;
    for γ = 1 it is `walk.reset(s)`. The first atom is taken before any rule is asked.
    """

    keeps_columns: ClassVar[bool] = True
    descends: ClassVar[bool] = False
    converges_linearly: ClassVar[bool] = False

    def begin(self) -> Self:
        """The rule for one run."""
        return copy.deepcopy(self)

    @abstractmethod
    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        """Change the weights of the walk once.

        Parameters
        ----------
        walk : Walk
            the atoms and their weights, changed by `shift`, `drop`, `distribute`, `assign` or `reset`.
        scores : (k,) array
            m g_i for all atoms, with m = `walk.mass`.
        s : int
            the atom of least score.
        gap : float
            ⟨ω̃ − ω, ω̃ − ψ_s⟩: 0 at the nearest point of the hull.
        may_grow : bool
            whether an atom without weight may get some.

        Returns
        -------
        `STEP_TAKEN`, the empty text; or why there is no step, with which the run ends.
        """


class Uniform(StepRule):
    """ω̃ = (1/t) Σ of the t picks. The squared error need not fall at every step."""

    keeps_columns = False

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        if not may_grow and s not in walk:
            return FULL
        walk.shift(s, 1.0)
        return STEP_TAKEN


class LineSearch(StepRule):
    """ω̃ + γ(ψ_s − ω̃) with the γ in [0, 1] that leaves the smallest error: γ = gap/‖ψ_s − ω̃‖², or 1 if that is more."""

    keeps_columns = False
    descends = True

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        if not gap > 0.0:
            return STALLED
        if not may_grow and s not in walk:
            return FULL
        return towards(walk, s, gap)


class Away(StepRule):
    """Towards ψ_s, or away from ψ_a until its weight is gone at most."""

    keeps_columns = True
    descends = True
    converges_linearly = True

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        a, highest = worst(walk, scores)
        descent = highest / walk.mass - walk.slope
        if gap >= descent or len(walk.support) == 1:
            return LineSearch().step(walk, scores, s, gap, may_grow)
        if not descent > 0.0:
            return STALLED
        curvature = walk.to_atom(a)
        weight = float(walk.raw[a]) / walk.mass
        gamma = descent / curvature if curvature > 0.0 else np.inf
        if gamma * (1.0 - weight) >= weight:
            walk.drop(a)
        else:
            walk.shift(a, -gamma / (1.0 + gamma) * walk.mass)
        return STEP_TAKEN


class Pairwise(StepRule):
    """Weight from ψ_a to ψ_s, all of it at most."""

    keeps_columns = True
    descends = True
    converges_linearly = True

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        a, highest = worst(walk, scores)
        descent = (highest - float(scores[s])) / walk.mass
        if not descent > 0.0 or not gap > 0.0:
            return STALLED
        if not may_grow and s not in walk:
            return FULL
        return exchange(walk, s, a, descent)


class Blended(StepRule):
    """Pairwise steps among the m atoms that have weight, 10 m at most, while each descends as fast as one towards ψ_s; else that step.

    ψ_s stays the atom that was best before the first of them, so that only the last one reads the scores of all k atoms.
    """

    keeps_columns = True
    descends = True
    converges_linearly = True

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        if not gap > 0.0:
            return STALLED
        own = np.sort(walk.support)
        slopes = scores[own] / walk.mass
        if not np.ptp(slopes) >= gap:
            return LineSearch().step(walk, scores, s, gap, may_grow)
        weights, outside, seen = walk.raw[own] / walk.mass, float(scores[s]) / walk.mass, np.append(own, s)
        columns = walk.atoms.columns(seen)
        if columns is not None:
            exchange_among(weights, slopes, outside, own, *columns, EXCHANGES * len(own))
        else:  # inner products of these alone
            rows = np.arange(len(seen))
            exchange_among(weights, slopes, outside, rows[:-1], walk.atoms.block(seen, seen), rows, EXCHANGES * len(own))
        walk.distribute(own, weights, columns)
        return STEP_TAKEN


@kernel
def exchange_among(weights: Array, slopes: Array, outside: float, own: Indices, columns: Floats, slots: Indices, most: int) -> None:
    """Weight from the atom with the largest slope gⱼ to that with the least, by exact line search, `most` times at most.

    It ends when their difference is 0, or less than the slope Σ wⱼ gⱼ − `outside` towards another atom, whose column is the last one.
    """
    other = slots[weights.size]
    for _ in range(most):
        mean, a, b = 0.0, -1, 0
        for j in range(weights.size):
            mean += weights[j] * slopes[j]
            if weights[j] > 0.0 and (a < 0 or slopes[j] > slopes[a]):
                a = j
            if slopes[j] < slopes[b]:
                b = j
        descent = slopes[a] - slopes[b]
        if not (descent > 0.0 and descent >= mean - outside):
            return
        take, give = columns[slots[a]], columns[slots[b]]
        curvature = np.float64(take[own[a]]) + np.float64(give[own[b]]) - 2.0 * np.float64(give[own[a]])
        amount = weights[a]
        if amount * curvature > descent:
            amount = descent / curvature
            weights[a] -= amount
        else:
            weights[a] = 0.0
        weights[b] += amount
        for j in range(weights.size):
            slopes[j] += amount * (np.float64(give[own[j]]) - np.float64(take[own[j]]))
        outside += amount * (np.float64(columns[other, own[b]]) - np.float64(columns[other, own[a]]))


def worst(walk: Walk, scores: Array) -> tuple[int, float]:
    """The atom with weight whose score is the highest (of several the first), and that score."""
    own = walk.support
    highest = float(np.max(scores[own]))
    return int(np.min(own[scores[own] == highest])), highest


def towards(walk: Walk, s: int, gap: float) -> str:
    """The step of exact line search towards ψ_s."""
    curvature = walk.to_atom(s)
    if not curvature > gap:
        walk.reset(s)
        return STEP_TAKEN
    gamma = gap / curvature
    walk.shift(s, gamma / (1.0 - gamma) * walk.mass)
    return STEP_TAKEN


def exchange(walk: Walk, s: int, a: int, descent: float) -> str:
    """The step of exact line search that takes weight from ψ_a and gives it to ψ_s."""
    between = float(walk.atoms.column(s)[a])
    curvature = float(walk.atoms.diagonal[s] + walk.atoms.diagonal[a]) - 2.0 * between
    whole = float(walk.raw[a])
    amount = descent / curvature * walk.mass if curvature > 0.0 else np.inf
    if amount >= whole:
        walk.shift(s, whole)
        walk.drop(a)
    else:
        walk.shift(s, amount)
        walk.shift(a, -amount)
    return STEP_TAKEN
