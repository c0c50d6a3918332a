"""What all pages have in common: templates that escape every word, one style, one script, and a policy.

A Content-Security-Policy lets nothing run but our own script and style, which it names by their hashes, and nothing be fetched.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

REFUSED = "base-uri 'none'; form-action 'none'"


def environment(rules: str = "") -> Environment:
    """The templates, with `rules` of a page of its own at the end of its style."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=PackageLoader("simopt.report", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = resources.files("simopt.report") / "templates"
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    style += rules
    policy = f"default-src 'none'; img-src data:; style-src {source(style)}; script-src {source(script)}; {REFUSED}"
    made.globals.update(style=Markup(style), script=Markup(script), policy=policy, anchor=anchor)
    made.filters.update(number=number)
    return made


def source(text: str) -> str:
    """The source that a Content-Security-Policy lists for an inline style or script with this text and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def anchor(name: str) -> str:
    """An id as the fragment of an address."""
    return quote(name, safe="")


def number(value: float | None, form: str = ".3g") -> str:
    """A number for the page; a dash for none."""
    return "–" if value is None else format(value, form).replace("-", "−")
