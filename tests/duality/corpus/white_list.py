"""What a reader of white-listed nodes would refuse, told in advance; the list is that of the prototype (issue 16), node by node.

A problem is read if it has no reason here. Once there is a reader, its own refusals say it better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
from cvxpy.atoms.affine.affine_atom import AffAtom
from fingerprint import attributes

ROWS = ("Equality", "Zero", "Inequality", "NonPos", "NonNeg", "SOC")
SIGNS = ("nonneg", "nonpos", "pos", "neg", "bounds")
ENTRYWISE = ("abs", "maximum", "minimum", "huber", "logistic", "exp", "log", "entr")
REDUCING = ("max", "min", "norm1", "norm_inf", "sum_largest", "log_sum_exp", "quad_over_lin", "geo_mean")
REQUIRED = ("p-norm, p > 1", "p-norm, p < 1", "geo_mean", "variable symmetric", "variable diag", "variable sparsity")  # by issue 16


def refusals(problem: cp.Problem) -> list[str]:
    """Every reason to refuse the problem, each once: a variable's attribute, a kind of row, a kind of atom."""
    found: dict[str, None] = {}
    for variable in problem.variables():
        found.update(dict.fromkeys(_attributes(variable)))
    seen: set[int] = set()
    for row in problem.constraints:
        if type(row).__name__ not in ROWS:
            found[f"row {type(row).__name__.removesuffix('Approx')}"] = None
    for root in (problem.objective.expr, *(argument for row in problem.constraints for argument in row.args)):
        found.update(dict.fromkeys(_below(root, seen)))
    return sorted(found)


def _attributes(variable: cp.Variable) -> Iterator[str]:
    for name, value in attributes(variable):
        if name == "bounds" and any(isinstance(bound, cp.Expression) for bound in value):
            yield "bounds that are expressions"
        elif name not in SIGNS:
            yield f"variable {name}"


def _below(node: Any, seen: set[int]) -> Iterator[str]:
    if id(node) in seen or isinstance(node, cp.Variable) or (isinstance(node, cp.Expression) and node.is_constant()):
        return
    seen.add(id(node))
    reason = _of(node)
    if reason:
        yield reason
    for argument in getattr(node, "args", ()):
        if isinstance(argument, cp.Expression):
            yield from _below(argument, seen)


def _of(node: Any) -> str:
    """Why a node is refused, or nothing."""
    kind = type(node).__name__.removesuffix("Approx")
    constant = [argument.is_constant() for argument in node.args if isinstance(argument, cp.Expression)]
    by_axis = getattr(node, "axis", None) is not None and node.size != 1
    match kind:
        case "MulExpression" | "multiply" | "DivExpression" if not any(constant):
            return "product of two expressions"
        case "MulExpression" if max(argument.ndim for argument in node.args) > 2:
            return "product of stacks of matrices"
        case _ if isinstance(node, AffAtom) or kind in ENTRYWISE:
            return ""
        case "Power":
            power = float(node.p.value if isinstance(node.p, cp.Expression) else node.p)
            return "" if power >= 1 else "power, p < 0" if power < 0 else "power, 0 < p < 1"
        case "Pnorm":
            return "" if node.p == 2 and node.args[0].ndim <= 2 else "p-norm, p > 1" if node.p > 1 else "p-norm, p < 1"
        case "quad_over_lin" if not constant[1]:
            return "quad_over_lin, denominator no constant"
        case "QuadForm":
            return "" if constant[1] else "QuadForm, matrix no constant"
        case "GeoMean":
            return "geo_mean"
        case _ if kind in REDUCING:
            return f"{kind}, by axis" if by_axis else ""
        case _:
            return kind
