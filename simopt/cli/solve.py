"""`simopt solve PROBLEM`: a problem made from a data set by its recipe, or read from a file, solved, and shown with its certificate."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.completion import ProblemName
from simopt.cli.console import Json, Output, Ticker, check_output, console, emit, fitted, number, reserved
from simopt.cli.streams import complain

if TYPE_CHECKING:
    from simopt.model.problem import Problem
    from simopt.processes.worker import Workers
    from simopt.solving.solution import Sample, Solution

INTERRUPTED = 130
SHOWN = 12  # classes whose samples are counted on the screen
ROUNDING = 1e-13  # of the larger bound or the objective at the trivial point: what brackets in floats may miss each other by


def solve(
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
    """Solve a problem on a data set, or that of a file (.mps, .qps, .lp, .cbf, also .gz), and print bounds on its optimum.

    Exit status 0: certified to the tolerance (for scs: a valid bracket); 1: not; 2: bad input, or a file could not be written;
    130: interrupted.
    """
    from simopt.cli import settings

    check_output(output)
    options = {name: settings.guess(text) for name, text in settings.pairs("--option", option or []).items()}
    common = {"tol": tol, "time_limit": time_limit, "rigorous": rigorous}
    if is_file(problem):
        recipe = {"--data": data, "--target": target, "--set": set_, "--coq": coq}
        raise typer.Exit(_solve_file(problem, solver, recipe, {**common, **options}, as_json, output))
    with reserved(as_json):
        made = build(problem, needed(data), target, settings.pairs("--set", set_ or []))
    data = needed(data)
    if solver is not None and solver.lower() == "all":
        raise typer.Exit(_solve_all(made, data, common, options, as_json, output))
    with reserved(as_json), _pool(made, common) as pool:
        solution, stopped = _run(pool, made, solver, common, options)
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


def _solve_file(path: str, solver: str | None, recipe: dict[str, Any], options: dict[str, Any], as_json: bool, output: Path | None) -> int:
    """Solve the problem of a file in this process; the exit status."""
    from simopt.core.errors import Interrupted, InvalidProblem
    from simopt.files.formats import read
    from simopt.solving.entry_points import solve as run

    for name, value in recipe.items():
        if value:
            raise InvalidProblem(f"{name}: belongs to problems of the catalogue; {path} is a file")
    if solver is not None and solver.lower() == "all":
        raise InvalidProblem("--solver: all solvers are those of problems of the catalogue; name one for a file")
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


def _pool(made: Problem, common: dict[str, Any]) -> AbstractContextManager[Workers]:
    """Processes that solve the problem: a compiled solver may end one, and not the command."""
    from simopt.processes.worker import Workers

    return closing(Workers(partial(_solved, made, common), fork=True))


def _run(pool: Workers, made: Problem, solver: str | None, common: dict[str, Any], options: dict[str, Any]) -> tuple[Solution, bool]:
    """The solution, and whether Ctrl-C has cut it short; FAILED where the process of the solve ends without an answer."""
    from simopt.processes.worker import Died
    from simopt.solving.driver import choose, unanswered

    choose(made, solver)  # what is unknown is told before a process is started, and what was imported here need not be imported there
    interrupted = threading.Event()

    def pass_on(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)  # the next one ends us
        interrupted.set()
        pool.interrupt()

    before: Any = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, pass_on)
    try:
        solution, stopped = pool.call(solver, options)
        return solution, stopped or interrupted.is_set()
    except Died as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        return unanswered(made, solver, common["tol"], options, str(error)), False
    finally:
        if signal.getsignal(signal.SIGINT) is pass_on:
            signal.signal(signal.SIGINT, before)


def _solved(made: Problem, common: dict[str, Any], solver: str | None, options: dict[str, Any]) -> tuple[Solution, bool]:
    """The answer of a process of the pool."""
    from simopt.core.errors import Interrupted
    from simopt.solving.driver import choose
    from simopt.solving.entry_points import solve as run

    ticker, name = Ticker(), choose(made, solver).name

    def show(sample: Sample) -> None:
        ticker.show(f"{name}: {sample.seconds:.1f} s, iteration {sample.iteration}: gap {sample.gap:.2e}")

    try:
        return run(made, solver, progress=show, **common, **options), False
    except Interrupted as stop:
        return stop.done, True
    finally:
        ticker.clear()


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


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 or value == 0.0 else f"{value:.2g}"


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
    took = f"{_seconds(record.setup_seconds)} s set-up, {_seconds(record.solve_seconds)} s solve"
    out.print(f"work        {record.iterations} iterations, {took}")
    if rigorous and found is not None and found.arithmetic == "float":
        out.print("            (bounds are evaluated in interval arithmetic only once the gap is closed)")


def _solve_all(made: Problem, data: str, common: dict[str, Any], options: dict[str, Any], as_json: bool, output: Path | None) -> int:
    from simopt.backends.table import FIRST_CLASS, installed
    from simopt.core.errors import InvalidProblem
    from simopt.solving.solver import solvers_of

    if options:
        raise InvalidProblem("--option: options belong to one solver, name it with --solver")
    names = [spec.name for spec in solvers_of(made)] + [backend.name for backend in installed()]
    solutions: list[Solution] = []
    stopped = False
    with reserved(as_json), _pool(made, common) as pool:
        for name in names:
            solution, stopped = _run(pool, made, name, common, {})
            solutions.append(solution)
            if stopped:
                break
    overlap = brackets_overlap(solutions, made.scale())
    left_out = [backend.missing for backend in FIRST_CLASS if backend.missing]
    described = [describe(made, s, data) for s in solutions]
    said = {"problem": made.name, "data": data, "overlap": overlap, "left_out": left_out, "solutions": described}
    emit(said, as_json, output, lambda: _show_all(made, data, solutions, overlap, left_out))
    from simopt.model.status import Status

    tried = [s for s in solutions if s.status is not Status.UNSUPPORTED]
    return INTERRUPTED if stopped else 0 if overlap and tried and all(map(acceptable, tried)) else 1


def brackets_overlap(solutions: list[Solution], size: float = 0.0) -> bool:
    """Whether all brackets have a point in common, up to rounding of numbers of this size where they were evaluated in floats."""
    found = [s.certificate for s in solutions if s.certificate is not None]
    if not found:
        return False
    slack = 0.0 if all(c.arithmetic != "float" for c in found) else ROUNDING * max(size, *(c.scale for c in found))
    return max(c.lower for c in found) <= min(c.upper for c in found) + slack


def _show_all(made: Problem, data: str, solutions: list[Solution], overlap: bool, left_out: list[str]) -> None:
    out = console()
    out.print(f"{made.name} on {data}: {size(made)}")
    headings = ("solver", "status", "reported", "lower", "upper", "gap/scale", "gap/|upper|", "iterations", "seconds", "")
    rows = []
    for s in solutions:
        c, p = s.certificate, s.provenance
        bounds = ["", "", "", ""] if c is None else [
            f"{c.lower:.12g}", f"{c.upper:.12g}", number(c.relative_gap, ".1e"), number(c.gap_over_upper, ".1e")
        ]  # fmt: skip
        seconds = _seconds(p.setup_seconds + p.solve_seconds)
        rows.append([p.solver, s.status.name, s.reported_status, *bounds, str(p.iterations), seconds, s.message])
    for made_table in fitted(headings, rows, right=headings[3:9], out=out):
        out.print(made_table)
    out.print(
        "all brackets overlap" if overlap else "THE BRACKETS DO NOT OVERLAP" if any(s.certificate for s in solutions) else "no brackets"
    )
    for reason in left_out:
        out.print(f"left out: {reason}", soft_wrap=True)
