"""A proof file as a file of Coq: a theorem a statement, under the words that it stands for.

Statements in symbols hold for all reals where nothing that they divide by is zero. Finite tables and ranges hold on Q, where the kernel
computes both sides. With roots, exponentials and logarithms they hold on R, of the real functions; the enclosures of the proof file are
not used: the evaluator of Simopt.v makes its own.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from simopt.coq.preludes import needed, source
from simopt.coq.term import CoqTerm, Printer, Terms, identifier
from simopt.core.writing import write_text
from simopt.recheck import LEADING, NUMBER, ROLES

WIDTH = 118
RELATION = {"<=": "<=", "<": "<", "==": "="}
FACT = {"<=": "Le", "<": "Lt", "==": "Eql", "~<=": "NotLe", "~<": "NotLt"}
SUM = 69  # sides of a relation


class NoTheorem(ValueError):
    """Why a certificate or a witness leaves no theorem."""


class Formula:
    """One statement of a proof file, as terms; terms with the factor zero are left out unless nothing would be left of the claim."""

    def __init__(self, statement: dict[str, Any]) -> None:
        self._read(statement, Terms())
        if self.claim[1] is self.claim[2]:
            self._read(statement, Terms(keep_zeros=True))

    def _read(self, statement: dict[str, Any], terms: Terms) -> None:
        self.statement = statement
        self.terms = terms
        steps = statement["steps"]
        self.enclosed = {rest[-1] for op, *rest in steps if op in LEADING[1:]}
        self.symbolic = bool(statement["symbols"])
        self.real = self.symbolic or bool(self.enclosed)
        listed = list(statement.get("ranges") or statement["names"])
        names = [*statement["symbols"], *statement["names"]] if self.symbolic else [name for name in listed if name not in self.enclosed]
        self.positions = [listed.index(name) for name in names] if not self.symbolic else []
        self.variables = {name: identifier(name) for name in names}
        if len(set(self.variables.values())) < len(names):
            raise ValueError(f"two inputs are called alike in Coq: {', '.join(names)}")
        self.done: list[CoqTerm] = []
        self.divisors: dict[int, CoqTerm] = {}
        for op, *rest in steps:
            args = [self.term(ref) for ref in (rest[:1] if op in LEADING else rest)]
            by = args[1] if op == "/" else args[0] if op == "^" and rest[1] < 0 else None
            if by is not None and not by.closed:
                self.divisors[id(by)] = by
            self.done.append(self.terms.apply(op, args, rest[1] if op in ("^", "root") else 0))
        self.claim = self._sides(statement["claim"])
        self.where = [self._sides(each) for each in statement["where"]]
        tops = [side for _, *pair in (*self.where, self.claim) for side in pair]
        self.printer = Printer([*self.divisors.values(), *tops] if not self.enclosed else tops, self.variables, self.real)

    def term(self, ref: int | str) -> CoqTerm:
        """An earlier step, an input, or a rational number."""
        if isinstance(ref, int):
            return self.done[ref]
        return self.terms.number(ref) if NUMBER.fullmatch(ref) else self.terms.variable(ref)

    def _sides(self, relation: list[Any]) -> tuple[str, CoqTerm, CoqTerm]:
        return relation[0], self.term(relation[1]), self.term(relation[2])

    def failure(self, name: str) -> tuple[str, str]:
        """For the instance of the only row: every hypothesis holds, and the claim fails."""
        sign, left, right = self.claim
        if self.symbolic or (sign == "==" and self.enclosed):
            raise ValueError("a statement in symbols, or an equation of roots, is not refuted by an instance here")
        shown = [*self.nonzero(), *(self._compared(each) for each in self.where), f"~ ({self._compared(self.claim)})"]
        facts = [*self.where, (f"~{sign}", left, right)]
        proof = self._by_enclosure(facts) if self.enclosed else "by_computation"
        joined = " /\\\n  ".join(shown)
        return f"Theorem {name} :{self._over(f'{self._lets()}  {joined}')}", proof

    def _compared(self, relation: tuple[str, CoqTerm, CoqTerm]) -> str:
        sign, left, right = relation
        a, b = self.printer.text(left, SUM), self.printer.text(right, SUM)
        word = "==" if sign == "==" and not self.real else RELATION[sign]
        typed = " :> R" if sign == "==" and self.enclosed else ""
        line = f"{a} {word} {b}{typed}"
        return line if len(line) < WIDTH - 4 else f"{a}\n  {word} {b}{typed}"

    def _lets(self) -> str:
        return "".join(f"  let {name} := {body} in\n" for (name, _), body in zip(self.printer.parts, self.printer.bodies, strict=True))

    def nonzero(self) -> list[str]:
        """The divisors of the statement, as conditions; an evaluator with enclosures refuses zero itself."""
        if self.enclosed:
            return []
        sign = "<>" if self.real else "!="
        return list(dict.fromkeys(f"{self.printer.text(by, SUM)} {sign} 0" for by in self.divisors.values()))

    def theorems(self, name: str) -> Iterator[tuple[str, str]]:
        """Statement and proof of each theorem; of tables with hypotheses two, since these hold in every row."""
        if self.symbolic:
            lines = [*self.nonzero(), self._compared(self.claim)]
            yield (
                f"Theorem {name} : forall {' '.join(self.variables.values())} : R,\n{self._lets()}  " + " ->\n  ".join(lines),
                "by_identity",
            )
            return
        claims = [(name, [self.claim], [f"{self._compared(each)} ->\n  " for each in self.where])]
        if self.where and not self.statement.get("ranges"):
            claims.insert(0, (f"{name}_given", self.where, []))
        for title, facts, given in claims:
            shown = [*(self.nonzero() if not given else []), *(self._compared(each) for each in facts)]
            guards = self.nonzero() if given else []
            body = "".join(given) + " /\\\n  ".join([*guards, *shown])
            proof = self._by_enclosure(facts) if self.enclosed else "by_computation"
            yield f"Theorem {title} :{self._over(f'{self._lets()}  {body}')}", proof

    def _over(self, body: str) -> str:
        """The statement for every row of its table, or every point of its ranges."""
        bound = list(self.variables.values())
        ranges = self.statement.get("ranges")
        if ranges:
            loops = "".join(f" for every {self.variables[n]} in range {_whole(a)} {_whole(b)}," for n, (a, b) in ranges.items())
            return f"{loops}\n{body}"
        if not bound:
            return f"\n{body}"
        rows = dict.fromkeys(tuple(row[place] for place in self.positions) for row in self.statement["rows"])
        table = [f"({', '.join(map(_entry, row))})" if len(row) > 1 else _entry(row[0]) for row in rows]
        listed = textwrap.fill("; ".join(table), WIDTH, initial_indent="    [", subsequent_indent="     ", break_long_words=False)
        pattern = bound[0] if len(bound) == 1 else f"({', '.join(bound)})"
        return f" for every {pattern} in\n{listed}]%Q,\n{body}"

    def _by_enclosure(self, facts: list[tuple[str, CoqTerm, CoqTerm]]) -> str:
        """The tactic with the statement as data: places count from the last part that has a name, then the inputs."""
        bound = list(self.variables.values())
        parts = self.printer.parts
        opening = ""
        for k, (_, term) in enumerate(parts):
            opening += f"(Bind {self.printer.deep(term, self._indices(bound, k), inside=True)} "
        place = self._indices(bound, len(parts))
        made = [f"({FACT[r]} {self.printer.deep(a, place)} {self.printer.deep(b, place)})" for r, a, b in facts]
        fact = made[-1]
        for each in reversed(made[:-1]):
            fact = f"(Both {each} {fact})"
        data = f"{opening}{fact}{')' * len(parts)}"
        if not bound:
            return f"by_enclosure {data}"
        pattern = bound[0] if len(bound) == 1 else f"'({', '.join(bound)})"
        return f"by_enclosures {data}\n  (fun {pattern} => [{'; '.join(bound)}] : list Q)"

    def _indices(self, bound: list[str], parts: int) -> dict[str, int]:
        return {name: parts - 1 - k for k, (name, _) in enumerate(self.printer.parts[:parts])} | {n: parts + i for i, n in enumerate(bound)}


def _whole(number: int) -> str:
    return f"({number})" if number < 0 else str(number)


def _entry(text: Any) -> str:
    number = Fraction(text)
    return str(number.numerator) if number.denominator == 1 else f"{number.numerator}#{number.denominator}"


def title(row: str) -> str:
    """The name of a claim as one of Coq: AK-T3-sharp is AK_T3_sharp."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", row.replace("+", "_plus").replace("'", "_prime"))
    return plain if plain[:1].isalpha() else f"claim_{plain}"


def comment(text: str) -> str:
    """Words as a comment of Coq."""
    plain = text.replace("(*", "( *").replace("*)", "* )").replace('"', "''")
    filled = textwrap.fill(" ".join(plain.split()), WIDTH - 6, break_long_words=False, break_on_hyphens=False)
    return f"(* {textwrap.indent(filled, '   ').strip()} *)"


def heading(document: dict[str, Any]) -> str:
    """Claim, place, words, what remains, and the digest of the file."""
    lines = [f"{document['row']}, {document['place']}", str(document["says"])]
    lines += (
        [f"Steps of its proof, not the whole sentence. What remains to be shown: {'; '.join(document['remains'])}."]
        if document["remains"]
        else []
    )
    return "\n".join(map(comment, [*lines, f"Of the proof file with the digest {document['digest']}."]))


def export(document: dict[str, Any]) -> str:
    """The text of the file of Coq for a proof file that `recheck` has accepted."""
    blocks = [heading(document), "From Simopt Require Import Simopt."]
    scope = ""
    for number, statement in enumerate(document["statements"], 1):
        formula = Formula(statement)
        wanted = "Open Scope R_scope." if formula.real else "Import Exact.\nOpen Scope Q_scope."
        if wanted != scope:
            blocks.append(wanted)
            scope = wanted
        name = title(document["row"]) + (f"_{number}" if len(document["statements"]) > 1 else "")
        words = f"[{number}] {ROLES[statement['role']]}" + (f": {statement['name']}" if statement["name"] else "")
        proved = "\n\n".join(f"{said}.\nProof. {proof}. Qed." for said, proof in formula.theorems(name))
        blocks.append(f"{comment(words)}\n{proved}")
    return "\n\n".join(blocks) + "\n"


def write(document: dict[str, Any], folder: str | Path) -> str:
    """Write the file of Coq for a proof file, and what it stands on, into a folder; the name of the file."""
    return written(folder, title(str(document["row"])), export(document))


def written(folder: str | Path, name: str, text: str) -> str:
    """Write a file of Coq, and what it stands on, into a folder that is made if there is none; the name of the file."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for each in needed(text):
        write_text(place / f"{each}.v", source(each))
    write_text(place / f"{name}.v", text)
    return name


def refutation(heading: list[str], name: str, statement: dict[str, Any]) -> str:
    """The file of Coq that says that a claim fails for one instance, which is the only row of the statement.

    Raises
    ------
    ValueError
        for a statement in symbols, and for an equation with roots, exponentials or logarithms.
    """
    formula = Formula(statement)
    said, proof = formula.failure(name)
    scope = "Open Scope R_scope." if formula.real else "Import Exact.\nOpen Scope Q_scope."
    words = "\n".join(map(comment, heading))
    return f"{words}\n\nFrom Simopt Require Import Simopt.\n\n{scope}\n\n{said}.\nProof. {proof}. Qed.\n"
