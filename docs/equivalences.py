"""Write docs/equivalences.md: every pair of registered families measured, beside the statements that claim an equivalence.

    python docs/equivalences.py build/verdicts.json      with the verdicts of that record of `simopt verify`
    python docs/equivalences.py                          with no run of the claims, and what is expected
    python docs/equivalences.py --measure                measures first, a quarter of an hour, and keeps it in docs/equivalences.json

Nothing on the page is typed in by hand: the entries come from what was measured, the statements from the registered equivalences and the
claims. A test measures some entries of docs/equivalences.json again, and that no family is missing there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simopt.claims.catalogue import comparing
from simopt.claims.claim import Claim
from simopt.core import jsonio, registry
from simopt.core.foreign_text import in_markdown
from simopt.core.writing import write_text
from simopt.equivalence.equivalence import Answer, Strength
from simopt.equivalence.matrix import ClaimedEquivalence, Matrix, MatrixEntry, Relation, matrix
from simopt.report.markdown import label

DOCS = Path(__file__).resolve().parent
RECORD = DOCS / "equivalences.json"
HEAD = """# Which learners are one?

Every ordered pair of registered families, measured on a synthetic sample of {samples} points and on samples near it ({measured}). An
entry says no more than what was measured, at the λ below and to {resolution:g} of the norm, radii of the learners included:

| entry | what was found |
|---|---|
| strong | A's functions are B's and back, and one Φ serves all samples near this one |
| size | so, but one Φ serves samples of one size only |
| weak | A's functions are B's and back on this sample; not by one Φ for all samples, or that is undecided |
| no | at one λ no parameter of B gives A's function, whatever the errors; or the other way between the images |
| ? | undecided: the radii of the learners, the reach of the search or the floats support neither |
| – | no kind of targets (real, labels ±1, classes) suits both |

Rows are A, columns B. The two entries of a pair may differ: A's functions can be a part of B's. An entry that is a link leads to
[what the papers say](#what-the-papers-say) of the pair. `simopt equivalence A B` measures one pair closely. Some learners are there twice:
`…-cvxpy` is solved through CVXPY, and twins come from a problem with `bound=Ball | Penalty`.
"""


@dataclass(frozen=True)
class Spoken:
    """What claims say of pairs of families, with the verdicts of a run; of those that it lacks it says so."""

    claims: Mapping[frozenset[str], Sequence[Claim]]
    verdicts: Mapping[str, str]

    def cell(self, pair: MatrixEntry) -> str:
        """An entry of the table, with a link to what papers say of the pair."""
        word = {Relation.SAME_SIZE: "size", Relation.UNDECIDED: "?", Relation.NO: "no"}.get(
            pair.relation, f"**{pair.relation.value}**" if pair.relation is Relation.STRONG else pair.relation.value
        )
        both = frozenset((pair.source, pair.target))
        return f"[{word}](#{pair_label(both)})" if both in self.claims else word

    def verdict(self, claim: Claim) -> str:
        """The verdict, and why it is refuted."""
        known = self.verdicts.get(claim.id, f"not run, expected {claim.expected.value}")
        return known + (f": {claim.defect.value}" if claim.defect else "")

    def rows(self, one: str, two: str) -> str:
        """The claims about a pair with their verdicts."""
        return ", ".join(f"{linked(claim)} {self.verdict(claim)}" for claim in self.claims.get(frozenset((one, two)), ()))


def pair_label(pair: frozenset[str]) -> str:
    """The label of what papers say of a pair of families."""
    return f"pair-{'-'.join(sorted(pair))}"


def linked(claim: Claim) -> str:
    """The id of a claim, with a link to its row of the verdict table."""
    return f"[{in_markdown(claim.id)}](#{label(claim.id)})"


def table(result: Matrix, spoken: Spoken) -> str:
    """The matrix, its columns numbered like its rows."""
    numbers = [str(i + 1) for i in range(len(result.names))]
    lines = ["| | A \\\\ B | " + " | ".join(numbers) + " |", "|---:|---|" + ":---:|" * len(numbers)]
    for number, name in zip(numbers, result.names, strict=True):
        pairs = [result.entry(name, other) for other in result.names]
        row = ["=" if other == name else "" if pair is None else spoken.cell(pair) for other, pair in zip(result.names, pairs, strict=True)]
        lines.append(f"| {number} | `{name}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def families(result: Matrix) -> str:
    """What each family is."""
    lines = ["| family | |", "|---|---|"]
    lines += [f"| `{name}` | {in_markdown(registry.get('family', name).summary)} |" for name in result.names]
    return "\n".join(lines)


def papers(result: Matrix, spoken: Spoken) -> str:
    """What the papers' statements say of pairs of families, each with its verdict, beside what was measured."""
    parts = []
    for pair, claims in spoken.claims.items():
        one, two = sorted(pair)
        words = [f"`{x}`, `{y}`: {entry.relation.value}" for x, y in ((one, two), (two, one)) if (entry := result.entry(x, y)) is not None]
        lines = ["| claim | place | verdict | statement |", "|---|---|---|---|"]
        for claim in claims:
            place = f"{claim.paper.prefix}, {in_markdown(claim.place)}"
            lines.append(f"| {linked(claim)} | {place} | {spoken.verdict(claim)} | {in_markdown(claim.says)} |")
        measured = [f"Measured: {'; '.join(words)}."] if words else []
        parts += [f"({pair_label(pair)})=\n### `{one}` and `{two}`", *measured, "\n".join(lines)]
    return "\n\n".join(parts)


def statements(result: Matrix, spoken: Spoken) -> str:
    """The registered equivalences, what they claim and what `verify_weak` measured between the ends that they name."""
    lines = ["| equivalence | claim | statement | verdicts | measured |", "|---|---|---|---|---|"]
    for claim in result.claims:
        lams = ", ".join(f"{lam:.3g}" for lam in claim.parameters)
        answer = "exists on none of the samples" if claim.answer is None else f"{claim.answer.value} at {lams}"
        answer += f": {in_markdown(claim.reason)}" if claim.reason else ""
        line = f"| `{claim.name}` | {in_markdown(claim.summary)} ({claim.strength.value}) | {statement(claim)} "
        lines.append(f"{line}| {spoken.rows(*claim.between)} | {answer} |")
    return "\n".join(lines)


def statement(claim: ClaimedEquivalence) -> str:
    """The statement that claims it, with a link to the page of its paper's methods whose name is nearest to that of the equivalence."""
    paper, words = claim.module.removeprefix("simopt.theorems.").split(".")[0], set(claim.name.split("-"))
    pages = [page for page in sorted((DOCS / "methods").glob("*.md")) if f":::{{claims}} {paper}\n" in page.read_text(encoding="utf-8")]
    if not pages:
        return in_markdown(claim.source)
    nearest = max(pages, key=lambda page: (len(words & set(page.stem.split("_"))), page.stem == "equivalence"))
    return f"[{in_markdown(claim.source.rstrip('.') or 'claims')}](methods/{nearest.name})"


def details(result: Matrix, spoken: Spoken) -> str:
    """Every pair with its λ, its reason and the claims that speak of it."""
    lines = ["| A | B | entry | targets | λ of A | | claims |", "|---|---|---|---|---|---|---|"]
    for pair in result.pairs:
        lams = ", ".join(f"{lam:.3g}" for lam in pair.parameters)
        line = f"| `{pair.source}` | `{pair.target}` | {pair.relation.value} | {pair.kind or ''} | {lams} | {in_markdown(pair.reason)} "
        lines.append(f"{line}| {spoken.rows(pair.source, pair.target)} |")
    return "\n".join(lines)


def page(result: Matrix, spoken: Spoken, measured: str) -> str:
    """The whole page; `measured` says when and on what."""
    parts = [
        HEAD.format(samples=result.samples, resolution=result.resolution, measured=measured),
        table(result, spoken),
        families(result),
        "## What the papers say\n\nClaims that say whether two families are one. An id leads to its row of the verdict table.",
        papers(result, spoken),
        "## What is claimed\n\nRegistered equivalences have intervals, between whose ends the map is claimed to be a bijection.",
        statements(result, spoken),
        "## All pairs",
        details(result, spoken),
    ]
    return "\n\n".join(parts) + "\n"


def recorded() -> tuple[Matrix, str]:
    """The matrix of docs/equivalences.json, and when and on what it was measured.

    Raises
    ------
    SystemExit
        when a family or an equivalence that is registered now is not in it.
    """
    record = jsonio.read(RECORD)
    pairs = [MatrixEntry(*pair[:2], Relation(pair[2]), pair[3], tuple(pair[4]), pair[5]) for pair in record["pairs"]]
    claims = [
        ClaimedEquivalence(**each | {
            "between": tuple(each["between"]),
            "strength": Strength(each["strength"]),
            "answer": None if each["answer"] is None else Answer(each["answer"]),
            "parameters": tuple(each["parameters"]),
        })
        for each in record["claims"]
    ]  # fmt: skip
    registry.load()
    for kind, known in (("family", record["names"]), ("equivalence", [claim.name for claim in claims])):
        if other := {*registry.names(kind)} ^ {*known}:
            sys.exit(f"{RECORD.name}: {kind} {', '.join(sorted(other))} came or went; python docs/equivalences.py --measure")
    return Matrix(tuple(record["names"]), record["samples"], record["resolution"], tuple(pairs), tuple(claims)), record["measured"]


def measure() -> None:
    """Measure every pair and keep it."""

    def progress(done: int, wanted: int, text: str) -> None:
        sys.stderr.write(f"\r{done}/{wanted} {text:.90}\033[K" if sys.stderr.isatty() else "")

    found = matrix(jobs=None, progress=progress)
    pairs = [tuple(vars(pair).values()) for pair in found.pairs]
    when = f"{datetime.date.today().isoformat()}, {platform.machine()}, Python {platform.python_version()}"
    head = {key: value for key, value in vars(found).items() if key not in ("pairs", "claims")} | {"measured": when}
    lines = [f'"{key}": {json.dumps(jsonio.plain(value), ensure_ascii=False)},' for key, value in head.items()]
    for key, rows in (("pairs", pairs), ("claims", found.claims)):
        texts = ",\n".join(json.dumps(jsonio.plain(row), ensure_ascii=False) for row in rows)
        lines.append(f'"{key}": [\n{texts}\n]' + ("," if key == "pairs" else ""))
    write_text(RECORD, "{\n" + "\n".join(lines) + "\n}\n")


def main() -> None:
    """Measure, where that is asked for, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, nargs="?")
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    rows = [] if asked.record is None else json.loads(asked.record.read_text(encoding="utf-8"))
    if asked.measure:
        measure()
    spoken = Spoken(comparing(), {row["id"]: row["verdict"] for row in rows})
    found, measured = recorded()
    (DOCS / "equivalences.md").write_text(page(found, spoken, measured), encoding="utf-8")


if __name__ == "__main__":
    main()
