"""The known versions of CVXPY. The reader rests on CVXPY's classes and their internals, which another version may have changed."""

from __future__ import annotations

import re

import cvxpy as cp

from simopt.core.errors import Unreadable

FROM, BELOW = (1, 9), (1, 10)  # pyproject.toml says the same


def known_version() -> None:
    """Refuse a CVXPY whose expressions may have another meaning.

    Raises
    ------
    Unreadable
        where the version is outside of the tested range.
    """
    version = tuple(int(part) for part in re.findall(r"\d+", cp.__version__)[:2])
    if not FROM <= version < BELOW:
        least, end = (".".join(map(str, each)) for each in (FROM, BELOW))
        raise Unreadable(f"cvxpy {cp.__version__} is not known to simopt", "", f"install cvxpy >= {least}, < {end}")
