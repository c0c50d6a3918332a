"""The command `simopt`: its subcommands, one file each, and what happens to errors.

Nothing heavy is imported here; each command imports its program when it runs.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from simopt.cli.certify import certify
from simopt.cli.compare import compare
from simopt.cli.datasets import datasets
from simopt.cli.equivalence import equivalence
from simopt.cli.errors import expected
from simopt.cli.export import export
from simopt.cli.list import list_
from simopt.cli.recheck import recheck
from simopt.cli.replay import replay
from simopt.cli.reproduce import reproduce
from simopt.cli.script_arguments import WithScriptArguments
from simopt.cli.show import show
from simopt.cli.solve import solve
from simopt.cli.streams import complain, secure
from simopt.cli.verify import verify


class Commands(TyperGroup):
    """Commands whose expected errors are one line on standard error and exit status 2; anything else is a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # of a full disk is told here, not when the interpreter ends
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(130) from None
        except Exception as error:
            line = expected(error)
            if line is None:
                raise
            complain(line)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        import simopt

        typer.echo(f"simopt {simopt.__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")] = False,
) -> None:
    """Similarity-based learning as convex programmes: certified answers, executable claims."""


app.command("verify")(verify)
app.command("solve", cls=WithScriptArguments)(solve)
app.command("certify")(certify)
app.command("export", cls=WithScriptArguments)(export)
app.command("reproduce")(reproduce)
app.command("compare", cls=WithScriptArguments)(compare)
app.command("equivalence")(equivalence)
app.command("list")(list_)
app.command("show")(show)
app.add_typer(datasets, name="datasets")
app.command("replay")(replay)
app.command("recheck")(recheck)


def main() -> None:
    """Entry point of the console script."""
    secure()
    try:
        app()
    except OSError as error:  # of standard output, while a text of help is shown
        if (line := expected(error)) is None:
            raise
        complain(line)
        sys.exit(2)
