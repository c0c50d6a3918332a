"""Writes docs/glossary.md: the words that simopt uses, those that it does not, and what a sentence looks like.

    python docs/glossary.py

`tests/test_glossary.py` holds all names that simopt defines, and its docstrings, against the same tables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "glossary.md"
FOLDERS = ("simopt", "problems", "solvers", "theorems", "estimators", "tests", "benchmarks", "docs", ".ci")
LONGEST = 40  # words of a sentence in a docstring

TERMS = {
    "similarity": "K(x, x′), symmetric or not, positive semidefinite or not",
    "landmark map": "Ψ(x) = d^(−1/2) (K(x, l₁), …, K(x, l_d)); a landmark is one of the points l",
    "problem": "one convex programme with its data: a frozen dataclass",
    "declaration": "the plain `cvxpy.Problem` that `problem.declare()` returns",
    "recipe": "data set and options to problem, `Problem.from_data(dataset, rng, **options)`; `simopt show NAME` prints the options",
    "point, multipliers": "values of the variables and of the labelled constraints, by name",
    "scale": "max(|lower|, |upper|), the unit of a relative gap; `Problem.scale()`, that of solvers, is the objective at the trivial point",
    "restore": "to make a point feasible by a small move",
    "certificate": "bounds on the optimum from both sides, their gap, what was repaired, and the arithmetic",
    "judge": "the function that makes certificates; an assessment is what it returns",
    "perturbation": "small changes of point and multipliers (Vignes); bounds that move with them are not stable",
    "solution": "restored point, multipliers, certificate, status, trace, provenance",
    "solving chain": "units → graph form → back end → restore → evaluate → perturb; `simopt show PROBLEM --chain`",
    "back end": "a solver that takes a declaration through CVXPY",
    "term, row, leaf": "a nonlinear function φ(Ax + b) in a declaration, a constraint of it, a variable or parameter",
    "closing term": "a term whose conjugate is finite for every multiplier, so that it can close stationarity",
    "arithmetic": "FLOAT, INTERVAL (intervals by midpoint and radius) or RATIONAL numbers",
    "ball": "a norm ball {x : ‖x − c‖ ≤ r}, and nothing else",
    "family, equivalence": "λ ↦ (Z ↦ f), and a map between two of them: [equivalence](methods/equivalence.md)",
    "claim, instance, check": "a statement of a paper, one concrete case of it, one thing measured on it",
    "witness, proof file": "the instance behind a verdict (`simopt replay`); the relations or exact steps behind one (`simopt recheck`)",
    "slack, tightness": "bound minus what was measured; the largest fraction of a bound that was used",
    "evidence": "what the numbers behind a verdict are: exact, interval, float, sampled",
    "effort": "quick: one seed; full: five seeds and larger counts",
    "conformance": "the suite that every (problem, solver) pair has to pass",
    "canonicalise": "what CVXPY does before a solver runs: a declaration becomes a cone programme",
}
# no name has one of the words on the left; the first group not even the name of a test
PRIVATE = {
    "room, rooms, roomy": "slack, margin, memory_limit, capacity",
    "house, storey": "architecture, package",
    "ways (in)": "solvers",
    "facade, facades": "estimator",
    "price, prices, priced": "multiplier, dual",
    "settle, settles, settled, settling, settlement": "trivial_optimum, finalize, dual_repair, threshold_shift",
    "absorb, absorbs, absorber, absorbers": "closing_term",
    "gauge": "norm, homogeneous function",
    "late": "deferred",
    "pin, pins": "fixed_entries",
    "bend, bends, bent": "monotonicity, corrector residual",
    "shaken, shake, steady, turmoil": "perturbed, stable, PERTURBATION_LIMIT",
    "scene, scenes, weigh, weighs, weighed": "evaluation, evaluate",
    "judgement": "assessment",
    "foresee, foreseen, listening, ear, overheard": "prefetch, join, digest, RowPass",
    "lent, owner, owners": "FrozenMatrix, base_of",
    "aim, aims": "target",
    "charged, charges, vacant": "support, masses, trivial",
    "lacking": "r_comp",
    "door, doors": "entry_points, internals",
    "bomb, bombs": "resource exhaustion",
}
PLAIN = {
    "share, shares, shared": "sample_weight, step_length, fraction, common",
    "host, hosts": "epigraph_parent",
    "force": "perturbation",
    "judged": "assessed",
    "asked": "request",
    "looked, look, looks": "validated, sweep",
    "told, tell, telling": "reported, message",
    "times": "matvec, scaled",
    "held, kept": "test_part, fixed_multipliers, cached",
    "given": "inputs, value",
    "found": "result",
    "word, words, said, says": "status_text, message, reported",
    "place, places": "index, citation",
    "charge": "mass",
    "spread, middle": "std, scatter, centre",
    "off": "residual",
    "lie, lies": "dishonest, wrong",
    "ground": "core",
    "pinned": "fixed",
}
# and in the files of a folder no name has one of these
WITHIN = {"simopt/arithmetic/": {"ball, balls": "midpoint and radius (mid, rad) of an interval"}}
# phrases of the field that have such a word
PHRASES = {
    "held_out": "samples that a fit does not see",
    "off_diagonal": "entries of a matrix",
    "in_place": "NumPy's own word",
    "brute_force": "enumeration of all cases",
    "held_weights": "weights of samples held out: public, `l_isotron(held_weights=…)`",
    "in_words": "proved in words: a status of claims, in verdicts",
}
# names that are one such word, each with the files or folders where it stays, and why
EXCEPTIONS = {
    "says": (("simopt/claims/", "tests/claims/"), "the statement of a claim: public, `@claim(says=…)`"),
    "place": (("simopt/claims/",), "where in its paper a claim stands: public, `@claim(place=…)`, in verdicts"),
    "word": (("simopt/solving/solution.py",), "what a solver says of an iterate: public, `Iterate.word`"),
    "judged": (("simopt/certificates/certificate.py",), "which problem a certificate is about: public, `Certificate.judged`"),
    "prices": (("solvers/goodness/curve_record.py",), "multipliers of a curve's points: public, `GoodnessCurve.prices`, in its files"),
    "shares": (("solvers/sparse/fit.py", "theorems/"), "weights of samples: `SparseFit.shares` and entries of instances, in files"),
    "share": (("problems/smallest_bound.py", "theorems/"), "a fraction: an option of `smallest-bound`'s recipe, an entry of instances"),
    "found": (
        ("simopt/equivalence/map_search.py", "tests/equivalence/test_answers.py"),
        "a map was found: an answer of `find_map`, in its JSON",
    ),
}
SENTENCES = """\
Subject, verb, object. At most 30 words as a rule, 40 at the most. Mathematics first, then shapes, units, errors, source. A comment says
why, not what. A message names the field, the value, the index and the remedy.
"""


def forbidden(*tables: dict[str, str]) -> dict[str, str]:
    """Word -> what is said instead."""
    rows = [(re.sub(r"\(.*?\)| ", "", row), instead) for each in tables for row, instead in each.items()]
    return {word: instead for row, instead in rows for word in row.split(",")}


def parts(name: str) -> list[str]:
    """The words of a name in snake or camel case."""
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3_\2", name)
    return [word.lower() for word in spaced.split("_") if word]


def names(path: Path, tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """What a file defines: kind, name and line of modules, classes, functions, parameters, attributes and constants."""
    yield "module", path.stem, 1
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", node.name, node.lineno
            for each in ast.walk(node.args):
                if isinstance(each, ast.arg):
                    yield "parameter", each.arg, each.lineno
        if isinstance(node, ast.ClassDef | ast.Module):
            for each in node.body:
                targets = [each.target] if isinstance(each, ast.AnnAssign) else each.targets if isinstance(each, ast.Assign) else []
                kind = "attribute" if isinstance(node, ast.ClassDef) else "constant"
                yield from ((kind, name.id, name.lineno) for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield "attribute", node.attr, node.lineno


def vocabulary(path: str, *tables: dict[str, str]) -> dict[str, str]:
    """Word -> what is said instead, in the file of this path."""
    return forbidden(*tables, *(words for folder, words in WITHIN.items() if path.startswith(folder)))


def replaced(name: str, avoided: Container[str], path: str = "") -> set[str]:
    """Those of the `avoided` words that a name has, in the file of this path, and that no exception covers."""
    if path.startswith(EXCEPTIONS.get("_".join(parts(name)), ((), ""))[0]):
        return set()
    spelled = f"_{'_'.join(parts(name))}_"
    for phrase in PHRASES:
        spelled = spelled.replace(f"_{phrase}_", "_")
    return {word for word in spelled.split("_") if word in avoided}


def sentences(docstring: str) -> Iterator[str]:
    """The sentences of a docstring: without examples and code; items of lists, rows of tables and parameters each by itself."""
    lines = [line for line in docstring.splitlines() if not line.lstrip().startswith((">>>", "..."))]
    rows = [f"\n{line}\n" if re.search(r"\S {2,}\S|^\s*\|", line) else line for line in lines]
    text = re.sub(r"::\n\n(?: {4}.*\n|\n)+", ".\n\n", "\n".join(rows) + "\n")
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n\s*-{3,}\n|:\n(?=    )|\n(?=\s*[\w*, ]+ : )|(?<=\w) : [^\n]*\n", text):
        yield from re.split(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?:\*\*|[)”’])?\s+", " ".join(paragraph.split()))


def length(sentence: str) -> int:
    """How many words a sentence has; numbers and the symbols of quantities count, signs of operations do not."""
    return sum(bool(re.search(r"[^\W_]", word)) for word in sentence.split())


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings of a file with the lines of what they describe."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


def sources(root: Path = ROOT) -> Iterator[Path]:
    """The files of Python that belong to the project."""
    for folder in FOLDERS:
        yield from (path for path in sorted((root / folder).rglob("*.py")) if not {"_build", "_drawn", "__pycache__"} & set(path.parts))


def table(head: tuple[str, str], rows: dict[str, str], quoted: bool = False) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    return [*lines, *(f"| {f'`{a}`' if quoted else a} | {b.replace('|', chr(92) + '|')} |" for a, b in rows.items()), ""]


def page() -> str:
    """The whole page."""
    origin = "`python docs/glossary.py` writes this page; `tests/test_glossary.py` reads the same tables."
    shared = "A word of several fields (atom, kernel, slack, sweep) has the meaning of the field that a file is about."
    where = {name: f"{', '.join(f'`{path}`' for path in paths)}: {why}" for name, (paths, why) in EXCEPTIONS.items()}
    head = f"# Glossary\n\nWhat words mean here. {shared} {origin}\n"
    return "\n".join(
        [
            head,
            "## Words that are used\n",
            *table(("word", "meaning"), TERMS),
            "## Words that no module, class, function, parameter or field has in its name\n",
            *table(("not", "but"), PRIVATE | PLAIN),
            *(f"In names of `{folder}`: not {words}, but {instead}." for folder, row in WITHIN.items() for words, instead in row.items()),
            "",
            "## Phrases and names that keep such a word\n",
            *table(("phrase", "meaning"), PHRASES, quoted=True),
            *table(("name", "where, and why"), where, quoted=True),
            "## Sentences\n",
            SENTENCES.rstrip(),
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
