"""The four papers whose claims simopt checks, with the keys that the command line knows them by."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from simopt.core.errors import UnknownName


@dataclass(frozen=True)
class Paper:
    """One paper: the key used on the command line, the prefix of its rows, and where it was published."""

    key: str
    prefix: str
    authors: str
    title: str
    year: int
    venue: str
    sections: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, {self.venue} {self.year}"


KAR_JAIN = Paper(
    "kj", "KJ", "P. Kar and P. Jain", "Supervised Learning with Similarity Functions", 2012, "NIPS", sections=("regression", "ordinal")
)
AUDIFFREN_KADRI = Paper("ak", "AK", "J. Audiffren and H. Kadri", "Equivalence of Learning Algorithms", 2014, "arXiv")
KAKADE_KALAI_KANADE_SHAMIR = Paper(
    "kkks",
    "KK",
    "S. Kakade, A. T. Kalai, V. Kanade and O. Shamir",
    "Efficient Learning of Generalized Linear and Single Index Models with Isotonic Regression",
    2011,
    "NIPS",
)
VAN_ROOYEN_MENON_WILLIAMSON = Paper(
    "rmw", "RMW", "B. van Rooyen, A. K. Menon and R. C. Williamson", "An Average Classification Algorithm", 2015, "arXiv"
)

PAPERS: dict[str, Paper] = {
    paper.key: paper for paper in (KAR_JAIN, AUDIFFREN_KADRI, KAKADE_KALAI_KANADE_SHAMIR, VAN_ROOYEN_MENON_WILLIAMSON)
}


def paper(key: str) -> Paper:
    """Return the paper with this key or row prefix, in any case.

    Raises
    ------
    UnknownName
        with the nearest key.
    """
    folded = key.lower()
    for candidate in PAPERS.values():
        if folded in (candidate.key, candidate.prefix.lower()):
            return candidate
    raise UnknownName("paper", key, PAPERS)


def of_package(module: str) -> Paper | None:
    """The paper in whose folder `simopt.theorems.<key>` the module stands; None elsewhere."""
    parts = module.split(".")
    return PAPERS.get(parts[2]) if parts[:2] == ["simopt", "theorems"] and len(parts) > 2 else None


def recalled(text: str, papers: Iterable[Paper]) -> str:
    """The papers of which `text` names an author or has a word of the title, more or less: 'key' (authors, title); "" for none."""
    found = {}
    for each in papers:
        words = {word.casefold() for word in re.findall(r"\w{3,}", f"{each.authors} {each.title}")} - {"and", "with"}
        if any(get_close_matches(part, words, n=1, cutoff=0.8) for part in re.findall(r"\w{3,}", text.casefold())):
            found[each.key] = f"{each.key!r} ({each.authors}, {each.title})"
    return " or ".join(found.values())
