"""The errors that simopt raises on purpose; each says what was wrong, where, and what would be right."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

LISTED = 12  # known names in a message


class InvalidProblem(ValueError):
    """Data or parameters for which the problem is not defined."""


class NotFinite(InvalidProblem):
    """A number that is ∞ or nan where a finite one is needed: given so, or made so by an overflow on the way."""


class InvalidFile(InvalidProblem):
    """A file that is corrupt, too large, or of a format that this version does not know.

    The message is one line, and not longer than a page however much of the file it repeats.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split())[:800].rstrip())  # so that doing it again, as a pickle does, changes nothing


class Unreadable(InvalidProblem):
    """A declaration that holds something from which no bound can be derived: `what`, in the sub-expression `where`, and the `remedy`."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(what, where, remedy)

    def __str__(self) -> str:
        shown = self.where if len(self.where) <= 200 else self.where[:197] + "…"
        return self.what + (f" in {shown}" if shown else "") + (f"; {self.remedy}" if self.remedy else "")


class UnknownName(ValueError):
    """A name that nothing is registered under. The message names the nearest one that exists, or what is `meant` where the caller knows.

    Else it lists the known ones, up to `most`.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], meant: str = "", most: int = LISTED) -> None:
        self.kind = kind
        self.name = name = str(name)[:200]  # files have numbers, and whole pages, where a name is due
        self.known = tuple(sorted(known))
        self.meant = meant
        self.most = most
        super().__init__(kind, name, self.known, meant, *([] if most == LISTED else [most]))  # as pickles of earlier versions have them

    def __str__(self) -> str:
        if self.meant:
            return f"unknown {self.kind} {self.name!r}; did you mean {self.meant}?"
        near = nearest(self.name, self.known)
        if near is not None:
            return f"unknown {self.kind} {self.name!r}; did you mean {near!r}?"
        if within := _containing(self.name, self.known):
            return f"unknown {self.kind} {self.name!r}; did you mean {' or '.join(map(repr, within))}?"
        if not self.known:
            return f"unknown {self.kind} {self.name!r}; none is registered"
        shown = ", ".join(self.known[: self.most]) + (", …" if len(self.known) > self.most else "")
        return f"unknown {self.kind} {self.name!r}; there are {shown}"


class ConstantFit(UserWarning):
    """A fit that is solved, and whose optimum is no better than a constant: the problem is at fault, not the solver."""


class NotAvailable(RuntimeError):
    """Something that this installation lacks: a data set, an extra. The message says how to get it."""


class MissingDataset(NotAvailable):
    """Data sets that simopt knows and that are not here: `names`."""

    def __init__(self, names: Iterable[str], message: str) -> None:
        self.names = tuple(names)
        super().__init__(self.names, message)

    def __str__(self) -> str:
        return str(self.args[1])


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during something long; `done` is what was done by then: what would have been returned, so far, or what can be gone on from."""

    def __init__(self, done: Any) -> None:
        super().__init__("interrupted")
        self.done = done

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupted, (self.done,)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The element of `known` that looks most like `name` (`-`, `_` and letter case do not count), or None if none is close."""
    plain = {_plain(candidate): candidate for candidate in known}
    found = get_close_matches(_plain(name), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def _containing(name: str, known: Iterable[str]) -> list[str]:
    """The first three of `known` that have all words of `name` (parts between dashes) among their own: imc is in imc-ordinal."""
    words = set(_plain(name).split("-"))
    return [candidate for candidate in known if words <= set(_plain(candidate).split("-"))][:3]


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-").replace("plus", "+")  # as the + of a corrected claim is pronounced
