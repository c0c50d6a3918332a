r"""A stage of the augmented Lagrangian on some of the samples, at a point w: what all kinds of hinges have in common.

A stage minimises  R(w) + ⟨fixed, w⟩ + (a convex differentiable function of f = Ψw),  R a penalty or a ball, by Newton steps with an exact
line search. A subclass defines the function, its second derivative and its part of the gap. Its gradient has the multipliers of the hinges
as slopes, so a stage keeps only these beside w.

It is evaluated in blocks of rows that stay in the cache. A block gives predictions, multipliers, what changes in the gradient, and the rows
of *free* hinges: those whose multiplier lies strictly between its bounds. The second derivative is made of these rows when a step is taken.
If few multipliers of a block differ, only their rows are read.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.threads import in_order
from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges.weight_bounds import WeightBound

Indices = NDArray[np.intp]
Result = TypeVar("Result")
MANY = 0.25  # of a block: if more multipliers have changed, the product with the whole block is the quicker one
CAP = 20  # free rows a dimension: of more than twice as many, every second one stands for two
PANEL = 1 << 16  # numbers of free rows that are worked on at once, half a megabyte
HALVINGS = 40
FLAT = 0.1  # the line search stops where the slope is at most this fraction of its value at 0
STILL = 1e-7  # a shorter step, as a fraction of Newton's, moves nothing


@dataclass(frozen=True, eq=False)
class StageFit:
    """A point (with thresholds, if they are learned), multipliers in [0, 1] (in units of their shares), their gap (∞ if not computed on all
    samples), and how it was found. The arrays are written on when the method goes on.
    """

    w: Array
    multipliers: tuple[Array, ...]
    gap: float
    status_text: str = ""
    b: Array = field(default_factory=lambda: np.zeros(0))


class Notes(NamedTuple):
    """What a kernel finds in a block: samples whose derivative of the loss has changed, with the change; free rows, each with a number."""

    changed: Indices
    change: Array
    free: Indices
    number: NDArray[Any]

    @classmethod
    def of(cls, size: int, free: int, kind: type) -> Notes:
        """Arrays for `size` samples with up to `free` free hinges and numbers of a kind."""
        return cls(np.empty(size, dtype=np.intp), np.empty(size), np.empty(free, dtype=np.intp), np.empty(free, dtype=kind))


class BlockUpdate(NamedTuple):
    """The update of a block.

    Attributes
    ----------
    item : (slice, Array)
        the block, its place and its rows.
    rest : float
        its part of the gap.
    change : (d,) array or None
        by how much its part of the gradient has changed; None where it has not.
    free, numbers : arrays
        its free rows, and a number for each, such as its weight in the second derivative.
    """

    item: tuple[slice, Array]
    rest: float
    change: Array | None
    free: Indices
    numbers: NDArray[Any]


class Line(NamedTuple):
    """The derivative of a stage along a move: its value at t = 0, which is negative, and slope + t·curvature.

    The latter is what the linear term and the bound add to the derivative of the function of f.
    """

    slope: float
    curvature: float
    at_zero: float


class RootBracket(NamedTuple):
    """A point with a negative derivative and one with a positive derivative, and the two values."""

    lower: float
    value_lower: float
    upper: float
    value_upper: float


@kernel
def between(bracket: RootBracket, turn: int) -> float:
    """The next t of a line search: false position and bisection by turns."""
    lower, value_lower, upper, value_upper = bracket
    fraction = value_lower / (value_lower - value_upper) if turn % 2 == 0 else 0.5
    return lower + fraction * (upper - lower)


@kernel
def narrowed(bracket: RootBracket, t: float, value: float) -> RootBracket:
    """The bracket, t taking the place of the end where the derivative has the same sign."""
    if value < 0.0:
        return RootBracket(t, value, bracket.upper, bracket.value_upper)
    return RootBracket(bracket.lower, bracket.value_lower, t, value)


class FreeRows:
    """The rows of free hinges, with a number each: their indices in memory, or copies of rows that are streamed. If they are very many,
    only every `stride`-th one is kept.
    """

    def __init__(self, rows: RowBlocks) -> None:
        self.d = rows.shape[1]
        self._source = rows.in_memory
        self._panel = np.empty((0, self.d))
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        self._rows: list[NDArray[Any]] = []  # indices, or copies
        self._numbers: list[NDArray[Any]] = []
        self.count, self.stride = 0, 1

    def add(self, start: int, block: Array, free: Indices, numbers: NDArray[Any]) -> None:
        """Rows `free` of the block that begins at a row, and their numbers."""
        chosen = free[:: self.stride]
        self._rows.append(block[chosen] if self._source is None else start + chosen)
        self._numbers.append(numbers[:: self.stride])
        self.count += chosen.size
        if self.count > 2 * CAP * self.d:
            self.stride *= 2
            self._rows = [rows[::2].copy() for rows in self._rows]
            self._numbers = [numbers[::2].copy() for numbers in self._numbers]
            self.count = sum(numbers.size for numbers in self._numbers)

    def panels(self) -> Iterator[tuple[Array, NDArray[Any]]]:
        """Rows and numbers, a few at a time, which stay in the cache: copies that may be written on, and that the next ones overwrite."""
        if not self.count:
            return
        rows, numbers = self._rows, self._numbers
        if self._source is not None:
            rows, numbers = [np.concatenate(rows)], [np.concatenate(numbers)]
        step = max(PANEL // self.d, 1)
        if len(self._panel) < min(step, self.count):
            self._panel = np.empty((min(step, self.count), self.d))
        for some, own in zip(rows, numbers, strict=True):
            for k in range(0, own.size, step):
                part = some[k : k + step]
                panel = self._panel[: len(part)]
                if self._source is None:
                    panel[:] = part
                else:
                    np.take(self._source, part, axis=0, out=panel, mode="clip")  # into `out` without a copy; no index is out of range
                yield panel, own[k : k + step]


class Stage(ABC):
    """Samples with a point w, multipliers and centres; `rest` and `excess` are the hinges' and the bound's part of the gap.

    `width` is the parameter of the augmented Lagrangian: a hinge is quadratic over that width of its argument.
    """

    multipliers: tuple[Array, ...]  # each with a row a sample
    centres: tuple[Array, ...]
    _free_rows: FreeRows
    local = False  # of a kind: whether the multipliers of a block are those of its f alone, and blocks may be worked on at once

    def __init__(self, rows: RowBlocks, bound: WeightBound, fixed: Array, w: Array, width: float) -> None:
        n = rows.shape[0]
        self.rows, self.bound, self.fixed = rows, bound, fixed
        self.w, self.g, self.width = w.copy(), fixed.copy(), width
        self.f, self.move, self.pull = np.zeros(n), np.zeros(n), np.zeros(n)
        self._own = threading.local()  # `notes` of each thread
        self._views: dict[int, Any] = {}  # of arrays that are written on, never replaced
        self.rest = self.excess = np.inf
        self.newtons, self.status_text = 0, ""
        self.fresh = False  # whether the gap is as `update_gap` computed it

    @property
    def gap(self) -> float:
        """Gap of w and the multipliers, the frozen samples being linear."""
        return self.rest + self.excess

    def set_predictions(self) -> None:
        """f = Ψw."""
        for _ in in_order(lambda item: np.matmul(item[1], self.w, out=self.f[item[0]]), self.rows):
            pass

    def enter(self) -> None:
        """`set_predictions`, where w is not 0, and `sweep` in one pass."""
        if not np.any(self.w):
            self.sweep()
            return
        step, self.w = self.w, np.zeros_like(self.w)
        self.f[:] = 0.0
        self.sweep(step)

    def land(self, factor: float) -> None:
        """`enter`, `recentre` and `sweep` in one pass: f = Ψw, centres are what the width gives there, and is multiplied."""
        step, self.w = self.w, np.zeros_like(self.w)
        self.f[:] = 0.0
        wide, self.width = self.width, factor * self.width

        def centre(part: slice) -> None:
            before = self.pull[part].copy()
            self.update_multipliers(part, wide)
            self.pull[part] = before
            for centres, a in zip(self.centres, self.multipliers, strict=True):
                centres[part] = a[part]

        self.sweep(step, centre)

    def sweep(self, step: Array | None = None, first: Callable[[slice], None] = lambda part: None) -> None:
        """Multipliers, gradient and parts of the gap at f, or at f + Ψ step, which then is the new f; `first` is done to each block."""
        self._free_rows.clear()
        self.rest, self.fresh = 0.0, False

        def work(item: tuple[slice, Array]) -> BlockUpdate:
            if step is not None and self.local:
                self._shift(*item, step)
            first(item[0])
            return self._update_block(*item)

        for (part, block), rest, change, free, numbers in self._each(work, self.moved(step)):
            self.rest += rest
            if change is not None:
                self.g += change
            if free.size:
                self._free_rows.add(part.start, block, free, numbers)
        if step is not None:
            self.w = self.w + step
        self.excess = self.bound.excess(self.g, self.w)

    def moved(self, step: Array | None) -> Iterable[tuple[slice, Array]]:
        """The blocks. If the stage is not `local`, all of f has moved by Ψ step before the first one is given out."""
        return self.rows

    def go(self, step: Array) -> None:
        """f moves by Ψ step, all of it."""
        for _ in in_order(lambda item: self._shift(*item, step), self.rows):
            pass

    def _shift(self, part: slice, block: Array, step: Array) -> None:
        self.f[part] += np.matmul(block, step, out=self.move[part])

    def _each(self, work: Callable[[tuple[slice, Array]], Result], items: Iterable[tuple[slice, Array]]) -> Iterator[Result]:
        return in_order(work, items) if self.local else map(work, items)

    def _update_block(self, part: slice, block: Array) -> BlockUpdate:
        moved, count, rest = self.update_multipliers(part)
        changed, change, free, numbers = self.notes
        found = None
        if moved > MANY * (part.stop - part.start):
            whole = np.zeros(part.stop - part.start)
            whole[changed[:moved]] = change[:moved]
            found = whole @ block
        elif moved:
            found = change[:moved] @ block[changed[:moved]]
        return BlockUpdate((part, block), rest, found, free[:count].copy(), numbers[:count].copy())

    @property
    def notes(self) -> Notes:
        """The arrays of this thread, made at the first use."""
        made: Notes | None = getattr(self._own, "notes", None)
        if made is None:
            made = self._own.notes = self.blank()
        return made

    def update_gap(self) -> None:
        """f = Ψw, and the gradient and the gap of the multipliers as they are; one pass, free of what rounding has piled up."""
        self.g, self.rest = self.fixed.copy(), 0.0

        def work(item: tuple[slice, Array]) -> tuple[float, Array]:
            part, block = item
            np.matmul(block, self.w, out=self.f[part])
            return self.audit(part), self.pull[part] @ block

        for rest, change in self._each(work, self.rows):
            self.rest += rest
            self.g += change
        self.excess, self.fresh = self.bound.excess(self.g, self.w), True

    def newton(self) -> bool:
        """One Newton step with line search; False if there is no descent worth the name (rounding)."""
        step = self.bound.step(self.curvature(), self.g, self.w, self.rest)
        slope, curvature = self.bound.slope(self.w, step)
        at_zero = float(self.g @ step) + slope
        if not at_zero < 0.0:
            return False
        before = self.w
        at_hand = self.rows.at_hand  # then f goes first, and the rest is for the point that the line search finds
        if at_hand:
            self.go(step)
        else:
            self.sweep(step)
        self.newtons += 1
        t = 1.0
        if at_hand or float(self.g @ step) + slope + curvature > FLAT * abs(at_zero):
            t = self.along(Line(slope + float(self.fixed @ step), curvature, at_zero))
        if at_hand or t < 1.0:
            if t < 1.0:
                self.f += (t - 1.0) * self.move
            self.w = before + t * step
            self.sweep()
        return t > STILL

    def recentre(self, factor: float) -> None:
        """The multipliers become the centres, and the width is multiplied."""
        for centre, a in zip(self.centres, self.multipliers, strict=True):
            centre[:] = a
        self.width *= factor

    def part(self, rows: Indices) -> Self:
        """A stage of these samples, the others frozen at their multipliers."""
        chosen, pull = self.rows.take(rows), self.pull[rows]
        own = self.some(RowBlocks(chosen), rows, self.g - pull @ chosen)
        own.f[:], own.pull[:], own.g = self.f[rows], pull, self.g.copy()
        for mine, its in zip(self.multipliers, own.multipliers, strict=True):
            its[:] = mine[rows]
        own.recentre(1.0)
        return own

    def adopt(self, own: Self, rows: Indices) -> None:
        """Take over what a part has reached. Its gap is that of all samples if no frozen one has changed its side."""
        self.follow(own.fit())
        for mine, its in zip(self.multipliers, own.multipliers, strict=True):
            mine[rows] = its
        self.newtons += own.newtons
        self.rest, self.excess, self.fresh = own.rest, own.excess, False

    def follow(self, fit: StageFit) -> None:
        """Take over the point of a fit."""
        self.w = fit.w.copy()

    def fit(self, gap: float = np.inf) -> StageFit:
        """The point and the multipliers as they are."""
        return StageFit(self.w, self.multipliers, gap, self.status_text)

    def inward(self, goal: float) -> Iterator[StageFit]:
        """Fits of the interior-point method from w and half the width; the best of them so far is taken over."""
        best = np.inf
        for fit in self.interior(0.5 * self.width, goal):
            if fit.gap < best:
                best = fit.gap
                self.follow(fit)
                for mine, its in zip(self.multipliers, fit.multipliers, strict=True):
                    mine[:] = its
            yield fit

    @property
    @abstractmethod
    def vectors(self) -> int:
        """How many numbers the stage keeps for each row, beside the row itself."""

    @abstractmethod
    def first_width(self) -> float:
        """The width to start with at w = 0."""

    @abstractmethod
    def unit(self) -> float:
        """The unit of gaps."""

    @abstractmethod
    def some(self, rows: RowBlocks, chosen: Indices | slice, fixed: Array, for_all: bool = False) -> Self:
        """A stage at this point of some of the samples, whose rows are given, with their shares, or with those of all."""

    @abstractmethod
    def blank(self) -> Notes:
        """Arrays for the notes of a block."""

    @abstractmethod
    def update_multipliers(self, part: slice, width: float | None = None) -> tuple[int, int, float]:
        """Multipliers and pull of a block at f, for a width or the stage's, and its notes.

        Returns how many have changed and are free, and the hinges' part of the gap.
        """

    @abstractmethod
    def audit(self, part: slice) -> float:
        """Pull of a block for the multipliers as they are, and what its hinges leave of the gap."""

    @abstractmethod
    def curvature(self) -> Array:
        """Second derivative in w of the function of f, its lower half."""

    @abstractmethod
    def along(self, line: Line) -> float:
        """t in (0, 1] at which the derivative along the last move is small, 1 if there. f is at t = 1: f − move is at t = 0."""

    @abstractmethod
    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should."""

    @abstractmethod
    def interior(self, width: float, goal: float) -> Iterator[StageFit]:
        """The interior-point method, from w and a width."""
