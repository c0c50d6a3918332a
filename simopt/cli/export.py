"""`simopt export PROBLEM FILE`: a problem of the catalogue, of a script, of a function or of a file, written as MPS, QPS or CBF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simopt.cli import completion
from simopt.cli.completion import problems
from simopt.cli.script_arguments import script_arguments

if TYPE_CHECKING:
    import cvxpy as cp


def export(
    context: typer.Context,
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM", help="Name of a problem, SCRIPT.py, FILE.py:NAME, MODULE:NAME, or a file.", autocompletion=problems
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to write: .mps, .qps or .cbf, packed with .gz behind it.")],
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="NAME|FILE.csv", help="Data set of a problem of the catalogue.", autocompletion=completion.datasets),
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="Column to predict (default: the last).")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="Option of the recipe or field.")] = None,
) -> None:
    """Write a problem in CVXPY's canonical form; what the format cannot hold is refused by name.

    Exit status 0: written; 2: bad input, or the file could not be written.
    """
    from simopt.core.errors import InvalidProblem
    from simopt.core.writing import check_target
    from simopt.files.formats import WRITTEN, ending, write

    if ending(file) not in WRITTEN:
        raise InvalidProblem(f"{file}: ends in {ending(file) or 'nothing'}; {', '.join(WRITTEN)} are written, also with .gz")
    check_target(file)
    arguments = script_arguments(context, [problem])
    write(_problem(problem, arguments, data, target, set_ or []), file)
    typer.echo(str(file))


def _problem(name: str, arguments: list[str], data: str | None, target: str | None, texts: list[str]) -> cp.Problem:
    """The one problem of that name.

    Raises
    ------
    InvalidProblem, UnknownName, NotAvailable
        where there is none, or more than one.
    """
    from simopt.cli import settings
    from simopt.cli.solve import build, needed
    from simopt.compare.own_problems import is_own, named_problems
    from simopt.core.errors import InvalidProblem
    from simopt.model.problem import is_cvxpy

    if not is_own(name):
        return build(name, needed(data), target, settings.pairs("--set", texts)).declare()
    if data is not None or target is not None or texts:
        raise InvalidProblem(f"--data, --target and --set belong to problems of the catalogue; {name} is none")
    problems = [(label, problem) for label, problem, _ in named_problems(name, arguments)]
    if len(problems) != 1:
        listed = ", ".join(label for label, _ in problems[:8])
        raise InvalidProblem(f"{name}: one problem is needed, it has {listed}; name a function that returns one as file.py:function")
    made = problems[0][1]
    return made if is_cvxpy(made) else made.declare()
