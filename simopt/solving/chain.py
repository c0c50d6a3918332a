"""The solving chain: the steps that a problem goes through from its fields to a certificate, as CVXPY's reductions are a chain.

    units → graph form → back end → restore → evaluate → perturb

The problem is scaled to units in which its numbers are near 1, written in the form of the solver and solved. The judge makes the point
feasible, evaluates the bounds, and perturbs them. A hand-written solver takes the place of graph form and back end.
`simopt.solve(problem, verbose=True)` prints each step as it happens, `simopt show PROBLEM --chain` what each step does.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simopt.backends.table import BackEnd
from simopt.certificates.assessment import Report, judge
from simopt.model.problem import Problem
from simopt.solving.solver import SolverSpec

if TYPE_CHECKING:
    from typing import TextIO

UNITS, DECLARATION, GRAPH_FORM, RESTORE, EVALUATE, PERTURB = "units", "declaration", "graph form", "restore", "evaluate", "perturb"
WIDTH = 12  # of a step's name in print
GRAPH_FORMS = ("DeclaredProblem", "Declared", "InUnits")  # classes whose `for_back_ends` has a row for every term


@dataclass(frozen=True)
class ChainStep:
    """One step of a chain.

    Attributes
    ----------
    name : str
    does : str
        what the step does, in one sentence.
    by : str
        the functions that do it, each with its module.
    """

    name: str
    does: str
    by: str

    def __str__(self) -> str:
        return f"{self.name:<{WIDTH}}{self.does} [{self.by}]"


@dataclass(frozen=True)
class SolvingChain:
    """The steps from a problem to a certificate, in their order."""

    steps: tuple[ChainStep, ...]

    @property
    def names(self) -> str:
        """The names of the steps, joined by arrows."""
        return " → ".join(step.name for step in self.steps)

    def __str__(self) -> str:
        return "\n".join([self.names, *map(str, self.steps)])


def chain_of(problem: Problem | type[Problem], chosen: SolverSpec | BackEnd) -> SolvingChain:
    """The chain of a problem, or of all problems of a type, with a solver that `simopt.solving.driver.choose` gives."""
    kind = problem if isinstance(problem, type) else type(problem)
    steps = [_step(UNITS, kind.normalised)]
    if isinstance(chosen, SolverSpec):
        steps.append(ChainStep(chosen.name, chosen.summary, _path(chosen.run)))
    else:
        cones = ", ".join(sorted(chosen.cones)) or "none"
        does = f"CVXPY reduces the problem to the form of {chosen.cvxpy_name} (cones: {cones}), which solves it."
        steps += [_step(form_name(kind), kind.for_back_ends), ChainStep(chosen.name, does, "simopt.backends.adapter.run")]
    bounds = ", ".join(dict.fromkeys(_path(method) for method in (kind.objective, kind.dual_bound, kind.gap)))
    steps += [_step(RESTORE, kind.restore), ChainStep(EVALUATE, "Bounds on the optimum from above and below, and the gap.", bounds)]
    if "interval" in kind.arithmetics:
        does = "Point and multipliers are perturbed; bounds that move are evaluated in intervals."
        steps.append(ChainStep(PERTURB, does, _path(judge)))
    return SolvingChain(tuple(steps))


def form_name(kind: type[Problem]) -> str:
    """The name of the form that back ends are given."""
    return GRAPH_FORM if kind.for_back_ends.__qualname__.partition(".")[0] in GRAPH_FORMS else DECLARATION


def printer(stream: TextIO | None = None) -> Report:
    """A report that prints each step on a line, with the seconds since it was made; on standard error by default."""
    begun = time.perf_counter()

    def report(step: str, text: str) -> None:
        print(f"{time.perf_counter() - begun:8.3f} s  {step:<{WIDTH}}{text}", file=sys.stderr if stream is None else stream, flush=True)

    return report


def units_text(original: Problem, normal: Problem) -> str:
    """The fields that the natural units have changed."""
    if type(original) is not type(normal):
        return "variables, rows and objective in units in which their numbers are near 1"
    names = [item.name for item in dataclasses.fields(original) if getattr(original, item.name) is not getattr(normal, item.name)]
    return f"numbers near 1: {', '.join(names)} scaled" if names else "as given"


def form_text(declaration: Any) -> str:
    """The size of a declaration."""
    variables, rows = declaration.variables(), declaration.constraints
    entries = sum(variable.size for variable in variables)
    return f"{len(variables)} variables with {entries} entries, {len(rows)} constraints with {sum(row.size for row in rows)}"


def _step(name: str, method: Callable[..., Any]) -> ChainStep:
    return ChainStep(name, (inspect.getdoc(method) or "").partition("\n\n")[0].replace("\n", " "), _path(method))


def _path(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
