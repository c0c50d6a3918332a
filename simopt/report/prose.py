"""Statements and remarks as HTML: bold words, code, LaTeX, names of other claims as links, the rest typeset by `formulas`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from simopt.report.formulas import NoMath, mathml, typeset

LATEX = re.compile(r"\$\$(?P<block>[^$]+)\$\$|\$(?P<dollars>[^$\n]+)\$|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL)
BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`|(\b[\w/]+\.(?:py|md|csv|json|tex)\b)")


class Prose:
    """Turns text into HTML; `names` are the rows to link to, `link` the address of one, `others` are names without a page."""

    def __init__(self, names: Iterable[str], link: Callable[[str], str], others: Iterable[str] = ()) -> None:
        self.others = frozenset(others)
        ordered = sorted({*names, *self.others}, key=len, reverse=True)
        self.link = link
        self.names = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, ordered)) + r")(?![\w+-]*\w)") if ordered else None

    def __call__(self, text: str) -> Markup:
        """The text as HTML. Whatever it holds, it comes out as text: nothing in it is taken for markup."""
        return self._split(LATEX, text, _latex, lambda rest: self._split(CODE, rest, _code, self._bold))

    def _bold(self, text: str) -> Markup:
        return self._split(BOLD, text, lambda found: Markup("<strong>{}</strong>").format(self._linked(found[1])), self._linked)

    def _linked(self, text: str) -> Markup:
        if self.names is None:
            return typeset(text)
        return self._split(self.names, text, self._name, typeset)

    def _name(self, match: re.Match[str]) -> Markup:
        return escape(match[0]) if match[0] in self.others else Markup('<a href="{}">{}</a>').format(self.link(match[0]), match[0])

    @staticmethod
    def _split(pattern: re.Pattern[str], text: str, inside: Callable[[re.Match[str]], Markup], outside: Callable[[str], Markup]) -> Markup:
        parts: list[Markup] = []
        end = 0
        for found in pattern.finditer(text):
            parts += [outside(text[end : found.start()]), inside(found)]
            end = found.end()
        return Markup("").join([*parts, outside(text[end:])])


def _latex(match: re.Match[str]) -> Markup:
    try:
        return mathml(next(group for group in match.groups() if group is not None))
    except NoMath:
        return escape(match[0])


def _code(match: re.Match[str]) -> Markup:
    return Markup("<code>{}</code>").format(match[1] or match[2])
