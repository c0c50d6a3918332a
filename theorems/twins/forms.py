r"""Problems that have both forms, (s/2)‖w‖² in the objective and ‖w‖ ≤ B, posed on a training set and solved with a radius.

Nothing here names a problem: any class with `bound` that has a penalty and a ball with a number is one, other people's included. Other
fields of a problem than its bound are taken from the training set by their names (`FIELDS`).

The radius of a penalised solution is √(2 gap/s). That of a solution in a ball comes from its twin. Let multipliers bound the penalised
form of the strength s, f_s(v) = L(v) + (s/2)‖v‖², from below by D. For w in the ball and every optimum w* there, L(w*) ≤ L(w) and ‖w*‖ ≤ B,
    f_s(w), f_s(w*) ≤ D + e,      e = (f_s(w) − D) + (s/2)(B² − ‖w‖²),
and f_s((w + w*)/2) ≥ D. So (s/8)‖w − w*‖² ≤ e, for every s > 0. The best s is the multiplier of the ball. If the ball does not bind, no s
is good: the radius is 2B, which says that the solution need not be unique.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter
from typing import Any

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core import registry
from simopt.core.arrays import Array, Multipliers, Point
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.problems.bounds import Bounded, InBall, Penalised
from simopt.solving.entry_points import certify
from simopt.theorems.kj.regression.svr_families import features_of, function_of

TOL = 1e-13  # asked of solvers; the radius comes from the gap that they reach
ROUNDING = 64 * EPS


def _classes(Z: TrainingSet) -> int:
    return max(int(np.max(Z.targets)), 1)


def _thresholds(Z: TrainingSet) -> Array:
    """b_j = j − r/2, as the recipe of fixed thresholds has them."""
    r = _classes(Z)
    return np.arange(1.0, r) - r / 2.0


FIELDS: dict[str, Callable[[TrainingSet], Any]] = {
    "features": features_of,
    "gram": lambda Z: Z.gram,
    "targets": lambda Z: Z.targets,
    "labels": lambda Z: Z.targets,
    "classes": _classes,
    "thresholds": _thresholds,
    "relevance": lambda Z: Z.targets,
    "qid": lambda Z: np.zeros(Z.n),  # one query: the whole sample
}


@dataclass(frozen=True)
class Twin:
    """A problem and the keys of its two forms."""

    kind: type[Bounded]
    penalty: str
    ball: str

    @property
    def penalised(self) -> type[Penalised]:
        """The type of the penalty."""
        found: Any = self.kind.bounds[self.penalty]
        return found  # type: ignore[no-any-return]

    @property
    def bounded(self) -> type[InBall]:
        """The type of the ball."""
        found: Any = self.kind.bounds[self.ball]
        return found  # type: ignore[no-any-return]

    @property
    def names(self) -> tuple[str, str]:
        """The registered names of the penalised problem and of that in a ball."""
        return self.kind.form(self.penalty).name, self.kind.form(self.ball).name

    def missing(self) -> list[str]:
        """Required fields that no training set tells."""
        return [name for name in self._required() if name not in FIELDS]

    def options(self) -> list[Parameter]:
        """Further numbers and words of the problem, with their defaults, as keyword parameters."""
        known = [item for item in fields(self.kind) if item.default is not MISSING and isinstance(item.default, (int, float, str))]
        told = [item for item in known if not isinstance(item.default, bool)]
        return [Parameter(item.name, Parameter.KEYWORD_ONLY, default=item.default) for item in told]

    def pose(self, bound: Any, Z: TrainingSet, options: dict[str, Any]) -> Bounded:
        """The problem with this bound on a training set."""
        make: Any = self.kind
        made: Bounded = make(**{name: FIELDS[name](Z) for name in self._required()}, bound=bound, **self._flags(), **options)
        return made

    def _required(self) -> list[str]:
        needed = [item for item in fields(self.kind) if item.default is MISSING and item.default_factory is MISSING]
        return [item.name for item in needed if item.name != "bound"]

    @property
    def smooth(self) -> bool:
        """Whether the loss grows as a square: gaps are then free of cancellation, and radii of the size of rounding."""
        return getattr(self._example(), "growth", 1) == 2

    def _example(self) -> Any:
        return next(iter(self.kind.form(self.penalty).examples(np.random.default_rng(0)))).problem

    def _flags(self) -> dict[str, bool]:
        """Fields beside the bound in which this form differs from others of the class, an intercept say: read from its first example."""
        example = self._example()
        return {item.name: getattr(example, item.name) for item in fields(self.kind) if isinstance(item.default, bool)}


def twins() -> Iterator[Twin]:
    """Every problem that is registered and has both forms, each with one number."""
    registry.load("problems")
    kinds = [base for _, form in registry.items("problem") if issubclass(form, Bounded) for base in form.__bases__]
    for kind in dict.fromkeys(kinds):
        if not issubclass(kind, Bounded) or "forms" not in vars(kind):
            continue
        for penalty, bound in kind.bounds.items():
            partner = kind.bounds.get(ball := penalty.replace("penalty", "ball"))
            both = issubclass(bound, Penalised) and partner is not None and issubclass(partner, InBall)
            if both and partner is not None and len(fields(bound)) == len(fields(partner)) == 1:
                yield Twin(kind, penalty, ball)


def solved(twin: Twin, bound: Any, Z: TrainingSet, solver: str | None, tol: float, options: dict[str, Any]) -> KernelFunction:
    """The solution as a function, with its radius.

    Raises
    ------
    ArithmeticError
        when the solver returns no point.
    """
    from simopt.solving.entry_points import solve

    problem = twin.pose(bound, Z, options)
    solution = solve(problem, solver, tol=tol)
    if solution.point is None:
        raise ArithmeticError(f"{problem.name}: no point ({solution.reported_status}: {solution.message})")
    point = dict(solution.point)
    given = None if solution.multipliers is None else dict(solution.multipliers)
    gap = certify(problem, point, given, INTERVAL).gap
    radius = problem.distance(gap, point)
    if isinstance(bound, InBall):
        tries = [multipliers for multipliers in (given, problem.multipliers(point)) if multipliers is not None]
        radius = min([radius, *(from_twin(twin, bound, problem, Z, point, multipliers, options) for multipliers in tries)])
    if "alpha" in point:
        f = Z.function(np.asarray(point["alpha"]), error=radius)
        return Z.function(f.coefficients, error=radius + ROUNDING * f.norm())
    return function_of(Z, FIELDS["features"](Z), np.asarray(point["w"]), radius)


def from_twin(
    twin: Twin, ball: InBall, problem: Bounded, Z: TrainingSet, point: Point, multipliers: Multipliers, options: dict[str, Any]
) -> float:
    """2√(2e/s), at the s that the multipliers suggest; ∞ where they suggest none."""
    size = float(ball.size(FLOAT))
    strength = 1.0
    for _ in range(3):
        strength = _slope(twin, problem, Z, multipliers, options, strength) / size
        if not 1e-300 < strength < 1e300:
            return math.inf
    other = twin.pose(twin.penalised.of_strength(strength), Z, options)
    gap = certify(other, point, multipliers, INTERVAL).gap
    w, gram = INTERVAL.lift(point["alpha" if "alpha" in point else "w"]), getattr(problem, "gram", None)
    B, t = ball.size(INTERVAL), ball.norm(INTERVAL, w, gram)
    excess = max(gap, 0.0) + strength / 2 * max(float(INTERVAL.upper(B * B - t * t)), 0.0)
    return 2.0 * math.sqrt(2.0 * excess / strength) * (1.0 + 1e-12)


def _slope(twin: Twin, problem: Bounded, Z: TrainingSet, multipliers: Multipliers, options: dict[str, Any], near: float) -> float:
    """‖g‖ of the multipliers, from two penalised bounds D_s = D_0 − ‖g‖²/(2s): any value will do for a radius, the true one is best."""
    low, high = (float(twin.pose(twin.penalised.of_strength(s), Z, options).dual_bound(multipliers)) for s in (near, 2.0 * near))
    return math.sqrt(max(4.0 * near * (high - low), 0.0))
