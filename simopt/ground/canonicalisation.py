"""Which of CVXPY's canonicalisations a problem is given to."""

from __future__ import annotations

from typing import Any


def canonicalisation(problem: Any) -> str | None:
    """None, CVXPY's default, or SCIPY where the default may end the process.

    CVXPY 1.9 gives a diagonal the shape (n, 1) where a product takes it for (n,): its compiled code then reads what is not there, and the
    process ends with a segmentation fault. The other canonicalisation raises a ValueError.
    """
    import cvxpy as cp
    from cvxpy.atoms.affine.diag import diag_mat

    return str(cp.SCIPY_CANON_BACKEND) if diag_mat in problem.atoms() else None
