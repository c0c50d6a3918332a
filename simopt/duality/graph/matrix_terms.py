"""The terms of a programme that are functions of matrices, or cones of them."""

from __future__ import annotations

from typing import Any

import cvxpy as cp

from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.matrix_norm import MatrixNorm
from simopt.duality.atoms.quantum_entropy import NegativeQuantumEntropy
from simopt.duality.atoms.quantum_relative_entropy import QuantumRelativeEntropy
from simopt.duality.atoms.semidefinite_cone import DecreasingMatrixAtom
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom
from simopt.duality.atoms.trace_logarithm import NegativeTraceLogarithm
from simopt.duality.graph.programme import Programme, Term

SEMIDEFINITE = {"PSD": 1, "NSD": -1}  # attributes of variables
LARGE_CONE = 40  # rows


def has_matrices(programme: Programme) -> bool:
    """Whether multipliers of a term have to be drawn inside of a set of matrices."""
    return any(isinstance(term.atom, (SymmetricMatrixAtom, MatrixFraction, MatrixNorm, QuantumRelativeEntropy)) for term in programme.terms)


def has_large_cones(programme: Programme) -> bool:
    """Whether CVXPY has a cone so large that interior-point methods, which factorise n(n + 1)/2 dense rows, are slow."""
    return any(_rows_of_cone(term) > LARGE_CONE for term in programme.terms)


def _rows_of_cone(term: Term) -> int:
    """n of the cone in which CVXPY writes the function."""
    if isinstance(term.atom, MatrixNorm):
        return sum(term.atom.shape)
    if isinstance(term.atom, MatrixFraction):
        return term.atom.n + term.atom.m
    return term.atom.n if isinstance(term.atom, SymmetricMatrixAtom) else 0


def is_folded(term: Term, number: int) -> bool:
    """Whether an argument of a term's source is a symmetric matrix, of which the term has the triangle."""
    both = isinstance(term.atom, (SymmetricMatrixAtom, QuantumRelativeEntropy))
    return both or (isinstance(term.atom, MatrixFraction) and number == 1)


def to_be_semidefinite(term: Term) -> list[Any]:
    """The expressions that have to be semidefinite in a term's domain, as CVXPY writes them."""
    if isinstance(term.atom, QuantumRelativeEntropy):
        return [z for z in term.source.args if not z.is_constant()]
    if isinstance(term.atom, NegativeTraceLogarithm):
        return [term.source.args[1]]
    if isinstance(term.atom, (DecreasingMatrixAtom, NegativeQuantumEntropy)):
        return [term.source.args[0]]
    return [term.source.args[1]] if isinstance(term.atom, MatrixFraction) else []


def symmetric_part(z: Any) -> Any:
    """Z, or (Z + Zᵀ)/2 in a form that CVXPY knows to be symmetric."""
    return z if z.is_symmetric() else cp.symmetric_wrap((z + z.T) / 2)
