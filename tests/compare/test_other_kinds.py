"""Integers, complex numbers and geometric programmes in comparisons: every bound is called what it is."""

import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.backends.table import BackEnd, find, usable
from simopt.compare import traces
from simopt.compare.own_problems import OwnProblem, suitable
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE, SolverClaim, examine
from simopt.compare.traces import RELAXED, RunOutcome
from simopt.model.status import Status


def knapsack() -> cp.Problem:
    """The relaxation has the value 7.75, integers 7."""
    b = cp.Variable(5, boolean=True, name="b")
    return cp.Problem(cp.Maximize(np.array([5.0, 4, 3, 2, 1]) @ b), [np.array([4, 3, 2.5, 2, 1]) @ b <= 6])


def assignment() -> cp.Problem:
    """The relaxation has an integer optimum: 3."""
    b = cp.Variable(5, boolean=True, name="b")
    return cp.Problem(cp.Minimize(np.array([3.0, 1, 2, 5, 4]) @ b), [cp.sum(b) == 2])


def mixed() -> cp.Problem:
    """Two integers and two real numbers; the optimum is 2.5."""
    i, x = cp.Variable(2, integer=True, name="i"), cp.Variable(2, nonneg=True, name="x")
    return cp.Problem(cp.Minimize(cp.sum(i) + cp.sum(x)), [i >= 0.5, cp.sum(i) + x[0] >= 2.5, i <= 3])


def nearest() -> cp.Problem:
    """A complex point on a line, nearest to 1 + 2i in both entries: the distance is 1/√2."""
    z = cp.Variable(2, complex=True, name="z")
    return cp.Problem(cp.Minimize(cp.norm(z - (1 + 2j))), [cp.real(cp.sum(z)) == 1])


def monomials() -> cp.Problem:
    """min x + 2y for xy ≥ 10: the optimum is √80."""
    x, y = cp.Variable(pos=True, name="x"), cp.Variable(pos=True, name="y")
    return cp.Problem(cp.Minimize(x + 2 * y), [x * y >= 10])


def own(problem: cp.Problem) -> OwnProblem:
    """As a process gets it."""
    found: OwnProblem = pickle.loads(pickle.dumps(OwnProblem.of("p", problem)))
    return found


def back_end(name: str) -> BackEnd:
    found = find(name)
    assert found is not None
    return found


def measured(problem: cp.Problem, solver: str) -> RunOutcome:
    return traces.measure(own(problem).read(), back_end(solver), tol=1e-6, time_limit=10.0, options={})


def claim(problem: cp.Problem, solver: str) -> SolverClaim:
    found = examine(own(problem).read(), back_end(solver), time_limit=10.0, options={})
    assert found is not None
    return found


@pytest.mark.parametrize(("make", "optimum"), [(assignment, 3.0), (mixed, 2.5)])
def test_a_tight_relaxation_certifies_an_integer_point(make: Any, optimum: float) -> None:
    found = measured(make(), "highs")
    assert found.status is Status.OPTIMAL and found.best is not None
    assert found.best.lower - 1e-6 <= optimum <= found.best.upper + 1e-9 and claim(make(), "highs").verdict == TRUE


def test_the_gap_of_integers_is_called_what_it_is() -> None:
    found = measured(knapsack(), "highs")
    assert found.status is Status.GAP_OPEN and found.message == RELAXED and found.best is not None
    assert (found.best.upper, found.best.lower) == pytest.approx((-7.0, -7.75))
    assert "integer points, bound of the relaxation" in own(knapsack()).label
    assert claim(knapsack(), "highs").verdict == NOT_PROVEN


def test_a_point_without_integers_has_no_value() -> None:
    problem = own(knapsack()).read()
    assert problem.objective({"b": np.array([1.0, 2 / 3, 0, 0, 0])}) == np.inf
    near = problem.restore({"b": np.array([0.0, 1 - 1e-9, 1e-9, 1, 1])})
    assert problem.objective(near) == -7.0


@pytest.mark.parametrize(("offset", "verdict"), [(0.0, NOT_PROVEN), (1.0, FALSE)])
def test_a_claim_beyond_the_relaxation_is_false(offset: float, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS with one more in the knapsack than there is room for: 8 is above 7.75."""
    from cvxpy.reductions.solvers.conic_solvers.highs_conif import HIGHS

    plain = HIGHS.solve_via_data

    def roomier(self: Any, data: Any, *arguments: Any, **options: Any) -> Any:
        moved = {**data, "b": data["b"] + offset * (data["b"] == 6.0)}
        return plain(self, moved, *arguments, **options)

    monkeypatch.setattr(HIGHS, "solve_via_data", roomier)
    found = claim(knapsack(), "highs")
    assert found.verdict == verdict and (verdict != FALSE or found.bound == pytest.approx(-7.75))


def test_complex_numbers_are_pairs_of_real_ones() -> None:
    for solver in ("clarabel", "scs"):
        found = measured(nearest(), solver)
        assert found.status is Status.OPTIMAL and found.best is not None
        assert found.best.lower - 1e-9 <= np.sqrt(0.5) <= found.best.upper + 1e-9
        assert claim(nearest(), solver).verdict == TRUE


def test_imaginary_parts_are_data() -> None:
    z = cp.Variable(complex=True, name="z")
    one, other = (OwnProblem.of("p", cp.Problem(cp.Minimize(cp.abs(z - (1 + part * 1j))))).fingerprint() for part in (2, 3))
    assert one != other


def test_a_geometric_programme_is_compared_in_logarithms() -> None:
    one = own(monomials())
    found = measured(monomials(), "clarabel")
    assert f"its logarithm {one.offset:+g}" in one.label and one.offset != 0.0 and found.status is Status.OPTIMAL and found.best is not None
    assert found.best.lower - 1e-9 <= np.log(80) / 2 + one.offset <= found.best.upper + 1e-9 and 0.3 < found.best.upper < 0.7


def test_who_cannot_take_integers_is_said() -> None:
    taken, refused = suitable(own(knapsack()), usable())
    assert "highs" in {backend.name for backend in taken} and refused["clarabel"] == "it takes no integers"
    i = cp.Variable(2, integer=True)
    _, refused = suitable(own(cp.Problem(cp.Minimize(cp.sum_squares(i - 0.4)))), usable())
    assert refused["highs"] == "it takes no quadratic objective with integers"


@pytest.mark.thorough
def test_a_comparison_on_all_kinds() -> None:
    pytest.importorskip("pandas", reason="tables of a comparison need pandas")
    made = simopt.compare_solvers({"k": knapsack(), "c": nearest(), "g": monomials(), "a": assignment()}, repetitions=1, tol=1e-6)
    solved = {(r.cell.problem.partition(" ")[0], r.cell.solver) for r in made.records if r.success}
    assert {("a", "highs"), ("c", "clarabel"), ("g", "clarabel")} <= solved and not any(name == "k" for name, _ in solved)
    assert RELAXED in made.text()
