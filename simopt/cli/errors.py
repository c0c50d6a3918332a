"""Which errors are the user's business: those get one line, all others a traceback."""

from __future__ import annotations


def expected(error: Exception) -> str | None:
    """The line to print for an error that simopt raises on purpose, or for a file that the system refuses; None for a bug."""
    from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
    from simopt.core.registry import DuplicateName

    if isinstance(error, (InvalidProblem, UnknownName, NotAvailable, DuplicateName)):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.filename is not None:
        return " ".join(f"{error.filename}: {error.strerror}".split())
    return None
