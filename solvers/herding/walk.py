"""The state of a Frank–Wolfe run: weights on a few atoms, and the inner products of all atoms with the combination they make."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.data.rows import Indices
from simopt.solvers.herding.atoms import Atoms, SelectedColumns
from simopt.solvers.herding.gaussian_tiles import Floats

LARGEST = 2.0**300  # raw weights are divided where their sum exceeds this: its square is a float


@kernel
def add(image: Array, amount: float, column: Floats) -> None:
    """image += amount · column, in float64 whatever the column is."""
    for i in range(image.size):
        image[i] += amount * np.float64(column[i])


@kernel
def move(image: Array, amounts: Array, rows: Floats, slots: Indices) -> None:
    """image += Σ_j amounts_j · rows[slots_j], in float64 whatever the rows are."""
    for j in range(amounts.size):
        row = rows[slots[j]]
        for i in range(image.size):
            image[i] += amounts[j] * np.float64(row[i])


@kernel
def subtract(image: Array, mass: float, linear: Array, out: Array) -> None:
    """out = image − mass · linear."""
    for i in range(image.size):
        out[i] = image[i] - mass * linear[i]


class StepState(NamedTuple):
    """The state before a step.

    steps : number of steps done. atoms : number of atoms with weight. error_squared : ‖ω − ω̃‖² as the running sums have it. gap : the
    Frank–Wolfe gap ⟨ω̃ − ω, ω̃ − ψ_s⟩ ≥ (‖ω − ω̃‖² − dist²)/2, dist the distance from ω to the hull.
    """

    steps: int
    atoms: int
    error_squared: float
    gap: float

    @property
    def distance(self) -> float:
        """A lower bound on the distance from ω to the hull: the hyperplane through ψ_s across ω − ω̃ leaves the hull on one side."""
        inside = self.error_squared - self.gap
        return inside / math.sqrt(self.error_squared) if inside > 0.0 and self.error_squared > 0.0 else 0.0


class Walk:
    """ω̃ = Σ_j r_j ψ_j / m with raw weights r ≥ 0 and mass m = Σ r.

    As r is kept without the division, a step towards an atom only adds to one weight and to the image Σ_j r_j ⟨ψ_i, ψ_j⟩. With uniform
    steps r counts how often an atom was picked, without rounding. The gradient ⟨ω̃ − ω, ψ_i⟩ is `scores()[i] / m`. O(k) a step.
    """

    def __init__(self, atoms: Atoms) -> None:
        size = len(atoms)
        self.atoms = atoms
        self.raw = np.zeros(size)
        self.mass = 0.0
        self.image = np.zeros(size)
        self._members = np.empty(size, dtype=np.intp)
        self._position = np.full(size, -1, dtype=np.intp)  # where an atom stands among the members
        self.count = 0  # atoms with weight
        self._square = 0.0  # ‖Σ r ψ‖²
        self._inner = 0.0  # ⟨ω, Σ r ψ⟩
        self._scores = np.empty(size)

    @property
    def support(self) -> Indices:
        """The atoms with weight, in no particular order (a view)."""
        return self._members[: self.count]

    @property
    def weights(self) -> Array:
        """Weights of the support."""
        out: Array = self.raw[self.support] / self.mass
        return out

    @property
    def dense(self) -> Array:
        """Weights of all atoms."""
        return self.raw / self.mass

    def __contains__(self, j: int) -> bool:
        return bool(self._position[j] >= 0)

    @property
    def error_squared(self) -> float:
        """‖ω − ω̃‖² = ‖ω̃‖² − 2⟨ω, ω̃⟩ + ‖ω‖², which rounding may leave below 0."""
        if self.mass == 0.0:
            return self.atoms.square
        return self.square - 2.0 * self._inner / self.mass + self.atoms.square

    @property
    def square(self) -> float:
        """‖ω̃‖²."""
        return self._square / self.mass / self.mass

    @property
    def slope(self) -> float:
        """⟨ω̃ − ω, ω̃⟩."""
        return self.square - self._inner / self.mass

    def scores(self) -> Array:
        """m ⟨ω̃ − ω, ψ_i⟩ for all i, shape (k,); −⟨ω, ψ_i⟩ at the start. The array is used again by the next call."""
        subtract(self.image, self.mass if self.mass else 1.0, self.atoms.linear, self._scores)
        return self._scores

    def to_atom(self, j: int) -> float:
        """‖ψ_j − ω̃‖²."""
        return float(self.atoms.diagonal[j] - 2.0 * self.image[j] / self.mass + self.square)

    def shift(self, j: int, amount: float) -> None:
        """Add `amount` to the raw weight of atom j."""
        column = self.atoms.column(j)
        self._square += amount * (2.0 * float(self.image[j]) + amount * float(self.atoms.diagonal[j]))
        self._inner += amount * float(self.atoms.linear[j])
        add(self.image, amount, column)
        self.raw[j] += amount
        self.mass += amount
        self._include(j)

    def rescale(self) -> None:
        """Divide raw weights by a power of two where their sum exceeds 2³⁰⁰: steps near 1 multiply it each time."""
        if self.mass > LARGEST:
            factor = 2.0 ** -math.frexp(self.mass)[1]
            self.raw *= factor
            self.image *= factor
            self.mass *= factor
            self._inner *= factor
            self._square *= factor * factor

    def drop(self, j: int) -> None:
        """Take all its weight from atom j."""
        self.shift(j, -float(self.raw[j]))
        self.raw[j] = 0.0
        self._exclude(j)

    def distribute(self, own: Indices, weights: Array, columns: SelectedColumns | None) -> None:
        """These weights for the atoms that have all of it, whose columns are the first of these; without columns they are made."""
        changed = np.flatnonzero(weights != self.raw[own] / self.mass)
        raw = weights * self.mass
        if columns is None:
            for j, value in zip(own[changed].tolist(), raw[changed].tolist(), strict=True):
                if value > 0.0:
                    self.shift(j, value - float(self.raw[j]))
                else:
                    self.drop(j)
            return
        moved = own[changed]
        move(self.image, raw[changed] - self.raw[moved], columns.rows, columns.slots[changed])
        self.raw[moved] = raw[changed]
        for j in moved[raw[changed] == 0.0].tolist():
            self._exclude(j)
        self._sum()

    def reset(self, j: int) -> None:
        """All weight to atom j."""
        self.assign(np.array([j], dtype=np.intp), np.ones(1))

    def assign(self, support: Indices, weights: Array) -> None:
        """These weights for these atoms, 0 for all others; everything is computed afresh."""
        fresh = np.zeros(len(self.raw))
        fresh[support] = weights
        self.raw = fresh  # in one piece, so that an interrupt finds either these weights or those
        self._position[self.support] = -1
        self.count = len(support)
        self._members[: self.count] = support
        self._position[support] = np.arange(self.count)
        self.refresh()

    def refresh(self) -> None:
        """The image and the running sums again from the weights, without the rounding errors that steps have left in them."""
        support = self.support
        self.image = self.atoms.combination(support, self.raw[support])
        self._sum()

    def _sum(self) -> None:
        """The running sums from the weights and the image."""
        support = self.support
        weights = self.raw[support]
        self.mass = float(np.sum(weights))
        self._square = float(weights @ self.image[support])
        self._inner = float(weights @ self.atoms.linear[support])

    def rebase(self, atoms: Atoms) -> None:
        """The same weights on the same atoms, known to another precision."""
        self.atoms = atoms
        self.refresh()

    def _include(self, j: int) -> None:
        if self._position[j] < 0:
            self._members[self.count] = j
            self._position[j] = self.count
            self.count += 1

    def _exclude(self, j: int) -> None:
        self.count -= 1
        position, moved = self._position[j], self._members[self.count]
        self._members[position] = moved
        self._position[moved] = position
        self._position[j] = -1
