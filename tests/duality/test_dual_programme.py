"""The derived dual programme has the optimum of the problem."""

import cvxpy as cp
import numpy as np
import pytest

from simopt.duality.dual_programme import dual_programme
from simopt.errors import Unreadable
from tests.duality.corpus.documented import MODELS

SOLVED = [
    "ridge regression",
    "lasso",
    "Huber regression",
    "minimax fit",
    "logistic regression",
    "quantile regression",
    "support vector machine",
    "linear programme",
    "group lasso",
    "maximum flow",
    "nu svm",
    "portfolio",
    "maximum entropy",
    "quadratic programme",
    "bargaining",
]


@pytest.mark.parametrize("name", SOLVED)
def test_the_derived_dual_has_the_value_of_the_problem(name: str) -> None:
    problem = MODELS[name](np.random.default_rng(0))
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    dual = dual_programme(problem)
    assert dual.is_dcp()
    optimum = sign * problem.solve(solver="CLARABEL")
    assert dual.solve(solver="CLARABEL") == pytest.approx(optimum, rel=1e-6, abs=1e-7)


def test_a_term_without_a_declared_conjugate_is_named() -> None:
    x = cp.Variable(2)
    with pytest.raises(Unreadable, match="conjugate"):
        dual_programme(cp.Problem(cp.Minimize(cp.sum(cp.inv_pos(x)))))
