"""Tiny claims for the tests of the engine, kept apart from the real catalogue."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simopt.claims import AUDIFFREN_KADRI, Check, Claim, Defect, Expected, Instance, Kind, Trial
from simopt.claims.claim import validate

Maker = Callable[..., Claim]


def one_to_five(trial: Trial) -> Iterator[Instance]:
    for x in range(1, 6):
        yield {"x": x}


@pytest.fixture
def make() -> Maker:
    """Build a claim without registering it: make(function, kind=..., ...)."""

    def build(function: Callable[[Instance, Trial], Iterator[Check]], **fields: Any) -> Claim:
        expected = fields.get("expected", Expected.HOLDS)
        settings: dict[str, Any] = {
            "id": "TOY-1",
            "paper": AUDIFFREN_KADRI,
            "place": "nowhere",
            "kind": Kind.INEQUALITY,
            "expected": expected,
            "says": "a toy",
            "instances": one_to_five,
            "knobs": {"c": 1},
            "mutants": {"c = 2": {"c": 2}},
        }
        if expected is Expected.REFUTED:
            settings["defect"] = Defect.CONSTANT
        settings |= fields
        if settings.get("no_mutant"):
            settings["mutants"] = {}
        made = Claim(function=function, **settings)
        validate(made)
        return made

    return build
