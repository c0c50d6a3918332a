"""The dual that a problem declares, written by hand, and the one that is derived from its declaration have one optimum: the problem's."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt import registry

registry.load("problems")
KINDS = [name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")]
WRITTEN = [name for name in KINDS if hasattr(registry.get("problem", name), "declare_dual")]
QUICK = ("hinge-svm", "goodness")
TIGHT: dict[str, Any] = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def optimum(dual: cp.Problem) -> float:
    """The objective as a variable: CVXPY evaluates it where the solver stopped, and an entropy of −1e-20 is −∞."""
    value = cp.Variable()
    return float(cp.Problem(cp.Maximize(value), [value <= dual.objective.expr, *dual.constraints]).solve(**TIGHT))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ("hinge-svm", "goodness") else pytest.mark.slow) for name in KINDS]
)
def test_the_dual_by_hand_and_the_derived_dual_have_the_value_of_the_problem(name: str) -> None:
    for example in registry.get("problem", name).examples(np.random.default_rng(7)):
        natural, _ = example.problem.normalised()
        derived = simopt.dual(natural)
        assert derived.is_dcp()
        room = {"rel": 2e-7, "abs": 1e-8 + 2e-7 * natural.scale()}
        best = natural.declare().solve(**TIGHT)
        assert derived.solve(**TIGHT) == pytest.approx(best, **room), example.name
        if name in WRITTEN:
            assert optimum(natural.declare_dual()) == pytest.approx(derived.value, **room), example.name


def test_duals_are_declared_where_they_are_stated() -> None:
    assert len(WRITTEN) == 40
