"""The dual that is derived from a problem's declaration has the problem's optimum: strong duality between the two, through CVXPY.

Its solution is a certificate by the formulas of the problem, too.
"""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import INTERVAL
from simopt.core import registry

registry.load("problems")
KINDS = [name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.")]
TIGHT: dict[str, Any] = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
WIDE = {"kernel-ordinal-goodness": 1e-5}  # a kernel matrix of rank 2, whose norms have the roots of its rounding errors


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # what is asked of it is what follows
@pytest.mark.parametrize("name", KINDS)
def test_the_dual_has_the_value_of_the_problem_and_names(name: str) -> None:
    for example in registry.get("problem", name).examples(np.random.default_rng(7)):
        natural, _ = example.problem.normalised()
        dual = natural.declare_dual()
        assert isinstance(dual.objective, cp.Maximize) and dual.is_dcp()
        best, allowed = natural.declare().solve(**TIGHT), 1e-9 + 1e-7 * natural.scale()
        assert dual.solve(**TIGHT) == pytest.approx(best, rel=0.0, abs=allowed), example.name
        labels, variables = [row.label for row in dual.constraints], [v.name() for v in dual.variables()]
        assert all(labels) and len({*labels}) == len(labels) and len({*variables}) == len(variables)
        multipliers = {v.name(): np.asarray(v.value) for v in dual.variables()}
        assert float(natural.dual_bound(multipliers)) == pytest.approx(dual.value, rel=0.0, abs=allowed), example.name
        bound = natural.dual_bound(multipliers, INTERVAL)
        assert INTERVAL.upper(bound) <= dual.value + allowed, example.name
        assert INTERVAL.lower(bound) == pytest.approx(dual.value, rel=0.0, abs=1e-9 + WIDE.get(name, 1e-6) * natural.scale()), example.name
