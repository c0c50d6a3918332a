"""Bounds that CVXPY adds to the programme of a back end which takes bounds of variables: do they leave a point?

CVXPY 1.9 computes them from the expressions, where ∞ · 0 makes them too narrow. A back end that calls such a programme infeasible is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.threads import quiet


def leave_a_point(data: dict[str, Any]) -> bool:
    """Whether CLARABEL finds a point of the programme within its bounds; True where there are none, False where it is not known."""
    import cvxpy as cp
    from cvxpy.constraints import NonNeg, Zero

    stuffed = data.get("param_prob")
    ends = [getattr(stuffed, name, None) for name in ("lower_bounds", "upper_bounds")]
    if all(end is None for end in ends):
        return True
    if stuffed is None or not all(isinstance(row, Zero | NonNeg) for row in stuffed.constraints):
        return False
    x = cp.Variable(stuffed.x.size)
    numbers = stuffed.apply_parameters(quad_obj=True)[3:] if stuffed.P is not None else stuffed.apply_parameters()[2:]
    A, b = numbers[0], np.asarray(numbers[1], dtype=float)
    rows, start = list[Any](), 0
    for row in stuffed.constraints:
        end = start + sum(argument.size for argument in row.args)
        value = A[start:end] @ x + b[start:end]
        rows.append(value == 0 if isinstance(row, Zero) else value >= 0)
        start = end
    for sign, bound in zip((1.0, -1.0), ends, strict=True):
        finite = np.zeros(0, dtype=np.intp) if bound is None else np.flatnonzero(~np.isinf(bound))
        if len(finite):
            rows.append(sign * x[finite] >= sign * np.asarray(bound, dtype=float)[finite])
    with quiet():
        problem = cp.Problem(cp.Minimize(0), rows)
        try:
            problem.solve(solver="CLARABEL")
        except (cp.SolverError, ValueError, ArithmeticError):
            return False
    return bool(problem.status == cp.OPTIMAL)
