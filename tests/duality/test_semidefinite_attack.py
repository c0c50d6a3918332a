"""No bound of random semidefinite problems is false, whatever points and multipliers are assessed.

The optimum of each is known by construction (`exact/semidefinite.py`), and is compared with the floats of the certificates as fractions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from attacked import AttackRecord, assert_nothing_false, point_and_multipliers
from semidefinite import KnownOptimum, PlantedMatrices, semidefinite_problem
from ugly import attacks

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.duality import Declared
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.infeasibility.infeasible import infeasible

BLOCKS = [range(first, first + 100) for first in range(0, 1200, 100)]
ATTACKS = 2  # on each problem, out of sixteen
SEARCHED = 3  # every third problem is solved by `certify`
CLOSED = 1e-6
FEW = (1, 2, 4, 6, 282)  # of the last a stale matrix proved that no point is feasible
SOLVERS: tuple[dict[str, Any], ...] = (
    {"solver": cp.CLARABEL},
    {"solver": cp.CLARABEL},
    {"solver": cp.SCS, "eps": 1e-9, "max_iters": 2000},
    {"solver": cp.SCS, "eps": 1e-2},
    {"solver": cp.SCS, "max_iters": 7},
    {"solver": cp.CLARABEL, "max_iter": 4},
)
REGULAR = ("barrier", "hermitian", "affine")  # kinds in whose floats an eigenvalue that is 0 to rounding costs no more than rounding


def assessed(numbers: Iterable[int], seed: int = 0) -> AttackRecord:
    """All attacks on these problems."""
    record = AttackRecord()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in numbers:
            assess(record, seed, number)
    return record


def assess(record: AttackRecord, seed: int, number: int) -> None:
    """What a problem holds after a solve, a search, and points and multipliers given by hand."""
    drawn = semidefinite_problem(seed, number)
    truth, rng = KnownOptimum(drawn), np.random.default_rng([seed, number, 1])
    record.counts[drawn.kind] += 1
    solved(rng, drawn.problem)

    def ask(attack: str, rigorous: bool, solver: str | None) -> None:
        certificate = record.certified(
            number, truth, attack, rigorous, lambda: simopt.certify(drawn.problem, rigorous=rigorous, solver=solver)
        )
        if certificate is not None and rigorous:
            count(record, f"{drawn.kind}, {attack}", truth, certificate)

    ask("as it is", True, None)
    if drawn.kind in REGULAR:
        ask("as it is", False, None)
    if number % SEARCHED == 0:
        ask("searched", True, "clarabel")
    if drawn.kind != "hermitian":
        attack_by_hand(record, seed, number, drawn, truth, rng)


def count(record: AttackRecord, name: str, truth: KnownOptimum, certificate: Certificate) -> None:
    """Count certificates, finite ends, and those that close."""
    record.counts[f"{name}: certificates"] += 1
    record.counts[f"{name}: finite"] += int(np.isfinite(certificate.lower)) + int(np.isfinite(certificate.upper))
    record.counts[f"{name}: closed"] += bool(certificate.closes(CLOSED))


def solved(rng: np.random.Generator, problem: cp.Problem) -> None:
    """Values of a solver, which may have been stopped; zeros where it has none."""
    options = dict(SOLVERS[int(rng.integers(len(SOLVERS)))])
    try:
        problem.solve(**options)
    except (cp.error.SolverError, ValueError, ArithmeticError):
        pass
    for v in problem.variables():
        if v.value is None or not np.all(np.isfinite(v.value)):
            v.save_value(np.zeros(v.shape))


def attack_by_hand(
    record: AttackRecord, seed: int, number: int, drawn: PlantedMatrices, truth: KnownOptimum, rng: np.random.Generator
) -> None:
    """Some of the points and multipliers that no solver gives; what is not finite has to be refused."""
    try:
        declared = Declared.of(drawn.problem)
        point, multipliers = point_and_multipliers(declared)
    except InvalidProblem:
        record.counts["refused"] += 1
        return
    except Exception as error:
        record.foreign.append((number, "reading", True, repr(error)[:200]))
        return
    drafts = [*attacks(rng, point, multipliers, point, multipliers), *of_matrices(rng, declared, point, multipliers)]
    for k in rng.choice(len(drafts), size=ATTACKS, replace=False):
        attack, at, u = drafts[k]
        num = FLOAT if rng.random() < 0.2 and drawn.kind in REGULAR else INTERVAL

        def compute(at: Point = at, u: Multipliers = u, num: Any = num) -> Certificate:
            certificate = simopt.certify(declared, at, u, num)
            return certificate.of_the_maximum() if declared.maximises else certificate

        certificate = record.certified(number, truth, attack, num is not FLOAT, compute)
        if certificate is not None and num is INTERVAL:
            count(record, f"{drawn.kind}, by hand", truth, certificate)
    for name in list(multipliers)[:1]:
        wrong = {**multipliers, name: np.full_like(multipliers[name], rng.choice([np.nan, np.inf]))}
        if multipliers[name].size:
            with pytest.raises(InvalidProblem):
                simopt.certify(drawn.problem, point, wrong, INTERVAL, solver=None)


def of_matrices(
    rng: np.random.Generator, declared: Declared, point: Point, multipliers: Multipliers
) -> Iterator[tuple[str, Point, Multipliers]]:
    """Multipliers of cones that are not symmetric, indefinite, of rank 1, semidefinite and wrong, or of the order of rows."""
    sides = {name: declared.cones[key].n for name, (_, key, _) in declared.names.items() if key in declared.cones}

    def changed(change: Any) -> Multipliers:
        out = dict(multipliers)
        for name, n in sides.items():
            out[name] = np.asarray(change(multipliers[name].reshape(n, n))).reshape(-1)
        return out

    size = max((float(np.max(np.abs(u), initial=0.0)) for u in multipliers.values()), default=1.0)
    yield "not symmetric", point, changed(lambda u: u + (1.0 + size) * np.triu(rng.normal(size=u.shape), 1))
    yield "indefinite", point, changed(lambda u: u - size * 10.0 ** rng.integers(-9, 2) * np.eye(len(u)))
    yield "of rank 1", point, changed(lambda u: np.outer(*2 * (rng.normal(size=len(u)),)) * 10.0 ** rng.integers(-3, 4))
    yield "semidefinite", point, changed(lambda u: u + size * 10.0 ** rng.integers(-9, 3) * np.eye(len(u)))
    yield "beyond the floats", point, changed(lambda u: np.full(u.shape, rng.choice([1e300, -1e300, 1e-300, 5e-324, 1.7e308])))
    turned = {name: x.T if np.ndim(x) == 2 else x for name, x in point.items()}
    yield "turned", {name: x + np.triu(rng.normal(size=np.shape(x))) if np.ndim(x) == 2 else x for name, x in turned.items()}, multipliers


def test_no_bound_of_a_semidefinite_problem_is_false() -> None:
    record = assessed(FEW)
    assert_nothing_false(record)
    assert record.counts["finite"] >= record.counts["assessments"] * 0.8 > 5


def test_planted_optima_are_what_a_solver_gets() -> None:
    compared = 0
    for number in range(120):
        drawn = semidefinite_problem(1, number)
        if isinstance(drawn.optimum, Fraction) and not drawn.note and drawn.kind != "notorious":
            try:
                got = float(drawn.problem.solve(solver=cp.CLARABEL))
            except cp.error.SolverError:
                continue
            if drawn.problem.status == cp.OPTIMAL:
                compared += 1
                assert abs(got - float(drawn.optimum)) <= 1e-4 * (float(drawn.size) + abs(float(drawn.optimum))), number
    assert compared >= 10


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("numbers", BLOCKS, ids=lambda numbers: f"{numbers[0]} to {numbers[-1]}")
def test_of_twelve_hundred_semidefinite_problems_no_bound_is_false(numbers: range) -> None:
    record = assessed(numbers)
    assert_nothing_false(record)
    assert record.counts["finite"] >= record.counts["assessments"] * 0.8


FIXED: dict[str, Any] = {
    "a negative entry of the diagonal": lambda x: [x[0, 0] == -1],
    "an entry beyond those of the diagonal": lambda x: [x[0, 0] == 1, x[1, 1] == 1, x[0, 1] == 2],
    "a bound below 0": lambda x: [x[0, 0] <= -1],
    "two values of one entry": lambda x: [x[0, 0] == 1, x[0, 0] == 2],
    "two values by symmetry": lambda x: [x[0, 1] == 1, x[1, 0] == 2],
}


@pytest.mark.parametrize("rows", FIXED.values(), ids=FIXED)
def test_fixed_entries_that_no_semidefinite_matrix_has_are_proven_infeasible(rows: Any) -> None:
    x = cp.Variable((2, 2), PSD=True, name="X")
    problem = cp.Problem(cp.Minimize(cp.trace(x)), rows(x))
    assert infeasible(Declared.of(problem)) is not None


def test_an_entry_that_is_fixed_twice_has_a_feasible_value() -> None:
    x = cp.Variable((2, 2), PSD=True, name="X")
    problem = cp.Problem(cp.Minimize(cp.trace(x)), [3 * x[0, 0] == 3, x[0, 0] == 1, x[0, 0] == 1])
    problem.solve(solver=cp.CLARABEL)
    certificate = simopt.certify(problem, rigorous=True, solver=None)
    assert certificate.lower <= 1.0 <= certificate.upper < 1.0 + 1e-6


def test_log_det_is_of_the_symmetric_part_and_all_eigenvalues_are_of_symmetric_matrices() -> None:
    x = cp.Variable(3, name="x")
    z = cp.bmat([[x[0], x[1]], [x[2], 1.0]])
    rows = [x[1] == 2, x[2] == -2, x[0] <= 1, x[0] >= -3]
    certificate = simopt.certify(cp.Problem(cp.Minimize(-cp.log_det(z)), rows), rigorous=True)
    assert certificate.lower <= 0.0 <= certificate.upper <= 1e-6
    assert simopt.certify(cp.Problem(cp.Minimize(cp.lambda_sum_largest(z, 2)), rows), rigorous=True).lower == np.inf


SLOPES: dict[str, Any] = {
    "matrix_frac": lambda x: cp.trace(x) + cp.matrix_frac(np.ones(3), x),
    "lambda_max": cp.lambda_max,
    "sum of largest": lambda x: cp.lambda_sum_largest(x, 2),
    "log_det": lambda x: cp.trace(x) - cp.log_det(x),
    "tr_inv": lambda x: cp.trace(x) + cp.tr_inv(x),
    "entropy": lambda x: cp.trace(x) - cp.von_neumann_entr(x),
}


@pytest.mark.parametrize("make", SLOPES.values(), ids=SLOPES)
def test_no_function_of_a_matrix_fails_at_a_singular_point_or_beyond_the_floats(make: Any) -> None:
    x = cp.Variable((3, 3), symmetric=True, name="X")
    atom = Declared.of(cp.Problem(cp.Minimize(make(x)), [x[0, 1] == 1])).programme.terms[0].atom
    with np.errstate(all="ignore"):
        for z in (np.ones(atom.length), np.full(atom.length, 1.7e308), np.full(atom.length, np.inf), np.zeros(atom.length)):
            assert atom.slope(z, np.ones(1)).shape == z.shape
            projected = atom.project(FLOAT, z, np.ones(1))
            assert projected.shape == z.shape and not atom.margin(FLOAT, -z, np.ones(1))[0] == np.inf


def test_a_matrix_outside_of_its_cone_has_a_margin_in_fractions() -> None:
    cone = SemidefiniteCone(2)
    assert all(q < 0 for q in cone.margin(RATIONAL, RATIONAL.lift(np.array([1.0, 0.0, 1.0])), RATIONAL.lift(np.ones(1))))


@pytest.mark.parametrize("above", [0.0, 5.0])
def test_an_asymmetry_beside_a_large_constant_is_no_rounding(above: float) -> None:
    x = cp.Variable(2, name="x")
    z = cp.bmat([[1e13, x[0] + above], [x[1], 1e13]])
    problem = cp.Problem(cp.Minimize(cp.lambda_max(z)), [x[0] - x[1] >= 4 - above, x <= 9, x >= -9])
    x.save_value(np.array([2.0, -2.0 + above]))
    rows = [row for row in Declared.of(problem).programme.every_row if row.name.startswith("indicator")]
    assert len(rows) == 1 and simopt.certify(problem, rigorous=True, solver=None).upper == np.inf


def test_a_product_that_is_symmetric_up_to_rounding_has_no_rows_of_its_own() -> None:
    v, d = np.random.default_rng(0).normal(size=(30, 8)), cp.Variable(30, name="d", nonneg=True)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.lambda_max(v.T @ cp.diag(d) @ v + v.T @ v)), [cp.sum(d) == 1]))
    assert not [row for row in declared.programme.every_row if row.name.startswith("indicator")]
