"""The gallery of models: what its pages show is what runs, bounds close or say why not, and CVXPY's own answer lies between them."""

import ast
import importlib
import math
import re
from pathlib import Path
from typing import Any

import cvxpy as cp
import pytest

from simopt.core.errors import InvalidProblem

DOCS = Path(__file__).resolve().parents[1] / "docs"
SAMPLE = 7  # each so many-th model is run by every suite, all of them by the thorough ones
LINES = range(3, 16)


def loaded() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        return importlib.import_module("model_pages")


GALLERY = loaded()
MODELS = [model for each in GALLERY.fields() for model in each.models]
RUN = [pytest.param(model, marks=[pytest.mark.thorough] * (i % SAMPLE > 0), id=model.name) for i, model in enumerate(MODELS)]


@pytest.mark.parametrize("model", RUN)
def test_bounds_close_or_it_is_said_why_not_and_the_answer_of_cvxpy_lies_between(model: Any) -> None:
    one = GALLERY.certified(model)
    assert one.closed or one.certificate.open
    problem = model.problem()
    problem.solve(gp=one.kind == GALLERY.GEOMETRIC, solver=cp.HIGHS if one.kind == GALLERY.INTEGER else cp.CLARABEL)
    off = 1e-6 * max(1.0, abs(problem.value))
    assert one.certificate.lower - off <= problem.value <= one.certificate.upper + off


def test_there_are_models_of_all_kinds_and_each_has_a_title_a_sentence_and_a_readable_code() -> None:
    assert len(MODELS) >= 60 and len({model.name for model in MODELS}) == len({model.title for model in MODELS}) == len(MODELS)
    for model in MODELS:
        begins = model.text.replace("$", "").strip()
        assert model.title and begins and model.text.rstrip().endswith((".", "?")), model.name
        body = model.code.split("\n\n", 1)[1].splitlines()
        assert len(body) in LINES, f"{model.name}: {len(body)} lines"


def test_what_a_page_shows_is_what_runs() -> None:
    """The script makes the problem of the function, and nothing in it comes from elsewhere."""
    model = next(model for model in MODELS if model.name == "portfolio")
    source = (GALLERY.FOLDER / f"{model.field}.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(source, names)
    by_function, by_script = names[model.name](), model.problem()
    assert str(by_function) == str(by_script)
    ast.parse(model.code)
    assert model.code.startswith("import cvxpy as cp\nimport numpy as np\n\nrng = ") and model.code.count("problem = ") == 1
    one = GALLERY.certified(model)
    shown = GALLERY.page(GALLERY.read(GALLERY.FOLDER / "finance.py"), [one])
    assert model.code in shown and GALLERY.bounds(one) in shown
    lower, upper = map(float, re.findall(r"([-\d.e]+) ≤ maximum ≤ ([-\d.e]+)", shown)[0])
    assert lower <= one.certificate.lower <= one.certificate.upper <= upper


def test_a_bound_is_rounded_to_the_side_on_which_it_stays_one() -> None:
    assert GALLERY.outward(1 / 3, False) == "0.333333333" and GALLERY.outward(1 / 3, True) == "0.333333334"
    assert GALLERY.outward(-2e-15 / 3, False) == "-6.66666667e-16" and GALLERY.outward(-math.inf, False) == "−∞"
    assert GALLERY.outward(27.0, True) == GALLERY.outward(27.0, False) == "27"


def outcome(name: str, kind: str, lower: float, upper: float, reason: str = "") -> Any:
    model = GALLERY.Model("field", name, name.title(), "A text.", "problem = None\n")
    found = GALLERY.Certificate.of_bounds(
        upper, lower, upper - lower, math.inf, multipliers_from="solver", arithmetic="interval", open=reason
    )
    return GALLERY.Outcome(model, kind, found, 0.5)


def test_the_first_page_counts_what_the_runs_said() -> None:
    closed, left = outcome("one", "convex", 1.0, 1.0), outcome("two", "convex", 1.0, math.inf, "no point is known")
    whole = outcome("three", "integer", 3.0, 4.0, "relaxation")
    field = GALLERY.Field("field", "A field", "What it has.", ())
    page = GALLERY.index([field], [closed, left, whole])
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in page.splitlines() if line.startswith("| ")]
    assert ("convex", "2", "1", "0.0e+00", "1", "∞ … ∞, median ∞") in rows and ("all", "3", "1") in [row[:3] for row in rows]
    assert ("integer", "1", "0", "", "1", "2.5e-01 … 2.5e-01, median 2.5e-01") in rows
    assert "[Two](project:#model-two): no point is known." in page and "[Three](project:#model-three): the gap is that between" in page
    assert GALLERY.bounds(whole).startswith("3 ≤ minimum ≤ 4   integer point 4, relaxation 3: a gap of 25 %")
    assert GALLERY.bounds(left).splitlines()[1] == "no point is known"


def test_a_model_that_is_refused_fails_the_build() -> None:
    """Here one that is quasi-convex."""
    rows = "x = cp.Variable(2)\nproblem = cp.Problem(cp.Minimize(cp.dist_ratio(x, [0, 0], [1, 1])), [cp.norm(x) <= 0.5])\n"
    with pytest.raises(InvalidProblem):
        GALLERY.certified(GALLERY.Model("field", "name", "Title", "Text.", f"import cvxpy as cp\n\n{rows}"))
