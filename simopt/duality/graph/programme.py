"""A graph of terms: what a declaration says, in the words of the sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.vectors import Indices, Mask, Value

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.arithmetic import Arithmetic
    from simopt.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Leaf:
    """A variable that nothing defines. `entry_index` says where the entries of a symmetric, diagonal or sparse one come from (−1: nowhere)."""

    key: Key
    name: str
    shape: tuple[int, ...]
    variable: Any = None
    entry_index: Indices | None = None

    @property
    def size(self) -> int:
        """How many entries."""
        return math.prod(self.shape)

    def structured(self, num: Arithmetic, x: Value) -> Value:
        """The variable's entries, flat: with x_ij at (j, i) too, or 0 where there is none."""
        return x if self.entry_index is None else num.concat([num.zeros(1), x])[self.entry_index + 1]

    def solved_value(self) -> Array:
        """The value that a solve left in the variable, as a dense array; 0 where it left none, as the entry counts nowhere."""
        value = self.variable.value
        dense: Array = np.nan_to_num(np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float))
        return dense


@dataclass(frozen=True, eq=False)
class Term:
    """t = sign · φ(z) with z affine in leaves and in values of earlier nodes.

    `monotonicity` says of each entry of z whether it is convex (1) or concave (−1) and not affine: DCP has φ rise or fall in it, and a multiplier
    of that sign keeps the scale of what is below from being negative. `parts` says which arguments of the source z consists of: their
    numbers, and how many entries of z each gives; nothing where entries of z are no arguments.
    """

    key: Key
    name: str
    atom: Atom
    argument: Map
    sign: int
    size: int
    monotonicity: Indices
    proper: Mask  # entries of z that the rules of sign put into the domain of φ
    source: Any = None
    parts: tuple[tuple[int, int], ...] = ()

    @property
    def constant(self) -> Mask:
        """Entries of z that belong to arguments without variables: whatever their multipliers are, nothing is left of them."""
        if not self.parts:
            return np.zeros(self.argument.size, dtype=bool)
        return np.concatenate([np.full(size, self.source.args[number].is_constant()) for number, size in self.parts])


@dataclass(frozen=True, eq=False)
class Row:
    """A constraint map ≤ 0, or map = 0; its multiplier y in the Lagrangian f + ⟨y, map⟩ is what CVXPY returns.

    `sides` are the two sides as they were declared; none where an attribute of a variable says it.
    """

    key: Key
    name: str
    map: Map
    equality: bool = False
    sides: tuple[Any, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the constraint, whose entries are those of the map."""
        return (self.map.size,) if self.sides is None else np.broadcast_shapes(*(side.shape for side in self.sides))


@dataclass(frozen=True, eq=False)
class Definition:
    """A variable x that an equality gives: row i says factor_i · x at column_i + rest_i = 0, each entry of x in one row."""

    key: Key
    name: str
    shape: tuple[int, ...]
    row: Row
    columns: Indices
    factors: Array

    @property
    def size(self) -> int:
        """How many entries."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Epigraph:
    """A variable t that only has to satisfy t_j ≥ z_i for the rows i of group j, written z_i − t_j ≤ 0: it is their maximum."""

    key: Key
    name: str
    shape: tuple[int, ...]
    rows: tuple[Row, ...]
    argument: Map  # the rows one below the other
    atom: Maximum

    @property
    def size(self) -> int:
        """How many entries."""
        return math.prod(self.shape)


Node = Term | Definition | Epigraph


@dataclass(frozen=True, eq=False)
class VariableBound:
    """A row that bounds entries of one leaf, entry columns_i in its entry i."""

    row: Row
    columns: Indices


@dataclass(eq=False)
class Programme:
    """min objective subject to the rows, over leaves within their bounds; `maximises` says that the declaration has the negative.

    `nodes` are in an order in which each refers to earlier ones only; `terms` are the nonlinear among them. `variables` has the key of each
    of CVXPY's variables by its number, also of those that have become nodes; `rewritten`, by identity, an expression of several terms and
    the one, equal up to rounding, whose parts are their sources.
    """

    problem: cp.Problem
    objective: Map
    maximises: bool
    terms: list[Term]
    leaves: dict[Key, Leaf] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    bounds: dict[Key, list[VariableBound]] = field(default_factory=dict)
    variables: dict[int, Key] = field(default_factory=dict)
    rewritten: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def every_row(self) -> list[Row]:
        """All that is declared, in its order: also the rows that are bounds, and those that have become nodes."""
        bounds = [bound.row for bounds in self.bounds.values() for bound in bounds]
        return sorted([*self.rows, *bounds, *self.defining], key=lambda row: row.key)

    @property
    def defining(self) -> list[Row]:
        """The rows of definitions and epigraphs."""
        rows: list[Row] = []
        for node in self.nodes:
            rows += [node.row] if isinstance(node, Definition) else node.rows if isinstance(node, Epigraph) else []
        return rows

    @property
    def every_variable(self) -> list[Leaf | Definition | Epigraph]:
        """All that are declared: also those that have become nodes."""
        return [*self.leaves.values(), *(node for node in self.nodes if not isinstance(node, Term))]

    @staticmethod
    def below(node: Node) -> tuple[Key, ...]:
        """What a node refers to."""
        return tuple(key for key in argument(node).below if key != node.key)

    def reaches(self, start: Key, goal: Key) -> bool:
        """Whether the value `start` is computed from the value `goal`."""
        nodes: dict[Key, Node] = {node.key: node for node in (*self.terms, *self.nodes)}
        seen, waiting = {start}, [start]
        while waiting:
            key = waiting.pop()
            if key == goal:
                return True
            fresh = set(self.below(nodes[key])) - seen if key in nodes else set()
            seen |= fresh
            waiting += fresh
        return False

    def put_in_order(self) -> None:
        """Sort the nodes that the objective or a row needs; terms that stood in a row which has become a definition are among them."""
        nodes: dict[Key, Node] = {node.key: node for node in (*self.terms, *self.nodes)}
        ordered: dict[Key, Node] = {}
        for start in (*self.objective.below, *(key for row in self.rows for key in row.map.below), *(node.key for node in self.nodes)):
            waiting = [start]
            while waiting:
                node = nodes.get(waiting[-1])
                missing = [] if node is None else [key for key in self.below(node) if key in nodes and key not in ordered]
                if missing:
                    waiting += missing
                    continue
                waiting.pop()
                if node is not None:
                    ordered[node.key] = node
        self.nodes = list(ordered.values())
        self.terms = [node for node in self.nodes if isinstance(node, Term)]


def argument(node: Node) -> Map:
    """The map below a node. That of a variable holds the variable itself, to be taken as 0 there."""
    return node.row.map if isinstance(node, Definition) else node.argument


def evaluated(num: Arithmetic, node: Node, values: Mapping[Key, Value]) -> tuple[Value, Value]:
    """The argument of a node and its value, from the values of what it refers to."""
    if isinstance(node, Term):
        z = node.argument.value(num, values)
        value = node.atom.value(num, z)
        return z, value if node.sign > 0 else -value
    z = argument(node).value(num, {**values, node.key: num.zeros(node.size)})
    if isinstance(node, Definition):
        return z, num.group_sum(-z / num.lift(node.factors), node.columns, node.size)
    return z, node.atom.value(num, z)
