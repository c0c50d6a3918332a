"""Mutants of a module: its text with one line changed so that it still compiles and ought to mean something else.

| kind | change |
|---|---|
| operator | + and −, * and /, & and \\|, += and −=, *= and /= for each other; // to /, % to //, ** to * |
| operand | an operation, `and` and `or` give one of their operands; a sign, `not` and `~` are dropped |
| comparison | < to <= and to >, == to !=, `in` to `not in`, `is` to `is not`, and so on |
| condition | of `if`, `while`, a conditional expression or a comprehension: negated; `and` and `or` for each other |
| constant | 0 to 1, 1 to 0 and 2, c to 2c and −c, True to False; a tolerance (below 1e-3) to 0 and to 1, since twice as much is one too |
| function | abs, pos, clip, nextafter give their argument, max and min one of theirs; max for min, all for any, upper for lower … |
| statement | a call, `raise` or an assignment to what has a value already is dropped; `break` and `continue` for each other |

Left alone: annotations, decorators, imports, texts, what an error says, `__str__` and `__repr__`.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

OPERATORS: dict[type[ast.operator], tuple[str, str | None]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.MatMult: ("@", None),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
TWINS = {"max": "min", "maximum": "minimum", "all": "any", "floor": "ceil", "zeros": "ones", "upper": "lower", "argmax": "argmin"}
TWINS |= {twin: name for name, twin in TWINS.items()}
ONE_OF_THEIRS = ("max", "min", "maximum", "minimum")
THEIR_ARGUMENT = ("abs", "pos", "clip", "nextafter")
TOLERANCE = 1e-3
SILENT = ("__str__", "__repr__")
ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple, ast.Dict)


@dataclass(frozen=True)
class Mutant:
    """Line `line` of the file `path`, in the function `where`, reads `after` in place of `before`."""

    path: str
    where: str
    line: int
    kind: str
    before: str
    after: str
    nth: int = 0

    @property
    def id(self) -> str:
        """File, function and a few digits that stay the same while the line does, wherever it moves within the function."""
        told = "\n".join([self.before.strip(), self.after.strip(), str(self.nth)])
        return f"{self.path.removesuffix('.py')}:{self.where}:{hashlib.sha256(told.encode()).hexdigest()[:6]}"

    @property
    def diff(self) -> str:
        """The line before and after."""
        return f"{self.path}:{self.line}\n- {self.before.strip()}\n+ {self.after.strip()}"

    def applied(self, source: str) -> str:
        """The text of the module with the line changed."""
        lines = source.splitlines(keepends=True)
        if lines[self.line - 1].rstrip("\n") != self.before:
            raise ValueError(f"{self.path}: line {self.line} is not the one that this mutant changes")
        lines[self.line - 1] = self.after + "\n"
        return "".join(lines)


def differs(source: str, mutant: Mutant) -> bool:
    """Whether the changed text compiles, and not to what it was."""
    try:
        return ast.dump(ast.parse(mutant.applied(source))) != _meaning(source)
    except SyntaxError:
        return False


@cache
def _meaning(source: str) -> str:
    return ast.dump(ast.parse(source))


def mutants(path: str, source: str, without: Collection[str] = ()) -> list[Mutant]:
    """All mutants of a module, in the order of its lines; those of functions named in `without` are left out."""
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    reader = _Reader(source, {*without, *SILENT})
    reader.visit(ast.parse(source))
    for where, line, kind, after in dict.fromkeys(reader.sites):
        before = reader.lines[line - 1].decode()
        key = (where, before.strip(), after.strip())
        found.append(Mutant(path, where, line, kind, before, after, seen[key]))
        seen[key] += 1
    return sorted(found, key=lambda mutant: mutant.line)


class _Reader(ast.NodeVisitor):
    """Collects (function, line, kind, changed line); columns count bytes, and so do these lines."""

    def __init__(self, source: str, without: Collection[str]) -> None:
        self.lines = source.encode().split(b"\n")
        self.without = without
        self.within: list[str] = []
        self.assigned: list[set[str]] = [set()]
        self.sites: list[tuple[str, int, str, str]] = []

    # where things stand

    def text(self, node: ast.expr) -> str | None:
        """An expression's text if it stands on one line, in parentheses unless it holds together by itself."""
        if node.lineno != node.end_lineno:
            return None
        inside = self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
        return inside if isinstance(node, ATOMS) else f"({inside})"

    def put(self, kind: str, node: ast.expr | ast.stmt, new: str | None) -> None:
        """Note that the text of a node on one line becomes `new`."""
        if new is not None and node.lineno == node.end_lineno:
            self.write(kind, node.lineno, node.col_offset, node.end_col_offset or 0, new)

    def write(self, kind: str, line: int, start: int, end: int, new: str) -> None:
        """Note that bytes `start` to `end` of a line become `new`."""
        old = self.lines[line - 1]
        self.sites.append((".".join(self.within) or "<module>", line, kind, (old[:start] + new.encode() + old[end:]).decode()))

    def swap(self, kind: str, left: ast.expr, right: ast.expr, symbol: str, new: str | None) -> None:
        """Note that the symbol between two operands becomes `new`."""
        if new is None:
            return
        escaped = re.escape(symbol.encode()).replace(rb"\ ", rb"\s+")
        pattern = re.compile(rb"(?<!\w)" + escaped + rb"(?!\w)" if symbol[0].isalpha() else escaped)
        for line in range(left.end_lineno or left.lineno, right.lineno + 1):
            start = (left.end_col_offset or 0) if line == left.end_lineno else 0
            end = right.col_offset if line == right.lineno else len(self.lines[line - 1])
            between = self.lines[line - 1][start:end].split(b"#")[0]
            if found := pattern.search(between):
                self.write(kind, line, start + found.start(), start + found.end(), new)
                return

    # what is left alone

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body and the defaults."""
        if node.name in self.without:
            return
        self.within.append(node.name)
        self.assigned.append({argument.arg for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs)})
        for child in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(child)
        self.assigned.pop()
        self.within.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """The body."""
        self.within.append(node.name)
        for child in node.body:
            self.visit(child)
        self.within.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value."""
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nothing: it is read by people."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Whether, and not what it says."""
        self.put("statement", node, "pass")

    # what changes

    def visit_If(self, node: ast.If) -> None:
        """Negated, unless it is for type checkers."""
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        """Negated."""
        self.negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Negated."""
        self.negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Conditions negated."""
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def negate(self, test: ast.expr) -> None:
        """Put `not` before a condition."""
        opposite = isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], ORDERS)
        if not opposite and not isinstance(test, ast.UnaryOp):  # which have a mutant that says the same
            text = self.text(test)
            self.put("condition", test, text and f"(not {text})")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Another operator; one of the operands."""
        if not any(_is_text(part) for part in (node.left, node.right)):
            symbol, other = OPERATORS.get(type(node.op), ("", None))
            if symbol and not (symbol == "|" and not self.within):  # a type's name at the top of a module
                self.swap("operator", node.left, node.right, symbol, other)
                for operand in (node.left, node.right):
                    self.put("operand", node, self.text(operand))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Dropped."""
        self.put("operand", node, self.text(node.operand))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`and` and `or` for each other; one operand less."""
        here, there = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap("condition", left, right, here, there)
        for left_out in node.values:
            rest = [self.text(value) for value in node.values if value is not left_out]
            whole = f" {here} ".join(map(str, rest))
            self.put("operand", node, None if None in rest else f"({whole})" if len(rest) > 1 else whole)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Another comparison."""
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            symbol, others = COMPARISONS[type(op)]
            for other in others:
                self.swap("comparison", left, right, symbol, other)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number."""
        value = node.value
        if isinstance(value, bool):
            self.put("constant", node, str(not value))
        elif isinstance(value, (int, float)):
            others: tuple[float, ...] = (2 * value, -value)
            if value in (0, 1):
                others = (1,) if value == 0 else (0, 2)
            elif abs(value) < TOLERANCE:
                others = (0.0, 1.0)
            for other in others:
                self.put("constant", node, f"({type(value)(other)!r})" if other < 0 else repr(type(value)(other)))

    def visit_Call(self, node: ast.Call) -> None:
        """Another function; its argument."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if name in TWINS and node.func.lineno == node.func.end_lineno:
            end = node.func.end_col_offset or 0
            self.write("function", node.func.lineno, end - len(name), end, TWINS[name])
        plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        if name in ONE_OF_THEIRS and len(plain) > 1:
            for argument in plain:
                self.put("function", node, self.text(argument))
        elif name in THEIR_ARGUMENT and plain:
            self.put("function", node, self.text(plain[0]))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Dropped, unless it is a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.put("statement", node, "pass")
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Dropped where there is something else to go on with."""
        names = {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        again = any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets) or names <= self.assigned[-1]
        if again and not _is_text(node.value):
            self.put("statement", node, "pass")
        self.assigned[-1] |= names
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Another operator; dropped."""
        symbol, other = OPERATORS.get(type(node.op), ("", None))
        if symbol and other:
            self.swap("operator", node.target, node.value, f"{symbol}=", f"{other}=")
        self.put("statement", node, "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        """`continue`."""
        self.put("statement", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        """`break`."""
        self.put("statement", node, "break")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def kinds() -> Iterator[tuple[str, str]]:
    """The table at the head of this file: kind and change."""
    for kind, change in re.findall(r"^\| (\w+) \| (.*) \|$", __doc__ or "", re.M):
        if kind != "kind":
            yield kind, change
