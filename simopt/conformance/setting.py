"""Common parts of the checks: examples, solves (each once), random points and multipliers, and the error that lists what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from simopt.certificates.assessment import judge
from simopt.core.arrays import Multipliers, Point
from simopt.model.problem import Example, Problem
from simopt.model.status import Status
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution

TOL = 1e-6  # relative gap that conformance asks for
TIME_LIMIT = 10.0  # seconds for one solve
# Peers whose reach is theirs: SCS is of first order, and where ECOS stops on a badly conditioned example depends on the CPU, through the
# order of the sums in BLAS. An honest status and a valid bracket are all that is asked of them, and these do not wait for an optimum.
ONLY_HONEST = ("ecos", "scs")
PEER_LIMIT = 1.0  # seconds for one solve of theirs
ROUNDING = 1e-10  # of the size of the numbers involved; what two formulas for one value may differ by
SEED = 20140

executed: dict[str, int] = {}
"""Solver name -> number of solves that really ran in this process; the report and the test suite print it."""


class NotConforming(AssertionError):
    """A breach of the contract by a problem or a solver, and what would be right."""


def require(condition: object, message: str) -> None:
    """Raise NotConforming with `message` unless the condition holds."""
    if not condition:
        raise NotConforming(message)


@cache
def examples_of(cls: type[Problem]) -> tuple[Example, ...]:
    """The problem's examples, always the same ones."""
    return tuple(cls.examples(np.random.default_rng(SEED)))


def run(problem: Problem, solver: str) -> Solution:
    """Solve with the suite's tolerance and time limit, and count the solve.

    Raises
    ------
    NotConforming
        when the solve raises, or writes on its inputs.
    """
    before = problem.fingerprint()
    try:
        solution = solve(problem, solver, tol=TOL, time_limit=PEER_LIMIT if solver in ONLY_HONEST else TIME_LIMIT)
    except Exception as error:
        raise NotConforming(
            f"{solver} on {problem.name} raised {type(error).__name__}: {error}. A solve ends in a status; solvers may raise only "
            "ArithmeticError and LinAlgError, formulas must not raise on finite points"
        ) from error
    require(problem.fingerprint() == before, f"{solver} changed the data of {problem.name}; solvers must not write on their inputs")
    if solution.status is not Status.UNSUPPORTED:
        executed[solver] = executed.get(solver, 0) + 1
    return solution


@cache
def solved(cls: type[Problem], solver: str, index: int) -> Solution:
    """The solution of one example by one solver; every pair is solved once."""
    return run(examples_of(cls)[index].problem, solver)


@cache
def reference(cls: type[Problem], index: int) -> tuple[Point, Multipliers | None, float, float]:
    """Point, multipliers and bracket (lower, upper) of an example by the default solver; the trivial point where nothing was found."""
    from simopt.solving.driver import choose

    problem = examples_of(cls)[index].problem
    solution = solved(cls, choose(problem, None).name, index)
    if solution.point is None or solution.certificate is None:
        judged = judge(problem, problem.trivial_point())
        return judged.point, judged.multipliers, judged.certificate.lower, judged.certificate.upper
    multipliers = None if solution.multipliers is None else dict(solution.multipliers)
    return dict(solution.point), multipliers, solution.certificate.lower, solution.certificate.upper


def unit_of(problem: Problem, *values: float) -> float:
    """The size against which rounding is measured."""
    return max([problem.scale(), *(abs(v) for v in values if np.isfinite(v))])


def points_of(cls: type[Problem], index: int) -> Iterator[Point]:
    """Restored points of an example: the reference, the trivial one, and random ones near and far."""
    problem = examples_of(cls)[index].problem
    known = reference(cls, index)[0]
    rng = np.random.default_rng(SEED + index)
    yield known
    yield problem.restore(problem.trivial_point())
    for spread in (1e-3, 1.0, 1e3):
        yield problem.restore(_perturbed(known, spread, rng))


def multipliers_of(cls: type[Problem], index: int) -> Iterator[Multipliers]:
    """Multipliers of an example: the reference's, zero, reversed, and random ones near and far (none of them need be dual feasible)."""
    known = reference(cls, index)[1]
    if known is None:
        return
    rng = np.random.default_rng(SEED + index)
    yield known
    for factor in (0.0, -1.0):
        yield {name: factor * np.asarray(value) for name, value in known.items()}
    for spread in (1e-3, 1.0, 1e3):
        yield _perturbed(known, spread, rng)


def _perturbed(values: Point, factor: float, rng: np.random.Generator) -> Point:
    moved: Point = {}
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        size = float(np.max(np.abs(array), initial=0.0)) or 1.0
        moved[name] = array + factor * size * rng.standard_normal(array.shape)
    return moved
