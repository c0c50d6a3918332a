"""What is asked of every claim, whatever it says: its row, its correction, its instances, proofs and witnesses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simopt import recheck
from simopt.claims import (
    AUDIFFREN_KADRI,
    KAKADE_KALAI_KANADE_SHAMIR,
    KAR_JAIN,
    VAN_ROOYEN_MENON_WILLIAMSON,
    Trial,
    catalogue,
    proof,
    replay,
    runner,
)
from simopt.claims.kinds import Defect, Effort, Expected, Verdict

OURS = [claim.id for claim in catalogue.claims() if claim.module.startswith("simopt.theorems.")]
PAPERS = {"AK": AUDIFFREN_KADRI, "KJ": KAR_JAIN, "KK": KAKADE_KALAI_KANADE_SHAMIR, "RMW": VAN_ROOYEN_MENON_WILLIAMSON}


def ids(paper: str, names: str) -> list[str]:
    return [f"{paper}-{name}" for name in names.split()]


ROWS = [
    *ids("AK", "S2Rif D3.1 D3.2 D3.3 D3.3b D3.4 P4.1 D4.2 Ex.a Ex.b Ex.c Ex.d L4.3 D4.4 P4.5 P4.5fn B.G B.7 R4.6 A1 A2 P4.7 P4.7pf R4.8"),
    *ids("AK", "AppA D.1/A3/A4 LD.2 14-17 18 18-renewed 19 19-witness 19-even 19-reversed T3 T3+ T3-sharp open"),
    *ids("KK", "err norm alg1 T1txt alg2 LPAV L1sum L1 L1pf L2 L3 6/8 7/9 10 11b T2pf wt L5 13/14 defU L6.1 L6.2 L6.3 L6.4 L7pf L9"),
    *ids("KJ", "T19 T19-p0 T19-p1 B-any T20-mono DD"),
    *ids("KK", "17/19/20-23 P1 T1cor T2"),
    *ids("RMW", "l01 lin0 T1a T1b T1c T1d T1e phi T2 T2b MMD1 MMD2 SVMc SVMl 3.2 KDE MKL 6.6a 6.6b marg T6lem T6 Gam cont L7"),
    *ids("RMW", "T8 D9 4.4 T17 D10 corr L23 L12 T13 T13b T14 T14b ccn T15 T15b 5.1 T16 Alg1 6-MMD 6-MC unif FW0 FW d cost L18 6.4 6.5 6.7"),
    *ids("RMW", "T3 T3-proven T3-proof T4 T4+ T4-ratio T5 T5-proven T19 T20 T20-quarter T20-steps T20-KL T20-KL+ T20h T21"),
]  # fmt: skip
REFUTED = {
    *ids("AK", "D3.1 Ex.b Ex.c R4.6 P4.7 P4.7pf"),
    *ids("KJ", "T19 T19-p0 T19-p1 B-any T20-mono DD"),
    *ids("KK", "T1txt L1pf T2pf wt L7pf P1 T1cor T2"),
    *ids("RMW", "l01 T1d KDE 6.6a T6 Gam L7 T13b T14 T16 T17 FW 6-MC T4 T20-KL"),
}
DEFECTS = {
    Defect.TYPO: ids("KK", "T1txt L1pf T2pf"),
    Defect.CONSTANT: [*ids("KK", "wt L7pf"), *ids("RMW", "T4 T20-KL T22b")],
    Defect.CONVENTION: ["KK-T1cor", "RMW-T6"],
    Defect.MISSING_HYPOTHESIS: ["KK-P1"],
    Defect.SUBSTANTIVE: ids("RMW", "Gam L7"),
}
PROOFS = [
    *ids("AK", "Ex.a Ex.c+ Ex.d P4.5fn S2Rif 18-renewed 19-witness 19-even T3-sharp"),
    *ids("KK", "err L1-kkt L2-difference L3-algebra 6/8 11b 13/14 T2pf+ L7pf+ 17 P1+ T1cor+ parity E1c T2-run T2-sharp T2-powers"),
    *ids("RMW", "T1b T1c T1-half T2 MMD2 3.2 SVMl-proof KDE+ 6.6b unif-proof marg T6lem T6+ T6-labels cont T8 4.4 corr L23 L12 T13 T13b+"),
    *ids("RMW", "T14+ T14b T14-label-free T14b-literal ccn T15 T15b 5.1 T16+ T16-label-free 6-MMD 6-MC+ unif L18 6.4 6.5 6.7"),
    *ids("RMW", "T3-proof T4-ratio T20-steps T20-KL+ T22 T22-sharp T22b+ 13-ball 13-size"),
]
WITNESSES = ids("RMW", "l01 T1d KDE 6.6a T6 Gam L7 L7-half T4 T20-KL T22b mono")


@pytest.mark.parametrize("name", OURS)
def test_a_claim_bears_the_name_of_its_paper(name: str) -> None:
    assert catalogue.find(name).paper is PAPERS[name.partition("-")[0]]


@pytest.mark.parametrize("row", ROWS)
def test_row_is_covered_and_refuted_where_the_paper_is_wrong(row: str) -> None:
    assert catalogue.find(row).expected is (Expected.REFUTED if row in REFUTED else Expected.HOLDS)


@pytest.mark.parametrize("name", [name for name in OURS if catalogue.find(name).expected is Expected.REFUTED])
def test_what_is_refuted_is_corrected(name: str) -> None:
    corrected = catalogue.find(f"{name}+")
    assert corrected.id == f"{name}+" and corrected.corrects == name and corrected.expected is Expected.HOLDS


@pytest.mark.parametrize(("name", "defect"), [(name, defect) for defect, names in DEFECTS.items() for name in names])
def test_defect_is_of_the_kind_that_the_audits_name(name: str, defect: Defect) -> None:
    assert catalogue.find(name).defect is defect


@pytest.mark.parametrize("name", OURS)
def test_instances_repeat_with_the_seed(name: str) -> None:
    claim = catalogue.find(name)
    first, second = (list(claim.instances(Trial(name, 3, -1, Effort.QUICK, claim.knobs))) for _ in range(2))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("name", PROOFS)
def test_proof_is_accepted_without_simopt_and_a_tampered_one_is_not(name: str) -> None:
    row = runner.run(name).own
    assert row.proof is not None
    document = proof.document(catalogue.find(name), name, "exhaustive", row.proof, "")
    assert recheck.check(document)
    statement = document["statements"][0]
    statement["claim"] = [statement["claim"][0], statement["claim"][1], "-7"]
    document["digest"] = recheck.digest(document)
    with pytest.raises(recheck.Rejected):
        recheck.check(document)


@pytest.mark.parametrize("row", WITNESSES)
def test_witness_replays(row: str, tmp_path: Path) -> None:
    witness = runner.run(catalogue.find(row)).rows[row].witness
    assert witness is not None
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(witness.document()), encoding="utf-8")
    again = replay(path)
    assert again.same and again.verdict is Verdict.REFUTED
