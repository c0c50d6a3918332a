"""The dual that is derived from a problem's declaration has the problem's optimum: strong duality between the two, through CVXPY."""

from typing import Any

import numpy as np
import pytest

from simopt.ground import registry

registry.load("problems")
KINDS = [name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")]
QUICK = ("hinge-svm", "goodness")
TIGHT: dict[str, Any] = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in KINDS])
def test_the_dual_has_the_value_of_the_problem_and_names(name: str) -> None:
    for example in registry.get("problem", name).examples(np.random.default_rng(7)):
        natural, _ = example.problem.normalised()
        dual = natural.declare_dual()
        assert dual.is_dcp()
        best = natural.declare().solve(**TIGHT)
        assert dual.solve(**TIGHT) == pytest.approx(best, rel=2e-7, abs=1e-8 + 2e-7 * natural.scale()), example.name
        labels, variables = [row.label for row in dual.constraints], [v.name() for v in dual.variables()]
        assert all(labels) and len({*labels}) == len(labels) and len({*variables}) == len(variables)


def test_every_kind_of_problem_is_there() -> None:
    assert len(KINDS) == 41
