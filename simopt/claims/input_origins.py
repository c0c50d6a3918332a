"""Which inputs of a statement are data of its instance, and which were computed from them.

A proof file trusts its inputs and checks the rest. A number that the claim's own code computed is no datum: whoever rechecks the file would
trust that code. It may stand as an input where a hypothesis of the statement says what it is, and the file calls it computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from simopt import recheck
from simopt.claims.expression import WRITTEN
from simopt.claims.statement import LONGEST


def numbers(instance: Mapping[str, Any]) -> frozenset[str]:
    """All integers and fractions of an instance as a proof file writes them, if it does; those in lists, mappings, arrays and texts too."""
    return frozenset(str(x) for x in _numbers(instance) if max(x.numerator.bit_length(), x.denominator.bit_length()) <= LONGEST)


def _numbers(value: Any) -> Iterator[Fraction]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "iuO":
            yield from _numbers(value.ravel().tolist())
    elif isinstance(value, int | np.integer | Fraction) and not isinstance(value, bool):
        yield Fraction(value) if isinstance(value, Fraction) else Fraction(int(value))
    elif isinstance(value, str) and WRITTEN.fullmatch(value):
        yield Fraction(value)


def computed(template: Mapping[str, Any], values: Mapping[str, Any], data: frozenset[str]) -> list[str]:
    """Names of the inputs of a statement (see `serialise`) whose values are not among the data; enclosures are confirmed and no inputs."""
    enclosed = {rest[-1] for op, *rest in template["steps"] if op in ("root", "exp", "log")}
    return [name for name, value in values.items() if name not in enclosed and value not in data]


def unexplained(template: Mapping[str, Any], names: list[str]) -> list[str]:
    """Those of the names that no hypothesis of the statement speaks of."""
    seen: set[int | str] = set()
    waiting: list[int | str] = [side for _, *pair in template["where"] for side in pair]
    while waiting:
        ref = waiting.pop()
        if ref not in seen:
            seen.add(ref)
            waiting += _arguments(template["steps"][ref]) if isinstance(ref, int) else []
    return [name for name in names if name not in seen]


def _arguments(step: list[Any]) -> list[int | str]:
    """The formulas that a step is made of: not the exponent of a power, nor the order of a root."""
    op, *rest = step
    return rest[:1] if op in recheck.LEADING else rest
