"""What holds for every problem: the gap is P − D exactly, strong duality through CVXPY, restored points are feasible, recipes."""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL
from simopt.certificates.assessment import judge
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.duality.declaration import DeclaredProblem
from simopt.model.problem import Example, Problem, changed
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.norms.cosines import EPS, CosineNorm
from simopt.solving.entry_points import certify

registry.load("problems")
OURS = [name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")]


@cache
def examples(name: str) -> tuple[Example, ...]:
    return tuple(registry.get("problem", name).examples(np.random.default_rng(7)))


CASES = [pytest.param(example.problem, id=f"{name}: {example.name}") for name in OURS for example in examples(name)]


def files_that_call_cvxpy(problem: Problem) -> set[Path]:
    """Files, other than CVXPY's own, whose lines call CVXPY while the problem is declared: all that a declaration says is such a call.

    `self.parameter(name)` says in the file of the problem what `cp.Parameter` says: it is not followed.
    """
    import cvxpy as cp

    home, callers = str(Path(cp.__file__).parent), set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(home):
            caller = frame.f_back
            if caller is None or caller.f_code is DeclaredProblem.parameter.__code__:
                return
            if not caller.f_code.co_filename.startswith((home, "<")):
                callers.add(Path(caller.f_code.co_filename))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        problem.declare()
    except InvalidProblem:
        pass  # what is refused has no declaration
    finally:
        sys.setprofile(before)
    return callers


@pytest.mark.parametrize("name", OURS)
def test_the_whole_programme_stands_in_the_file_of_the_problem(name: str) -> None:
    home = Path(inspect.getfile(registry.get("problem", name)))
    assert {file for example in examples(name) for file in files_that_call_cvxpy(example.problem)} == {home}


class Elsewhere(KernelRidge, same_programme=True):
    """A problem that takes its declaration from the file of another, and its penalty from its own."""

    def declare(self, **options: Any) -> Any:
        import cvxpy as cp

        inherited = super().declare(**options)
        return cp.Problem(cp.Minimize(inherited.objective.expr + cp.norm(inherited.variables()[0], 1)), inherited.constraints)


def test_a_programme_that_stands_in_two_files_is_found_in_both() -> None:
    ours, theirs = Path(__file__), Path(inspect.getfile(KernelRidge))
    assert files_that_call_cvxpy(Elsewhere(np.eye(2), np.ones(2), 0.1)) == {ours, theirs}


@cache
def solved(problem: Problem) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Value, point and multipliers by label from CLARABEL, straight from the declaration in natural units."""
    natural, back = problem.normalised()
    declaration = natural.declare()
    declaration.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    point = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    duals = {row.label: np.asarray(row.dual_value) for row in declaration.constraints if not isinstance(row.dual_value, list)}
    return float(declaration.value), back.point(point), back.multipliers(duals)


def random_point(problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
    trivial = problem.trivial_point()
    size = max([1e-3, *(float(np.max(np.abs(value), initial=0.0)) for value in trivial.values())])
    return {key: value + size * rng.normal(size=np.shape(value)) for key, value in trivial.items()}


def random_multipliers(problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
    known = problem.multipliers(problem.restore(random_point(problem, rng)))
    assert known is not None
    size = max([1e-3, *(float(np.max(np.abs(value), initial=0.0)) for value in known.values())])
    return {key: value + size * rng.normal(size=np.shape(value)) for key, value in known.items()}


@pytest.mark.parametrize("problem", [case for case in CASES if RATIONAL.name in case.values[0].arithmetics])
def test_in_fractions_the_gap_is_primal_minus_dual_and_not_negative(problem: Problem) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        point, multipliers = problem.restore(random_point(problem, rng), RATIONAL), random_multipliers(problem, rng)
        value = problem.objective(point, RATIONAL)
        gap = problem.gap(point, multipliers, RATIONAL)
        assert gap == value - problem.dual_bound(multipliers, RATIONAL, RATIONAL.upper(value))
        assert gap >= 0


@pytest.mark.slow  # conformance asks its "statuses" of wider gaps
@pytest.mark.parametrize("problem", CASES)
def test_strong_duality_and_agreement_with_the_declaration(problem: Problem) -> None:
    _, point, multipliers = solved(problem)
    judged = judge(problem, point, multipliers)
    found = judged.certificate
    assert found.closes(1e-7) or (found.holds_zero and found.gap <= 1e-7 * problem.scale())
    assert found.lower <= found.upper + 1e-12 * max(found.scale, abs(found.upper))
    rigorous = certify(problem, point, multipliers, INTERVAL)
    assert rigorous.lower <= found.upper + 1e-12 * found.scale
    assert rigorous.upper >= found.lower - 1e-12 * found.scale
    if problem.scale() > 0:  # of which the terms are made; of an optimum that is next to nothing of it intervals know no more
        assert rigorous.gap <= max(1e-6 * problem.scale(), known_of_a_norm(problem))


def known_of_a_norm(problem: Problem) -> float:
    """How far balls may be off where the dual takes 1/γ times a norm √(qᵀKq) ≈ 0, Σ|q_i| ≤ 2: the form is summed to nε Σ|q_i K_ij q_j|.

    No arithmetic does better by far: K itself, rounded to floats, is semidefinite to ε only.
    """
    if not isinstance(problem, CosineNorm):
        return 0.0
    known: float = np.sqrt(2.0 * (len(problem.gram) + 4) * EPS * np.max(np.diagonal(problem.gram)))
    return 2.0 * known / problem.gamma


@pytest.mark.parametrize("problem", CASES)
def test_the_trivial_point_gives_the_scale_and_is_feasible(problem: Problem) -> None:
    point = problem.trivial_point()
    restored = problem.restore(point)
    if problem.name != "herding":  # whose scale, the squared norm of the mean, is not the value of any point
        assert float(problem.objective(restored)) <= problem.scale() * (1 + 1e-12)
    for key, value in point.items():
        np.testing.assert_allclose(restored[key], value, atol=1e-12 * (1 + np.max(np.abs(value), initial=0.0)))


@pytest.mark.parametrize("problem", CASES)
def test_normalising_keeps_the_relative_gap(problem: Any) -> None:
    # The normalised forms of the mean classifiers differ by an affine map of the values: there the gap stretches with the values.
    natural, back = problem.normalised()
    stretch = 1.0
    ours, theirs = (getattr(p, "grams", getattr(p, "gram", np.zeros(1))) for p in (problem, natural))
    if problem.name in ("mean-classifier", "mean-classifier-penalised", "multiple-kernel-mean") and np.any(ours):
        kappa = float(np.max(ours) / np.max(theirs))
        ball = problem.name != "mean-classifier-penalised"
        stretch = np.sqrt(kappa) if ball else kappa * natural.regularization / problem.regularization
    rng = np.random.default_rng(5)
    point, multipliers = natural.restore(random_point(natural, rng)), random_multipliers(natural, rng)
    inside = float(natural.gap(point, multipliers))
    outside = float(problem.gap(problem.restore(back.point(point)), back.multipliers(multipliers)))
    if natural.scale() > 0:
        assert outside / problem.scale() == pytest.approx(inside / natural.scale() * stretch, rel=1e-6, abs=1e-12)


def enclosed_norm(problem: Any, point: dict[str, Any]) -> float:
    if "alpha" in point:
        alpha = INTERVAL.lift(point["alpha"])
        return INTERVAL.upper(INTERVAL.sqrt(INTERVAL.pos(INTERVAL.dot(alpha, INTERVAL.matvec(problem.gram, alpha)))))
    return INTERVAL.upper(INTERVAL.norm(INTERVAL.lift(point["w"])))


@pytest.mark.parametrize(
    "name",
    [
        "m-power-rls-ball",
        "landmarked-svr",
        "landmarked-least-squares",
        "landmarked-ranking",
        "exc-ordinal",
        "mean-classifier",
        "hinge-svm-ball",
    ],
)
def test_points_restored_in_intervals_are_provably_inside_the_ball(name: str) -> None:
    rng = np.random.default_rng(1)
    for example in examples(name):
        problem: Any = example.problem
        bounds = {"m-power-rls-ball": lambda p: p.norm_bound * (1 + 1e-15), "mean-classifier": lambda p: 1.0}
        bounds["hinge-svm-ball"] = lambda p: np.sqrt(p.capacity)
        bound = bounds.get(name, lambda p: p.radius)(problem)
        for spread in (1e-3, 1.0, 1e6):
            point = {key: spread * value for key, value in random_point(problem, rng).items()}
            assert enclosed_norm(problem, problem.restore(point, INTERVAL)) <= bound


STRONGLY_CONVEX = [
    "landmarked-svr-penalised",
    "landmarked-ridge",
    "landmarked-ranking-penalised",
    "exc-ordinal-penalised",
    "exc-fixed-penalised",
    "imc-ordinal-penalised",
    "kernel-exc",
    "kernel-ridge",
    "hinge-svm",
    "hinge-svm-bias",
    "mean-classifier-penalised",
    "lipschitz-isotonic",
]


@pytest.mark.parametrize("name", STRONGLY_CONVEX)
def test_distance_holds_the_optimum(name: str) -> None:
    rng = np.random.default_rng(2)
    for example in examples(name):
        problem: Any = example.problem
        _, best, multipliers = solved(problem)
        best = problem.restore(best)
        for size in (1e-4, 1e-1):
            point = problem.restore({key: value + size * rng.normal(size=np.shape(value)) for key, value in best.items()})
            gap = float(problem.gap(point, multipliers))
            key = next(iter({"alpha", "w", "x"} & set(point)))
            difference = np.asarray(point[key]) - best[key]
            length = np.sqrt(difference @ problem.gram @ difference) if key == "alpha" else np.linalg.norm(difference)
            assert length <= problem.distance(gap, point) * (1 + 1e-6) + 1e-6


SOME = "some"  # data: the first of these that the recipe takes
TRIED = ("concrete", "mnist_3v8", "wine_red")
RECIPES: list[tuple[str, str, dict[str, Any]]] = [
    ("landmarked-svr", "abalone", {"landmarks": 20}),
    ("landmarked-svr-penalised", "abalone", {"samples": 300, "landmarks": 20, "similarity": "manhattan"}),
    ("sparse-landmarked", "abalone", {"landmarks": 40, "samples": 300}),
    ("landmarked-svr", "concrete", {"samples": 200, "landmarks": 20, "smoothness": 0.5}),
    ("landmarked-ridge", "concrete", {"samples": 200, "landmarks": 20}),
    ("landmarked-least-squares", "abalone", {"samples": 200, "landmarks": 20, "similarity": "manhattan"}),
    ("landmarked-ranking", "ohsumed", {"queries": 4, "landmarks": 10}),
    ("landmarked-ranking-penalised", "ohsumed", {"queries": 4, "landmarks": 10, "logarithm": "binary"}),
    ("kernel-ranking", "ohsumed", {"queries": 2}),
    ("ranking-goodness", "ohsumed", {"queries": 1, "similarity": "manhattan"}),
    ("kernel-regression", "concrete", {"samples": 200}),
    ("kernel-regression", "concrete", {"samples": 200, "similarity": "manhattan", "queries": 0.5}),
    ("exc-ordinal", "wine_red", {"landmarks": 20, "samples": 400}),
    ("exc-ordinal-penalised", "concrete", {"landmarks": 10, "samples": 300, "bins": 4}),
    ("exc-fixed", "wine_red", {"landmarks": 10, "samples": 200}),
    ("exc-fixed-penalised", "concrete", {"landmarks": 10, "samples": 200, "spacing": 0.5}),
    ("imc-ordinal", "wine_red", {"landmarks": 10, "samples": 200}),
    ("imc-ordinal-penalised", "concrete", {"landmarks": 10, "samples": 200, "bins": 4}),
    ("kernel-exc", "wine_red", {"samples": 150}),
    ("m-power-rls", "concrete", {"samples": 120}),
    ("m-power-rls-ball", "concrete", {"samples": 120}),
    ("kernel-ridge", "concrete", {"samples": 120}),
    ("lipschitz-isotonic", "concrete", {}),
    ("lipschitz-isotonic", "concrete", {"feature": "age_days", "lipschitz": float("inf")}),
    ("hinge-svm", "mnist_3v8", {"samples": 80}),
    ("hinge-svm-bias", "mnist_3v8", {"samples": 80}),
    ("hinge-svm-ball", "mnist_3v8", {"samples": 80}),
    ("hinge-svm-ball-bias", "concrete", {"samples": 80, "standardise": True}),
    ("hinge-svm-hull", "mnist_3v8", {"samples": 80}),
    ("mean-classifier", "mnist_3v8", {"samples": 80}),
    ("herding", "mnist_3v8", {"samples": 80, "candidates": 12}),
    ("herding", "concrete", {"samples": 60}),
    ("mmd", "mnist_3v8", {"samples": 80}),
    ("multiple-kernel-mean", "mnist_3v8", {"samples": 60}),
    ("multiple-kernel-mean", "concrete", {"samples": 60, "similarities": "linear, polynomial", "standardise": True}),
    ("bayes-linear-loss", "mnist_3v8", {}),
    ("bayes-linear-loss", "concrete", {"feature": "age_days", "bins": 5}),
    ("convex-potential", "mnist_3v8", {"samples": 80}),
    ("convex-potential", "concrete", {"samples": 80, "potential": "exponential", "radius": 2.0}),
    ("mean-classifier-penalised", "mnist_3v8", {"samples": 80}),
    ("matching-loss", "concrete", {"samples": 80}),
    ("matching-loss", "wine_red", {"samples": 200, "transfer": "clipped", "radius": 1.0}),
    ("matching-loss", "mnist_3v8", {"samples": 60, "transfer": "identity"}),
    ("sup-distance", "concrete", {}),
    ("sup-distance", "concrete", {"feature": "age_days", "lipschitz": float("inf")}),
    ("goodness", "concrete", {"samples": 40}),
    ("goodness", "concrete", {"samples": 40, "similarity": "manhattan", "loss": "squared", "bound": 1.0}),
    ("goodness", "mnist_3v8", {"samples": 40, "loss": "hinge", "standardise": False}),
    ("goodness-choice", "abalone", {"samples": 40}),
    ("kernel-goodness", "concrete", {"samples": 40}),
    ("kernel-goodness", "mnist_3v8", {"samples": 40, "loss": "hinge", "gamma": 0.5, "standardise": False}),
    ("smallest-bound", "concrete", {"samples": 30}),
    ("ordinal-goodness", "wine_red", {"samples": 40}),
    ("kernel-ordinal-goodness", "wine_red", {"samples": 40}),
]


@cache
def some(name: str) -> str:
    """A data set of which the recipe of a problem makes one without options."""
    for data in TRIED:
        with suppress(InvalidProblem):
            registry.get("problem", name).from_data(load_dataset(data), np.random.default_rng(0))
            return data
    raise AssertionError(f"the recipe of {name} takes none of {', '.join(TRIED)}: give it data and options in RECIPES")


OTHERS = [(name, SOME, {}) for name in OURS if name not in {name for name, _, _ in RECIPES}]


@pytest.mark.parametrize(("name", "data", "options"), [*RECIPES, *OTHERS])
def test_recipes_on_real_data_end_in_a_certificate(name: str, data: str, options: dict[str, Any]) -> None:
    dataset = load_dataset(some(name) if data == SOME else data)
    problem = registry.get("problem", name).from_data(dataset, np.random.default_rng(0), **options)
    again = registry.get("problem", name).from_data(dataset, np.random.default_rng(0), **options)
    assert problem.fingerprint() == again.fingerprint()
    natural, back = problem.normalised()
    declaration = natural.declare()
    declaration.solve(solver="CLARABEL")
    point = {variable.name(): np.asarray(variable.value) for variable in declaration.variables()}
    duals = {row.label: np.asarray(row.dual_value) for row in declaration.constraints if not isinstance(row.dual_value, list)}
    found = certify(problem, back.point(point), back.multipliers(duals))
    assert found.gap <= 1e-6 * problem.scale() > 0.0


@pytest.mark.parametrize("name", OURS)
def test_data_that_are_not_finite_are_refused_by_name(name: str) -> None:
    problem = examples(name)[0].problem
    for field in problem.settable():
        value = getattr(problem, field)
        bad: Any = np.array(value, dtype=float) if isinstance(value, np.ndarray) else float("nan")
        if isinstance(bad, np.ndarray):
            bad[(0,) * bad.ndim] = np.nan
        with pytest.raises(InvalidProblem, match=field):
            changed(problem, **{field: bad})


def test_isotonic_points_restored_in_fractions_are_exactly_feasible() -> None:
    rng = np.random.default_rng(4)
    num = BY_NAME["rational"]
    for example in examples("lipschitz-isotonic"):
        problem: Any = example.problem
        x = problem.restore(random_point(problem, rng), num)["x"]
        steps, least, bound = np.diff(x), problem.least_steps(num), problem.steps(num)
        assert all(isinstance(value, Fraction) for value in x)
        assert all(0 <= a <= d and (free or d <= u) for a, d, u, free in zip(least, steps, bound, problem.free, strict=True))
        assert (problem.low is None or x[0] >= problem.low) and (problem.high is None or x[-1] <= problem.high)
        pull = num.dot(num.lift(problem.weights), x - num.lift(problem.targets))
        assert pull == 0 or (pull > 0 and x[0] == problem.low) or (pull < 0 and x[-1] == problem.high)


def test_float_arithmetic_is_the_default() -> None:
    problem = examples("kernel-ridge")[0].problem
    point = problem.trivial_point()
    assert problem.objective(point) == problem.objective(point, FLOAT) == problem.scale()


FORMULAS = ("objective", "restore", "multipliers", "dual_bound", "gap", "distance", "trivial_point", "scale", "normalised")


def written_by_hand(cls: type[Problem]) -> list[str]:
    return [name for name in FORMULAS if getattr(cls, name) not in (getattr(Problem, name), getattr(DeclaredProblem, name))]


def test_formulas_by_hand_have_a_reason_that_was_measured() -> None:
    """Rows of docs/benchmarks.md end with the reason; where it is time, derived formulas make the whole solve slower than is allowed."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = page.split("## derived certificates against those by hand, in a whole solve")[1].split("```")[1]
    measured = {line.split()[0]: line for line in table.splitlines()[2:]}
    classes = {name: registry.get("problem", name) for name in OURS}
    by_hand = {name: cls.by_hand for name, cls in classes.items() if written_by_hand(cls)}
    assert not [name for name, cls in classes.items() if cls.by_hand and name not in by_hand]
    assert measured.keys() == by_hand.keys()
    for name, reason in by_hand.items():
        assert reason and "\n" not in reason, name
        assert measured[name].endswith(f"  {reason}"), name
        whole = float(measured[name].split()[5])
        assert "time" not in reason or whole > 1.05, measured[name]
