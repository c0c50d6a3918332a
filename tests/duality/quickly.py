"""Which cases of a table `make test` takes; `make full` takes all."""

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[str], *names: str) -> list[Any]:
    """All cases, the others slow."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.slow) for name in cases]
