"""Solvers in the hands of another driver, such as benchopt's: iterates one by one, or a back end at one tolerance.

The other driver holds the clock. The way back to the units of the problem is not the solver's work: `result` does it, with the clock
stopped; the certificate is `simopt.certify`, which knows nothing of solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from simopt.backends.table import BackEnd
from simopt.compare import traces
from simopt.compare.back_end_form import as_written
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.model.problem import Problem
from simopt.solving.driver import choose, natural, reason_against
from simopt.solving.run import FAILURES, stepwise, warm_up
from simopt.solving.solver import SolverSpec

LOOSE = 1e-1  # the first tolerance of a back end: any number above 1 means nothing to it


class Stepper:
    """A solver on one problem. `result()` is the last point, in the units of the problem as it was given."""

    def __init__(self, problem: Problem, name: str, *, tol: float, time_limit: float, **options: Any) -> None:
        self.problem, self.tol, self.time_limit, self.options = problem, tol, validate.seconds("time_limit", time_limit), options
        self.chosen: SolverSpec | BackEnd = choose(problem, name)
        self._normal, self._rescale = (as_written(problem) if isinstance(self.chosen, BackEnd) else None) or natural(problem)
        self._last: tuple[Point, Multipliers | None] | None = None

    def reason_against(self) -> str | None:
        """Why the solver cannot solve this problem; None when it can."""
        return reason_against(self.problem, self.chosen)

    def warm_up(self) -> None:
        """Compile and import what the solver needs."""
        if isinstance(self.chosen, BackEnd):
            traces.warm_up(self.chosen, type(self.problem))
        else:
            with suppress(*FAILURES):  # the run itself will say so
                warm_up(self.chosen, type(self.problem), self.options)

    def iterate(self, go_on: Callable[[], bool]) -> None:
        """Run a hand-written solver from the start; `go_on()` is asked after each iterate."""
        assert isinstance(self.chosen, SolverSpec), f"{self.chosen.name} shows no iterates"
        self._last = None
        with closing(stepwise(self.chosen, self._normal, tol=self.tol, **self.options)) as steps:
            for step in steps:
                self._last = step.point, step.multipliers
                if not go_on():
                    return

    def run(self, tolerance: float) -> None:
        """Run a back end from the declaration on, at a native tolerance."""
        from simopt.backends import adapter

        assert isinstance(self.chosen, BackEnd), f"{self.chosen.name} is no back end"
        own = dict(self.options)
        limit = own.pop("max_iter", None)
        declared = self._normal.for_back_ends(cones=self.chosen.cones)
        native = min(tolerance, LOOSE)
        found = adapter.run(declared, self.chosen, tol=native, max_iter=limit, time_limit=self.time_limit, options=own)
        self._last = None if found.point is None else (found.point, found.multipliers)

    def result(self) -> tuple[Point, Multipliers | None]:
        """The last point and its multipliers; the trivial point where there is none."""
        if self._last is None:
            return self.problem.trivial_point(), None
        point, multipliers = self._last
        return self._rescale.point(point), None if multipliers is None else self._rescale.multipliers(multipliers)
