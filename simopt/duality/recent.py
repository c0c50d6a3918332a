"""A cache of the last sweeps: a judge asks for objective, bound and gap one after the other, at the same point and multipliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from simopt.arithmetic import Interval

R = TypeVar("R")
K = TypeVar("K")


class Recent(Generic[K, R]):
    """The last results of a function of arrays, looked up by content; the inputs must be copies that nobody writes on.

    Content is compared instead of identity: a caller may write on its array, or another one may be allocated at the same address.

    Parameters
    ----------
    most : int
        how many are kept, each with as many vectors as the function makes.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: list[tuple[Any, Mapping[K, Any], R]] = []

    def of(self, kind: Any, inputs: Mapping[K, Any], compute: Callable[[Mapping[K, Any]], R]) -> R:
        """The result for these inputs; `kind` is anything else that it depends on."""
        for own, known, result in self._entries:
            if own == kind and _alike(known, inputs):
                return self.keep(kind, known, result)
        return self.keep(kind, inputs, compute(inputs))

    def known(self, kind: Any, inputs: Mapping[K, Any]) -> R | None:
        """The result for these inputs, if it is among the last ones."""
        return next((result for own, known, result in self._entries if own == kind and _alike(known, inputs)), None)

    def keep(self, kind: Any, inputs: Mapping[K, Any], result: R) -> R:
        """The result, possibly computed elsewhere, as the most recent one."""
        others = [each for each in self._entries if each[2] is not result]
        self._entries = [(kind, inputs, result), *others[: self.most - 1]]
        return result


def _alike(one: Mapping[K, Any], other: Mapping[K, Any]) -> bool:
    """Whether names, their order and numbers are the same: vectors are made of them in this order. nan equals nothing."""
    return [*one] == [*other] and all(_same(value, other[key]) for key, value in one.items())


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, Interval) or isinstance(y, Interval):
        return isinstance(x, Interval) and isinstance(y, Interval) and _same(x.mid, y.mid) and _same(x.rad, y.rad)
    return np.array_equal(x, y)
