"""Running the checks: over one problem, over one pair, over everything that is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from simopt.backends.table import FIRST_CLASS
from simopt.conformance import bounds, declared, laws, second_judge, solving
from simopt.conformance.setting import NotConforming, executed
from simopt.conformance.solving import solver_names
from simopt.core import registry
from simopt.model.problem import Problem

PROBLEM_CHECKS: dict[str, Callable[[type[Problem]], None]] = {
    "identity": declared.check_identity,
    "examples": declared.check_examples,
    "data": declared.check_data,
    "declaration": declared.check_declaration,
    "restore": bounds.check_restore,
    "weak duality": bounds.check_weak_duality,
    "gap": bounds.check_gap,
    "suggested multipliers": bounds.check_suggestions,
    "arithmetics": bounds.check_arithmetics,
    "laws": laws.check_laws,
    "units": laws.check_units,
    "second judge": second_judge.check_second_judge,
}
SOLVER_CHECKS: dict[str, Callable[[type[Problem], str], None]] = {
    "statuses": solving.check_statuses,
    "agreement": solving.check_agreement,
    "options": solving.check_options,
    "images": solving.check_solves_images,
    "any unit": solving.check_solves_in_any_unit,
    "sweeps": solving.check_sweeps,
}


@dataclass(frozen=True)
class Row:
    """One check: on a problem (solver "") or a pair; `failure` says what to change, None means that it passed."""

    problem: str
    solver: str
    check: str
    failure: str | None


@dataclass(frozen=True)
class Report:
    """All rows, and how many solves each solver really ran."""

    rows: tuple[Row, ...]
    executed: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(row.failure is None for row in self.rows)

    def __str__(self) -> str:
        failed = [row for row in self.rows if row.failure is not None]
        lines = [f"{row.problem}{' × ' + row.solver if row.solver else ''}: {row.check}: {row.failure}" for row in failed]
        ran = ", ".join(f"{name} {count}" for name, count in sorted(self.executed.items()))
        lines += [f"left out: {backend.missing}" for backend in FIRST_CLASS if backend.missing]
        return "\n".join([*lines, f"{len(self.rows)} checks, {len(failed)} failed; solves: {ran or 'none'}"])


def check_problem(cls: type[Problem]) -> None:
    """Run every check of a problem class.

    Raises
    ------
    NotConforming
        with all that is wrong, one line each.
    """
    rejected(_problem_rows(cls))


def check_solver(cls: type[Problem], solver: str) -> None:
    """Run every check of a (problem, solver) pair.

    Raises
    ------
    NotConforming
        with all that is wrong, one line each.
    """
    rejected(_solver_rows(cls, solver))


def conformance(names: Iterable[str] | None = None) -> Report:
    """Run the suite over the named problems (by default all) with all their solvers and those of the three back ends that are installed.

    Raises
    ------
    UnknownName
        for a problem that is not registered.
    """
    before = dict(executed)
    rows: list[Row] = []
    for cls in _classes(names):
        rows.extend(_problem_rows(cls))
        for solver in solver_names(cls):
            rows.extend(_solver_rows(cls, solver))
    return Report(tuple(rows), {name: count - before.get(name, 0) for name, count in executed.items() if count > before.get(name, 0)})


def pairs(names: Iterable[str] | None = None) -> list[tuple[type[Problem], str]]:
    """All (problem class, solver name) pairs of the named problems."""
    return [(cls, solver) for cls in _classes(names) for solver in solver_names(cls)]


def _classes(names: Iterable[str] | None) -> list[type[Problem]]:
    if names is None:
        registry.load("problems")
        names = registry.names("problem")
    return [registry.find("problem", name) for name in names]


def _problem_rows(cls: type[Problem]) -> Iterator[Row]:
    for name, check in PROBLEM_CHECKS.items():
        yield Row(cls.name, "", name, outcome(partial(check, cls)))


def _solver_rows(cls: type[Problem], solver: str) -> Iterator[Row]:
    for name, check in SOLVER_CHECKS.items():
        yield Row(cls.name, solver, name, outcome(partial(check, cls, solver)))


def outcome(check: Callable[[], None]) -> str | None:
    """The complaint of a check; None where it passes."""
    try:
        check()
    except NotConforming as error:
        return str(error)
    except Exception as error:  # an author wants to see the other checks too
        return f"raised {type(error).__name__}: {error}"
    return None


def rejected(rows: Iterable[Row]) -> None:
    """Raise NotConforming with the failures, if there are any."""
    failed = [f"{row.check}: {row.failure}" for row in rows if row.failure is not None]
    if failed:
        raise NotConforming("\n".join(failed))
