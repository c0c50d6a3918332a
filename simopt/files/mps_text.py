"""A problem's canonical form as the text of an MPS or QPS file; numbers are written so that they come back to the last bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from simopt.core.errors import InvalidProblem
from simopt.files.canonical import CanonicalForm
from simopt.files.quadratic_programme import INFINITE


def text(form: CanonicalForm, ending: str) -> str:
    """The file: columns are free, rows E and L; of a maximum f, c and Q have its sign.

    Raises
    ------
    InvalidProblem
        for cones, for right-hand sides of size 1e20 and above, which stand for infinity, and for squares where the ending is .mps.
    """
    cones = {
        "second-order cones": len(form.cones), "semidefinite matrices": len(form.matrices), "exponential cones": form.exponential,
        "power cones": len(form.powers),
    }  # fmt: skip
    for kind, count in cones.items():
        if count:
            raise InvalidProblem(f"problem: needs {kind}, which {ending} files do not hold; write a .cbf file")
    if form.quadratic.nnz and ending == ".mps":
        raise InvalidProblem("problem: has a quadratic objective, which .mps files do not hold; write a .qps or a .cbf file")
    for i in np.flatnonzero(np.abs(form.right) >= INFINITE)[:1]:
        raise InvalidProblem(f"problem: right-hand side {form.right[i]:g}; in {ending} files {INFINITE:g} and above stands for infinity")
    return "\n".join(_lines(form)) + "\n"


def _lines(form: CanonicalForm) -> Iterator[str]:
    sign = -1.0 if form.maximises else 1.0
    rows = [f"r{i}" for i in range(form.right.size)]
    yield "NAME"
    yield from ("OBJSENSE", f"    {'MAX' if form.maximises else 'MIN'}", "ROWS", " N objective")
    yield from (f" {'E' if i < form.equations else 'L'} {row}" for i, row in enumerate(rows))
    yield "COLUMNS"
    matrix = sp.csc_array(form.matrix)
    whole = {*form.booleans.tolist(), *form.integers.tolist()}
    inside = False
    for j, name in enumerate(form.names):
        if (j in whole) != inside:
            inside = not inside
            yield f"    MARKER 'MARKER' '{'INTORG' if inside else 'INTEND'}'"
        yield f"    {name} objective {sign * float(form.cost[j]) + 0.0!r}"  # + 0.0: no −0.0
        at = slice(matrix.indptr[j], matrix.indptr[j + 1])
        for i, value in zip(matrix.indices[at].tolist(), matrix.data[at].tolist(), strict=True):
            if value:
                yield f"    {name} {rows[i]} {value!r}"
    if inside:
        yield "    MARKER 'MARKER' 'INTEND'"
    yield "RHS"
    if form.offset:
        yield f"    RHS objective {-sign * form.offset!r}"
    yield from (f"    RHS {rows[i]} {float(form.right[i])!r}" for i in np.flatnonzero(form.right))
    yield "BOUNDS"
    binary = set(form.booleans.tolist())
    yield from (f" {'BV' if j in binary else 'FR'} BND {name}" for j, name in enumerate(form.names))
    if form.quadratic.nnz:
        yield "QUADOBJ"
        half = sp.coo_array(sp.tril(form.quadratic))
        for i, j, value in zip(half.row.tolist(), half.col.tolist(), half.data.tolist(), strict=True):
            if value:
                yield f"    {form.names[j]} {form.names[i]} {sign * value!r}"
    yield "ENDATA"
