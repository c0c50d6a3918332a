r"""Predictor-corrector runs whose pairs are dense arrays, with the centrality corrections of Gondzio.

A state is free variables, slacks and multipliers. A subclass solves its Newton equations for given right-hand sides of the products and of
all other equations (`residuals`), in the order that suits it.
Gondzio: take the lengths that a step has, plus `REACH`. Products that would leave [NARROW, WIDE] τ get targets inside of it, by further
steps with the factors at hand, as long as that makes the step longer by `GAIN`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from simopt.core.arrays import Array
from simopt.solvers.interior.predictor_corrector import Lengths, PredictorCorrector

REACH, GAIN = 0.3, 0.03  # by how much longer a step should become by a correction, and has to
NARROW, WIDE = 0.1, 10.0  # products within these multiples of the target are left as they are
ENOUGH = 0.9  # a step of that length needs no correction
NOTHING = np.zeros(1)
Parts = tuple[Array, ...]


class InteriorState(NamedTuple):
    """Variables of any sign; slacks, and their multipliers in the same order. Also a direction."""

    free: Parts
    slacks: Parts
    multipliers: Parts

    def products(self) -> Parts:
        """Slacks times multipliers."""
        return tuple([one * two for one, two in zip(self.slacks, self.multipliers, strict=True)])

    def moved(self, move: InteriorState, primal: float, dual: float) -> InteriorState:
        """After a step of these lengths."""
        return InteriorState(
            after(self.free, move.free, primal), after(self.slacks, move.slacks, primal), after(self.multipliers, move.multipliers, dual)
        )


def after(parts: Parts, moves: Parts, step: float) -> Parts:
    """parts + step·moves."""
    return tuple([part + step * move for part, move in zip(parts, moves, strict=True)])


class Pairs(PredictorCorrector[InteriorState]):
    """A run over a `InteriorState`.

    Attributes
    ----------
    joint : bool
        whether slacks and multipliers have to go equally far: where equations join them.
    factor : array
        of the Newton matrix, within an iteration.
    corrections : int
        centrality corrections at most; each costs two triangular solves.
    """

    joint: bool = False
    corrections: ClassVar[int] = 3
    x: InteriorState
    factor: Array
    residuals: Parts

    @abstractmethod
    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        """The step that adds `r_comp` to the products and `residuals` to the other equations."""

    def corrector_residuals(self, residuals: Parts, predictor: InteriorState) -> Parts:
        """The residuals less their change to second order by the predictor: the right-hand side of the corrector. Linear equations have no
        such change."""
        return residuals

    def direction(
        self, target: float, predictor: InteriorState | None = None, reached: Lengths = (0.0, 0.0)
    ) -> tuple[InteriorState, Lengths]:
        if predictor is None:
            move = self.solve(tuple([target - part for part in self.x.products()]), self.residuals)
        else:
            r_comp = [target - one - two for one, two in zip(self.x.products(), predictor.products(), strict=True)]
            move = self.solve(tuple(r_comp), self.corrector_residuals(self.residuals, predictor))
        return move, self.lengths(move)

    def centred(self, target: float, move: InteriorState, reached: Lengths) -> tuple[InteriorState, Lengths]:
        """Corrections that bring products far from the target nearer to it (Gondzio 1996), as long as the steps become longer."""
        for _ in range(self.corrections):
            if min(reached) > ENOUGH:
                break
            trial = self.x.moved(move, *(min(1.0, length + REACH) for length in reached)).products()
            missing = [np.maximum(np.clip(part, NARROW * target, WIDE * target) - part, -WIDE * target) for part in trial]
            longer = move.moved(self.solve(tuple(missing), (NOTHING,) * len(self.residuals)), 1.0, 1.0)
            found = self.lengths(longer)
            if max(one - two for one, two in zip(found, reached, strict=True)) < GAIN or min(found) < 0.9 * min(reached):
                break
            move, reached = longer, found
        return move, reached

    def mean(self, move: InteriorState | None = None, lengths: Lengths = (0.0, 0.0)) -> float:
        slacks, multipliers = self.x.slacks, self.x.multipliers
        if move is not None:
            slacks, multipliers = after(slacks, move.slacks, lengths[0]), after(multipliers, move.multipliers, lengths[1])
        total = sum([float(np.vdot(one, two)) for one, two in zip(slacks, multipliers, strict=True)])
        return total / sum([part.size for part in slacks])

    def advance(self, move: InteriorState, lengths: Lengths) -> None:
        self.x = self.x.moved(move, *lengths)
        del self.factor  # the next one takes its memory

    def lengths(self, move: InteriorState) -> Lengths:
        """The largest steps in (0, 1] that keep slacks and multipliers ≥ 0."""
        primal, dual = reach(self.x.slacks, move.slacks), reach(self.x.multipliers, move.multipliers)
        return (min(primal, dual),) * 2 if self.joint else (primal, dual)


def reach(parts: Parts, moves: Parts) -> float:
    """The largest t in (0, 1] with parts + t·moves ≥ 0; 0 where there are none."""
    worst = 1.0
    for part, move in zip(parts, moves, strict=True):
        fall = -float((move / part).min()) if part.size else 0.0
        if not math.isfinite(fall):
            return 0.0
        worst = max(worst, fall)
    return 1.0 / worst


def weighted_gram(matrix: Array, weights: Array) -> Array:
    """The lower half of Aᵀ diag(weights) A, in Fortran's order."""
    out: Array = scipy.linalg.blas.dsyrk(1.0, np.asfortranarray(np.sqrt(weights)[:, None] * matrix), trans=1, lower=1)
    return out


def cholesky(matrix: Array) -> Array:
    """The lower factor of a matrix whose lower half is given, in its place.

    Raises
    ------
    LinAlgError
        when it is not positive definite.
    """
    factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
    if info != 0:
        raise np.linalg.LinAlgError(f"leading minor {info} of the Newton matrix is not positive")
    out: Array = factor
    return out


def solved(factor: Array, rhs: Array) -> Array:
    """(L Lᵀ)^{−1} rhs."""
    out: Array = scipy.linalg.lapack.dpotrs(factor, rhs, lower=1)[0]
    return out
