"""The problems that a script solves, as it solves them."""

from __future__ import annotations

import errno
import os
import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cvxpy as cp

Met = Callable[[str, "cp.Problem", bool], None]


@contextmanager
def intercepted(met: Met, script: Path) -> Iterator[None]:
    """Call `met` with call site, problem and gp after each outermost `Problem.solve`, failed ones included; its own solves do not count."""
    import cvxpy as cp

    kind: Any = cp.Problem
    plain, here = kind.solve, threading.local()

    def solve(problem: cp.Problem, *arguments: Any, **options: Any) -> Any:
        """The plain solve; at its end `met` is called, but for no solve within another one of this thread."""
        if getattr(here, "inside", False):
            return plain(problem, *arguments, **options)
        here.inside = True
        try:
            try:
                return plain(problem, *arguments, **options)
            finally:
                if not isinstance(sys.exception(), KeyboardInterrupt):
                    met(_call_site(sys._getframe(1), script), problem, bool(options.get("gp", False)))
        finally:
            here.inside = False

    kind.solve = solve
    try:
        yield
    finally:
        kind.solve = plain


def _call_site(frame: FrameType | None, script: Path) -> str:
    """File and line of the innermost call in the script, or of the call itself where the script is not on the stack."""
    own = frame
    while own is not None and Path(own.f_code.co_filename) != script:
        own = own.f_back
    found = own or frame
    return "" if found is None else f"{Path(found.f_code.co_filename).name}:{found.f_lineno}"


def run_script(script: Path, arguments: Sequence[str], met: Met) -> None:
    """Run a script as `python script` does; its exceptions are the caller's.

    Raises
    ------
    FileNotFoundError
        where there is no such file.
    """
    if not script.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(script))
    with started_from(script.parent.resolve(), [str(script), *arguments]), intercepted(met, script):
        runpy.run_path(str(script), run_name="__main__")


@contextmanager
def started_from(folder: Path, argv: Sequence[str]) -> Iterator[None]:
    """Imports from the folder and the arguments of another programme."""
    kept_argv, kept_path = sys.argv, list(sys.path)
    sys.argv = list(argv)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = kept_argv, kept_path
