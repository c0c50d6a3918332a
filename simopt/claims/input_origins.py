"""Which numbers of a statement are data of its instance or words of its sentence, and which were computed.

A proof file trusts its inputs and the numbers in its formulas, and checks the rest. A number that the claim's own code computed is no
datum: whoever rechecks the file would trust that code. So a formula forms its numbers from short ones. A number of more than two digits is
computed, unless it is a datum, stands in the sentence, or is a power of ten or two. What was computed may stand where a hypothesis of the
statement says what it is, and is called computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from simopt import recheck
from simopt.claims.expression import WRITTEN
from simopt.claims.statement import LONGEST

SHORT = 100  # numbers below are the formula's own, as 2 in (a + b)² = a² + 2ab + b²: a reader checks them at sight
IN_WORDS = re.compile(r"[0-9]+(\.[0-9]+|/0*[1-9][0-9]*)?")


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


def in_words(sentence: str) -> frozenset[str]:
    """All numbers that are written in a sentence, as a proof file writes them: 0.999 as 999/1000."""
    return frozenset(str(Fraction(number[0])) for number in IN_WORDS.finditer(sentence))


def computed(template: Mapping[str, Any], values: Mapping[str, Any], data: frozenset[str], sentence: frozenset[str]) -> list[str]:
    """Names of the inputs of a statement (see `serialise`) that are no data, and long numbers in it that are in neither data nor sentence.

    Enclosures are confirmed and no inputs.
    """
    enclosed = {rest[-1] for op, *rest in template["steps"] if op in ("root", "exp", "log")}
    inputs = [name for name, value in values.items() if name not in enclosed and value not in data]
    return inputs + [number for number in _long(template) if number not in data and number.lstrip("-") not in sentence]


def _long(template: Mapping[str, Any]) -> Iterator[str]:
    """The numbers in the formulas of a statement, each once, that are not plain."""
    sides = (side for _, *pair in (template["claim"], *template["where"]) for side in pair)
    refs = dict.fromkeys([*sides, *(ref for step in template["steps"] for ref in _arguments(step))])
    return (ref for ref in refs if isinstance(ref, str) and recheck.NUMBER.fullmatch(ref) and not _plain(Fraction(ref)))


def _plain(number: Fraction) -> bool:
    """Whether numerator and denominator have two digits at most, or it is a power of ten or two, or one over it."""
    low, high = sorted((abs(number.numerator), number.denominator))
    return high < SHORT or (low == 1 and (high.bit_count() == 1 or str(high).rstrip("0") == "1"))


def unexplained(template: Mapping[str, Any], names: list[str]) -> list[str]:
    """Those of the names and numbers that no hypothesis of the statement speaks of."""
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
