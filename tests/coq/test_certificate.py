"""A certificate as a theorem: its identity in fractions, its text, and what the kernel says of it and of its mutant."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import RATIONAL
from simopt.coq.catalogue import rational, smallest
from simopt.coq.certificate import certificate, write
from simopt.coq.kernel import CoqKernel, available
from simopt.coq.preludes import needed
from simopt.coq.programme import ExactProgramme
from simopt.coq.theory import NoTheorem
from simopt.coq.weak_duality import decompose
from simopt.duality import Declared

needs_coq = pytest.mark.skipif(not available(), reason="there is no coqc with coq-interval here")
X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [-1.0, 1.0]])
Y = np.array([1.0, 3.0, -2.0, 0.0])


def declared() -> dict[str, cp.Problem]:
    """A problem for each kind of term, row and bound."""
    w, t = cp.Variable(2, name="w"), cp.Variable(name="t")
    r = X @ w - Y
    form = cp.quad_form(w, np.array([[2.0, 1.0], [1.0, 3.0]]))
    return {
        "ridge": cp.Problem(cp.Minimize(cp.sum_squares(r) + 0.5 * cp.sum_squares(w))),
        "svm": cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - r)) + 0.5 * cp.sum_squares(w))),
        "lasso": cp.Problem(cp.Minimize(0.5 * cp.sum_squares(r) + cp.norm1(w))),
        "least_absolute": cp.Problem(cp.Minimize(cp.norm1(r)), [w <= 1, w >= -1]),
        "chebyshev": cp.Problem(cp.Minimize(t), [r <= t, -r <= t, cp.sum(w) == 1, cp.abs(w) <= 4]),
        "huber": cp.Problem(cp.Minimize(cp.sum(cp.huber(r, 0.5)) + 0.25 * cp.sum_squares(w))),
        "form": cp.Problem(cp.Minimize(form + cp.max(cp.hstack([r, 0.0])))),
        "isotonic": cp.Problem(cp.Minimize(cp.sum_squares(w - np.array([2.0, 1.0]))), [w[0] <= w[1]]),
        "ball": cp.Problem(cp.Minimize(cp.sum(r)), [cp.sum_squares(w) <= 4]),
    }


@pytest.mark.parametrize("name", declared())
def test_the_identity_leaves_the_bound_of_the_backward_sweep(name: str) -> None:
    """D of the identity is no smaller than the sweep's (which bounds (zᵀPz)* from above), and within the gap of f."""
    problem = Declared.of(declared()[name])
    import simopt

    solved = simopt.solve(problem, "clarabel")
    assert solved.point is not None and solved.multipliers is not None
    point = problem.restore(dict(solved.point), RATIONAL)
    value = Fraction(problem.objective(point, RATIONAL))
    swept = problem.backward(dict(solved.multipliers), RATIONAL, upper=float(value))
    assert not swept.open
    found = decompose(ExactProgramme(problem.programme), swept.used)
    assert Fraction(swept.value) <= found.bound <= value
    assert all(
        y >= 0 for (key, _), y in found.rows.items() if not next(row for row in problem.programme.every_row if row.key == key).equality
    )
    assert all(u >= 0 for taken in found.parts.values() for u in taken) and all(c > 0 for c, _ in found.squares)


def test_the_theorem_reads_as_the_problem() -> None:
    text = certificate(declared()["isotonic"]).text("iso", ["words"])
    assert "Definition iso_feasible (w_1 w_2 : R) : Prop :=\n  w_1 <= w_2." in text
    assert "Definition iso_objective (w_1 w_2 : R) : R :=\n  (w_1 - 2) ^ 2 + (w_2 - 1) ^ 2." in text
    assert "forall w_1 w_2 : R,\n  iso_feasible w_1 w_2 ->" in text and "<= iso_objective w_1 w_2." in text
    assert needed(text) == ["Simopt", "Duality"]


def test_bounds_are_rounded_outwards() -> None:
    made = certificate(declared()["svm"])
    assert made.lower <= made.identity.bound <= made.upper
    assert made.gap < Fraction(1, 10**6)


def test_what_is_not_rational_is_refused_by_name() -> None:
    w = cp.Variable(2, name="w")
    with pytest.raises(NoTheorem, match="LogisticAtom is no square"):
        certificate(cp.Problem(cp.Minimize(cp.sum(cp.logistic(X @ w)) + cp.sum_squares(w))))


@pytest.mark.slow
@pytest.mark.parametrize("name", rational())
def test_of_each_rational_problem_of_the_catalogue_there_is_one(name: str) -> None:
    made = smallest(name)
    assert made.lower <= made.upper and made.gap < Fraction(1, 10**5)


def test_the_catalogue_has_what_is_asked_for() -> None:
    assert {"hinge-svm", "kernel-ridge", "goodness", "lipschitz-isotonic", "mean-classifier-penalised"} <= set(rational())


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", declared())
def test_the_kernel_accepts_the_certificate_and_refuses_its_mutant(kernel: CoqKernel, name: str) -> None:
    made = certificate(declared()[name])
    result = kernel.check(name, made.text(name, ["words"]))
    assert result.accepted, result.message
    assert not result.foreign
    false = kernel.refused(f"{name}_mutant", made.mutant(f"{name}_mutant"))
    assert false.accepted, false.message


@needs_coq
@pytest.mark.slow
def test_a_multiplier_that_is_none_is_refused(kernel: CoqKernel) -> None:
    """The checker and not the writer decides: a share turned negative, or a square with a negative weight."""
    made: Any = certificate(declared()["isotonic"])
    (place, y), *_ = made.identity.rows.items()
    made.identity.rows[place] = -y
    assert kernel.refused("turned", made.text("turned", ["words"])).accepted


def test_write_leaves_the_file_and_what_it_stands_on(tmp_path: Path) -> None:
    name = write(declared()["ridge"], tmp_path, "my ridge")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Duality.v", "Simopt.v", f"{name}.v"]
    assert name == "my_ridge_certificate"
