"""Seconds that claims take at quick effort, for the order of work: the longest start first.

`theorems/costs.json` holds the measured ones of simopt's own claims. To measure them anew, on one core::

    simopt verify --jobs 1 --evidence DIR
    python -m simopt.claims.costs DIR/seconds.json
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from simopt.claims.catalogue import claims
from simopt.claims.claim import Claim
from simopt.claims.kinds import Kind
from simopt.core import jsonio

BY_KIND = {Kind.RATE: 5.0, Kind.EXPERIMENT: 5.0, Kind.HIGH_PROBABILITY: 2.0, Kind.IN_EXPECTATION: 1.0, Kind.ALGORITHM: 0.7}
OTHERWISE = 0.5  # seconds of a claim of another kind that nobody has measured
LEAST = 0.1  # seconds: below, the order does not matter


def seconds(claim: Claim) -> float:
    """Seconds at quick effort: what the claim declares, else the measured ones, else what its kind suggests."""
    known = _measured().get(claim.id, BY_KIND.get(claim.kind, OTHERWISE))
    return known if claim.cost is None else claim.cost


@cache
def _measured() -> Mapping[str, float]:
    return {str(name): float(value) for name, value in jsonio.read(_file()).items()}


def _file() -> Path:
    return Path(str(files("simopt.theorems").joinpath("costs.json")))


def main(timings: str) -> None:
    """Write the file anew: the seconds of a run for the claims that it holds, to two digits, and the old ones for the others."""
    ours = [claim.id for claim in claims() if claim.module.startswith("simopt.theorems.")]
    known = {**_measured(), **{name: max(LEAST, float(f"{value:.2g}")) for name, value in jsonio.read(timings).items()}}
    jsonio.write(_file(), {name: known[name] for name in sorted(ours) if name in known})


if __name__ == "__main__":
    main(sys.argv[1])
