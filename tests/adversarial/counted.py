"""How many attacks a test makes: one, or as many as it says; `python tests/adversarial` adds them up by class."""

from __future__ import annotations

_made: list[int] = []


def case(number: int = 1) -> None:
    """So many attacks are made here."""
    _made.append(number)


def taken() -> int:
    """The number since it was asked for last."""
    found = sum(_made)
    _made.clear()
    return found
