"""Equalities that contradict one another by rounding: what is found is true in fractions, what agrees is let alone, the user is told."""

import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.core.arrays import Array
from simopt.duality.declared import Declared
from simopt.duality.infeasibility import contradiction as contradictions
from simopt.duality.infeasibility.contradiction import Contradiction, contradiction
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme


def of(problem: cp.Problem) -> Contradiction | None:
    quadratic = QuadraticProgramme.of(Declared.of(problem).programme)
    assert quadratic is not None
    return contradiction(quadratic.linear)


def problem_of(A: Array, b: Array, low: float = -99.0) -> cp.Problem:
    x = cp.Variable(A.shape[1])
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [(A @ x == b).set_label("rows"), x >= low, x <= 9])


def residual(A: Array, b: Array, x: Array) -> Fraction:
    """The largest of |a_i x − b_i|, in fractions."""
    rows = ((list(map(Fraction, row.tolist())), Fraction(float(end))) for row, end in zip(A, b, strict=True))
    return max(abs(sum(a * Fraction(float(v)) for a, v in zip(row, x, strict=True)) - end) for row, end in rows)


def planted(rng: np.random.Generator, rounding: float) -> tuple[Array, Array]:
    """Rows of decimals, of which the last is the sum of others by as much as rounding, and a right side that fits one point as much."""
    A = np.round(rng.normal(size=(5, 9)) * (rng.random((5, 9)) < 0.5), 2)
    A = np.vstack([A, A[:3].sum(axis=0)]) if rounding else np.vstack([A, A[0]])
    b = A @ np.round(rng.normal(size=9), 1)
    b[-1] = b[:3].sum() + rounding if rounding else b[0]
    return A, b


def test_what_is_found_is_true_of_every_point() -> None:
    rng, found = np.random.default_rng(0), 0
    for _ in range(60):
        A, b = planted(rng, 1e-15)
        disagreement = of(problem_of(A, b))
        if disagreement is None:  # the sum of the rows is another row to rounding, so that the rows are independent
            continue
        found += 1
        nearest = np.linalg.lstsq(A, b, rcond=None)[0]
        for x in (nearest, nearest + 1e-16 * rng.normal(size=9), rng.normal(size=9)):
            assert residual(A, b, x) >= Fraction(disagreement.amount) * (1 - Fraction(1, 10**9)) > 0
    assert found > 5


def test_rows_that_agree_are_let_alone() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        assert of(problem_of(*planted(rng, 0.0))) is None


def test_a_bound_that_rounding_crosses_is_one_and_names_its_rows() -> None:
    A, b = np.array([[1.0, 0.1, 0.2], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.3, 1.0, 1.0])  # x₀ = 0.3 − 0.1 − 0.2 < 0
    disagreement = of(problem_of(A, b, low=0.0))
    assert disagreement is not None and disagreement.rows == ("rows (entry 0)", "rows (entry 1)", "rows (entry 2)")
    exact = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert disagreement.amount == pytest.approx(float(exact / (1 + Fraction(0.1) + Fraction(0.2))) if exact > 0 else np.nan, rel=1e-12)
    assert of(problem_of(A, b, low=-1.0)) is None


def test_an_inequality_between_equal_ends_is_an_equality_of_the_bounds() -> None:
    x = cp.Variable(2)
    for first, second, agree in ((0.1, 0.2, False), (0.125, 0.25, True)):
        rows = [x[0] + x[1] == round(first + second, 3), x[0] >= first, x[0] <= first, x[1] >= second, x[1] <= second]
        assert (of(cp.Problem(cp.Minimize(cp.sum_squares(x)), rows)) is None) == agree


def test_long_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    A, b = planted(np.random.default_rng(0), 1e-15)
    monkeypatch.setattr(contradictions, "MOST", 1)
    assert of(problem_of(A, b)) is None


def test_who_certifies_rigorously_is_told_and_the_lower_bound_stays() -> None:
    rng = np.random.default_rng(2)
    A = np.vstack([np.eye(4), np.ones((1, 4))])
    b = np.r_[0.1, 0.2, 0.3, 0.4, 1.0000000000000002]
    x = cp.Variable(6)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - rng.normal(size=6))), [(A @ x[:4] == b).set_label("rows"), x >= 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL)
    assert simopt.certify(problem).closes(1e-8)
    rigorous = simopt.certify(problem, rigorous=True)
    assert rigorous.upper == np.inf and rigorous.lower == pytest.approx(problem.value, rel=1e-7)
    assert rigorous.open.startswith(
        "rows (entry 0), rows (entry 1), rows (entry 2) and 2 more: no point within the bounds satisfies all exactly"
    )
