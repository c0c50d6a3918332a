"""`simopt solve PROBLEM`: a problem made from a data set by its recipe, or read from a file, solved, and shown with its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.completion import ProblemName
from simopt.cli.console import Json, Output, check_output, console, emit, reserved
from simopt.cli.script_arguments import script_arguments
from simopt.cli.solution_text import acceptable, describe, seconds_text, size
from simopt.cli.streams import complain

if TYPE_CHECKING:
    from simopt.model.problem import Problem
    from simopt.solving.solution import Solution

INTERRUPTED = 130


def solve(
    context: typer.Context,
    problem: ProblemName,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="NAME|FILE.csv",
            help="Data set by name, or a CSV file with one header row.",
            autocompletion=completion.datasets,
        ),
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="Column to predict (default: the last).")] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="Solver, or `all` (default: the first of `simopt show PROBLEM`).",
            autocompletion=completion.solvers,
        ),
    ] = None,
    tol: Annotated[float, typer.Option("--tol", metavar="X", help="Relative gap to certify: gap / max(|lower|, |upper|).")] = 1e-8,
    time_limit: Annotated[float, typer.Option("--time-limit", metavar="S", help="Seconds on each solver's clock.")] = 60.0,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="Option of the recipe or field.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="Option of the solver.")] = None,
    rigorous: Annotated[bool, typer.Option("--rigorous", help="Evaluate the bounds in interval arithmetic.")] = False,
    coq: Annotated[
        str, typer.Option("--coq", metavar="DIR", help="Also write the certificate of the declaration, in fractions, as theorems of Coq.")
    ] = "",
    as_json: Json = False,
    output: Output = None,
) -> None:
    """Solve a problem, and print bounds on its optimum: one of the catalogue on a data set, or your own.

    Your own is that of a file (.mps, .qps, .lp, .cbf, also .gz), of all files of a folder or pattern, or a cvxpy.Problem, named as
    own.py:NAME, MODULE:NAME or own.py:portfolio(n=[100,1000]), or one that a script solves: script.py -- ARGUMENTS. With --solver all each
    has a row for every solver that can take it.

    Exit status 0: certified to the tolerance (for scs: a valid bracket); 1: not; 2: bad input, or a file could not be written; 130:
    interrupted. With all, solvers of simopt's own, CLARABEL, ECOS and SCS decide, if they can take the problem, and all brackets overlap.
    """
    from simopt.cli import settings
    from simopt.cli.every_solver import EVERY, solve_each
    from simopt.cli.solving_process import processes_for, solved_in
    from simopt.compare.own_problems import is_own, problems_of

    check_output(output)
    arguments = script_arguments(context, [problem])
    options = {name: settings.guess(text) for name, text in settings.pairs("--option", option or []).items()}
    common = {"tol": tol, "time_limit": time_limit, "rigorous": rigorous}
    every = solver is not None and solver.lower() == EVERY
    if is_own(problem):
        _only_for_the_catalogue(problem, {"--data": data, "--target": target, "--set": set_, "--coq": coq})
        if is_file(problem) and not every:
            raise typer.Exit(_solve_file(problem, solver, {**common, **options}, as_json, output))
        raise typer.Exit(solve_each(problems_of(problem, arguments), solver, common, options, as_json, output))
    with reserved(as_json):
        made = build(problem, needed(data), target, settings.pairs("--set", set_ or []))
    data = needed(data)
    if every:
        raise typer.Exit(solve_each([made], solver, common, options, as_json, output, data))
    with reserved(as_json), processes_for(made, common) as pool:
        solution, stopped = solved_in(pool, made, solver, common, options)
    emit(describe(made, solution, data), as_json, output, lambda: _show(f"{made.name} on {data}: {size(made)}", solution, rigorous))
    if coq and not stopped:
        _theorem(made, coq)
    raise typer.Exit(INTERRUPTED if stopped else 0 if acceptable(solution) else 1)


def is_file(name: str) -> bool:
    """Whether the name is that of a file of a problem, and not of a problem of the catalogue."""
    from simopt.files.formats import READ, ending

    return ending(name) in READ


def needed(data: str | None) -> str:
    """The data set, without which a problem of the catalogue is none.

    Raises
    ------
    InvalidProblem
    """
    from simopt.core.errors import InvalidProblem

    if data is None:
        raise InvalidProblem("--data: a problem of the catalogue needs one; see `simopt list datasets`")
    return data


def _only_for_the_catalogue(problem: str, recipe: dict[str, Any]) -> None:
    from simopt.core.errors import InvalidProblem

    for name, value in recipe.items():
        if value:
            raise InvalidProblem(
                f"{name}: belongs to problems of the catalogue; {problem} is {'a file' if is_file(problem) else 'your own'}"
            )


def _solve_file(path: str, solver: str | None, options: dict[str, Any], as_json: bool, output: Path | None) -> int:
    """Solve the problem of a file in this process; the exit status."""
    from simopt.core.errors import Interrupted
    from simopt.files.formats import read
    from simopt.solving.entry_points import solve as run

    stopped = False
    with reserved(as_json):
        problem = read(path)
        try:
            solution = run(problem, solver, **options)
        except Interrupted as stop:
            solution, stopped = stop.done, True
    sizes = f"{sum(each.size for each in problem.variables())} variables, {sum(row.size for row in problem.constraints)} rows"
    emit(describe(None, solution, path), as_json, output, lambda: _show(f"{path}: {sizes}", solution, options["rigorous"]))
    return INTERRUPTED if stopped else 0 if acceptable(solution) else 1


def _theorem(made: Problem, folder: str) -> None:
    """Write weak duality of this instance as a file of Coq, or say why there is none."""
    from simopt.coq.certificate import write
    from simopt.coq.theory import NoTheorem
    from simopt.core.errors import Unreadable

    try:
        typer.echo(f"{folder}/{write(made, folder)}.v")
    except (NoTheorem, Unreadable) as error:
        complain(f"--coq: no theorem, {error}")


def build(name: str, data: str, target: str | None, texts: dict[str, str]) -> Problem:
    """The problem that its recipe makes of the data, with `--set` applied.

    Raises
    ------
    UnknownName, InvalidProblem, NotAvailable
    """
    import numpy as np

    from simopt.cli import settings
    from simopt.core import registry
    from simopt.data.datasets import load_dataset
    from simopt.model.problem import changed

    kind: type[Problem] = registry.find("problem", name)
    for_recipe, for_problem = settings.assigned(kind, texts)
    made = kind.from_data(load_dataset(data, target=target, fetch=True), np.random.default_rng(0), **for_recipe)
    return changed(made, **for_problem) if for_problem else made


def _show(heading: str, solution: Solution, rigorous: bool) -> None:
    record, found = solution.provenance, solution.certificate
    out = console()
    out.print(heading)
    out.print(f"solver      {record.solver}, tolerance {record.tol:g}" + "".join(f", {k} = {v}" for k, v in record.options.items()))
    out.print(f"status      {solution.status.name}" + (f" ({solution.message})" if solution.message else ""))
    out.print(f"reported    {solution.reported_status or 'nothing'}")
    if found is None:
        out.print("certificate none: the solver returned no point")
    else:
        out.print(f"bounds      {found.lower:.12g} ≤ optimum ≤ {found.upper:.12g}")
        if found.judged:
            out.print(f"            of the problem with {found.judged}")
        ratios = f"gap/scale {found.relative_gap:.3e}   gap/terms {found.gap_over_terms:.3e}   gap/|upper| {found.gap_over_upper:.3e}"
        out.print(f"gap         {found.gap:.3e}   {ratios}" + (f"   ({found.reading})" if found.reading else ""))
        out.print(f"scale       {found.scale:.6g}")
        out.print(f"repair      {found.infeasibility:.2e}; multipliers from the {found.multipliers_from}; {found.arithmetic} arithmetic")
    took = f"{seconds_text(record.setup_seconds)} s set-up, {seconds_text(record.solve_seconds)} s solve"
    out.print(f"work        {record.iterations} iterations, {took}")
    if rigorous and found is not None and found.arithmetic == "float":
        out.print("            (bounds are evaluated in interval arithmetic only once the gap is closed)")
