"""The directive that solves and certifies the models of a page, so that what it says of them is computed when it is built.

    :::{certificates} NAME NAME …       a table of bounds, one row a model

NAME is a block `# NAME.py` of the page with a function of that name, which returns a `cvxpy.Problem`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registered import Registered, cell

import simopt

MODULE = re.compile(r"```python\n# (\w+)\.py\n(.*?)```", re.S)
TOL = 1e-6


def models(text: str) -> Iterator[tuple[str, Any]]:
    """The models of a page: name and problem."""
    for name, code in MODULE.findall(text):
        names: dict[str, Any] = {}
        exec(compile(code, f"{name}.py", "exec"), names)
        yield name, names[name]()


def certificates(made: dict[str, Any]) -> str:
    """One line a model: its bounds, its gaps in floats and in intervals, and what is open."""
    lines = ["| model | | lower | upper | gap/scale | in intervals | |", "|---|---|---:|---:|---:|---:|---|"]
    for name, problem in made.items():
        found, proven = (simopt.solve(problem, "clarabel", tol=TOL, rigorous=rigorous) for rigorous in (False, True))
        if found.certificate is None or proven.certificate is None:
            raise LookupError(f"{name}: {found.message}")
        c, p = found.certificate, proven.certificate
        shown = p if p.closes(TOL) else c
        word = "closed" if p.closes(TOL) else f"open: {p.open}" if c.closes(TOL) else f"open in both: {c.open}"
        ends = f"{shown.lower:.9g} | {shown.upper:.9g} | {c.relative_gap:.1e} | {p.relative_gap:.1e}"
        lines.append(f"| `{name}` | {'max' if c.maximises else 'min'} | {ends} | {cell(word)} |")
    return "\n".join(lines) + "\n"


class Certificates(Registered):
    """`certificates`."""

    has_content = False

    def text(self) -> str:
        """The table of the models of this page."""
        made = dict(models(Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")))
        names = self.arguments[0].split()
        if missing := [name for name in names if name not in made]:
            raise LookupError(f"no block of this page is called {', '.join(missing)}")
        return certificates({name: made[name] for name in names})


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("certificates", Certificates)
    return {"parallel_read_safe": True}
