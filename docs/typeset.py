"""Formulas of the guide as MathML, as in the report: browsers draw it by themselves, so that pages need no script and no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError

from simopt.report.formulas import NoMath, mathml

OPERATORS = re.compile(r"\\(min|max|sup|inf)_")  # whose scripts stand below them on a line of their own


def drawn(node: Any, display: bool) -> str:
    """The MathML of a node; a formula that cannot be converted fails the build."""
    latex = node.astext()
    try:
        return str(mathml(OPERATORS.sub(r"\\\1\\limits_", latex) if display else latex, display))
    except NoMath as error:
        raise ExtensionError(f"{node.source}: {error}") from error


def inline(writer: Any, node: Any) -> None:
    """A formula in a line of text."""
    writer.body.append(drawn(node, False))
    raise nodes.SkipNode


def display(writer: Any, node: Any) -> None:
    """A formula on a line of its own; a wide one is scrolled, not cut."""
    writer.body.append(f'<div class="math" style="overflow: auto hidden; padding: 0.3em 0">{drawn(node, True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer; `html_math_renderer` chooses it."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
