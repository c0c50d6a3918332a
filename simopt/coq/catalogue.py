"""One certificate of each problem of the catalogue whose formulas stay rational: the smallest ordinary example that leaves one."""

from __future__ import annotations

import numpy as np

from simopt.coq.certificate import ExactCertificate, certificate
from simopt.coq.programme import ExactProgramme
from simopt.coq.theory import NoTheorem
from simopt.core import registry
from simopt.duality import Declared

SEED = 20140


def rational() -> list[str]:
    """Names of the problems with certificates in fractions."""
    registry.load("problems")
    return sorted(name for name, kind in registry.items("problem") if "rational" in kind.arithmetics)


def smallest(name: str) -> ExactCertificate:
    """The certificate of one problem.

    Raises
    ------
    NoTheorem
        where no ordinary example leaves one; the reason is that of the largest.
    """
    kind = registry.find("problem", name)
    examples = (Declared.of(example.problem.declare()) for example in kind.examples(np.random.default_rng(SEED)) if not example.degenerate)
    reason = NoTheorem("it has no ordinary example")
    for problem in sorted(examples, key=lambda each: ExactProgramme(each.programme).variables):
        try:
            return certificate(problem)
        except NoTheorem as error:
            reason = error
    raise reason
