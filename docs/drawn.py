"""A directive that draws: its body is Python that leaves a matplotlib `figure`; the page shows the code and the picture.

    :::{drawn} name
    :alt: what the picture shows, in words
    code
    :::

Pictures are made while the pages are built and kept nowhere else. Code that fails, or leaves no figure, fails the build.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

FOLDER = "_drawn"  # beside the pages, and not kept in the repository


def draw(code: str, name: str, path: Path) -> None:
    """Run the code and save its `figure` as SVG.

    Raises
    ------
    RuntimeError
        when the code fails or leaves no figure.
    """
    import matplotlib

    matplotlib.use("agg")
    space: dict[str, Any] = {"__name__": f"drawn_{name}"}
    try:
        exec(compile(code, f"<{name}>", "exec"), space)
    except Exception as error:
        raise RuntimeError(f"the code of {name} failed:\n{traceback.format_exc()}") from error
    if "figure" not in space:
        raise RuntimeError(f"the code of {name} leaves no `figure`")
    path.parent.mkdir(exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": name}):  # the same code gives the same file
        space["figure"].savefig(path, bbox_inches="tight", metadata={"Date": None})


class Drawn(SphinxDirective):
    """`drawn`."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The code, and the picture it draws."""
        name, code = self.arguments[0], "\n".join(self.content) + "\n"
        if "alt" not in self.options:
            raise self.error(f"{name}: the picture needs :alt:, for those who do not see it")
        path = Path(self.env.srcdir) / FOLDER / f"{name}.svg"
        try:
            draw(code, name, path)
        except RuntimeError as failed:
            raise self.error(str(failed)) from failed
        block = nodes.literal_block(code, code, language="python")
        image = nodes.image(uri=f"/{FOLDER}/{name}.svg", alt=self.options["alt"], width="100%")
        return [block, image]


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": False}
