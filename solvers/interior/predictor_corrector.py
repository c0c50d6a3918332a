r"""Mehrotra's predictor-corrector method over the Newton system of any convex programme: the steps, their lengths, and when to stop.

Optimality is equations and pairs s, z ≥ 0 of slacks and multipliers with sz = 0. From a point inside, whose products have the mean μ,
Newton's equations for products τ are
    s Δz + z Δs = τ − sz − Δ's Δ'z,      together with the equations of the problem.
They are solved twice with one factorisation. The predictor Δ' has τ = 0 and no second-order term. The corrector has
    τ = μ (μ'/μ)³,      μ' the mean product where the predictor meets the boundary,
and the predictor's second-order terms. A step goes a fraction `back` of the way to the boundary.

The subclass computes the gap from a point and multipliers that any certificate would accept. A run ends when the gap is at most the goal.
It also ends by rounding: the gap has not fallen for some iterations, no step is left, or the Newton matrix has no Cholesky factor.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np

CENTRING = (1e-6, 1.0)  # least and largest target of the corrector, as fractions of μ
SHORTEST = 1e-10  # a shorter step is no progress
Move = TypeVar("Move")
Lengths = tuple[float, float]  # of a step of the slacks and of the multipliers


class PredictorCorrector(ABC, Generic[Move]):
    """A run of the method: the state, and the Newton system there. A subclass starts inside, computes its gap, and defines its system.

    Attributes
    ----------
    gap : float
        of the state, by `update_gap`.
    back : float
        fraction of the way to the boundary.
    patience, fall : int, float
        the gap must fall below `fall` times what it was, in that many iterations.
    """

    back: ClassVar[float] = 0.995
    patience: ClassVar[int] = 10
    fall: ClassVar[float] = 0.5
    gap: float = math.inf

    @abstractmethod
    def update_gap(self) -> None:
        """Sets the gap of the state."""

    @abstractmethod
    def factorise(self) -> None:
        """Factorises the Newton matrix at the state.

        Raises
        ------
        LinAlgError
            when rounding has made it indefinite.
        """

    @abstractmethod
    def direction(self, target: float, predictor: Move | None = None, reached: Lengths = (0.0, 0.0)) -> tuple[Move, Lengths]:
        """Newton's step to products `target`, with second-order terms of the predictor, if any, and the largest lengths that admits.

        `reached` are the lengths of the predictor. Lengths are in (0, 1], or 0 where a step is not finite.
        """

    @abstractmethod
    def mean(self, move: Move | None = None, lengths: Lengths = (0.0, 0.0)) -> float:
        """The mean product after a move."""

    @abstractmethod
    def advance(self, move: Move, lengths: Lengths) -> None:
        """Makes the move."""

    def centred(self, target: float, move: Move, reached: Lengths) -> tuple[Move, Lengths]:
        """The corrector with what a subclass adds to it that costs no factorisation."""
        return move, reached

    def iterate(self) -> bool:
        """Predictor and corrector; whether a step could be made."""
        try:
            self.factorise()
        except np.linalg.LinAlgError:
            return False
        mu = self.mean()
        predictor, reached = self.direction(0.0)
        target = mu * min(max((self.mean(predictor, reached) / mu) ** 3, CENTRING[0]), CENTRING[1])
        move, reached = self.centred(target, *self.direction(target, predictor, reached))
        if not max(reached) > SHORTEST:
            return False
        self.advance(move, (min(1.0, self.back * reached[0]), min(1.0, self.back * reached[1])))
        self.update_gap()
        return True

    def iterates(self, goal: float, max_iter: int) -> Iterator[Self]:
        """This, at the start and after each iteration, until the gap is at most the goal or rounding forbids another."""
        mark, idle = math.inf, 0
        for _ in range(max_iter):
            yield self
            mark, idle = (self.gap, 0) if self.gap < self.fall * mark else (mark, idle + 1)
            if self.gap <= goal or idle >= self.patience or not self.iterate():
                return
        yield self
