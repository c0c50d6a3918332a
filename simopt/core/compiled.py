"""Numba kernels that compile at first call, so that importing simopt costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")


class CompiledKernel(Generic[P, R]):
    """A function with per-element loops; numba compiles it when it is first called, and `kernel_cache` keeps the result on disk.

    `fastmath` is not set, since certificates depend on the order of operations. `any_order=True` allows sums to be reordered and products
    to be fused (nothing else), which lets a reduction use vector instructions. Division by zero gives ±inf or nan as in NumPy: the check
    that Python would make keeps loops from being vectorised. Other threads may run meanwhile (`threads.at_once`). A kernel may call another
    one by its name: numba asks a global object for `_numba_type_` and gets the compiled function's.
    """

    def __init__(self, function: Callable[P, R], any_order: bool = False) -> None:
        self.python = function
        self.fastmath: Any = {"reassoc", "contract"} if any_order else False
        self._compiled: Any = None
        update_wrapper(self, function)

    @property
    def compiled(self) -> Any:
        """The numba dispatcher."""
        if self._compiled is None:
            import numba

            from simopt.core.kernel_cache import cache_of

            compiled: Any = numba.njit(error_model="numpy", fastmath=self.fastmath, nogil=True)(self.python)
            if (cache := cache_of(self.python)) is not None:
                compiled._cache = cache  # as cache=True would, with numba's own
            self._compiled = compiled
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self.compiled(*args, **kwargs)
        return result


@overload
def kernel(function: Callable[P, R]) -> CompiledKernel[P, R]: ...
@overload
def kernel(*, any_order: bool) -> Callable[[Callable[P, R]], CompiledKernel[P, R]]: ...
def kernel(
    function: Callable[P, R] | None = None, *, any_order: bool = False
) -> CompiledKernel[P, R] | Callable[[Callable[P, R]], CompiledKernel[P, R]]:
    """Mark a loop for numba; it is compiled when first called."""
    if function is not None:
        return CompiledKernel(function, any_order)
    return lambda given: CompiledKernel(given, any_order)
