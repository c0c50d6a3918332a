"""README.md: what is in the list, and what of it a reader of white-listed nodes would refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import cvxpy as cp
from corpus import Entry
from intercept import BROUGHT
from white_list import REQUIRED

Found = Sequence[tuple[Entry, Sequence[str]]]
ENOUGH = 0.9
PAGE = """# Problems from CVXPY's own tests

Written by `python tests/duality/corpus`, with CVXPY {version}; do not edit.

`problems.jsonl` has a line a problem: {total} distinct continuous DCP problems over the reals, each taken at the moment when a test of
CVXPY gives it to `Problem.solve`. `corpus.problems()` makes them again by running those tests, and raises if one of them is not what the
list says. An id is the test, and which of its solves. A fingerprint is over the expression trees and their numbers (to nine digits), not
over names. `rows` counts scalar constraints. Status and optimum are those of CLARABEL with its default tolerances, the optimum to six
digits; below 10⁻⁶ it counts as 0.

All test files that CVXPY ships are run, with the back ends that it brings itself ({backends}); what Hypothesis
draws is not. No file is chosen: a problem is left out for what it is, by the first of these reasons.

{left_out}

## What CLARABEL answers

Where an exception ended the solve, its name.

{statuses}

## By test file

Accepted by the prototype's white list (`white_list.py`), and by it with what issue 16 requires beside: {required}.

{files}

## What is refused, and why

By the prototype's white list {accepted} of {total} are accepted ({share:.1%}), with what issue 16 requires beside {with_required}
({with_required_share:.1%}). "Alone" counts the problems that have no other reason to be refused.

{reasons}

## The way to {enough:.0%}

What to read next, each time that which makes most problems readable; first what issue 16 requires.

{way}

## Atoms

Problems in which CVXPY's class occurs, and how many of these are accepted by the prototype's white list.

{atoms}

## Attributes of variables

{structure}
"""


def page(found: Found, counted: Counter[str]) -> str:
    """The page; `counted` says for every solve why it was left out, "" for those that are in the list."""
    total = len(found)
    accepted, with_required = (sum(set(reasons) <= read for _, reasons in found) for read in (set[str](), set(REQUIRED)))
    zeros = sum(entry.optimum == 0 for entry, _ in found)
    statuses = Counter(entry.status for entry, _ in found)
    return PAGE.format(
        version=cp.__version__,
        backends=", ".join(BROUGHT),
        total=total,
        left_out=table(["solves", "left out because"], [[number, reason or "**in the list**"] for reason, number in counted.most_common()]),
        statuses=table(["status", "problems"], [*statuses.most_common(), ["optimal, with optimum 0", zeros]]),
        required=", ".join(REQUIRED),
        files=_files(found),
        accepted=accepted,
        share=accepted / total,
        with_required=with_required,
        with_required_share=with_required / total,
        reasons=_reasons(found),
        enough=ENOUGH,
        way=_way(found),
        atoms=_occurring(found, lambda entry: entry.atoms, "atom"),
        structure=_occurring(found, lambda entry: entry.structure, "attribute"),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _files(found: Found) -> str:
    files: dict[str, list[set[str]]] = {}
    for entry, reasons in found:
        files.setdefault(entry.id.partition("::")[0], []).append(set(reasons))
    rows = [[name, len(each), *(sum(reasons <= read for reasons in each) for read in (set(), {*REQUIRED}))] for name, each in files.items()]
    return table(["file", "problems", "accepted", "with what is required"], rows)


def _reasons(found: Found) -> str:
    having = Counter(reason for _, reasons in found for reason in reasons)
    alone = Counter(reasons[0] for _, reasons in found if len(reasons) == 1)
    return table(["reason", "problems", "alone"], [[reason, number, alone[reason]] for reason, number in having.most_common()])


def _way(found: Found) -> str:
    refused = [set(reasons) for _, reasons in found]
    rows: list[list[object]] = []
    while True:
        left = set[str]().union(*refused)
        if not left & {*REQUIRED} and refused.count(set()) >= ENOUGH * len(refused):
            return table(["read also", "accepted", "share"], rows)
        choice = sorted(left & {*REQUIRED} or left)
        best = max(choice, key=lambda reason: (refused.count({reason}), sum(reason in each for each in refused)))
        refused = [each - {best} for each in refused]
        rows.append([best, refused.count(set()), f"{refused.count(set()) / len(refused):.1%}"])


def _occurring(found: Found, what: Callable[[Entry], Sequence[str]], title: str) -> str:
    having = Counter(name for entry, _ in found for name in what(entry))
    accepted = Counter(name for entry, reasons in found if not reasons for name in what(entry))
    return table([title, "problems", "accepted"], [[name, number, accepted[name]] for name, number in having.most_common()])
