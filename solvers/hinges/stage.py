r"""A stage of the augmented Lagrangian on some of the samples, at a point w: what all kinds of hinges have in common.

A stage minimises  R(w) + ⟨fixed, w⟩ + (a convex differentiable function of f = Ψw),  R a penalty or a ball, by Newton steps with an exact
line search. What the function is, its second derivative and its part of the gap are the matter of its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.solvers.hinges.two_hinges import FLAT
from simopt.solvers.hinges.weight_bounds import Bound

Indices = NDArray[np.intp]
MANY = 0.25  # of a block: if more multipliers have changed, the product with the whole block is the quicker one
CAP = 20  # bent rows a dimension: of more than twice as many, every second one stands for two
STILL = 1e-7  # a shorter step, as a share of Newton's, moves nothing


class State(Protocol):
    """What an interior-point method yields."""

    @property
    def gap(self) -> float:
        """Duality gap."""


class BentRows:
    """Copies of the rows of bent hinges, with a number each. Of very many, an evenly spread part is kept: each stands for `stride`."""

    def __init__(self, d: int) -> None:
        self.d = d
        self.clear()

    def clear(self) -> None:
        """No rows."""
        self.rows: list[Array] = []
        self.numbers: list[NDArray[Any]] = []
        self.count, self.stride = 0, 1

    def add(self, block: Array, bent: Indices, numbers: NDArray[Any]) -> None:
        """Rows `bent` of a block, and their numbers."""
        chosen = bent[:: self.stride]
        self.rows.append(block[chosen])
        self.numbers.append(numbers[:: self.stride].copy())
        self.count += chosen.size
        if self.count > 2 * CAP * self.d:
            self.stride *= 2
            self.rows = [rows[::2].copy() for rows in self.rows]
            self.numbers = [numbers[::2].copy() for numbers in self.numbers]
            self.count = sum(numbers.size for numbers in self.numbers)


class Stage(ABC):
    """Samples with a point w and a width; `rest` and `excess` are the hinges' and the bound's part of the gap."""

    def __init__(self, rows: RowBlocks, bound: Bound, fixed: Array, w: Array, width: float) -> None:
        n = rows.shape[0]
        self.rows, self.bound, self.fixed = rows, bound, fixed
        self.w, self.g, self.width = w.copy(), fixed.copy(), width
        self.f, self.move, self.pull = (np.zeros(n) for _ in range(3))
        self.rest = self.excess = np.inf
        self.newtons, self.word = 0, ""

    @property
    def gap(self) -> float:
        """Gap of w and the multipliers, the frozen samples being linear."""
        return self.rest + self.excess

    def place(self) -> None:
        """f = Ψw."""
        for part, block in self.rows:
            np.matmul(block, self.w, out=self.f[part])

    def newton(self) -> bool:
        """One Newton step with line search; False if there is no descent worth the name (rounding)."""
        step = self.bound.step(self.curvature(), self.g, self.w, self.rest)
        slope, curvature = self.bound.slope(self.w, step)
        at_zero = float(self.g @ step) + slope
        if not at_zero < 0.0:
            return False
        before = self.w
        self.sweep(step)
        self.newtons += 1
        at_one = float(self.g @ step) + slope + curvature
        if at_one > FLAT * abs(at_zero):
            t = self.along(slope + float(self.fixed @ step), curvature, at_zero, at_one)
            self.f += (t - 1.0) * self.move
            self.w = before + t * step
            self.sweep()
            return t > STILL
        return True

    @abstractmethod
    def curvature(self) -> Array:
        """Second derivative in w of the function of f, its lower half."""

    @abstractmethod
    def along(self, slope: float, curvature: float, at_zero: float, at_one: float) -> float:
        """t in (0, 1) that the line search finds on the way of the last move, whose end f is."""

    @abstractmethod
    def sweep(self, step: Array | None = None) -> None:
        """Multipliers, gradient and parts of the gap at f, or at f + Ψ step, which then is the new f."""

    @abstractmethod
    def judge(self) -> None:
        """f = Ψw, and the gradient and the gap of the multipliers as they are; free of what rounding has piled up."""

    @abstractmethod
    def recentre(self, factor: float) -> None:
        """The multipliers become the centres, and the width is multiplied."""

    @abstractmethod
    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should."""

    @abstractmethod
    def part(self, rows: Indices) -> Self:
        """A stage of these samples, the others frozen at their multipliers."""

    @abstractmethod
    def adopt(self, own: Self, rows: Indices) -> None:
        """The point and the multipliers that a part has reached, judged on all samples of this stage."""

    @abstractmethod
    def inward(self, goal: float) -> Iterator[State]:
        """States of the interior-point method from w and half the width; the best of them so far is taken over."""
