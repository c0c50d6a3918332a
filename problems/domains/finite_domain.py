"""A loss of predictions on a finite domain with masses: what goodness of a similarity, of a kernel, and the smallest bound share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes, NonNegative, OneOf, Positive, Targets
from simopt.model.problem import Problem, Rescale
from simopt.problems.domains.simplex import Probabilities
from simopt.problems.losses.prediction_losses import LOSSES, Loss, loss_named
from simopt.problems.norms import squares

LossName = Annotated[str, OneOf(LOSSES)]


def square(name: str, gram: Any) -> Array:
    """A finite N×N matrix of any sign, not necessarily symmetric.

    Raises
    ------
    InvalidProblem
        for another shape, or naming row and column of the first similarity that is not finite.
    """
    out = validate.matrix(name, gram)
    if out.shape[0] != out.shape[1]:
        raise InvalidProblem(f"{name}: shape {out.shape} is not square; entry (i, j) is the similarity of points i and j of one domain")
    return validate.squarable(name, out)


Similarities = Annotated[Array, square, Axes("n", "n")]


class FiniteDomain(Problem):
    """X = {1, …, N} with masses p and targets y; a form declares the fields, in the order of its formula, and says what f may be.

    Points of mass 0 count for nothing, as rows and as columns of K; the formulas work on the others (`support`).
    """

    gram: Array
    targets: Targets
    masses: Probabilities | None
    loss: LossName
    epsilon: NonNegative
    margin: Positive

    @property
    def growth(self) -> int:
        """Hinges and absolute values, or squares."""
        return 2 if self.loss == "squared" else 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss == "hinge":
            validate.labels("targets", self.targets)
        if self.loss != "insensitive" and self.epsilon != 0.0:
            raise InvalidProblem(f"epsilon: {self.epsilon:g} given, but the {self.loss} loss has no insensitive width; leave it at 0")
        if self.loss != "hinge" and self.margin != 1.0:
            raise InvalidProblem(f"margin: {self.margin:g} given, but the {self.loss} loss has no margin; leave it at 1")

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """y, ε (or the margin) × s and K, or its features, × c."""

    @cached_property
    def loss_function(self) -> Loss:
        """ℓ with its width or margin."""
        return loss_named(self.loss, self.epsilon, self.margin)

    @property
    def mass(self) -> Array:
        """p, shape (N,)."""
        n = len(self.targets)
        return np.full(n, 1.0 / n) if self.masses is None else self.masses

    @cached_property
    def support(self) -> NDArray[np.intp]:
        """Indices of the points with p_i > 0."""
        return np.flatnonzero(self.mass > 0)

    @cached_property
    def core(self) -> Array:
        """K between the points with p_i > 0; K itself where they are all."""
        return self.gram if len(self.support) == len(self.targets) else np.ascontiguousarray(self.gram[np.ix_(self.support, self.support)])

    def support_masses(self, num: Arithmetic = FLOAT) -> Value:
        """p_i of the points that have one; 1/N in the arithmetic asked for if no masses were given."""
        n = len(self.targets)
        return (num.zeros(n) + num.lift(1.0)) / n if self.masses is None else num.lift(self.masses[self.support])

    def support_targets(self, num: Arithmetic = FLOAT) -> Value:
        """y_i of the points of positive mass."""
        return num.lift(self.targets[self.support])

    def admitted_multipliers(self, num: Arithmetic, multipliers: Multipliers, factor: float = 1.0) -> Value:
        """The multipliers of the predictions of points of positive mass, times `factor`, as the loss admits them."""
        given = np.asarray(multipliers["predictions"], dtype=float).reshape(-1)[self.support]
        return self.loss_function.admitted(num, num.lift(given) * num.lift(factor), self.support_masses(num), self.support_targets(num))

    def mean_loss(self, num: Arithmetic, f: Value) -> Value:
        """Σ p_i ℓ(f_i, y_i)."""
        return num.dot(self.support_masses(num), self.loss_function.value(num, f, self.support_targets(num)))

    def fixed_part(self, num: Arithmetic, q: Value) -> Value:
        """Σ c(q_i), the part of the Lagrangian without f."""
        return num.sum(self.loss_function.dual_term(num, q, self.support_masses(num), self.support_targets(num)))

    def loss_gap(self, num: Arithmetic, q: Value, f: Value) -> Value:
        """Σ p_i ℓ(f_i, y_i) − c(q_i) + q_i f_i, a sum of non-negative terms."""
        return num.sum(self.loss_function.slack(num, q, self.support_masses(num), self.support_targets(num), f))

    def suggested(self, f: Array) -> Array:
        """−p ∂ℓ/∂f at predictions of the points of positive mass, 0 elsewhere, shape (N,)."""
        q = np.zeros(len(self.targets))
        q[self.support] = self.support_masses() * self.loss_function.slope(f, self.support_targets())
        return q

    def loss_at_zero(self) -> float:
        """Σ p_i ℓ(0, y_i)."""
        return float(self.mean_loss(FLOAT, np.zeros(len(self.support))))

    def loss_unit(self) -> float:
        """The loss at f = 0; where that is 0 (then f = 0 is optimal), ε."""
        return self.loss_at_zero() or self.epsilon

    def scale(self) -> float:
        """The loss at w = 0, or ε where that is 0."""
        return self.loss_unit()

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ, ε/σ (or the margin/σ) and K/κ with powers of two near the largest |y_i| and |K_ij|: the same v; q × σ if squared."""
        sigma, kappa = self.target_unit(), squares.power_of_two(squares.largest(self.gram))
        back = squares.scaling(predictions=self.multiplier_unit(sigma))
        return self.in_units(1.0 / sigma, 1.0 / kappa), Rescale(squares.scaling(f=sigma, slack=sigma), back)

    @property
    def trivial(self) -> bool:
        """Whether y = 0 (where there is mass) and ε = 0: nothing is to be learnt, and there is no unit in which to measure it."""
        return not np.any(self.support_targets()) and self.epsilon == 0.0

    def trivial_optimum(self, num: Arithmetic, weights: Value, multipliers: Multipliers) -> bool:
        """Whether `trivial` and weights and q are all 0: then the gap is 0, also where radii of intervals would say otherwise."""
        return self.trivial and squares.all_zero(num, weights) and not np.any(self.admitted_multipliers(FLOAT, multipliers))

    def target_unit(self) -> float:
        """A power of two near max(|y_i|, ε), or near the margin."""
        if self.loss == "hinge":
            return squares.power_of_two(self.margin)
        return squares.power_of_two(max(squares.largest(self.targets), self.epsilon))

    def in_target_units(self, s: float) -> dict[str, Any]:
        """The fields that are measured in units of f, × s: targets and ε, or the margin."""
        if self.loss == "hinge":
            return {"margin": self.margin * s}
        return {"targets": self.targets * s, "epsilon": self.epsilon * s}

    def multiplier_unit(self, s: float) -> float:
        """The factor of multipliers when f is multiplied by s: s for the squared loss, whose values are multiplied by s²."""
        return s if self.loss == "squared" else 1.0
