"""Certificate files: the data of a conic form, a point, multipliers and bounds, all as exact numbers."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from simopt import recheck_certificate as checker
from simopt.conic import proof
from simopt.conic.form import ConicForm, conic_form
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.core.writing import check_target, write_text
from simopt.model.problem import is_cvxpy

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.model.problem import Problem

LARGEST = checker.LETTERS // 40  # entries of the matrices; each has some 40 letters
ROUNDED = 1e-6  # relatively: what canonicalisation may round between the bounds of the form and those of the problem
SHORT = 10**15  # integers below it are written in decimal
ENDS = {"PrimalInfeasible": "infeasible", "AlmostPrimalInfeasible": "infeasible"} | dict.fromkeys(
    ("DualInfeasible", "AlmostDualInfeasible"), "unbounded"
)  # what CLARABEL ended with -> what a certificate may prove then


@dataclass(frozen=True)
class FileBounds:
    """What a certificate file proves of the problem.

    Attributes
    ----------
    lower, upper : float
        bounds on the optimum, rounded outwards; ∓∞ where the file proves none. Both are ∞ where no point is feasible (of a maximum −∞), and
        both −∞ where the objective falls without end (of a maximum ∞).
    states : str
        "bounds", "infeasible" or "unbounded".
    unproven : tuple of str
        what is not proved, and why.
    """

    lower: float
    upper: float
    states: str
    unproven: tuple[str, ...]

    @property
    def gap(self) -> float:
        """upper − lower, rounded up."""
        return math.nextafter(self.upper - self.lower, math.inf) if self.lower != self.upper else 0.0


def save_certificate(problem: cp.Problem | Problem, path: str | os.PathLike[str]) -> FileBounds:
    """Write bounds on the optimum, and all that proves them, to a file that `simopt recheck` checks without simopt.

    CVXPY writes the problem as min ½xᵀPx + cᵀx + d subject to Ax + s = b, s ∈ K. The file has this form, x in fractions with b − Ax ∈ K,
    and w, z in fractions with Pw + Aᵀz + c = 0, z ∈ K*. It proves bounds on the optimum of that form. That the form is the problem's is
    CVXPY's word, and the bounds may differ from those of `certify` by what CVXPY rounds.

        >>> import cvxpy as cp
        >>> import simopt
        >>> x = cp.Variable(2, nonneg=True, name="x")
        >>> problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [3 * x[0] + x[1] >= 1])
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = simopt.save_certificate(problem, os.path.join(folder, "cert.json"))
        >>> saved.lower <= 1 / 3 < saved.upper, saved.gap < 1e-15
        (True, True)

    Parameters
    ----------
    problem : cvxpy.Problem or Problem
        with its parameters at their present values; of a problem of simopt its declaration. It is solved anew, and stays unchanged.
    path : path
        of the file; one that is there is replaced.

    Raises
    ------
    Unreadable
        for integers, exponential and power cones, what CVXPY does not canonicalise, and more entries than a file may have.
    InvalidProblem
        for data that are not finite, parameters without values, where nothing can be proved in fractions, and where the bounds contradict
        those that `certify` proves of the problem as it is written.
    OSError
        where the file cannot be written.
    """
    target = check_target(path)
    if not is_cvxpy(problem):
        if not hasattr(problem, "declare"):
            raise InvalidProblem(f"problem: {type(problem).__name__} given, a cvxpy.Problem or a problem of simopt needed")
        problem = problem.declare()
    form = conic_form(problem)
    if form.P.nnz + form.A.nnz > LARGEST:
        raise Unreadable(f"the conic form has {form.P.nnz + form.A.nnz} entries, and a file of more than {LARGEST} is not checked")
    document = _with_proof(_data(form), form)
    if any("P is not positive semidefinite" in why for why in document["unproven"]):
        form = conic_form(problem, quadratic=False)  # squares as cones: their matrix is a product, whatever was rounded
        document = _with_proof(_data(form), form)
    text = _text(document)
    if len(text) > checker.LETTERS:
        raise InvalidProblem(f"the certificate has {len(text)} letters, and a file of more than {checker.LETTERS} is not checked")
    checker.check(json.loads(text))  # what is written is proved
    saved = _bounds(document, form.maximises)
    _check_against_own_reading(problem, saved)
    write_text(target, text)
    return saved


def _check_against_own_reading(problem: cp.Problem, saved: FileBounds) -> None:
    """Whether the bounds of the form and those of simopt's own reading of the problem, in intervals, have an optimum in common.

    A canonicalisation that is wrong is noticed so, where simopt reads the problem; what both allow is compared up to `ROUNDED`.
    """
    from simopt.solving.entry_points import certify

    try:
        own = certify(problem, rigorous=True)
    except Exception:  # simopt reads less than CVXPY writes, and nothing in the file depends on it
        return
    slack = ROUNDED * (1.0 + max((abs(end) for end in (own.lower, own.upper) if math.isfinite(end)), default=0.0))
    if saved.lower > own.upper + slack or saved.upper < own.lower - slack:
        stated, read = f"[{saved.lower:.12g}, {saved.upper:.12g}]", f"[{own.lower:.12g}, {own.upper:.12g}]"
        raise InvalidProblem(
            f"the conic form that CVXPY writes has its optimum in {stated}, the problem as written in {read}: "
            "the form is not the problem's, and nothing is saved"
        )


def _bounds(document: dict[str, Any], maximises: bool) -> FileBounds:
    if document["states"] == "bounds":
        low, high = (document["bounds"][name] for name in ("lower", "upper"))
        lower = -math.inf if low is None else float.fromhex(low)
        upper = math.inf if high is None else float.fromhex(high)
    else:
        lower = upper = math.inf if (document["states"] == "infeasible") != maximises else -math.inf
    return FileBounds(lower, upper, document["states"], tuple(document["unproven"]))


def _data(form: ConicForm) -> dict[str, Any]:
    """The document without a proof."""
    import cvxpy as cp
    import scipy.sparse as sp

    def triples(matrix: Any) -> list[list[Any]]:
        stored = sp.coo_array(matrix)
        return [[int(i), int(j), number(a)] for i, j, a in zip(stored.row, stored.col, stored.data.tolist(), strict=True)]

    source = f"the conic form into which CVXPY {cp.__version__} writes the problem for CLARABEL, semidefinite cones as whole matrices"
    document: dict[str, Any] = {
        "format": checker.FORMAT,
        "source": f"{source}; that it is the problem's is not proved here",
        "maximise": form.maximises,
        "variables": form.variables,
        "cones": [list(cone) for cone in form.cones],
        "size": len(form.c),
        "P": triples(sp.triu(form.P)),
        "c": [number(x) for x in form.c.tolist()],
        "A": triples(form.A),
        "b": [number(x) for x in form.b.tolist()],
        "d": number(form.d),
    }
    return {**document, "digest": checker.digest(document)}


def _with_proof(document: dict[str, Any], form: ConicForm) -> dict[str, Any]:
    """The document with the best proof that there is: of bounds, or that there is no optimum.

    Raises
    ------
    InvalidProblem
        where nothing is proved.
    """
    answer = proof.solved(form)
    reasons: list[str] = []
    if ends := ENDS.get(answer.status):
        made, why = _no_optimum(document, form, answer, ends)
        if made is not None:
            return made
        reasons.append(f"that the problem is {ends}, as CLARABEL says: {why}")
    problem = checker.ConicProblem(document, checker.Budget())
    x, no_point = proof.point(form, problem)
    if x is None and ends != "infeasible":  # with c = 0 the solver cannot take it for one without end
        answer = proof.solved(proof.feasibility(form))
        made = _no_optimum(document, form, answer, "infeasible")[0] if ENDS.get(answer.status) == "infeasible" else None
        if made is not None:
            return made
    pair, no_multipliers = proof.multipliers(form, problem)
    unproven = list(reasons)
    if x is None:
        unproven.append(f"a bound by a point: {no_point}")
    if pair is None:
        unproven.append(f"a bound by multipliers: {no_multipliers}")
    if x is None and pair is None:
        raise InvalidProblem(f"nothing is proved in fractions: {'; '.join(unproven)}")
    problem.budget = checker.Budget()
    value = None if x is None else checker.upper_bound(problem, x)
    dual = None if pair is None else checker.lower_bound(problem, *pair)
    low, high = (dual, value) if not form.maximises else (None if value is None else -value, None if dual is None else -dual)
    w = None if pair is None or not form.P.nnz else [number(v) for v in pair[0]]
    return {
        **document,
        "states": "bounds",
        "proof": {"x": None if x is None else [number(v) for v in x], "w": w, "z": None if pair is None else [number(v) for v in pair[1]]},
        "bounds": {"lower": None if low is None else _rounded(low, False), "upper": None if high is None else _rounded(high, True)},
        "unproven": unproven,
    }


def _no_optimum(document: dict[str, Any], form: ConicForm, answer: proof.FloatSolution, ends: str) -> tuple[dict[str, Any] | None, str]:
    def with_vectors(states: str, **vectors: list[Fraction]) -> dict[str, Any]:
        written = {name: [number(v) for v in vector] for name, vector in vectors.items()}
        return {**document, "states": states, "proof": written, "bounds": {"lower": None, "upper": None}, "unproven": []}

    if ends == "infeasible":
        z, why = proof.infeasible(form, lambda z: with_vectors("infeasible", z=z), answer.z)
        return (None if z is None else with_vectors("infeasible", z=z)), why
    pair, why = proof.unbounded(form, lambda x, r: with_vectors("unbounded", x=x, direction=r), answer.x)
    return (None if pair is None else with_vectors("unbounded", x=pair[0], direction=pair[1])), why


def number(value: float | Fraction) -> str:
    """A number as certificate files have it: a short integer, a float in hex, or else "p/q" with p and q in hex."""
    exact = Fraction(value)
    top, below = exact.numerator, exact.denominator
    if below == 1 and abs(top) < SHORT:
        return str(top)
    if below & (below - 1) == 0 and abs(top).bit_length() <= 53 and below.bit_length() < 1000 and abs(top).bit_length() < 1000:
        return float(exact).hex()
    return hex(top) if below == 1 else f"{top if abs(top) < SHORT else hex(top)}/{below if below < SHORT else hex(below)}"


def _rounded(value: Fraction, up: bool) -> str:
    """The nearest float that is not below, or not above."""
    try:
        near = float(value)
    except OverflowError as error:
        raise InvalidProblem("a bound is larger than any float") from error
    if (Fraction(near) < value) if up else (Fraction(near) > value):
        near = math.nextafter(near, math.inf if up else -math.inf)
    return near.hex()


def _text(document: dict[str, Any]) -> str:
    """JSON, a line a field."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
