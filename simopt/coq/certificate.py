"""A certificate as a theorem: weak duality of one instance for all reals, its feasible point, and how far that is from the minimum."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.arithmetic import RATIONAL
from simopt.coq.mutant import A_LITTLE
from simopt.coq.programme import ExactProgramme, Form
from simopt.coq.term import CoqTerm, Printer, data, walk
from simopt.coq.theory import WIDTH, NoTheorem, comment, title, written
from simopt.coq.weak_duality import Decomposition, decompose
from simopt.core.errors import InvalidProblem

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.model.problem import Problem

PARTS = ("max", "min", "abs")
DIGITS = 12  # of bounds whose fractions are longer: rounded outwards, so that what is proved stays true
SHORT = 10**6  # a denominator that is read as it is
SUM = 69


class ExactCertificate:
    """min f(v), v feasible: the exact programme, a feasible point with f(p) ≤ upper, and the identity behind lower ≤ f."""

    def __init__(self, exact: ExactProgramme, point: list[Fraction], upper: Fraction, identity: Decomposition) -> None:
        self.exact, self.point, self.identity = exact, point, identity
        self.upper, self.lower = _rounded(upper, 1), _rounded(identity.bound, -1)
        self.names = list(exact.names.values())
        self.objective = exact.term(exact.objective)
        self.constraints = [
            (form, row.equality, (row.key, i)) for row in exact.programme.every_row for i, form in enumerate(exact.rows[row.key])
        ]
        self.sides = [exact.relation(form) for form, *_ in self.constraints]
        every = walk([*(side for pair in self.sides for side in pair), self.objective])
        self.parts = [term for term in every if id(term) in exact.parts]

    @property
    def gap(self) -> Fraction:
        """How far the point may be from the minimum."""
        return self.upper - self.lower

    def text(self, name: str, heading: list[str]) -> str:
        """The file of Coq."""
        return self._file(name, heading, self.lower, whole=True)

    def mutant(self, name: str) -> str:
        """A false sibling, to be refused: the bound lies above what the objective is at the point."""
        return self._file(name, ["FALSE: the bound is above the objective at a feasible point."], self.upper + A_LITTLE, whole=False)

    def _file(self, name: str, heading: list[str], bound: Fraction, whole: bool) -> str:
        blocks = ["\n".join(map(comment, heading)), "From Simopt Require Import Duality.\nOpen Scope R_scope."]
        blocks += [*self._definitions(name), self._bound(name, bound)]
        if whole:
            blocks += [self._at_point(name), self._minimum(name)]
        return "\n\n".join(blocks) + "\n"

    def _definitions(self, name: str) -> list[str]:
        bound = f"({' '.join(self.names)} : R)"
        made = []
        if self.constraints:
            printer = Printer([side for pair in self.sides for side in pair], self.exact.names, real=True)
            lines = []
            for (_, equality, _), (a, b) in zip(self.constraints, self.sides, strict=True):
                lines.append(f"{printer.text(a, SUM)} {'=' if equality else '<='} {printer.text(b, SUM)}")
            made.append(f"Definition {name}_feasible {bound} : Prop :=\n{_lets(printer)}" + _wrapped(" /\\\n".join(lines)) + ".")
        printer = Printer([self.objective], self.exact.names, real=True)
        made.append(f"Definition {name}_objective {bound} : R :=\n{_lets(printer)}" + _wrapped(printer.text(self.objective)) + ".")
        return made

    def _called(self, what: str, arguments: list[str]) -> str:
        return f"{what} {' '.join(arguments)}"

    def _hypotheses(self, name: str) -> str:
        return f"{self._called(f'{name}_feasible', self.names)} ->\n" if self.constraints else ""

    def _bound(self, name: str, bound: Fraction) -> str:
        """For all v: feasible v → bound ≤ objective v."""
        called = self._called(f"{name}_objective", self.names)
        said = _wrapped(f"forall {' '.join(self.names)} : R,\n{self._hypotheses(name)}{_number(bound)} <= {called}")
        given = "given" if self.constraints else ""
        taken = [self.identity.parts.get(id(part), []) for part in self.parts]
        taken += [[y] if (y := self.identity.rows.get(place)) else [] for *_, place in self.constraints]
        share = "; ".join(f"[{'; '.join(map(_rational, each))}]" for each in taken)
        rest = "; ".join(f"({_rational(c)}, {self._polynomial(form)})" for c, form in self.identity.squares)
        steps = [
            f"intros {' '.join([*self.names, given]).strip()}.",
            f"by_weak_duality proved\n({self._programme(bound)})\n([{share}]%Q : list share)",
            f"([{rest}]%Q : list (Q * polynomial)) [{'; '.join(self.names)}].",
            f"exact (proved {given or 'I'}).",
        ]
        return f"Theorem {name}_bound :\n{said}.\nProof.\n" + "\n".join(map(_wrapped, steps)) + "\nQed."

    def _indices(self, known: int) -> dict[int, int]:
        """The index of each value when so many parts are known: the last part first, then the variables."""
        variables = {id(self.exact.expressions[k]): known + k for k in range(self.exact.variables)}
        return variables | {id(part): known - 1 - j for j, part in enumerate(self.parts[:known])}

    def _programme(self, bound: Fraction) -> str:
        opening = "".join(f"Let {data(part, self._indices(k), inside=True)} (\n" for k, part in enumerate(self.parts))
        place = self._indices(len(self.parts))
        for (_, equality, _), (a, b) in zip(self.constraints, self.sides, strict=True):
            opening += f"{'Equal' if equality else 'AtMost'} {data(a, place)} {data(b, place)} (\n"
        end = f"AtLeast {data(self.exact.terms.number(bound), place)} {data(self.objective, place)}"
        return opening + end + ")" * (len(self.parts) + len(self.constraints))

    def _polynomial(self, form: Form) -> str:
        """An affine form of variables and parts."""
        place, linear = self._indices(len(self.parts)), dict[int, Fraction]()
        constant = form.constant
        for k, c in form.factors.items():
            for term, factor in _linear(self.exact.expressions[k]):
                if term is None:
                    constant += c * factor
                else:
                    at = place[id(term)]
                    linear[at] = linear.get(at, Fraction(0)) + c * factor
        row = [linear.get(k, Fraction(0)) for k in range(max(linear, default=-1) + 1)]
        return f"Polynomial [] [{'; '.join(map(_rational, row))}]%Q {_rational(constant)}"

    def _at_point(self, name: str) -> str:
        """Feasible p ∧ objective p ≤ upper."""
        numbers = [f"({_number(x)})" if x.denominator > 1 and x > 0 else _number(x) for x in self.point]
        called = self._called(f"{name}_objective", numbers)
        said = (f"{self._called(f'{name}_feasible', numbers)} /\\\n" if self.constraints else "") + f"{called} <= {_number(self.upper)}"
        opening = "".join(f"(Bind {data(self.exact.terms.number(x), {})}\n" for x in reversed(self.point))
        opening += "".join(f"(Bind {data(part, self._indices(k), inside=True)}\n" for k, part in enumerate(self.parts))
        place = self._indices(len(self.parts))
        facts = [
            f"({'Eql' if equality else 'Le'} {data(a, place)} {data(b, place)})"
            for (_, equality, _), (a, b) in zip(self.constraints, self.sides, strict=True)
        ]
        end = f"(Le {data(self.objective, place)} {data(self.exact.terms.number(self.upper), place)})"
        if facts:
            joined = facts[-1]
            for each in reversed(facts[:-1]):
                joined = f"(Both {each}\n{joined})"
            end = f"(Both {joined}\n{end})"
        fact = opening + end + ")" * (len(self.point) + len(self.parts))
        return f"Theorem {name}_point :\n{_wrapped(said)}.\nProof.\n{_wrapped(f'by_numbers {fact}.')}\nQed."

    def _minimum(self, name: str) -> str:
        """No feasible v has an objective that is less by more than the gap."""
        numbers = [f"({_number(x)})" if x.denominator > 1 and x > 0 else _number(x) for x in self.point]
        gap = f" + {_number(self.gap)}" if self.gap else ""
        best = self._called(f"{name}_objective", numbers)
        said = _wrapped(
            f"forall {' '.join(self.names)} : R,\n{self._hypotheses(name)}{best}\n<= {self._called(f'{name}_objective', self.names)}{gap}"
        )
        given = " given" if self.constraints else ""
        upper = f"(proj2 {name}_point)" if self.constraints else f"{name}_point"
        lower = f"({name}_bound {' '.join(self.names)}{given})"
        step = f"exact (Rle_trans _ _ _ {upper} {lower})" if not self.gap else f"apply (within_gap _ _ _ _ _ {upper} {lower}). lra"
        proof = f"intros {' '.join(self.names)}{given}. {step}."
        return f"Theorem {name}_minimum :\n{said}.\nProof.\n{_wrapped(proof)}\nQed."


def _lets(printer: Printer) -> str:
    return "".join(_wrapped(f"let {name} := {body} in") + "\n" for (name, _), body in zip(printer.parts, printer.bodies, strict=True))


def _wrapped(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


def _rational(x: Fraction) -> str:
    top = f"({x.numerator})" if x < 0 else str(x.numerator)
    return top if x.denominator == 1 else f"({top}#{x.denominator})"


def _number(x: Fraction) -> str:
    """As terms print it."""
    text = str(x.numerator) + (f" / {x.denominator}" if x.denominator > 1 else "")
    return f"({text})" if x < 0 else text


def _rounded(x: Fraction, side: int) -> Fraction:
    """x, or a number of few digits above (1) or below (−1) it."""
    if x.denominator <= SHORT:
        return x
    unit = Fraction(1, 10**DIGITS)
    return (x // unit + (1 if side > 0 else 0)) * unit


def _linear(term: CoqTerm) -> list[tuple[CoqTerm | None, Fraction]]:
    """An affine term as multiples of variables and parts, and of 1."""
    op, args = term.op, term.args
    if op == "number":
        return [(None, term.number)]
    if op == "variable" or op in PARTS:
        return [(term, Fraction(1))]
    if op in ("+", "-"):
        sign = 1 if op == "+" else -1
        return [*_linear(args[0]), *((t, sign * c) for t, c in _linear(args[1]))]
    if op == "opp":
        return [(t, -c) for t, c in _linear(args[0])]
    if op == "*" and args[0].closed:
        return [(t, args[0].number * c) for t, c in _linear(args[1])]
    raise NoTheorem("a square of what is no affine form of variables and parts")


def certificate(
    problem: Problem | cp.Problem, point: Mapping[str, Any] | None = None, multipliers: Mapping[str, Any] | None = None
) -> ExactCertificate:
    """The certificate of the declaration of a problem, in fractions, from a point and multipliers of it (else from a solve by Clarabel).

    Raises
    ------
    NoTheorem
        where the declaration holds what is no square, no largest of several and no absolute value, or is too large to be read. Also where
        no point is feasible in fractions, or a bound stands on more than the declaration says.
    """
    from simopt.certificates.assessment import judge
    from simopt.duality import Declared
    from simopt.model.problem import is_cvxpy
    from simopt.solving.entry_points import solve

    declared = problem if isinstance(problem, Declared) else Declared.of(problem if is_cvxpy(problem) else problem.declare())
    exact = ExactProgramme(declared.programme)
    if point is None:
        found = solve(declared, "clarabel")
        if found.point is None:
            raise NoTheorem(f"a solve of the declaration ended without a point: {found.message or found.reported_status}")
        point, multipliers = found.point, found.multipliers
    try:
        judged = judge(declared, dict(point), None if multipliers is None else dict(multipliers), RATIONAL)
    except InvalidProblem as error:
        raise NoTheorem(str(error)) from error
    feasible = declared.restore(judged.point, RATIONAL)
    at = declared._at(feasible, RATIONAL)
    if at.violated or judged.multipliers is None:
        raise NoTheorem("; ".join(at.violated) or "no multipliers are known")
    swept = declared.backward(judged.multipliers, RATIONAL, upper=judged.certificate.upper)
    if swept.open:
        raise NoTheorem("; ".join(swept.open))
    return ExactCertificate(exact, exact.entries(at.values), Fraction(at.objective), decompose(exact, swept.used))


def write(problem: Problem | cp.Problem, folder: str | Path, name: str = "", point: Any = None, multipliers: Any = None) -> str:
    """Write the theorem of a certificate, and what it stands on, into a folder; the name of the file."""
    what = name or getattr(problem, "name", "declared")
    called, made = f"{title(what)}_certificate", certificate(problem, point, multipliers)
    return written(folder, called, made.text(called, heading(what, made)))


def heading(problem: str, made: ExactCertificate) -> list[str]:
    """The objective, and the statement of the theorems."""
    least = " (the negative of what it maximises)" if made.exact.programme.maximises else ""
    return [
        f"The certificate of an instance of {problem}, as it is declared; its numbers are the floats of the data at their exact values.",
        f"_bound: no feasible point has an objective{least} below the bound (weak duality). _point: this point is feasible, with an "
        "objective of at most so much. _minimum: so it is within the gap of the minimum.",
    ]
