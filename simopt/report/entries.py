"""The claims of a record as a report shows them: the row of the run, joined with what the claim declares about itself."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simopt.claims import catalogue
from simopt.claims.claim import Claim
from simopt.claims.papers import PAPERS, Paper

Row = Mapping[str, Any]

VERDICTS = ("PROVED", "HOLDS", "REFUTED", "INCONCLUSIVE", "VACUOUS", "NOT_RUN", "ERROR")
UNEXPECTED = "not expected"  # a refuted claim that was to hold names no defect
WRITTEN = (
    "Bayes Bernoulli Bernstein Cauchy Euclidean Frank Fenchel Gaussian Gram Hamming Hilbert Hoeffding Huber Ivanov Jensen Laplacian "
    "Lipschitz Newton Parzen Pinsker Rademacher Servedio Slater Tikhonov Wolfe AUC DCG GLM KL MMD MSE NDCG PSD RKHS SVM SVR"
)
PROPER_NAMES = {word.lower(): word for word in WRITTEN.split()}


@dataclass(frozen=True)
class ReportEntry:
    """One claim of a report."""

    row: Row
    title: str
    tried: str
    resolution: float
    exhaustive: bool
    quantifier: str
    knobs: Mapping[str, str]
    mutants: tuple[str, ...]
    requires: tuple[str, ...]
    defeats: str = ""
    corrected_by: tuple[str, ...] = ()
    not_run: tuple[Claim, ...] = ()  # what also corrects it, and was not part of the run

    @property
    def id(self) -> str:
        """The claim's own row."""
        return str(self.row["id"])

    @property
    def parts(self) -> list[tuple[str, Row]]:
        """Every row that the claim decides, its own first."""
        return [(self.id, self.row), *self.row["rows"].items()]

    @property
    def defect(self) -> str:
        """Why a refuted statement fails; empty for others."""
        return str(self.row["defect"] or UNEXPECTED) if erratum(self.row) else ""


@dataclass(frozen=True)
class Chapter:
    """The claims of one paper, in the order of the run."""

    paper: Paper
    entries: tuple[ReportEntry, ...]

    def counts(self) -> dict[str, int]:
        """Number of claims of every verdict."""
        found = [entry.row["verdict"] for entry in self.entries]
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    def by_steps(self) -> int:
        """Number of claims that hold by exact steps, less than the whole sentence."""
        return sum(bool(entry.row["remains"]) for entry in self.entries)


@dataclass(frozen=True)
class Catalogue:
    """Everything that a report shows, by paper; `claim_of` finds the claim that decides a row."""

    chapters: tuple[Chapter, ...]
    claim_of: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # rows of claims that are known here and were not part of the run

    @property
    def entries(self) -> list[ReportEntry]:
        """All claims."""
        return [entry for chapter in self.chapters for entry in chapter.entries]

    def by_id(self) -> dict[str, ReportEntry]:
        """Claims by their ids."""
        return {entry.id: entry for entry in self.entries}


def gather(rows: Sequence[Row]) -> Catalogue:
    """The rows of a record by paper, in the order in which the papers first occur in the list of papers or in the record."""
    known = {claim.id: claim for claim in catalogue.registered()}
    corrected: dict[str, list[str]] = {}
    for row in rows:
        if row.get("corrects"):
            corrected.setdefault(row["corrects"], []).append(row["id"])
    papers = {key: PAPERS[key] for key in PAPERS if any(row["paper"] == key for row in rows)}
    for row in rows:
        claim = known.get(row["id"])
        papers.setdefault(row["paper"], claim.paper if claim else Paper(row["paper"], row["paper"], "", row["paper"], 0, ""))
    ran = {row["id"] for row in rows}
    left_out: dict[str, list[Claim]] = {}
    for claim in known.values():
        if claim.corrects and claim.id not in ran:
            left_out.setdefault(claim.corrects, []).append(claim)
    entries = [_entry(row, known.get(row["id"]), tuple(corrected.get(row["id"], ())), tuple(left_out.get(row["id"], ()))) for row in rows]
    chapters = tuple(Chapter(paper, tuple(e for e in entries if e.row["paper"] == key)) for key, paper in papers.items())
    claim_of = {name: entry.id for entry in entries for name, _ in entry.parts}
    others = tuple(name for claim in known.values() for name in (claim.id, *claim.covers) if name not in claim_of)
    return Catalogue(chapters, claim_of, others)


def _entry(row: Row, claim: Claim | None, corrected_by: tuple[str, ...], not_run: tuple[Claim, ...]) -> ReportEntry:
    if claim is None:  # a record of another installation: what the claim declares is not known here
        return ReportEntry(row, "", "", 0.0, False, "", {}, (), (), "", corrected_by, not_run)
    return ReportEntry(
        row=row,
        title=title(claim.function.__name__),
        tried=first_sentence(claim.instances),
        resolution=claim.resolution,
        exhaustive=claim.exhaustive,
        quantifier=claim.quantifier.value,
        knobs={name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in claim.knobs.items()},
        mutants=tuple(claim.mutants),
        requires=claim.requires,
        defeats=claim.defeats,
        corrected_by=corrected_by,
        not_run=not_run,
    )


def title(name: str) -> str:
    """A function's name as words, with the field's proper names and abbreviations spelled as they are written."""
    return " ".join(PROPER_NAMES.get(word, word) for word in name.strip("_").split("_"))


def first_sentence(function: Any) -> str:
    """The first paragraph of a docstring in one line; empty if there is none."""
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def erratum(row: Row) -> bool:
    """Whether the statement is false as printed. A refuted reading of what the paper leaves open is none."""
    return bool(row["verdict"] == "REFUTED" and row["expected"] != "OPEN")


def refuted(contents: Catalogue) -> list[tuple[Paper, list[ReportEntry]]]:
    """The statements that are false as printed, by paper; papers without one are left out."""
    listed = [(chapter.paper, [entry for entry in chapter.entries if erratum(entry.row)]) for chapter in contents.chapters]
    return [(paper, entries) for paper, entries in listed if entries]
