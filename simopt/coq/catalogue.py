"""One certificate of each problem of the catalogue whose formulas stay rational: the smallest ordinary example that leaves one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.coq.certificate import Certificate, certificate
from simopt.coq.programme import Exact
from simopt.coq.theory import NoTheorem
from simopt.duality import Declared
from simopt.ground import registry

SEED = 20140


def certificates() -> Iterator[tuple[str, Certificate | NoTheorem]]:
    """Problem by problem the certificate, or why there is none."""
    registry.load("problems")
    for name, kind in sorted(registry.items("problem")):
        if "rational" not in kind.arithmetics:
            continue
        examples = (
            Declared.of(example.problem.declare()) for example in kind.examples(np.random.default_rng(SEED)) if not example.degenerate
        )
        found: Certificate | NoTheorem = NoTheorem("it has no ordinary example")
        for problem in sorted(examples, key=lambda each: Exact(each.programme).variables):
            try:
                found = certificate(problem)
                break
            except NoTheorem as error:
                found = error
        yield name, found
