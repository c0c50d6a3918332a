"""The graph of terms that a declaration is read into, in the terms of the sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.vectors import Indices, Mask, Value
from simopt.duality.recent import Recent

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.arithmetic import Arithmetic
    from simopt.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Leaf:
    """A variable that nothing defines.

    `entry_index` has the source of each entry of a symmetric, diagonal or sparse variable (−1: none).
    """

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
        """The variable's entries, flat: x_ij also at (j, i), or 0 where there is none."""
        return x if self.entry_index is None else num.concat([num.zeros(1), x])[self.entry_index + 1]

    def solved_value(self) -> Array:
        """The variable's value after a solve, as a dense array; entries without one are 0, as they do not count."""
        value = self.variable.value
        dense: Array = np.nan_to_num(np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float))
        return dense


@dataclass(frozen=True, eq=False)
class Term:
    """t = sign · φ(z) with z affine in leaves and in values of earlier nodes.

    `monotonicity` is 1 for entries of z that are convex and not affine, in which φ is increasing by DCP's rules. It is −1 for concave ones,
    in which φ is decreasing. A multiplier of that sign keeps the scales below z from being negative. `parts` lists the arguments of the
    source that z consists of: their numbers, and how many entries of z each gives. It is empty where entries of z are no arguments.
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
        """Entries of z that belong to arguments without variables: their multipliers leave no residual."""
        if not self.parts:
            return np.zeros(self.argument.size, dtype=bool)
        return np.concatenate([np.full(size, self.source.args[number].is_constant()) for number, size in self.parts])


@dataclass(frozen=True, eq=False)
class Row:
    """A constraint map ≤ 0, or map = 0; its multiplier y in the Lagrangian f + ⟨y, map⟩ is CVXPY's dual value.

    `sides` are the two sides as declared; None for an attribute of a variable.
    """

    key: Key
    name: str
    map: Map
    equality: bool = False
    sides: tuple[Any, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the constraint, whose entries are those of the map."""
        return (self.map.size,) if self.sides is None else np.broadcast_shapes(*(side.shape for side in self.sides))


@dataclass(frozen=True, eq=False)
class Definition:
    """A variable x that an equality gives: row i is factor_i · x at column_i + rest_i = 0, each entry of x in one row."""

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
    """A row that bounds entries of one leaf, entry columns_i in its entry i; −1 where it is 0 = 0."""

    row: Row
    columns: Indices


@dataclass(eq=False)
class Programme:
    """min objective subject to the rows, over leaves within their bounds; `maximises` means that the declaration has its negative.

    `nodes` are in an order in which each refers to earlier ones only; `terms` are the nonlinear ones. `variables` maps the id of each CVXPY
    variable to its key, also of those that have become nodes. `rewritten` maps the id of an expression of several terms to an expression
    that is equal up to rounding, and whose parts are the sources of the terms. `promises` is whether DCP's rules rest on signs that are not
    proven.
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
    promises: bool = False

    @cached_property
    def cached(self) -> Recent[int, Any]:
        """What was made of constants and parameters alone, such as Jacobians of equations."""
        return Recent(8)

    @cached_property
    def gradients(self) -> Recent[Key, Any]:
        """Gradients of maps of leaves, for the last entries of leaves that were asked for."""
        return Recent(4)

    @cached_property
    def optima(self) -> Recent[Any, Any]:
        """What matrices alone say of the optimum, at the present values of parameters: an optimal vertex, a quadratic programme."""
        return Recent(2)

    @cached_property
    def choices(self) -> Recent[Any, Any]:
        """Which multipliers were corrected for the last ones that were evaluated."""
        return Recent(4)

    @cached_property
    def preparations(self) -> Recent[Any, Any]:
        """The last multipliers that were made more nearly stationary, and what was made of them."""
        return Recent(2)

    @property
    def every_row(self) -> list[Row]:
        """All declared rows in their order: also those that are bounds, and those that have become nodes."""
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
        """All declared variables, also those that have become nodes."""
        return [*self.leaves.values(), *(node for node in self.nodes if not isinstance(node, Term))]

    @staticmethod
    def below(node: Node) -> tuple[Key, ...]:
        """The values to which a node refers."""
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
        """Sort the nodes that the objective or a row needs, including terms in rows that have become definitions."""
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
    """The map below a node. The map of a variable contains the variable itself, which has to be set to 0."""
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
