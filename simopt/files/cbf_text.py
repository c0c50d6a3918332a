"""A problem's canonical form as the text of a CBF file; numbers are written so that they come back to the last bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from simopt.files.canonical import CanonicalForm


def text(form: CanonicalForm) -> str:
    """The file: x free, rows b − Ax in L=, L+, Q, EXP and POW, semidefinite matrices under PSDCON; of a maximum f and c have its sign."""
    return "\n".join(_lines(form)) + "\n"


def _lines(form: CanonicalForm) -> Iterator[str]:
    sign = -1.0 if form.maximises else 1.0
    sizes = [("L=", form.equations), ("L+", form.inequalities), *(("Q", size) for size in form.cones)]
    ahead = sum(size for _, size in sizes)
    triangles = sum(d * (d + 1) // 2 for d in form.matrices)
    beside = slice(ahead, ahead + triangles)
    after = ahead + triangles
    sizes += [("EXP", 3)] * form.exponential + [(f"@{k}:POW", 3) for k in range(len(form.powers))]
    cones = [(kind, size) for kind, size in sizes if size]
    rows = sp.csr_array(sp.vstack([form.matrix[:ahead], form.matrix[after:]]))
    right = np.concatenate([form.right[:ahead], form.right[after:]])
    n, m = form.cost.size, right.size
    binary = sp.vstack([-_unit(form.booleans, n), _unit(form.booleans, n)]) if form.booleans.size else None
    if binary is not None:  # b − Ax is x and 1 − x
        rows = sp.csr_array(sp.vstack([rows, binary]))
        right = np.concatenate([right, np.zeros(form.booleans.size), np.ones(form.booleans.size)])
        cones.append(("L+", 2 * form.booleans.size))
        m = right.size
    yield from ("VER", "3" if form.powers or form.exponential else "2", "", "OBJSENSE", "MAX" if form.maximises else "MIN", "")
    if form.powers:
        yield from ("POWCONES", f"{len(form.powers)} {2 * len(form.powers)}")
        for power in form.powers:
            yield from ("2", repr(power), repr(1.0 - power))
        yield ""
    yield from (f"# {name} is column {j}" for j, name in enumerate(form.names) if name.isascii())
    yield from ("VAR", f"{n} 1", f"F {n}", "")
    whole = sorted({*form.booleans.tolist(), *form.integers.tolist()})
    if whole:
        yield from ("INT", str(len(whole)), *map(str, whole), "")
    if form.matrices:
        yield from ("PSDCON", str(len(form.matrices)), *map(str, form.matrices), "")
    if m:
        yield from ("CON", f"{m} {len(cones)}", *(f"{kind} {size}" for kind, size in cones), "")
    yield from _section("OBJACOORD", ((f"{j}", sign * form.cost[j]) for j in np.flatnonzero(form.cost)))
    if form.offset:
        yield from ("OBJBCOORD", repr(sign * form.offset), "")
    yield from _section("ACOORD", ((f"{i} {j}", -value) for i, j, value in _entries(rows)))
    yield from _section("BCOORD", ((f"{i}", right[i]) for i in np.flatnonzero(right)))
    at = [f"{k} {r} {c}" for k, d in enumerate(form.matrices) for c in range(d) for r in range(c, d)]
    split = [line.split(" ", 1) for line in at]
    constant = form.right[beside]
    yield from _section("HCOORD", ((f"{split[i][0]} {j} {split[i][1]}", -value) for i, j, value in _entries(form.matrix[beside])))
    yield from _section("DCOORD", ((at[i], constant[i]) for i in np.flatnonzero(constant)))


def _unit(columns: np.ndarray, n: int) -> sp.csr_array:
    return sp.csr_array((np.ones(columns.size), (np.arange(columns.size), columns)), shape=(columns.size, n))


def _entries(matrix: sp.csr_array) -> Iterator[tuple[int, int, float]]:
    coordinates = sp.coo_array(sp.csr_array(matrix))
    yield from (
        (i, j, value)
        for i, j, value in zip(coordinates.row.tolist(), coordinates.col.tolist(), coordinates.data.tolist(), strict=True)
        if value
    )


def _section(name: str, entries: Iterable[tuple[str, float]]) -> Iterator[str]:
    lines = [f"{at} {float(value)!r}" for at, value in entries]
    if lines:
        yield from (name, str(len(lines)), *lines, "")
