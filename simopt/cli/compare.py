"""`simopt compare WHAT…`: solvers timed to a certified gap, with a table, pictures, and a folder that an interrupted run goes on from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simopt.cli import completion
from simopt.cli.console import Json, Steps, console, emit, fitted, reserved
from simopt.cli.script_arguments import script_arguments
from simopt.cli.streams import say

if TYPE_CHECKING:
    from simopt.compare.comparison import Comparison
    from simopt.compare.record import Record

INTERRUPTED = 130
FOLDER = "simopt-compare"


def compare(
    context: typer.Context,
    problems: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHAT…]",
            help="Problems: names of the catalogue, or your own as own.py:NAME, MODULE:NAME, own.py:portfolio(n=[100,1000]), script.py.",
            autocompletion=completion.problems,
            show_default=False,
        ),
    ] = None,
    solvers: Annotated[
        str | None,
        typer.Option(
            "--solvers", metavar="A,B,…", help="Solvers, with options as a[k=v,…] (default: all).", autocompletion=completion.solver_lists
        ),
    ] = None,
    sizes: Annotated[str | None, typer.Option("--sizes", metavar="N,…", help="Samples, such as 1e3,1e4.")] = None,
    conditionings: Annotated[
        str | None, typer.Option("--conditionings", metavar="K,…", help="Condition numbers to give the matrix.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", metavar="NAME|FILE.csv", help="Data set; may be repeated (default: generated).", autocompletion=completion.datasets
        ),
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="Column to predict (default: the last).")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="FIELD=VALUE,…", help="Recipe option or field; several are swept.")
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", metavar="N,…", help="Seeds of recipes and generated data.")] = "0",
    repetitions: Annotated[int, typer.Option("--repetitions", metavar="N", help="Runs of each solver on each instance.")] = 3,
    tol: Annotated[float, typer.Option("--tol", metavar="X", help="Relative gap to certify: gap / max(|lower|, |upper|).")] = 1e-8,
    time_limit: Annotated[float, typer.Option("--time-limit", metavar="S", help="Seconds on each solver's clock.")] = 60.0,
    budget: Annotated[
        float, typer.Option("--budget", metavar="S", help="Seconds after which a solver is not repeated on an instance.")
    ] = 60.0,
    threads: Annotated[int, typer.Option("--threads", metavar="N", help="Threads of a run.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Runs at a time; more than one disturb each other.")] = 1,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Folder with page and tables (default simopt-compare/WHAT).")
    ] = None,
    merge: Annotated[list[Path] | None, typer.Option("--merge", metavar="DIR", help="Take over the runs of DIR, and run nothing.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what failed before.")] = False,
    benchopt: Annotated[
        Path | None, typer.Option("--benchopt", metavar="DIR", help="Write a benchopt benchmark instead, and run nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare solvers by the time to a certified gap. Runs that the folder holds are not run again.

    Without WHAT nothing is run: the page and the tables of the folder are written again.

    An own problem is a cvxpy.Problem, or a function that returns one or yields several; lists among its arguments are swept. A script is
    run, with the arguments behind `--`, and the problems that it solves are compared on.

    Exit status 0: done, failures included, which the table shows; 2: bad input; 130: interrupted.
    """
    from simopt.cli import settings
    from simopt.compare.own_problems import is_own
    from simopt.core.errors import InvalidProblem

    problems = problems or []
    arguments = script_arguments(context, problems)
    catalogue = [each for each in problems if not is_own(each)]
    wanted: dict[str, Any] = {
        "solvers": None if solvers is None else candidates(solvers),
        "sizes": None if sizes is None else numbers("--sizes", sizes),
        "conditionings": None if conditionings is None else numbers("--conditionings", conditionings),
        "data": data or None,
        "target": target,
        "settings": swept(catalogue, settings.pairs("--set", set_ or [])),
        "seeds": numbers("--seeds", seeds),
    }
    one = catalogue[0] if len(problems) == len(catalogue) == 1 else None
    if benchopt is not None:
        from simopt.compare.benchopt_export import export_benchopt

        if not problems:
            raise InvalidProblem("--benchopt: a benchmark is of problems; name one")
        what = in_full(problems, arguments) if one is None else one
        typer.echo(f"wrote {export_benchopt(benchopt, what, tol=tol, time_limit=time_limit, **wanted)}")
        return
    if not problems and report is None:
        raise InvalidProblem("WHAT: name a problem to compare on, or a folder with --report DIR, whose page is written again")
    folder = Path(FOLDER) / usual_folder(problems) if report is None else report
    stopped = False
    with reserved(as_json):
        if merge or not problems:
            found = _merged(one, folder, merge or [], wanted)
        else:
            common = {"repetitions": repetitions, "tol": tol, "time_limit": time_limit, "budget": budget, "threads": threads, "jobs": jobs}
            found, stopped = _measure(problems, arguments, {**wanted, **common, "folder": folder, "retry": retry})
    _emit_comparison(found, folder, stopped, as_json)
    raise typer.Exit(INTERRUPTED if stopped else 0)


def in_full(problems: list[str], arguments: list[str]) -> list[Any]:
    """The names, and in the place of each script the problems that it solves when it is given its arguments."""
    from simopt.compare.own_problems import is_script, problems_of

    return [made for name in problems for made in (problems_of(name, arguments) if is_script(name) else [name])]


def usual_folder(problems: list[str]) -> str:
    """The name of the folder of a comparison: what is compared on, in characters that any file system has."""
    from simopt.compare.own_problems import is_own, shown

    words = "+".join(shown(each) if is_own(each) else each for each in problems)
    return re.sub(r"[^\w.+=-]+", "-", words).strip("-.")[:100] or "problems"


def _merged(problem: str | None, folder: Path, merge: list[Path], wanted: dict[str, Any]) -> Comparison:
    """The comparison in the folder, with the runs of other folders taken over."""
    from simopt.compare import comparison as program
    from simopt.core.errors import InvalidProblem

    if any(wanted[name] is not None for name in ("solvers", "sizes", "conditionings", "data")):
        where = "--merge" if merge else "without WHAT"
        raise InvalidProblem(f"{where}: nothing is run, so that solvers, sizes, conditionings and data have no meaning")
    return program.merge(folder, merge, problem) if merge else program.rewrite(folder)


def _measure(problems: list[str], arguments: list[str], options: dict[str, Any]) -> tuple[Comparison, bool]:
    """The comparison, and whether it was interrupted."""
    from simopt.compare import comparison as program
    from simopt.compare.endings import in_words, no_optimum
    from simopt.core.errors import Interrupted

    with Steps("compare", 0) as steps:

        def progress(done: int, left: int, record: Record) -> None:
            fewer, steps.total = max(steps.total - left, 0), left
            message = "" if record.success else record.message
            ending = in_words(record.status, message, record.relative_gap, no_optimum([record]))
            spent = f", {record.spent_seconds:.3g} s" if record.spent_seconds > 0 else ""
            less = f" ({fewer} not repeated: over --budget {options['budget']:g} s)" if fewer else ""
            steps.step(" ".join(f"{record.cell.label}: {ending}{spent}{less}".split()))  # names of files may have line feeds

        try:
            return program.compare_solvers(in_full(problems, arguments), progress=progress, **options), False
        except Interrupted as stop:
            return stop.done, True


def _emit_comparison(comparison: Comparison, folder: Path, stopped: bool, as_json: bool) -> None:
    """The table on standard output, as text or JSON, and then the pictures in the folder."""
    from simopt.compare import folder as files

    def pictures() -> None:
        with reserved(as_json):
            drawn = comparison.plot(folder / "plots") if files.installed("matplotlib") else []
        if not as_json:
            _print_files(comparison, folder, len(drawn), stopped)
        elif left_out := files.left_out():
            say(left_out)

    document = {"format": "simopt-comparison/1", **comparison.document()}
    emit(document, as_json, None, lambda: _print_summary(comparison, folder), pictures)


def _print_summary(comparison: Comparison, folder: Path) -> None:
    """The answer first; then the solvers over all instances, the tables of each instance, and notes."""
    from simopt.compare import table as tables
    from simopt.compare.answer import answers, beside

    out = console()
    for line in answers(comparison.records, comparison.complete) or ["no run is done yet"]:
        out.print(line, style="bold")
    for line in beside(comparison.others, str(folder)):
        out.print(line)
    out.print()
    heads = tables.headings(comparison.records)
    over = tables.over_instances(comparison.records)
    blocks = [each for each in over if each[1] == tables.STANDING_HEADINGS]
    blocks += [(title, heads, rows) for title, rows in tables.blocks(comparison.records)]
    for title, columns, rows in blocks:
        for made in fitted(columns, rows, right=columns[1:] if columns != heads else heads[1:-3], title=title, out=out):
            out.print(made)
            out.print()
    if comparison.unsuitable:
        out.print("Not suitable:")
    for line in (
        *tables.unsuitable_lines(comparison.unsuitable, comparison.records),
        *([""] if comparison.unsuitable else []),
        *tables.success_lines(comparison.records),
        *tables.scaling_lines(comparison.records),
        "",
        *tables.notes(comparison.records),
    ):
        out.print(line)


def _print_files(comparison: Comparison, folder: Path, pictures: int, stopped: bool) -> None:
    from simopt.compare import folder as files

    state = "interrupted; the same command goes on from here" if stopped else "complete" if comparison.complete else "not complete"
    names = [files.PAGE] * files.installed("jinja2") + [files.TABLE, files.DOCUMENT, *files.PARQUET * files.installed("pyarrow")]
    names += [f"plots/ ({pictures} pictures)"] * (pictures > 0)
    runs = "1 run" if len(comparison.records) == 1 else f"{len(comparison.records)} runs"
    if comparison.left_out:
        repetitions = "1 repetition" if comparison.left_out == 1 else f"{comparison.left_out} repetitions"
        state += f" but for {repetitions} that --budget had no seconds for"
    console().print(f"{runs}, {state}. {folder}: {', '.join(names)}")
    if left_out := files.left_out():
        console().print(left_out)


def numbers(flag: str, text: str) -> list[float | int]:
    """`1e3,1e4` as numbers, whole ones as int.

    Raises
    ------
    InvalidProblem
        for what is no number.
    """
    from simopt.core.errors import InvalidProblem

    found: list[float | int] = []
    for piece in text.split(","):
        try:
            found.append(whole_or_real(piece))
        except (ValueError, OverflowError):
            raise InvalidProblem(f"{flag}: {piece.strip()!r} given, a number needed (several with commas between them)") from None
    return found


def whole_or_real(text: str) -> float | int:
    """Digits as they stand, however many; 1e3 as 1000, up to where float64 holds all whole numbers."""
    from simopt.core.validate import EXACT

    try:
        return int(text)
    except ValueError:
        value = float(text)
        return int(value) if value == int(value) and abs(value) <= EXACT else value


def candidates(text: str) -> list[tuple[str, dict[str, Any]]]:
    """`newton,scs[max_iter=100]` as names with options.

    Raises
    ------
    InvalidProblem
        for a name without letters or brackets that do not close.
    """
    from simopt.cli import settings

    example = "a solver such as newton or scs[max_iter=100]"
    return [settings.with_options("--solvers", piece, example) for piece in re.split(r",(?![^\[]*\])", text)]


def swept(problems: list[str], texts: dict[str, str]) -> dict[str, Any]:
    """`--set` as values of the right type for these problems of the catalogue; `a=1,2` as a list, which is swept.

    Raises
    ------
    UnknownName, InvalidProblem
    """
    from simopt.core import registry
    from simopt.core.errors import InvalidProblem

    if texts and not problems:
        raise InvalidProblem("--set: it concerns problems of the catalogue; give arguments to the function: own.py:NAME(n=100)")
    found: dict[str, Any] = {}
    for problem in problems:
        kind = registry.find("problem", problem)
        found |= _swept(kind, texts)
    return found


def _swept(kind: Any, texts: dict[str, str]) -> dict[str, Any]:
    from simopt.cli import settings

    found: dict[str, Any] = {}
    for name, text in texts.items():
        values = []
        for piece in text.split(","):
            for_recipe, for_problem = settings.assigned(kind, {name: piece})
            ((known, value),) = {**for_recipe, **for_problem}.items()
            values.append(value)
        found[known] = values if len(values) > 1 else values[0]
    return found
