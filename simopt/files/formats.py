"""`read` and `write`: which format a file has is in its name."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING

from simopt.core.errors import InvalidFile, InvalidProblem
from simopt.core.writing import write_bytes
from simopt.files import content

if TYPE_CHECKING:
    import cvxpy as cp

READ = (".mps", ".qps", ".lp", ".cbf")
WRITTEN = (".mps", ".qps", ".cbf")


def ending(path: str | os.PathLike[str]) -> str:
    """The ending that says the format, in small letters and without .gz."""
    plain = Path(path)
    return (plain.with_suffix("") if plain.suffix.lower() == ".gz" else plain).suffix.lower()


def read(path: str | os.PathLike[str]) -> cp.Problem:
    """The problem that a file says, as a `cvxpy.Problem`: .mps, .qps, .lp or .cbf, also packed (.gz).

    MPS, QPS and LP say min (or max) f + cᵀx + ½ xᵀQx with l ≤ Ax ≤ u, a ≤ x ≤ b, and integers; CBF says a linear objective over cones. The
    problem has one vector variable x of all columns, and for CBF matrices X0, X1, …. Its constraints are labelled.
    `simopt.files.names.file_names` has the file's names of columns and rows.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    InvalidFile
        for another ending; for a file that is damaged, naming line and section; for one larger than 512 MB, packed or unpacked; and
        for what is not read, by name.
    OSError
        when the file cannot be opened.
    """
    kind = ending(path)
    if kind not in READ:
        raise InvalidFile(f"{os.fspath(path)}: ends in {kind or 'nothing'}; {', '.join(READ)} are read, also with .gz")
    source = content.unpacked(path)
    if kind == ".cbf":
        from simopt.files import cbf

        return cbf.parse(source).problem()
    if kind == ".lp":
        from simopt.files import lp

        return lp.parse(source).problem()
    from simopt.files import mps

    return mps.parse(source).problem()


def write(problem: cp.Problem, path: str | os.PathLike[str]) -> None:
    """Write a problem in CVXPY's canonical form as .mps, .qps or .cbf, also packed (.gz).

    CVXPY's reductions put variables for functions, so a file may have more columns than the problem; its optimum is the same. Numbers
    come back to the last bit. A problem without squares and cones may be .mps, one with a quadratic objective .qps, others .cbf.

    Parameters
    ----------
    problem : cvxpy.Problem
    path : str or path

    Raises
    ------
    InvalidProblem
        for another ending, for what the format does not hold, by name, and for a problem that CVXPY has no canonical form of.
    OSError
        when the file cannot be written.
    """
    kind = ending(path)
    if kind not in WRITTEN:
        raise InvalidProblem(f"path: {os.fspath(path)!r} ends in {kind or 'nothing'}; {', '.join(WRITTEN)} are written, also with .gz")
    from simopt.files import cbf_text, mps_text
    from simopt.files.canonical import canonical

    form = canonical(problem, quadratic=kind != ".cbf")
    data = (cbf_text.text(form) if kind == ".cbf" else mps_text.text(form, kind)).encode("utf-8")
    write_bytes(path, gzip.compress(data, mtime=0) if Path(path).suffix.lower() == ".gz" else data)
