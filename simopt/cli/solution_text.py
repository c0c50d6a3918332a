"""A solution in words and as plain data, whether it ended as it should, and the size of a problem in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.model.problem import Problem
    from simopt.solving.solution import Solution

SHOWN = 12  # classes whose samples are counted on the screen


def acceptable(solution: Solution) -> bool:
    """Whether a solve ended as it should: OPTIMAL, or for scs (a first-order method) any valid bracket."""
    import math

    from simopt.model.status import Status

    if solution.optimal:
        return True
    honest = (Status.GAP_OPEN, Status.ITERATION_LIMIT, Status.TIME_LIMIT)
    valid = solution.certificate is not None and math.isfinite(solution.certificate.gap)
    return solution.provenance.solver == "scs" and solution.status in honest and valid


def describe(made: Problem | None, solution: Solution, data: str) -> dict[str, Any]:
    """Plain data of a solution, the point included; of a problem on landmarks also the pairs (first, later) of equal ones."""
    equal = getattr(made, "duplicates", None)
    return {
        "format": "simopt-solution/1",
        "problem": solution.provenance.problem,
        "data": data,
        **({} if equal is None else {"duplicated_landmarks": [list(pair) for pair in equal]}),
        "status": solution.status,
        "reported_status": solution.reported_status,
        "message": solution.message,
        "certificate": solution.certificate,
        "provenance": solution.provenance,
        "point": solution.point,
        "multipliers": solution.multipliers,
        "trace": solution.trace,
    }


def size(made: Problem) -> str:
    """Fields of a problem in one line: shapes of arrays, values of numbers, what is None left out.

    Then how many samples each class has, where labels are classes 1, …, r, and how many landmarks are equal.
    """
    import numpy as np

    def shown(value: Any) -> str:
        if isinstance(value, np.ndarray):
            return " × ".join(map(str, value.shape))
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    values = {name: getattr(made, name) for name in made.settable() if name not in made.holding().values()}
    line = ", ".join(f"{name} {shown(value)}" for name, value in values.items() if value is not None)
    if "classes" in values and "labels" in values:
        counts = np.bincount(np.asarray(values["labels"], dtype=np.intp), minlength=values["classes"] + 1)[1:]
        line += f"; samples of class 1, …, {len(counts)}: {', '.join(map(str, counts[:SHOWN]))}" + (", …" if len(counts) > SHOWN else "")
    equal = getattr(made, "duplicates", ())
    if not equal:
        return line
    i, j = equal[0]
    return f"{line}; duplicated landmarks: {len(equal)} equal to an earlier one (first: {j} to {i})"


def seconds_text(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 or value == 0.0 else f"{value:.2g}"
