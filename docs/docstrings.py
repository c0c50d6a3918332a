"""Docstrings here are plain text with mathematics in Unicode; this extension makes reStructuredText of them.

Indented formulas become literal blocks, and |x| and x* are no markup. NumPy sections (Parameters, Raises, …) are left to napoleon.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

from sphinx.domains.python import PyObject

SECTIONS = {"Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Examples", "References", "See Also", "Methods", "Warns"}
CODE = re.compile(r"(``.*?``|`[^`]*`)")
TYPED = re.compile(r"(\S[^:]*) : ([^`]+)$")  # name : type
CLASS = re.compile(r"[A-Z]\w*")
SEVERAL = re.compile(r"(\w+(?:, \w+)+)( : .*)?")  # names of attributes


def escaped(line: str, *, name: bool = False) -> str:
    """The line with | and * escaped outside back quotes, and the underscore that ends a word, but for names, where napoleon does it."""
    marks = r"([|*])" if name else r"([|*]|(?<=\w)_(?!\w))"
    parts = CODE.split(line)
    return "".join(part if i % 2 else re.sub(marks, r"\\\1", part) for i, part in enumerate(parts))


def entry(line: str) -> str:
    """A line of a section. Types in words become italics: Sphinx would look up the n of "(n,) array" everywhere. Classes stay links."""
    found = TYPED.match(line)
    if found is None or CLASS.fullmatch(found[2].strip()):
        return escaped(line, name=not line.startswith(" "))
    return f"{escaped(found[1], name=True)} : *{escaped(found[2].strip())}*"


def one_by_one(lines: list[str]) -> list[str]:
    """Attributes that share an entry get one each: Sphinx reads "a, b" as b of type a."""
    out: list[str] = []
    shared: list[str] = []  # names still to be written, with their type
    body: list[str] = []
    attributes = False
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        if line.startswith(" ") and shared:
            body.append(line)
            continue
        out += [part for name in shared for part in (name, *body)]
        shared, body = [], []
        if following.startswith("---"):
            attributes = line.strip() == "Attributes"
        found = SEVERAL.fullmatch(line) if attributes else None
        if found is None:
            out.append(line)
        else:
            shared = [name + (found[2] or "") for name in found[1].split(", ")]
    return out + [part for name in shared for part in (name, *body)]


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the docstring's lines in place."""
    out: list[str] = []
    in_section = literal = announced = example = False
    lines[:] = one_by_one(lines)
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if following.startswith("---") and line.strip() in SECTIONS:
            in_section = True
        indented = line.startswith(" ")
        example = line.startswith(">>>") or (example and bool(line.strip()))
        if example:
            out.append(line)  # an example and what it prints, up to the next empty line
            continue
        if in_section and i and not lines[i - 1].strip() and line.strip() and not indented and not following.startswith("---"):
            in_section = literal = False
            out.append("")  # two empty lines end a section for napoleon
        if in_section:
            out.append(entry(line))
            continue
        if announced and (indented or not line.strip()):
            out.append(line)  # a literal block that the docstring itself announces with ::
            continue
        announced = line.rstrip().endswith("::")
        if indented and not literal:
            out += ["", "::", ""]
        if literal and not indented and line.strip():
            out.append("")
        literal = indented or (literal and not line.strip())
        is_item = re.match(r"\* ", line)
        out.append(line if indented or line.startswith(("---", ">>>")) else f"* {escaped(line[2:])}" if is_item else escaped(line))
    lines[:] = out


def setup(app: Any) -> dict[str, bool]:
    """Run before napoleon; names of attributes are no links, since Sphinx would look for them among all classes."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.rolename = ""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True}
