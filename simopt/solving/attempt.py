"""A computation that may fail in any way: its result, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from simopt.arithmetic import NotRational
from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName

T = TypeVar("T")


def attempt(compute: Callable[[], T], reasons: list[str]) -> T | None:
    """The computed value; None where the computation fails unexpectedly, and then the reason is appended.

    Back ends and eigenvalue routines raise whatever they like (a panic of Rust is no Exception), also where points are made feasible.
    """
    try:
        return compute()
    except (KeyboardInterrupt, MemoryError, InvalidProblem, NotRational, UnknownName):
        raise
    except NotAvailable as error:
        reasons.append(str(error))
    except BaseException as error:
        reasons.append(f"{type(error).__name__}: {error}".removesuffix(": "))
    return None
