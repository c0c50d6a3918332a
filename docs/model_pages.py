"""Write the gallery of models: each as code, with bounds that are computed while its page is written.

    python docs/model_pages.py              docs/models/index.md, and a page for each field
    python docs/model_pages.py finance      the page of one field, printed

A field is a file of docs/models, a model a function of it that returns a `cvxpy.Problem`; its docstring is the title and the text. What a
page shows is the function's body as a script, and that script is what was run. Bounds are rigorous, those of geometric programmes, complex
and integer problems too. A model that is refused, or fails, fails the build.
"""

from __future__ import annotations

import ast
import inspect
import math
import statistics
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import Any

import cvxpy as cp

import simopt
from simopt.certificates.certificate import Certificate

FOLDER = Path(__file__).resolve().parent / "models"
TOL = 1e-6  # at which a model counts as closed
SOLVED_TO = 1e-8  # what is asked of the solve
DIGITS = 9
LABEL = "model-"  # before the name of a model that is linked to
CONVEX, GEOMETRIC, COMPLEX, SEMIDEFINITE, INTEGER = KINDS = ("convex", "geometric", "complex", "semidefinite", "integer")
HEAD = """# A gallery of models

Models after real ones, small, each with the bounds that simopt proved while this page was built: what it models, the code that ran, and
`lower ≤ optimum ≤ upper` in interval arithmetic ([certificates](../certifying.md)). Paste a block into an interpreter, and

```text
>>> import simopt
>>> print(simopt.solve(problem, rigorous=True).certificate)
```

shows the same bounds; a geometric programme takes `gp=True`. On the command line `simopt certify docs/models/finance.py:kelly --rigorous`
does.
"""


@dataclass(frozen=True)
class Model:
    """A function of a file of docs/models: its name, title and text, and the script that its page shows."""

    field: str
    name: str
    title: str
    text: str
    code: str

    def problem(self) -> cp.Problem:
        """What the script leaves as `problem`."""
        names: dict[str, Any] = {"__name__": self.name}
        exec(compile(self.code, f"<{self.field}.{self.name}>", "exec"), names)
        made = names["problem"]
        assert isinstance(made, cp.Problem)
        return made


@dataclass(frozen=True)
class Outcome:
    """A model with its kind, its certificate and the seconds that both solve and certificate took."""

    model: Model
    kind: str
    certificate: Certificate
    seconds: float

    @property
    def closed(self) -> bool:
        """Whether both bounds are within `TOL` of each other."""
        return self.certificate.closes(TOL)

    @property
    def gap(self) -> float:
        """gap / scale."""
        return self.certificate.relative_gap if self.certificate else math.nan


@dataclass(frozen=True)
class Field:
    """A file of docs/models."""

    name: str
    title: str
    text: str
    models: tuple[Model, ...] = field(repr=False)


def script(source: str, function: ast.FunctionDef) -> str:
    """The body of a function as lines of a script, the value that it returns being `problem`, below those imports that it needs."""
    lines = source.splitlines()
    *_, last = function.body
    assert isinstance(last, ast.Return), function.name
    body = lines[function.body[1].lineno - 1 : function.end_lineno]
    begins = last.lineno - function.body[1].lineno
    body[begins] = body[begins].replace("return ", "problem = ", 1)
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    imports = [node for node in ast.parse(source).body if isinstance(node, ast.Import) and node.names[0].asname in used]
    return "\n".join([*map(ast.unparse, imports), "", textwrap.dedent("\n".join(body))]) + "\n"


def read(path: Path) -> Field:
    """The models of a file, in its order."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    models = []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        title, _, text = inspect.cleandoc(ast.get_docstring(function) or "").partition("\n\n")
        models.append(Model(path.stem, function.name, title.rstrip("."), text, script(source, function)))
    title, _, text = (ast.get_docstring(tree) or "").partition(": ")
    return Field(path.stem, title, text[:1].upper() + text[1:], tuple(models))


def fields() -> list[Field]:
    """All files, by their titles."""
    return sorted((read(path) for path in FOLDER.glob("*.py")), key=lambda each: each.title)


def kind_of(problem: cp.Problem) -> str:
    """What makes a problem more than a convex one of real numbers: the first of integers, exponents, semidefinite, complex."""
    if problem.is_mixed_integer():
        return INTEGER
    if not problem.is_dcp():
        return GEOMETRIC if problem.is_dgp() else "neither convex nor geometric"
    cones = problem.get_problem_data(cp.CLARABEL)[0]["dims"]  # functions of eigenvalues have become cones there
    if cones.psd:
        return SEMIDEFINITE
    return COMPLEX if any(variable.is_complex() for variable in problem.variables()) else CONVEX


def certified(model: Model) -> Outcome:
    """Solve a model, and bound its optimum in intervals."""
    problem = model.problem()
    kind = kind_of(problem)
    start = time.process_time()
    solution = simopt.solve(problem, tol=SOLVED_TO, rigorous=True, gp=kind == GEOMETRIC)
    if solution.certificate is None:
        raise RuntimeError(f"{model.field}.{model.name}: {solution.message}")
    return Outcome(model, kind, solution.certificate, time.process_time() - start)


def outward(value: float, up: bool) -> str:
    """A bound in few digits, rounded to the side on which it stays one."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{float(Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR).create_decimal_from_float(value)):.{DIGITS}g}"


def ratio(gap: float) -> str:
    """A relative gap."""
    return f"{gap:.1e}" if math.isfinite(gap) else "∞"


def bounds(one: Outcome) -> str:
    """The certificate as lines of text."""
    found = one.certificate
    assert found is not None
    lower, upper = outward(found.lower, False), outward(found.upper, True)
    extremum = "maximum" if found.maximises else "minimum"
    words = [f"{lower} ≤ {extremum} ≤ {upper}", f"gap/scale {ratio(one.gap)}", "closed" if one.closed else "open", f"{one.seconds:.2f} s"]
    if one.closed:
        return "   ".join(words)
    if one.kind == INTEGER and math.isfinite(one.gap):
        point, relaxation = (lower, upper) if found.maximises else (upper, lower)
        return "   ".join([words[0], f"integer point {point}, relaxation {relaxation}: a gap of {100 * one.gap:.2g} %", words[-1]])
    return "\n".join(["   ".join(words), *textwrap.wrap(found.open, 120)])


def page(each: Field, outcomes: Sequence[Outcome]) -> str:
    """The page of a field: title, text, code and certificate of each model."""
    parts = [f"# {each.title}\n\n{each.text}\n"]
    for one in outcomes:
        model = one.model
        parts.append(
            f"({LABEL}{model.name})=\n## {model.title}\n\n{model.text}\n\n```python\n{model.code}```\n\n```text\n{bounds(one)}\n```\n"
        )
    return "\n".join(parts)


def linked(one: Outcome) -> str:
    """The title of a model as a link to it."""
    return f"[{one.model.title}](project:#{LABEL}{one.model.name})"


def counts(outcomes: Sequence[Outcome]) -> str:
    """A line for each kind: how many models, how many closed, and the gaps; of integers the gap is that of the relaxation."""
    lines = ["| | models | closed at 1e-6 | largest gap/scale of these | open | their gaps |", "|---|---:|---:|---:|---:|---|"]
    for name, these in [*((kind, [one for one in outcomes if one.kind == kind]) for kind in KINDS), ("all", list(outcomes))]:
        if these:
            closed, left = ([one.gap for one in these if one.closed is state] for state in (True, False))
            spread = f"{ratio(min(left))} … {ratio(max(left))}, median {ratio(statistics.median(left))}" if left else ""
            worst = ratio(max(closed)) if closed else ""
            lines.append(f"| {name} | {len(these)} | {len(closed)} | {worst} | {len(left)} | {spread} |")
    return "\n".join(lines) + "\n"


def stays_open(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The models that stay open, each with what its certificate says of it; those of integers say one thing, and are listed together."""
    left = [one for one in outcomes if not one.closed]
    relaxed = [linked(one) for one in left if one.kind == INTEGER and math.isfinite(one.gap)]
    if relaxed:
        yield f"* {', '.join(relaxed)}: the gap is that between the integer point and the relaxation; simopt does not branch."
    for one in left:
        if linked(one) not in relaxed:
            yield f"* {linked(one)}: {' '.join(one.certificate.open.split())}."


def index(every: Sequence[Field], outcomes: Sequence[Outcome]) -> str:
    """The first page: counts, what stays open and why, and the list of all models."""
    names = "\n".join(each.name for each in every)
    parts = [HEAD, counts(outcomes)]
    left = list(stays_open(outcomes))
    parts += ["## What stays open\n", "\n".join(left) + "\n"] if left else []
    parts.append("## All models\n")
    for each in every:
        judged = [one for one in outcomes if one.model.field == each.name]
        if judged:
            parts.append(f"### {each.title}\n\n{each.text}\n\n| | | gap/scale | seconds |\n|---|---|---:|---:|")
            rows = [
                f"| {linked(one)} | {'' if one.kind == CONVEX else one.kind} | {ratio(one.gap)} | {one.seconds:.2f} |" for one in judged
            ]
            parts[-1] += "\n" + "\n".join(rows) + "\n"
    return "\n".join(parts) + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def main() -> None:
    """Run all models and write their pages; or those of the fields named, printed."""
    warnings.simplefilter("ignore")  # CVXPY's of inaccurate answers: the certificate says what they are
    chosen, every, outcomes = sys.argv[1:], fields(), []
    for each in every if not chosen else [each for each in every if each.name in chosen]:
        these = [certified(model) for model in each.models]
        outcomes += these
        text = page(each, these)
        if chosen:
            print(text)
        else:
            (FOLDER / f"{each.name}.md").write_text(text, encoding="utf-8")
    if not chosen:
        (FOLDER / "index.md").write_text(index(every, outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
