"""What stands behind `--` on a command line: the arguments of the scripts that it names."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

KEY = "simopt.script_arguments"


class WithScriptArguments(TyperCommand):
    """A command that leaves what stands behind `--` to the scripts that are named before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the arguments of scripts apart."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[KEY] = args[end + 1 :]
        return super().parse_args(ctx, args[:end])


def script_arguments(context: typer.Context, names: list[str]) -> list[str]:
    """The arguments of the scripts among the names.

    Raises
    ------
    InvalidProblem
        where there are arguments, and no script.
    """
    from simopt.compare.own_problems import is_script
    from simopt.core.errors import InvalidProblem

    found: list[str] = context.meta.get(KEY, [])
    if found and not any(map(is_script, names)):
        raise InvalidProblem(f"arguments behind --: they are a script's, and {', '.join(names) or 'nothing'} is none")
    return found
