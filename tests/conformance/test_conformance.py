"""simopt.conformance over every registered problem and every solver of it."""

from typing import Any

import pytest

from simopt.backends.table import CLARABEL, FIRST_CLASS
from simopt.conformance import PROBLEM_CHECKS, SOLVER_CHECKS, executed, pairs
from simopt.model.problem import Problem

RUNNING = pairs()
PROBLEMS = sorted({cls for cls, _ in RUNNING}, key=lambda cls: cls.name)
PAIRS = [*RUNNING, *((cls, backend.name) for cls in PROBLEMS for backend in FIRST_CLASS if backend.missing)]


# These go from a problem to another one, in code that all back ends share: one of them is enough, all are for `make full`.
COMMON = ("images", "sweeps")
OTHERS = [backend.name for backend in FIRST_CLASS if backend is not CLARABEL]
THOROUGH = ("arithmetics", "second judge", "units", "restore", *COMMON)


def named(value: Any) -> str:
    return value.name if isinstance(value, type) else str(value)


def marks(check: str, solver: str = "") -> list[pytest.MarkDecorator]:
    if check in COMMON and solver in OTHERS:
        return [pytest.mark.slow]
    return [pytest.mark.thorough] * (check in THOROUGH)


@pytest.mark.parametrize("check", [pytest.param(check, marks=marks(check)) for check in PROBLEM_CHECKS])
@pytest.mark.parametrize("cls", PROBLEMS, ids=named)
def test_problem(cls: type[Problem], check: str) -> None:
    PROBLEM_CHECKS[check](cls)


@pytest.mark.parametrize(
    ("cls", "solver", "check"),
    [
        pytest.param(cls, solver, check, id=f"{cls.name}-{solver}-{check}", marks=marks(check, solver))
        for cls, solver in PAIRS
        for check in SOLVER_CHECKS
    ],
)
def test_pair(cls: type[Problem], solver: str, check: str) -> None:
    SOLVER_CHECKS[check](cls, solver)


def test_every_method_of_the_founding_request_is_there() -> None:
    methods = {"kernel-ridge", "m-power-rls", "landmarked-svr", "exc-ordinal", "lipschitz-isotonic", "hinge-svm", "mean-classifier"}
    assert methods <= {cls.name for cls in PROBLEMS}


def test_the_back_ends_ran() -> None:
    """Last in this file: by now each back end must have solved something for every problem, if this Python has wheels of it."""
    for solver in (backend.name for backend in FIRST_CLASS if backend.has_wheels or not backend.missing):
        for cls in PROBLEMS:
            SOLVER_CHECKS["statuses"](cls, solver)
        assert executed[solver] >= 3 * len(PROBLEMS), f"{solver} really ran {executed.get(solver, 0)} times"
