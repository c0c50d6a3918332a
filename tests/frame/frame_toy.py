"""A toy problem for tests of the frame, and solvers that misbehave in every way the driver has to survive.

The problem is not registered: the suites that run over all registered problems must not meet it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.model.problem import ALL_CONES, Example, Image, Law, Problem, Rescale, freeze
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@dataclass(frozen=True, eq=False)
class Toy(Problem):
    r"""min_x ½‖A x − b‖² + (λ/2)‖x‖²  subject to |x_i| ≤ r.

    With f = A x and multipliers ν: the infimum over f is ν·b − ½‖ν‖², over x it is −Σ_i h(c_i), c = Aᵀν,
    h(c) = t²/(2λ) + r(|c| − t), t = min(|c|, λ r). All of it is rational.
    """

    matrix: Any
    targets: Any
    radius: float = 1.0
    regularization: float = 0.1

    name: ClassVar[str] = "toy"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")
    parameters: ClassVar[tuple[str, ...]] = ("radius", "regularization")

    def __post_init__(self) -> None:
        a = validate.matrix("matrix", self.matrix)
        freeze(
            self,
            matrix=a,
            targets=validate.vector("targets", self.targets, length=len(a)),
            radius=validate.positive("radius", self.radius),
            regularization=validate.positive("regularization", self.regularization),
        )

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> Any:
        """As above."""
        import cvxpy as cp

        n, d = self.matrix.shape
        x, f = cp.Variable(d, name="x"), cp.Variable(n, name="f")
        radius = cp.Parameter(name="radius", nonneg=True, value=self.radius)
        regularization = cp.Parameter(name="regularization", nonneg=True, value=self.regularization)
        objective = cp.sum_squares(f - self.targets) / 2 + regularization / 2 * cp.sum_squares(x)
        rows = [(f == self.matrix @ x).set_label("predictions"), (x <= radius).set_label("above"), (-x <= radius).set_label("below")]
        return cp.Problem(cp.Minimize(objective), rows)

    def objective(self, point: Any, num: Any = FLOAT) -> Any:
        """½‖A x − b‖² + (λ/2)‖x‖²."""
        x = num.lift(point["x"])
        r = num.matvec(self.matrix, x) - num.lift(self.targets)
        return num.dot(r, r) / 2 + num.lift(self.regularization) * num.dot(x, x) / 2

    def restore(self, point: Any, num: Any = FLOAT) -> Any:
        """Clip."""
        x = num.clip(num.lift(point["x"]), -self.radius, self.radius)
        return {"x": x, "f": num.matvec(self.matrix, x)}

    def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = float("inf")) -> Any:
        """ν·b − ½‖ν‖² − Σ h(Aᵀν)."""
        nu = num.lift(multipliers["predictions"])
        return num.dot(nu, num.lift(self.targets)) - num.dot(nu, nu) / 2 - num.sum(self._conjugate(nu, num))

    def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
        """½‖A x − b + ν‖² + Σ (λx²/2 + h(c) − c x)."""
        x, nu = num.lift(point["x"]), num.lift(multipliers["predictions"])
        r = num.matvec(self.matrix, x) - num.lift(self.targets) + nu
        c = num.rmatvec(self.matrix, nu)
        return num.dot(r, r) / 2 + num.sum(x * x * self.regularization / 2 + self._conjugate(nu, num) - c * x)

    def multipliers(self, point: Any) -> Any:
        """ν = b − A x."""
        return {"predictions": self.targets - self.matrix @ point["x"]}

    def trivial_point(self) -> Any:
        """0."""
        return {"x": np.zeros(self.matrix.shape[1])}

    def normalised(self) -> tuple[Toy, Rescale]:
        """Targets of size 1."""
        unit = float(np.max(np.abs(self.targets))) or 1.0
        small = replace(self, targets=self.targets / unit, radius=self.radius / unit)

        def back(values: Any) -> Any:
            return {name: unit * np.asarray(value) for name, value in values.items()}

        return small, Rescale(back, back)

    def _conjugate(self, nu: Any, num: Any) -> Any:
        size = num.abs(num.rmatvec(self.matrix, nu))
        regularization, radius = num.lift(self.regularization), num.lift(self.radius)
        t = num.minimum(size, regularization * radius)
        return t * t / (2 * regularization) + radius * (size - t)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Bound inactive and active; nothing to fit."""
        a, b = rng.standard_normal((12, 4)), rng.standard_normal(12)
        yield Example("free", cls(a, b, 10.0, 0.1))
        yield Example("bound", cls(a, 5 * b, 0.3, 0.01))
        yield Example("targets 0", cls(a, 0 * b), degenerate=True)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of the targets."""

        def scaled(p: Toy, rng: np.random.Generator) -> Image:
            def fourfold(values: Any) -> Any:
                return {k: 4.0 * np.asarray(v) for k, v in values.items()}

            return Image(replace(p, targets=4.0 * p.targets, radius=4.0 * p.radius), 16.0, fourfold, fourfold)

        return [Law("targets × 4", scaled)]

    @classmethod
    def from_data(cls, dataset: Any, rng: np.random.Generator, **options: Any) -> Toy:
        """Features as they are."""
        return cls(dataset.features, dataset.targets, **options)


@dataclass(frozen=True, eq=False)
class Impossible(Toy, same_programme=True):
    """A declaration without feasible points."""

    name: ClassVar[str] = "impossible"
    may_be_infeasible: ClassVar[bool] = True

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> Any:
        """x ≥ 2 r as well."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        return cp.Problem(plain.objective, [*plain.constraints, plain.var_dict["x"] >= 2 * self.radius])

    def objective(self, point: Point, num: Any = FLOAT) -> Any:
        """∞, as of any problem without feasible points."""
        return num.lift(np.inf)

    def dual_bound(self, multipliers: Multipliers, num: Any = FLOAT, upper: float = float("inf")) -> Any:
        """∞: with a multiplier t on both, the rows x ≤ r and 2 r ≤ x add t r to the bound, for any t."""
        return num.lift(np.inf)


@dataclass(frozen=True, eq=False)
class Bottomless(Toy, same_programme=True):
    """A declaration that is unbounded below."""

    name: ClassVar[str] = "bottomless"

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> Any:
        """min Σ x with nothing below."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        return cp.Problem(cp.Minimize(cp.sum(plain.var_dict["x"])), [plain.constraints[0], plain.constraints[1]])

    def dual_bound(self, multipliers: Multipliers, num: Any = FLOAT, upper: float = float("inf")) -> Any:
        """−∞."""
        return num.lift(-np.inf)


@dataclass(frozen=True, eq=False)
class NeedsPowers(Toy, same_programme=True):
    """A declaration with a power cone whatever cones are offered."""

    name: ClassVar[str] = "needs-powers"

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> Any:
        """|f − b|^2.3 instead of the square."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        penalty = cp.sum(cp.power(cp.abs(plain.var_dict["f"] - self.targets), 2.3, approx=False))
        return cp.Problem(cp.Minimize(penalty), plain.constraints)


@dataclass(frozen=True, eq=False)
class Undeclared(Toy, same_programme=True):
    """A problem that has no declaration."""

    name: ClassVar[str] = "undeclared"

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> Any:
        """Refuse."""
        from simopt.core.errors import InvalidProblem

        raise InvalidProblem("regularization: not convex")


@solver("cyclic", solves=Toy, rank=1)
def cyclic(problem: Toy, *, tol: float, max_iter: int = 10_000, burn: float = 0.0) -> Iterator[Iterate]:
    """Coordinate descent on buffers that it reuses; `burn` seconds of work an iteration."""
    a, lam, r = problem.matrix, problem.regularization, problem.radius
    x, nu = np.zeros(a.shape[1]), problem.targets.copy()
    for _ in range(max_iter):
        stop = time.perf_counter() + burn
        while time.perf_counter() < stop:
            pass
        for j in range(len(x)):
            column = a[:, j]
            new = np.clip((column @ nu + x[j] * (column @ column)) / (column @ column + lam), -r, r)
            nu -= (new - x[j]) * column
            x[j] = new
        yield Iterate({"x": x}, {"predictions": nu}, problem.gap({"x": x}, {"predictions": nu}))


@solver("quits", solves=Toy)
def quits(problem: Toy, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """One step, then nothing."""
    yield Iterate(problem.trivial_point())


@solver("spoils", solves=Toy)
def spoils(problem: Toy, *, tol: float, max_iter: int = 10_000) -> Iterator[Iterate]:
    """Like cyclic without a gap of its own, and writes nonsense on its buffers when it is resumed."""
    for iterate in cyclic(problem, tol=tol, max_iter=max_iter):
        point, multipliers = ({k: v.copy() for k, v in values.items()} for values in (iterate.point, iterate.multipliers or {}))
        yield Iterate(point, multipliers)
        for buffer in (*point.values(), *multipliers.values()):
            buffer[:] = 1e6


@solver("nan", solves=Toy)
def nan(problem: Toy, *, tol: float) -> Iterator[Iterate]:
    """A good point, then one that is not a number."""
    yield Iterate(problem.trivial_point())
    time.sleep(0.01)
    yield Iterate({"x": np.full(problem.matrix.shape[1], np.nan)})


@solver("singular", solves=Toy)
def singular(problem: Toy, *, tol: float) -> Iterator[Iterate]:
    """Raises in the middle."""
    yield Iterate(problem.trivial_point())
    np.linalg.inv(np.zeros((2, 2)))


@solver("choosy", solves=Toy, supports=lambda p: "targets: too many" if len(p.targets) > 3 else None)
def choosy(problem: Toy, *, tol: float) -> Iterator[Iterate]:
    """Small problems only."""
    yield Iterate(problem.trivial_point())


@solver("interrupts", solves=Toy)
def interrupts(problem: Toy, *, tol: float, after: int = 3) -> Iterator[Iterate]:
    """Ctrl-C comes in iteration `after`."""
    for count, iterate in enumerate(cyclic(problem, tol=tol)):
        if count == after and len(problem.targets) == 13:  # not in the warm-up
            raise KeyboardInterrupt
        yield iterate


@solver("endless", solves=Toy)
def endless(problem: Toy, *, tol: float) -> Iterator[Iterate]:
    """Never stops by itself and never gets anywhere."""
    while True:
        yield Iterate(problem.trivial_point(), None, 0.0)


def toy(n: int = 12, d: int = 4, seed: int = 0, kind: type[Toy] = Toy, **values: Any) -> Toy:
    """A random instance."""
    rng = np.random.default_rng(seed)
    return kind(rng.standard_normal((n, d)), rng.standard_normal(n), **values)
