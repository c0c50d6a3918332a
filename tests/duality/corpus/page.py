"""README.md: what is in the list. CERTIFIED.md: what of it the reader takes, and what of that closes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import cvxpy as cp
from certified import CLOSED, MISSED, ZERO, Result
from corpus import COMPLEX, GEOMETRIC, INTEGER, CorpusSolve, FurtherSolve
from intercept import BROUGHT

Certified = Sequence[tuple[CorpusSolve, Result]]
Further = Sequence[tuple[FurtherSolve, Result]]
SECOND = "**in the second list**: geometric, complex or with integers"
PAGE = """# Problems from CVXPY's own tests

Written by `python tests/duality/corpus`, with CVXPY {version}; do not edit.

`problems.jsonl` has a line a problem: {total} distinct continuous DCP problems over the reals, each taken at the moment when a test of
CVXPY gives it to `Problem.solve`. `corpus.problems()` makes them again by running those tests, and raises if one of them is not what the
list says. An id is the test, and which of its solves. A fingerprint is over the expression trees and their numbers (to nine digits), not
over names. `rows` counts scalar constraints. Status and optimum are those of CLARABEL with its default tolerances, the optimum to six
digits; below 10⁻⁶ it counts as 0. What of the list is certified says [CERTIFIED.md](CERTIFIED.md).

`further.jsonl` is a second list, made in the same way: {further} distinct geometric, complex and integer problems. Status and optimum of
integers are those of HiGHS, or of the back end that CVXPY takes. The tables below the first are of the first list.

All test files that CVXPY ships are run, with the back ends that it brings itself ({backends}); what Hypothesis
draws is not. No file is chosen: a problem is left out for what it is, by the first of these reasons.

{left_out}

## What CLARABEL answers

Where an exception ended the solve, its name.

{statuses}

## By test file

{files}

## Atoms

Problems in which CVXPY's class occurs.

{atoms}

## Attributes of variables

{structure}
"""
CERTIFIED = """# Certificates of the problems from CVXPY's own tests

Written by `python tests/duality/corpus --certify`, with CVXPY {version}; do not edit.

Each problem is read, {solves}, and judged in floats and in balls. It closes where the gap is at most
{floats:g} of |optimum| in floats and {balls:g} in balls; an optimum 0 closes where the gap is 0 or rounding of its
terms, and else reads zero to a fraction of these. Bounds contradict CLARABEL where they miss its
optimum by more than {missed:g} (1 + |optimum|), a point is feasible where it says that none is, or two bounds exclude each other.

| | problems | share |
| --- | --- | --- |
{shares}

## What is refused

{refused}

## What stays open

Of the accepted with an optimum other than 0, by the first reason.

{open}

## Contradictions

{contradictions}

## By test file

{files}

## Geometric, complex and integer problems

The second list, solved by `simopt.solve` and judged in floats and in balls with the same tolerances. A geometric or complex problem is
**answered** where it closes, where an optimum 0 closes or reads zero, or where it is proven to be infeasible or unbounded. A problem with
integers is answered where it is proven to be infeasible or unbounded, or where both its bounds are finite: the value of a point whose
integers are exact and whose rows are checked, and the bound of the relaxation. What lies between is a gap of the relaxation, and not closed
by any solve; nothing branches. Quasiconvex problems (qcp=True) are not in the list.

{kinds}

### What of these is refused

{kinds_refused}

### What of these is accepted and has no answer

{kinds_open}

### Gaps between integer points and relaxations

Between the value of the point and the bound of the relaxation in balls; all others with integers close.

{gaps}

### Contradictions of these

{kinds_contradictions}
"""
OF_A_SUM_OF_ONE = (
    "CVXPY's value of quantum_rel_entr divides the eigenvalues of X by their sum (SciPy's entropy): it is right for tr X = 1 only"
)
EXPLAINED = {
    "test_perspective.py::test_s_eq_0#0": "CVXPY's value of a perspective at s = 0 is 0; the function is x + s, which is −1 at its answer",
    "test_quantum_rel_entr.py::TestQuantumRelEntr::test_1#0": OF_A_SUM_OF_ONE,
    "test_quantum_rel_entr.py::TestQuantumRelEntr::test_real_inputs#0": OF_A_SUM_OF_ONE,
    "test_von_neumann_entr.py::Test_von_neumann_entr::test_3_exact_complex#0": (
        "the imaginary parts of its rows are 10⁻¹⁶ and not 0: as written they are two rows more, and no point is feasible"
    ),
}


def page(listed: Sequence[CorpusSolve], second: Sequence[CorpusSolve], counted: Counter[str]) -> str:
    """The page of the list; `counted` says for every solve why it was left out, "" for those that are in the list."""
    statuses = Counter(entry.status for entry in listed)
    zeros = sum(entry.optimum == 0 for entry in listed)
    files = Counter(entry.id.partition("::")[0] for entry in listed)
    return PAGE.format(
        version=cp.__version__,
        backends=", ".join(BROUGHT),
        total=len(listed),
        further=len(second),
        left_out=table(["solves", "left out because"], [[number, reason or "**in the list**"] for reason, number in counted.most_common()]),
        statuses=table(["status", "problems"], [*statuses.most_common(), ["optimal, with optimum 0", zeros]]),
        files=table(["file", "problems"], list(files.items())),
        atoms=_occurring(listed, lambda entry: entry.atoms, "atom"),
        structure=_occurring(listed, lambda entry: entry.structure, "attribute"),
    )


def certificates(assessed: Certified, further: Further) -> str:
    """The page of the results."""
    accepted = [(entry, result) for entry, result in assessed if not result.refused]
    scaled = [(entry, result) for entry, result in accepted if entry.optimum and entry.status == "optimal"]
    zeros = [result for entry, result in accepted if entry.optimum == 0 and entry.status == "optimal"]
    closed = sum(result.closed(entry) for entry, result in scaled)
    read = sum(result.reads_zero() for result in zeros)
    against = [(entry, said) for entry, result in accepted if (said := result.contradicts(entry))]
    others = [(entry, result.misread) for entry, result in accepted if result.misread]
    lines = [
        ("judged", len(assessed), len(assessed)),
        (
            "with other numbers than those of the list, which are a solver's answer",
            sum(result.moved for _, result in assessed),
            len(assessed),
        ),
        ("accepted", len(accepted), len(assessed)),
        ("of these with an optimum other than 0", len(scaled), len(accepted)),
        ("of these closed in both arithmetics", closed, len(scaled)),
        ("accepted with the optimum 0", len(zeros), len(accepted)),
        ("of these closed in both arithmetics", sum(result.closes() for result in zeros), len(zeros)),
        (f"of these read zero to {ZERO:g} of their terms, or closed, in both arithmetics", read, len(zeros)),
        ("contradictions", len(against), len(accepted)),
        ("read with CVXPY's own values at random points", sum(bool(r.values) and not r.misread for _, r in accepted), len(accepted)),
        ("read with others", len(others), len(accepted)),
    ]
    open_ = Counter(_why(result) for entry, result in scaled if not result.closed(entry))
    refused = Counter(result.refused for _, result in assessed if result.refused)
    return CERTIFIED.format(
        version=cp.__version__,
        solves=_solves(assessed),
        floats=CLOSED["float"],
        balls=CLOSED["interval"],
        missed=MISSED,
        shares="\n".join(f"| {what} | {number} | {number / max(whole, 1):.1%} |" for what, number, whole in lines),
        refused=table(["reason", "problems"], refused.most_common()),
        open=table(["reason", "problems"], open_.most_common()),
        contradictions=table(
            ["problem", "bounds or values", "explained"], [[e.id, said, EXPLAINED.get(e.id, "no")] for e, said in [*against, *others]]
        ),
        files=_fractions(assessed),
        kinds=_kinds(further),
        kinds_refused=table(
            ["reason", "problems"], Counter(_of_no_problem(result.refused) for _, result in further if result.refused).most_common()
        ),
        kinds_open=table(
            ["problem", "kind", "what is open"],
            [
                [e.id, e.kind, _of_no_problem(result.failed or "; ".join(result.open) or "bounds that are too far apart")]
                for e, result in further
                if not (result.refused or result.answered(e))
            ],
        ),
        gaps=table(["problem", "lower", "upper", "gap / max(\\|lower\\|, \\|upper\\|)"], list(_gaps(further))),
        kinds_contradictions=table(
            ["problem", "bounds", "explained"], [[e.id, said, EXPLAINED.get(e.id, "no")] for e, r in further if (said := r.contradicts(e))]
        ),
    )


def _kinds(further: Further) -> str:
    kinds = (GEOMETRIC, COMPLEX, INTEGER, f"{INTEGER} and {COMPLEX}")
    groups = [[(e, r) for e, r in further if e.kind == kind] for kind in kinds]
    rows = []
    for name, each in [*zip(kinds, groups, strict=True), ("**all**", list(further))]:
        answered = sum(r.answered(e) for e, r in each)
        closed = [
            (e, r) for e, r in each if not r.refused and not r.proven and (r.closed(e) if e.optimum else r.closes() or r.reads_zero())
        ]
        row = [len(each), sum(not r.refused for _, r in each), len(closed), sum(bool(r.proven) for _, r in each)]
        rows.append([name, *row, answered - row[2] - row[3], answered, f"{answered / max(len(each), 1):.1%}"])
    proven = "proven to be infeasible or unbounded"
    return table(["kind", "judged", "accepted", "closed", proven, "both bounds of integers, and a gap", "answered", "share"], rows)


def _gaps(further: Further) -> Iterator[list[object]]:
    for entry, result in further:
        if (
            entry.integer
            and result.answered(entry)
            and not result.proven
            and not (result.closed(entry) if entry.optimum else result.reads_zero())
        ):
            low, high = result.lower["interval"], result.upper["interval"]
            yield [entry.id, f"{low:.6g}", f"{high:.6g}", f"{(high - low) / max(abs(low), abs(high)):.2%}"]


def _of_no_problem(message: str) -> str:
    """A reason without the numbers that CVXPY gives to variables, in one line."""
    return re.sub(r"\b(var|param)\d+", r"\1…", " ".join(message.split())).replace("|", "\\|")[:300]


def _why(result: Result) -> str:
    """The first reason, without the names and numbers of the one problem."""
    first = result.failed or (result.open[0] if result.open else "bounds that are too far apart")
    name, _, said = first.partition(": ")
    return re.sub(r"\d+", "…", (said or name).partition(" (")[0].partition(", ")[0])[:100]


def _fractions(assessed: Certified) -> str:
    files: dict[str, list[tuple[CorpusSolve, Result]]] = {}
    for entry, result in assessed:
        files.setdefault(entry.id.partition("::")[0], []).append((entry, result))
    rows = []
    for name, each in files.items():
        scaled = [(e, r) for e, r in each if not r.refused and e.optimum and e.status == "optimal"]
        rows.append([name, len(each), sum(not r.refused for _, r in each), len(scaled), sum(r.closed(e) for e, r in scaled)])
    return table(["file", "problems", "accepted", "with an optimum other than 0", "closed"], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _occurring(listed: Sequence[CorpusSolve], what: Callable[[CorpusSolve], Sequence[str]], title: str) -> str:
    having = Counter(name for entry in listed for name in what(entry))
    return table([title, "problems"], [[name, number] for name, number in having.most_common()])


def _solves(assessed: Certified) -> str:
    """By whom the problems were solved."""
    last = Counter(result.solvers[-1] for _, result in assessed if result.solvers)
    others = ", ".join(f"{name} ({times})" for name, times in last.most_common() if name != "CLARABEL")
    return f"solved in graph form by CLARABEL or, last, by {others}" if others else "solved once in graph form by CLARABEL"
