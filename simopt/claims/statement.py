"""Statements made of formulas, and how they are written for a proof file: a straight-line program and the values of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from simopt import recheck
from simopt.claims.expression import ENCLOSED, Expr

LONGEST = 14_000  # bits: Python writes no integer of more than 4300 decimal digits


class TooLong(ValueError):
    """A number with too many digits for a proof file."""


@dataclass(frozen=True, eq=False)
class Statement:
    """left ⟨relation⟩ right, under hypotheses of the same form."""

    relation: str
    left: Expr
    right: Expr
    hypotheses: tuple[Statement, ...] = ()

    @property
    def symbolic(self) -> bool:
        """Whether free symbols occur on either side."""
        return self.left.symbolic or self.right.symbolic

    def holds(self) -> bool:
        """Whether a statement in symbols is an identity of rational functions."""
        template, _ = serialise(self)
        return recheck.identity(template, recheck.Work())


def serialise(statement: Statement) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a statement into its formula (a straight-line program) and the values of its inputs.

    The program is a list of steps [operation, argument, …]; an argument is the number of an earlier step, the name of an input, or a
    rational "p/q". Two instances with the same formula give equal programs.

    Raises
    ------
    TooLong
        for a number of more than 4200 digits.
    ValueError
        if two different inputs have one name.
    """
    steps: list[list[Any]] = []
    values: dict[str, Any] = {}
    seen: dict[int, int | str] = {}
    sides = [(s.relation, s.left, s.right) for s in (statement, *statement.hypotheses)]
    refs = [[relation, _walk(left, steps, values, seen), _walk(right, steps, values, seen)] for relation, left, right in sides]
    template = {"steps": steps, "claim": refs[0], "where": refs[1:], "symbols": sorted(n for n, v in values.items() if v is None)}
    return template, {name: value for name, value in values.items() if value is not None}


def _walk(top: Expr, steps: list[list[Any]], values: dict[str, Any], seen: dict[int, int | str]) -> int | str:
    stack = [top]
    while stack:
        node = stack[-1]
        if id(node) in seen:
            stack.pop()
            continue
        waiting = [arg for arg in node.args if id(arg) not in seen]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        seen[id(node)] = _emit(node, [seen[id(arg)] for arg in node.args], steps, values)
        stack.pop()
    return seen[id(top)]


def _emit(node: Expr, args: list[int | str], steps: list[list[Any]], values: dict[str, Any]) -> int | str:
    if node.op == "constant":
        return _text(node.low)
    if node.op in ("input", "symbol"):
        value = None if node.symbolic else _text(node.low)
        if values.setdefault(node.name, value) != value:
            raise ValueError(f"two different inputs are called {node.name!r}")
        return node.name
    if node.op in ("root", "exp", "log"):
        name = f"{ENCLOSED}{len(steps)}"
        values[name] = [_text(node.low), _text(node.high)]
        steps.append([node.op, *args, *([node.order] if node.op == "root" else []), name])
    else:
        steps.append([node.op, *args, *([node.order] if node.op == "^" else [])])
    return len(steps) - 1


def _text(number: Fraction | float) -> str:
    exact = Fraction(number)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > LONGEST:
        raise TooLong("a number of more than 4200 digits")
    return str(exact)
