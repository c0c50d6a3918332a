"""Every solver on each problem: a row each, those that cannot take it below, with what they cannot take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.cli.console import console, emit, fitted, number, reserved

if TYPE_CHECKING:
    from simopt.compare.own_problems import OwnProblem
    from simopt.model.problem import Problem
    from simopt.solving.solution import Solution

EVERY = "all"
INTERRUPTED = 130
ROUNDING = 1e-13  # of the larger bound or the objective at the trivial point: what brackets in floats may miss each other by


@dataclass
class ProblemAnswers:
    """The solutions of one problem by the name of the solver, and why others cannot take it or are not installed."""

    problem: str
    title: str
    solutions: dict[str, Solution] = field(default_factory=dict)
    unsuitable: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    overlap: bool = False

    @property
    def acceptable(self) -> bool:
        """Whether the brackets have a point in common, and all solutions of our own solvers and first-class back ends are acceptable.

        Where there are none of these, all others have to be.
        """
        from simopt.backends.table import FIRST_CLASS, listed
        from simopt.cli.solution_text import acceptable
        from simopt.model.status import Status

        others = {backend.name for backend in listed()} - {backend.name for backend in FIRST_CLASS}
        tried = {name: solution for name, solution in self.solutions.items() if solution.status is not Status.UNSUPPORTED}
        deciding = [solution for name, solution in tried.items() if name not in others] or list(tried.values())
        return self.overlap and bool(deciding) and all(map(acceptable, deciding))


def solve_each(
    problems: Iterable[Problem | OwnProblem],
    solver: str | None,
    common: dict[str, Any],
    options: dict[str, Any],
    as_json: bool,
    output: Path | None,
    data: str = "",
) -> int:
    """Solve each problem, by all solvers or the one that is named, and print the tables; the exit status."""
    from simopt.core.errors import InvalidProblem

    every = solver is not None and solver.lower() == EVERY
    if options and every:
        raise InvalidProblem("--option: options belong to one solver, name it with --solver")
    found: list[ProblemAnswers] = []
    stopped = False
    with reserved(as_json):
        for made in problems:
            answers = ProblemAnswers(made.name, _title(made, data))
            found.append(answers)
            stopped = _solve(made, answers, None if every else [solver], common, options)
            if stopped:
                break
    emit(_plain(found, data), as_json, output, lambda: _show(found))
    return INTERRUPTED if stopped else 0 if found and all(answers.acceptable for answers in found) else 1


def solvers_for(made: Problem | OwnProblem) -> tuple[list[str], dict[str, str], list[str]]:
    """Hand-written solvers of the problem and all installed back ends that can take it; why others cannot; who is not installed."""
    from simopt.backends.table import FIRST_CLASS, usable
    from simopt.compare.own_problems import OwnProblem, suitable
    from simopt.solving.solver import solvers_of

    about: Any = made.read() if isinstance(made, OwnProblem) else made
    taken, refused = suitable(about, usable())
    missing = [backend.missing for backend in FIRST_CLASS if backend.missing]
    return [*(spec.name for spec in solvers_of(about)), *(backend.name for backend in taken)], refused, missing


def _solve(
    made: Problem | OwnProblem, answers: ProblemAnswers, names: list[str | None] | None, common: dict[str, Any], options: dict[str, Any]
) -> bool:
    """Solve by the solvers of these names, or by all; whether Ctrl-C has ended it."""
    from simopt.cli.solving_process import processes_for, solved_in
    from simopt.compare.own_problems import OwnProblem

    wanted: list[str | None]
    if names is None:
        every, answers.unsuitable, answers.left_out = solvers_for(made)
        wanted = list(every)
    else:
        wanted = names
    scale = (made.read() if isinstance(made, OwnProblem) else made).scale()
    with processes_for(made, common) as pool:
        for name in wanted:
            solution, stopped = solved_in(pool, made, name, common, options)
            answers.solutions[name or solution.provenance.solver] = solution
            answers.overlap = brackets_overlap(list(answers.solutions.values()), scale)
            if stopped:
                return True
    return False


def brackets_overlap(solutions: list[Solution], size: float = 0.0) -> bool:
    """Whether all brackets have a point in common, up to rounding of numbers of this size where they were evaluated in floats."""
    found = [s.certificate for s in solutions if s.certificate is not None]
    if not found:
        return False
    slack = 0.0 if all(c.arithmetic != "float" for c in found) else ROUNDING * max(size, *(c.scale for c in found))
    return max(c.lower for c in found) <= min(c.upper for c in found) + slack


def _title(made: Problem | OwnProblem, data: str) -> str:
    from simopt.cli.solution_text import size
    from simopt.compare.own_problems import OwnProblem

    if isinstance(made, OwnProblem):
        rows = sum(row.size for row in made.problem.constraints)
        arguments = "".join(f", {name} = {value}" for name, value in made.settings.items())
        return f"{made.name}{arguments}: {sum(each.size for each in made.problem.variables())} variables, {rows} rows"
    return f"{made.name} on {data}: {size(made)}" if data else f"{made.name}: {size(made)}"


def _plain(answered: list[ProblemAnswers], data: str) -> dict[str, Any]:
    """Plain data: of one problem at the top, of several in a list."""
    from simopt.cli.solution_text import describe

    listed = [
        {
            "problem": answers.problem,
            "data": data,
            "overlap": answers.overlap,
            "left_out": answers.left_out,
            "unsuitable": answers.unsuitable,
            "solutions": [{"solver": name, **describe(None, s, data or answers.problem)} for name, s in answers.solutions.items()],
        }
        for answers in answered
    ]
    return listed[0] if len(listed) == 1 else {"format": "simopt-solutions/1", "problems": listed}


def _show(answered: list[ProblemAnswers]) -> None:
    out = console()
    for answers in answered:
        out.print(answers.title)
        for made_table in fitted(HEADINGS, list(_rows(answers)), right=HEADINGS[3:9], out=out):
            out.print(made_table)
        if len(answers.solutions) > 1:
            brackets = any(s.certificate for s in answers.solutions.values())
            out.print("all brackets overlap" if answers.overlap else "THE BRACKETS DO NOT OVERLAP" if brackets else "no brackets")
        for line in by_reason({name: s.message for name, s in answers.solutions.items() if s.message}):
            out.print(line, soft_wrap=True)
        for line in by_reason(answers.unsuitable):
            out.print(f"not suitable: {line}", soft_wrap=True)
        for reason in answers.left_out:
            out.print(f"left out: {reason}", soft_wrap=True)


HEADINGS = ("solver", "status", "reported", "lower", "upper", "gap/scale", "gap/|upper|", "iterations", "seconds")


def _rows(answers: ProblemAnswers) -> Iterator[list[str]]:
    from simopt.cli.solution_text import seconds_text

    for name, s in answers.solutions.items():
        c, p = s.certificate, s.provenance
        bounds = ["", "", "", ""] if c is None else [
            f"{c.lower:.12g}", f"{c.upper:.12g}", number(c.relative_gap, ".1e"), number(c.gap_over_upper, ".1e")
        ]  # fmt: skip
        yield [name, s.status.name, s.reported_status, *bounds, str(p.iterations), seconds_text(p.setup_seconds + p.solve_seconds)]


def by_reason(reasons: Mapping[str, str]) -> list[str]:
    """Names with their reason, those that share one in one line."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(those)}: {reason}" for reason, those in names.items()]
