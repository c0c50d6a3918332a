"""The claims of section 5 and Appendix C: the printed statements that are refuted, and the numbers of the audit."""

import math

import numpy as np
import pytest

from simopt.claims import Defect, Expected, catalogue, run
from simopt.claims.kinds import Evidence, Verdict
from simopt.data.similarities import Precomputed
from simopt.equivalence.training import TrainingSet
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge


@pytest.mark.parametrize("row", ["AK-T1", "AK-P5.1", "AK-P5.1Gam", "AK-T1deg", "AK-T1sys"])
def test_without_the_hypothesis_that_was_added_the_printed_statement_is_refuted_exactly(row: str) -> None:
    printed, corrected = run(row), catalogue.find(f"{row}+")
    assert printed.verdict is Verdict.REFUTED and printed.own.evidence is Evidence.EXACT
    assert catalogue.find(row).defect is Defect.MISSING_HYPOTHESIS and corrected.corrects == row and corrected.expected is Expected.HOLDS


@pytest.mark.parametrize(("y", "value"), [(1.0, (math.sqrt(7) - 1) / 2), (2.0, (math.sqrt(13) - 1) / 2)])
def test_the_values_of_one_sample(y: float, value: float) -> None:
    Z = TrainingSet(np.zeros((1, 1)), np.array([y]), Precomputed(np.ones((1, 1))))
    assert m_power_rls_to_kernel_ridge(3.0)(1.0, Z) == pytest.approx(value, rel=1e-14)


def test_the_map_drifts_as_the_audit_found() -> None:
    link = m_power_rls_to_kernel_ridge(3.0)
    sets = [TrainingSet(np.zeros((n, 1)), np.array([1.0, 0.5][:n]), Precomputed(np.ones((1, 1)))) for n in (1, 2)]
    drift = [abs(link(lam, sets[0]) - link(lam, sets[1])) for lam in (1.0, 1e2, 1e4, 1e6)]
    assert drift == pytest.approx([0.150, 1.64, 16.4, 164.1], rel=0.02)
