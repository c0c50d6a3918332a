"""Write docs/equivalences.md: every pair of registered families measured, beside the statements that claim an equivalence.

    python docs/equivalences.py            a minute or two

Nothing on the page is typed in by hand: the entries come from the run, the statements from the registered equivalences.
"""

from __future__ import annotations

import sys
from pathlib import Path

from simopt.core import registry
from simopt.core.foreign_text import in_markdown
from simopt.equivalence.matrix import Claimed, Matrix, Relation, matrix

DOCS = Path(__file__).resolve().parent
HEAD = """# Which learners are one?

Every ordered pair of registered families, measured on a synthetic sample of {samples} points and on samples near it. An entry says no
more than what was measured, at the λ below and to {resolution:g} of the norm, radii of the learners included:

| entry | what was found |
|---|---|
| strong | A's functions are B's and back, and one Φ serves all samples near this one |
| size | so, but one Φ serves samples of one size only |
| weak | A's functions are B's and back on this sample; not by one Φ for all samples, or that is undecided |
| no | at one λ no parameter of B gives A's function, whatever the errors; or the other way between the images |
| ? | undecided: the radii of the learners, the reach of the search or the floats support neither |
| – | no kind of targets (real, labels ±1, classes) suits both |

Rows are A, columns B. The two entries of a pair may differ: A's functions can be a part of B's. `simopt equivalence A B` measures one pair
closely. Learners that are registered a second time, solved through CVXPY, are left out; those that are made of problems, two of each, stand
under what is claimed.
"""


def cell(relation: Relation) -> str:
    """An entry of the table."""
    return {Relation.SAME_SIZE: "size", Relation.UNDECIDED: "?", Relation.NO: "no"}.get(
        relation, f"**{relation.value}**" if relation is Relation.STRONG else relation.value
    )


def table(found: Matrix) -> str:
    """The matrix, its columns numbered like its rows."""
    numbers = [str(i + 1) for i in range(len(found.names))]
    lines = ["| | A \\\\ B | " + " | ".join(numbers) + " |", "|---:|---|" + ":---:|" * len(numbers)]
    for number, name in zip(numbers, found.names, strict=True):
        pairs = [found.entry(name, other) for other in found.names]
        row = [
            "=" if other == name else "" if pair is None else cell(pair.relation) for other, pair in zip(found.names, pairs, strict=True)
        ]
        lines.append(f"| {number} | `{name}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def families(found: Matrix) -> str:
    """What each family is."""
    lines = ["| family | |", "|---|---|"]
    lines += [f"| `{name}` | {in_markdown(registry.get('family', name).summary)} |" for name in found.names]
    return "\n".join(lines)


def statements(found: Matrix) -> str:
    """The registered equivalences, what they claim and what `verify_weak` measured between the ends that they name."""
    lines = ["| equivalence | claim | statement | measured |", "|---|---|---|---|"]
    for claim in found.claims:
        lams = ", ".join(f"{lam:.3g}" for lam in claim.parameters)
        answer = (
            f"{claim.answer.value} at {lams}" if claim.answer is not None else f"exists on none of the samples: {in_markdown(claim.reason)}"
        )
        lines.append(f"| `{claim.name}` | {in_markdown(claim.summary)} ({claim.strength.value}) | {statement(claim)} | {answer} |")
    return "\n".join(lines)


def statement(claim: Claimed) -> str:
    """The statement that claims it, with a link to the page of its paper's methods whose name is nearest to that of the equivalence."""
    paper, words = claim.module.removeprefix("simopt.theorems.").split(".")[0], set(claim.name.split("-"))
    pages = [page for page in sorted((DOCS / "methods").glob("*.md")) if f":::{{claims}} {paper}\n" in page.read_text(encoding="utf-8")]
    if not pages:
        return in_markdown(claim.source)
    nearest = max(pages, key=lambda page: (len(words & set(page.stem.split("_"))), page.stem == "equivalence"))
    return f"[{in_markdown(claim.source.rstrip('.') or 'claims')}](methods/{nearest.name})"


def details(found: Matrix) -> str:
    """Every pair with its λ and its reason."""
    lines = ["| A | B | entry | targets | λ of A | |", "|---|---|---|---|---|---|"]
    for pair in found.pairs:
        lams = ", ".join(f"{lam:.3g}" for lam in pair.parameters)
        lines.append(
            f"| `{pair.source}` | `{pair.target}` | {pair.relation.value} | {pair.kind or ''} | {lams} | {in_markdown(pair.reason)} |"
        )
    return "\n".join(lines)


def page(found: Matrix) -> str:
    """The whole page."""
    parts = [
        HEAD.format(samples=found.samples, resolution=found.resolution),
        table(found),
        families(found),
        "## What is claimed\n\nRegistered equivalences have intervals, between whose ends the map is claimed to be a bijection.",
        statements(found),
        "## All pairs",
        details(found),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure and write."""

    def progress(done: int, wanted: int, text: str) -> None:
        sys.stderr.write(f"\r{done}/{wanted} {text:.90}\033[K" if sys.stderr.isatty() else "")

    (DOCS / "equivalences.md").write_text(page(matrix(progress=progress)), encoding="utf-8")


if __name__ == "__main__":
    main()
