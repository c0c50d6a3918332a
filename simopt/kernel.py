"""Numba kernels that compile at first call, so that importing simopt costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function with per-element loops; numba compiles it (and caches the result on disk) when it is first called.

    `fastmath` is never set: certificates depend on the order of operations. A kernel may call another
    one by its name: numba asks a global object for `_numba_type_` and gets the compiled function's.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.python = function
        self._compiled: Any = None
        update_wrapper(self, function)

    @property
    def compiled(self) -> Any:
        """The numba dispatcher."""
        if self._compiled is None:
            import numba

            self._compiled = numba.njit(cache=True)(self.python)
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self.compiled(*args, **kwargs)
        return result


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a loop for numba; it is compiled when first called."""
    return Kernel(function)
