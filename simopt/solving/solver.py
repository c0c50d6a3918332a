"""The register of hand-written solvers: generators of iterates whose keyword-only parameters are their options."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from simopt.core import registry, validate
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.core.moved import UNTIL
from simopt.model.problem import Problem
from simopt.solving.solution import Iterate

Algorithm = Callable[..., Iterator[Iterate]]


@dataclass(frozen=True)
class SolverSpec:
    """A registered algorithm: its name, the problem types it solves, and its options with their defaults."""

    name: str
    run: Algorithm
    solves: tuple[type[Problem], ...]
    summary: str
    supports: Callable[[Problem], str | None] | None
    rank: int
    warm_up: Callable[[], None] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """Keyword-only parameters except `tol`, with their defaults."""
        found = inspect.signature(self.run).parameters.values()
        return {p.name: p.default for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name != "tol"}

    def reason_against(self, problem: Problem) -> str | None:
        """Why this solver cannot solve the problem; None when it can."""
        if not isinstance(problem, self.solves):
            return f"{self.name} solves {', '.join(c.name for c in self.solves)}, not {problem.name}"
        return self.supports(problem) if self.supports is not None else None

    def check_options(self, options: dict[str, Any]) -> None:
        """Raise UnknownName for an unknown option, InvalidProblem for a value that is no number or truth value where the default is one.

        Numbers become Python's own: a count that came as a float or a NumPy number becomes an int. An old name of an option is replaced by
        the new one, with a DeprecationWarning.
        """
        for old in [name for name in options if name in self.renamed]:
            new = self.renamed[old]
            if new in options:
                raise InvalidProblem(f"{old}: {new} is given, too, and that is its new name; leave {old} out")
            text = f"{self.name}: the option {old} is called {new} now; the old name goes with simopt {UNTIL}"
            warnings.warn(text, DeprecationWarning, stacklevel=4)
            options[new] = options.pop(old)
        for name, value in options.items():
            if name not in self.options:
                raise UnknownName(f"option of {self.name}", name, list(self.options))
            default = self.options[name]
            if isinstance(default, bool):
                if not (isinstance(value, Real | np.bool_) and value in (0, 1)):
                    raise InvalidProblem(f"{name}: {value!r} given, true or false needed (default {str(default).lower()})")
            elif isinstance(default, int):
                options[name] = validate.whole(name, value)
            elif isinstance(default, Real):
                options[name] = validate.finite(name, value)


def solver(
    name: str,
    *,
    solves: type[Problem] | tuple[type[Problem], ...],
    summary: str = "",
    supports: Callable[[Problem], str | None] | None = None,
    rank: int = 0,
    warm_up: Callable[[], None] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Callable[[Algorithm], Algorithm]:
    """Register an algorithm under `name` for one or several problem types.

    The algorithm is a generator function `f(problem, *, tol, **options)` that yields `Iterate`s. `supports` returns a reason when an
    instance of the right type is out of its reach. The solver of the highest `rank` is the default of its problem. One name may serve
    several problem types by several functions; it is registered as `name@problem`. Before the clock starts, the driver solves a small
    example, and calls `warm_up`, which compiles code that only large problems need. `renamed` maps old names of options, which are accepted
    for one release, to the new ones.
    """
    types = tuple(form for kind in (solves if isinstance(solves, tuple) else (solves,)) for form in kind.each_form())

    def add(run: Algorithm) -> Algorithm:
        """Register the algorithm for each form of each problem type that it solves."""
        spec = SolverSpec(
            name, run, types, summary or (inspect.getdoc(run) or "").split("\n")[0], supports, rank, warm_up, dict(renamed or {})
        )
        for kind in types:
            registry.register("solver", f"{name}@{kind.name}", spec, run.__module__)
        return run

    return add


def solvers_of(problem: Problem | type[Problem]) -> list[SolverSpec]:
    """Hand-written solvers of a problem (type), best first."""
    kind = problem if isinstance(problem, type) else type(problem)
    registry.load_solvers(kind.name)
    found = [spec for key, spec in registry.items("solver") if key.endswith(f"@{kind.name}")]
    return sorted(found, key=lambda spec: -spec.rank)
