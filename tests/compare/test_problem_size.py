"""Class and size of a problem, by its cones."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.compare.problem_size import problem_size
from simopt.duality.declared import Declared


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("LP", lambda x, X: (cp.sum(cp.abs(x)), [x >= 1])),
        ("QP", lambda x, X: (cp.sum_squares(x), [cp.sum(x) == 1])),
        ("SOCP", lambda x, X: (cp.norm(x), [x >= 1])),
        ("SDP", lambda x, X: (cp.trace(X), [X >> np.eye(2)])),
        ("exponential", lambda x, X: (cp.sum(cp.exp(x)), [x >= 1])),
        ("power", lambda x, X: (-x[0], [cp.PowCone3D(x[0], x[1], x[2], 0.3), x <= 1])),
        ("mixed", lambda x, X: (cp.sum(cp.exp(x)) + cp.norm(x), [x >= 1])),
        ("mixed", lambda x, X: (cp.trace(X) + cp.norm(x), [X >> np.eye(2), x >= 1])),
    ],
)
def test_classes(name: str, made: Any) -> None:
    x, X = cp.Variable(3, name="x"), cp.Variable((2, 2), symmetric=True, name="X")
    objective, constraints = made(x, X)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    found = problem_size(Declared.of(problem))
    assert found.problem_class == name
    assert found.variables == sum(v.size for v in problem.variables()) and found.nonzeros > 0


def test_the_size_is_that_of_the_declaration_by_hand() -> None:
    """min cᵀx with Ax = b, x ≥ 0: the nonzeros are those of A and of the identity."""
    A = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    x = cp.Variable(3, name="x")
    found = problem_size(Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), [A @ x == 1, x >= 0])))
    assert (found.problem_class, found.variables, found.nonzeros) == ("LP", 3, 4 + 3)
