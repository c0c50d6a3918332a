"""The dual that a problem declares has the value of the problem: strong duality between the two declarations, through CVXPY."""

import numpy as np
import pytest

from simopt import registry

registry.load("problems")
DUAL = [name for name, cls in registry.items("problem") if hasattr(cls, "declare_dual") and cls.__module__.startswith("simopt.problems.")]
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


@pytest.mark.parametrize("name", DUAL)
def test_the_declared_dual_has_the_value_of_the_problem(name: str) -> None:
    examples = [each.problem for each in registry.get("problem", name).examples(np.random.default_rng(7)) if not each.degenerate]
    assert examples
    for problem in examples[:3]:
        natural, _ = problem.normalised()
        values = [declaration.solve(**TIGHT) for declaration in (natural.declare(), natural.declare_dual())]
        assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-7 * natural.scale())


def test_duals_are_declared_where_they_are_stated() -> None:
    assert len(DUAL) > 20
