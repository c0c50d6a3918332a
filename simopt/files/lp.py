"""Reading LP files, the algebraic format of CPLEX, by HiGHS, in a process of its own: a damaged file may neither end nor stop this one.

HiGHS keeps entries of A above 1e-12. Whatever it warns of is refused, as it goes on with other data than the file's.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.core.errors import InvalidFile
from simopt.core.foreign_text import on_terminal
from simopt.files.content import TextFile, quoted
from simopt.files.quadratic_programme import FileProgramme, widened
from simopt.processes.worker import Died, Worker

LEAST = 1e-12  # size of an entry of A that HiGHS keeps: its smallest setting
SECONDS = 60.0  # for HiGHS and a file, and one more for each of its megabytes
REMEDY = "write it as HiGHS reads it, or as .mps or .qps"
SENSES = {"min", "minimum", "minimize", "max", "maximum", "maximize"}  # HiGHS passes over an objective behind another word


def parse(source: TextFile) -> FileProgramme:
    """The programme that a file says.

    Raises
    ------
    InvalidFile
        where HiGHS refuses the file, warns of something, or does not end; for semi-continuous columns; and for bytes that are no text.
    """
    words = [(at, line.partition("\\")[0].split()) for at, line in source.lines()]  # all of them: HiGHS gives back names that are no text
    at, first = next(((at, those[0]) for at, those in words if those), (1, ""))
    if first.lower() not in SENSES:
        what = f"{quoted(first)} stands where the objective begins" if first else "the file is empty"
        raise source.wrong(at, "", what, "begin with min or max")
    worker = Worker(_model, fork=True)
    try:
        said, model = worker.call(source.data, seconds=SECONDS + len(source.data) / 1e6)
    except (Died, TimeoutError) as error:
        reason = "does not end" if isinstance(error, TimeoutError) else "ends its process"
        raise InvalidFile(f"{source.path}: HiGHS {reason} at it; {REMEDY}") from None
    finally:
        worker.end()
    if said or model is None:
        raise InvalidFile(f"{source.path}: HiGHS: {on_terminal(said) or 'cannot read it'}; {REMEDY}")
    n, m = len(model["columns"]), len(model["rows"])
    lower, upper = model["column bounds"]
    for what, names in (("column", model["columns"]), ("row", model["rows"])):
        if len(set(names)) < len(names):
            repeated = Counter(names).most_common(1)[0][0]
            raise InvalidFile(f"{source.path}: {what} {quoted(repeated)} appears twice; each has its own name")
    for name in model["columns"]:
        if name.startswith(","):  # 1,5 x is 1 times a column ",5", and x
            raise InvalidFile(f"{source.path}: column {quoted(name)} begins with a comma; the decimal sign is a point")
    half = sp.csc_array(model["quadratic"], shape=(n, n)) if model["quadratic"] else sp.csc_array((n, n))
    quadratic = sp.csc_array(half + sp.tril(half, -1).T)
    quadratic.eliminate_zeros()
    matrix = sp.csr_array(sp.csc_array(model["matrix"], shape=(m, n)))
    matrix.eliminate_zeros()
    for section, numbers in (("objective", model["cost"]), ("objective", quadratic.data), ("rows", matrix.data)):
        if not np.isfinite(numbers).all():
            raise InvalidFile(f"{source.path}: {section}: a number is not finite; decimal numbers below 1e20 are needed")
    return FileProgramme(
        source.path,
        model["name"],
        model["maximises"],
        model["offset"],
        model["cost"],
        quadratic,
        matrix,
        (widened(model["row bounds"][0]), widened(model["row bounds"][1])),
        (widened(lower), widened(upper)),
        model["integers"],
        tuple(model["columns"]),
        tuple(model["rows"]),
    )


def _model(data: bytes) -> tuple[str, dict[str, Any] | None]:
    """What HiGHS complains of, and what it has read; runs in the other process."""
    import highspy

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # HiGHS prints some complaints whatever it is told, and ours may be JSON
    with tempfile.TemporaryDirectory() as folder:
        plain, log = Path(folder) / "problem.lp", Path(folder) / "log"
        plain.write_bytes(data)
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        highs.setOptionValue("log_to_console", False)
        highs.setOptionValue("log_file", str(log))
        highs.setOptionValue("small_matrix_value", LEAST)
        status = highs.readModel(str(plain))
        model = highs.getModel()
        highs.setOptionValue("log_file", "")
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    complaints = [re.sub(rf"^\w+:|{re.escape(folder)}\S*", "", line).strip() for line in lines if line.startswith(("ERROR", "WARNING"))]
    complaint = "; ".join(" ".join(each.split()) for each in complaints)
    if status == highspy.HighsStatus.kError:
        return complaint or "cannot read it", None
    lp, hessian = model.lp_, model.hessian_
    whole = [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_]
    if any(kind not in (highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous) for kind in lp.integrality_):
        return "semi-continuous columns are not read", None
    return complaint, {
        "name": "",
        "maximises": lp.sense_ == highspy.ObjSense.kMaximize,
        "offset": float(lp.offset_),
        "cost": np.array(lp.col_cost_, dtype=np.float64),
        "matrix": (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_)),
        "quadratic": (np.array(hessian.value_), np.array(hessian.index_), np.array(hessian.start_)) if hessian.dim_ else None,
        "row bounds": (np.array(lp.row_lower_, dtype=np.float64), np.array(lp.row_upper_, dtype=np.float64)),
        "column bounds": (np.array(lp.col_lower_, dtype=np.float64), np.array(lp.col_upper_, dtype=np.float64)),
        "integers": np.array(whole, dtype=bool) if whole else np.zeros(lp.num_col_, dtype=bool),
        "columns": list(lp.col_names_) or [f"c{j}" for j in range(lp.num_col_)],
        "rows": list(lp.row_names_) or [f"r{i}" for i in range(lp.num_row_)],
    }
