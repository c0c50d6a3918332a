"""Problems that are their declaration: fields, `declare`, examples and a recipe pass conformance; the rest is derived."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from typing import Annotated, Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import INTERVAL
from simopt.conformance import PROBLEM_CHECKS, SOLVER_CHECKS, check_problem, check_solver, executed
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes, Labels, Matrix, NonNegative, Positive, Vector
from simopt.duality import Declared
from simopt.duality.declaration import DeclaredProblem
from simopt.model.problem import ALL_CONES, Example, problem


@dataclasses.dataclass(frozen=True, eq=False)
class LinearFit(DeclaredProblem):
    """A fit of y by Xw."""

    parameters = ("regularization",)
    features: Matrix
    targets: Vector

    @classmethod
    def from_data(cls, dataset: Any, rng: np.random.Generator) -> Any:
        """Recipe: the data as they are."""
        return cls(dataset.features, dataset.targets)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Two sizes; targets 0."""
        for n in (6, 20):
            X = rng.normal(size=(n, 3))
            yield Example(f"{n} samples", cls(X, X @ [1.0, -2.0, 0.5] + rng.standard_t(3, size=n)))
        yield Example("targets 0", cls(X, np.zeros(n)), degenerate=True)


def strength(value: float) -> cp.Parameter:
    return cp.Parameter(nonneg=True, name="regularization", value=value)


class Quantile(LinearFit):
    """min_w (1/n) Σ max(τr, (τ − 1)r) + (λ/2)‖w‖², r = y − Xw: a term of two arguments, a field that has no unit."""

    name, title = "toy-quantile", "quantile regression"
    regularization: Positive = 0.1
    level: Positive = 0.3

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """As above."""
        w = cp.Variable(self.features.shape[1], name="w")
        r = self.targets - self.features @ w
        loss = cp.sum(cp.maximum(self.level * r, (self.level - 1) * r)) / len(self.targets)
        return cp.Problem(cp.Minimize(loss + strength(self.regularization) / 2 * cp.sum_squares(w)))


class BallFit(LinearFit):
    """min_w (1/n) Σ max(|f_i − y_i| − ε, 0) subject to f = Xw, ‖w‖ ≤ B: rows, and a feasible set."""

    name, title, parameters = "toy-ball", "support vector regression in a ball", ("radius",)
    radius: Positive = 1.0
    epsilon: NonNegative = 0.1

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """As above."""
        w, f = cp.Variable(self.features.shape[1], name="w"), cp.Variable(len(self.targets), name="f")
        radius = cp.Parameter(nonneg=True, name="radius", value=self.radius)
        rows = [(f == self.features @ w).set_label("predictions"), (cp.norm(w, 2) <= radius).set_label("ball")]
        return cp.Problem(cp.Minimize(cp.sum(cp.pos(cp.abs(f - self.targets) - self.epsilon)) / len(self.targets)), rows)


class LogisticFit(LinearFit):
    """min_w (1/n) Σ log(1 + exp(−y_i ⟨w, x_i⟩)) + (λ/2)‖w‖²: an argument that has no unit."""

    name, title = "toy-logistic", "logistic regression"
    targets: Labels
    regularization: Positive = 0.1

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """As above."""
        w = cp.Variable(self.features.shape[1], name="w")
        loss = cp.sum(cp.logistic(-cp.multiply(self.targets, self.features @ w))) / len(self.targets)
        return cp.Problem(cp.Minimize(loss + strength(self.regularization) / 2 * cp.sum_squares(w)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """Two strengths; features 0."""
        X = rng.normal(size=(20, 3))
        y = np.sign(X @ [1.0, -2.0, 0.5] + rng.standard_t(3, size=20))
        yield from (Example(f"λ = {each:g}", cls(X, y, each)) for each in (0.01, 1.0))
        yield Example("features 0", cls(0.0 * X, y), degenerate=True)


class Signed(LinearFit):
    """min_w (1/n)‖Xw − y‖² + λ wᵀMw subject to w ≥ 0: a matrix inside of a term, and bounds."""

    name, title, arithmetics = "toy-signed", "least squares with signs", ("float", "interval", "rational")
    metric: Annotated[Array, Axes("d", "d")] = dataclasses.field(default_factory=lambda: np.diag([1.0, 2.0, 3.0]) + 0.5)
    regularization: Positive = 0.1

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """As above."""
        w = cp.Variable(self.features.shape[1], name="w")
        loss = cp.sum_squares(self.features @ w - self.targets) / len(self.targets)
        penalty = strength(self.regularization) * cp.quad_form(w, self.metric)
        return cp.Problem(cp.Minimize(loss + penalty), [(w >= 0).set_label("sign")])


LAWS = {
    Quantile: ["features × s, regularization × s^2", "targets × s, regularization × s^-1"],
    BallFit: ["features × s, radius × s^-1", "targets × s, radius × s, epsilon × s"],
    LogisticFit: ["features × s, regularization × s^2"],
    Signed: ["features × s, regularization × s^2", "targets × s", "metric × s, regularization × s^-1"],
}
for toy in LAWS:
    dataclasses.dataclass(frozen=True, eq=False)(toy)  # `problem` would, but tests of every problem shall not find them


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Registered for the time of a test; their solves do not count as solves of the suite."""
    for table in ("_entries", "_modules", "_origins"):
        monkeypatch.setattr(registry, table, {k: dict(v) if isinstance(v, dict) else v for k, v in getattr(registry, table).items()})
    for kind in LAWS:
        problem(kind)
    counted = dict(executed)
    yield
    executed.clear()
    executed.update(counted)


@pytest.mark.parametrize("check", PROBLEM_CHECKS)
def test_the_problem_checks_pass(check: str) -> None:
    PROBLEM_CHECKS[check](BallFit)


@pytest.mark.parametrize("check", SOLVER_CHECKS)
def test_a_back_end_is_given_what_it_needs_for_multipliers(check: str) -> None:
    SOLVER_CHECKS[check](Quantile, "clarabel")


@pytest.mark.slow
@pytest.mark.parametrize("kind", LAWS, ids=lambda kind: kind.name)
def test_conformance_passes(kind: Any) -> None:
    check_problem(kind)
    for solver in ("clarabel", "ecos", "scs"):
        check_solver(kind, solver)


@pytest.mark.parametrize("kind", LAWS, ids=lambda kind: kind.name)
def test_the_laws_of_units_are_those_of_pencil_and_paper(kind: Any) -> None:
    assert [law.name for law in kind.laws()] == LAWS[kind]


def test_natural_units_are_near_1_and_the_way_back_is_exact() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    given = Quantile(1e-7 * X, 1e8 * y, 1e-20)
    natural, back = given.normalised()
    for field in ("features", "targets"):
        assert 0.5 <= np.max(np.abs(getattr(natural, field))) <= 2.0
    assert natural.level == given.level and type(natural) is Quantile
    point = {"w": rng.normal(size=3)}
    there = back.point(point)
    factor = given.objective(there) / natural.objective(point)
    assert np.frexp(factor)[0] == 0.5  # a power of two: nothing was rounded
    multipliers = natural.multipliers(point)
    assert multipliers is not None
    assert given.dual_bound(back.multipliers(multipliers)) == factor * natural.dual_bound(multipliers)


def test_a_problem_in_any_unit_is_solved() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    for k in (-9, 9):
        solution = simopt.solve(BallFit(X, y * 10.0**k, 0.5 * 10.0**k, 0.1 * 10.0**k), "clarabel", rigorous=True)
        assert solution.optimal and solution.certificate is not None and solution.certificate.arithmetic == "interval"


def test_the_declaration_is_read_once_and_not_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    fit = Quantile(rng.normal(size=(9, 3)), rng.normal(size=9))
    read, of = [], Declared.of
    monkeypatch.setattr(Declared, "of", classmethod(lambda cls, declaration: read.append(declaration) or of(declaration)))
    for num in (simopt.arithmetic.FLOAT, INTERVAL):
        simopt.certify(fit, fit.trivial_point(), num=num)
    assert len(read) == 1
    assert set(pickle.loads(pickle.dumps(fit)).__dict__) == {item.name for item in dataclasses.fields(fit)}


def test_multipliers_of_a_part_of_a_term_are_put_in_their_place() -> None:
    fit = Quantile(np.eye(3), np.array([1.0, 2.0, 3.0]))
    labels = [row.label for row in fit.for_back_ends().constraints]
    assert labels == ["maximum 1 of 0", "maximum 1 of 1"]
    parts = {label: np.full(3, 1.0 + number) for number, label in enumerate(labels)}
    assert fit.derived.assembled(parts)["maximum 1"] == pytest.approx([1, 1, 1, 2, 2, 2])
    for size in (1, 4):
        with pytest.raises(InvalidProblem, match=f"maximum 1 of 1 has {size} entries, expected 3"):
            fit.dual_bound(parts | {labels[1]: np.ones(size)})


def test_a_declaration_may_have_other_functions_for_other_cones() -> None:
    pytest.importorskip("ecos", reason="of the back ends ECOS alone has no power cones, and no wheels from Python 3.13 on")

    @problem
    class PowerFit(LinearFit):
        """min_w ‖Xw − y‖² + Σ|w|^1.5, the power by second-order cones where there are no power cones."""

        name, title, parameters = "toy-powers", "powers", ()

        def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
            """As above."""
            w = cp.Variable(self.features.shape[1], name="w")
            power = cp.power(cp.abs(w), 1.5, approx="power" not in cones)
            return cp.Problem(cp.Minimize(cp.sum_squares(self.features @ w - self.targets) + cp.sum(power)))

    fit = PowerFit(np.eye(2), np.array([2.0, -4.0]))
    first, second = (simopt.solve(fit, solver) for solver in ("clarabel", "ecos"))
    assert first.optimal and second.optimal and first.point["w"] == pytest.approx(second.point["w"], abs=1e-4)


def test_fields_say_what_is_wrong_with_them() -> None:
    X, y = np.ones((4, 3)), np.ones(4)
    for wrong, message in (
        ({"targets": np.ones(5)}, r"targets: shape \(5,\), but n = 4 in features"),
        ({"features": np.full((4, 3), np.nan)}, r"features: 12 of 12 values are not finite"),
        ({"regularization": -1.0}, "regularization: -1 given, a number > 0 needed"),
        ({"targets": np.ones((4, 1))}, "targets: 2-dimensional"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            Quantile(**({"features": X, "targets": y} | wrong))
    with pytest.raises(InvalidProblem, match="metric: shape \\(2, 2\\), but d = 3 in features"):
        Signed(X, y, np.eye(2))
    with pytest.raises(InvalidProblem, match="targets: 4 of 4 labels"):
        LogisticFit(X, 2 * y)


def test_a_class_without_decorator_becomes_a_frozen_dataclass_by_being_registered() -> None:
    @problem
    class Least(LinearFit):
        """min_w ‖Xw − y‖² + ‖w‖²."""

        name, title, parameters = "toy-least", "least squares", ()

        def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
            """As above."""
            w = cp.Variable(self.features.shape[1], name="w")
            return cp.Problem(cp.Minimize(cp.sum_squares(self.features @ w - self.targets) + cp.sum_squares(w)))

    fit = Least(np.eye(2), np.array([2.0, 4.0]))
    assert simopt.solve(fit, "clarabel").point["w"] == pytest.approx([1.0, 2.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.targets = np.zeros(2)  # type: ignore[misc]
