"""What is asked of every claim, whatever it says: its row, its correction, its instances, its verdict and evidence, its witness."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from simopt import recheck
from simopt.claims import (
    AUDIFFREN_KADRI,
    KAKADE_KALAI_KANADE_SHAMIR,
    KAR_JAIN,
    VAN_ROOYEN_MENON_WILLIAMSON,
    catalogue,
    costs,
    proof,
    replay,
    runner,
)
from simopt.claims.kinds import Defect, Evidence, Expected, ProofStatus, Verdict
from simopt.claims.proof_status import status
from tests.theorems.conftest import quick

OURS = [claim.id for claim in catalogue.claims() if claim.module.startswith("simopt.theorems.")]
PAPERS = {"AK": AUDIFFREN_KADRI, "KJ": KAR_JAIN, "KK": KAKADE_KALAI_KANADE_SHAMIR, "RMW": VAN_ROOYEN_MENON_WILLIAMSON}


def ids(paper: str, names: str) -> list[str]:
    return [f"{paper}-{name}" for name in names.split()]


ROWS = [
    *ids("AK", "S2Rif D3.1 D3.2 D3.3 D3.3b D3.4 P4.1 D4.2 Ex.a Ex.b Ex.c Ex.d L4.3 D4.4 P4.5 P4.5fn B.G B.7 R4.6 A1 A2 P4.7 P4.7pf R4.8"),
    *ids("AK", "AppA D.1/A3/A4 LD.2 14-17 18 18-renewed 19 19-witness 19-even 19-reversed T3 T3+ T3-sharp open"),
    *ids("KK", "err norm alg1 T1txt alg2 LPAV L1sum L1 L1pf L2 L3 6/8 7/9 10 11b T2pf wt L5 13/14 defU L6.1 L6.2 L6.3 L6.4 L7pf L9"),
    *ids("AK", "T1 T1deg T1sys T1conc T1newt S5wp P5.1 P5.1Gam P5.1ns P5.1as"),
    *ids("KJ", "T19 T19-p0 T19-p1 B-any T20-mono DD Def12 Def25 Def26 Thm14a Thm14a-p Thm14-id Thm14-cor Thm14b Thm10a Alg2-k Thm8a Thm9a"),
    *ids("KK", "17/19/20-23 P1 T1cor T2"),
    *ids("RMW", "l01 lin0 T1a T1b T1c T1d T1e phi T2 T2b MMD1 MMD2 SVMc SVMl 3.2 KDE MKL 6.6a 6.6b marg T6lem T6 Gam cont L7"),
    *ids("RMW", "T8 D9 4.4 T17 D10 corr L23 L12 T13 T13b T14 T14b ccn T15 T15b 5.1 T16 Alg1 6-MMD 6-MC unif FW0 FW d cost L18 6.4 6.5 6.7"),
    *ids("RMW", "T3 T3-proven T3-proof T4 T4+ T4-ratio T5 T5-proven T19 T20 T20-quarter T20-steps T20-KL T20-KL+ T20h T21"),
]  # fmt: skip
VERDICTS = {  # the others hold
    Verdict.PROVED: [
        *ids("AK", "Ex.a Ex.c+ Ex.d S2Rif P4.5fn P5.1ns T1conc-values T1newt-zero 18-renewed 19-witness 19-even T3-sharp S5wp-below"),
        *ids("AK", "E.1conf Tab1m"),
        *ids("KJ", "X2 X3+ X9 X1 X4 X10 L17a-proof Thm10a-id Thm10b Def2-rem2 Def4-sphere H2 Thm6b-p1 Thm6b-p2+ Thm6b-p3 DD-sum L15-p3"),
        *ids("KJ", "L15-p4+ L15-p5+ T20-mono+ B-stab B-pairs E1a2+ E1b+ E1d E1e spaced Thm13c Thm13-p3+ Thm13-p4 Thm13-p5+"),
        *ids("KJ", "Thm13-rounding Thm14-id Thm14-cor Thm14b-two F-mu F-other-slope Thm30-lip+ Thm30-split Thm31-a"),
        *ids("KJ", "Thm31-b Thm31-c-sharp Thm31-d Thm31-e-sharp Alg1-norm D-infconv D-eq1 D-sq1+ D-sq2 Thm5-p2-levels Thm5b+ Thm8-l1"),
        *ids("KJ", "Thm9-p4+ Thm9-p6"),
        *ids("KK", "L1-kkt 6/8 11b L3-algebra 13/14 L7pf+ L2-difference err E1c Tab T2-run T2pf+ T2-powers 17 L8pf+ eta2 eta2-where"),
        *ids("RMW", "ccn 5.1 T16 T16-label-free cont KDE+ MMD1 MMD2 unif unif-proof L18 6.4 6.6b T8 l01+ lin0 phi marg T6lem"),
        *ids("RMW", "T6+ T6-labels T2 corr T20-KL+ T13b+ T14-label-free T14b-literal SVMc SVMl-proof SVMl-class 3.2-least T1a"),
        *ids("RMW", "T1b T1c T1-half T1d-half T1d+ T1e T22b+"),
    ],
    Verdict.REFUTED: [
        *ids("AK", "Ex.b Ex.c D3.1 P4.7 P4.7pf P5.1 P5.1Gam R4.6 Tab1 T1 T1sys T1deg T1conc E.1lam2"),
        *ids("KJ", "X3 Def2-rem1 Thm6b-p2 DD L15-p4 L15-p5 T20-mono L16 L22 T19 T19-p0 T19-p1 B-any E1a E1a2 E1b E1c Thm13a Thm13b"),
        *ids("KJ", "Thm13d Thm13-p1 Thm13-p3 Thm13-p5 Thm30-lip Thm30-3 D-sq1 Thm5b Thm5-p4 Thm9b Thm9-p1 Thm9-p2 Thm9-p4 Thm9-p5"),
        *ids("KK", "wt L1pf L7pf L8pf P1 T1cor T1txt T2 T2pf"),
        *ids("RMW", "T4 Gam L7 KDE FW 6.6a l01 T6 6-MC T20-KL T13b T1d T22b mono T17 11-normal"),
        *ids("RMW", "2-boosting 3.2-normal"),
    ],
    Verdict.VACUOUS: [
        *ids("KJ", "Thm30 Thm30-breg"),
    ],
}  # fmt: skip
EVIDENCE = {
    Evidence.EXACT: [
        *ids("AK", "A1 A2 Ex.a Ex.b Ex.b+ Ex.c Ex.c+ Ex.d D3.1+ D3.3b S2Rif P4.5fn P4.1 P4.7 P4.7pf P4.7pf+ P4.7+ R4.8 P5.1"),
        *ids("AK", "P5.1Gam P5.1ns R4.6 R4.6+ D.1/A3/A4 T1 T1sys T1deg T1conc T1conc-values T1newt-zero 18-renewed 19-even D4.2 L4.3"),
        *ids("AK", "D3.2 D3.3 D3.4 S5wp-below E.1lam2 E.1lam2+ E.1conf Tab1m E.time E.grid E.grid-limit"),
        *ids("KJ", "X2 X3 X3+ X9 X1 X4 X10 L17a L17a-proof L17a-sharp L17b nondisc Cor11 Cor11-reason Thm10a Thm10a-atom Thm10a-id"),
        *ids("KJ", "Thm10b Def1 Def2 Def2-rem1 Def2-rem1+ Def2-rem2 Def2-rem2-same Def2-rem3 Def4-sphere H2 Thm6b Thm6a-p Thm6b-p1"),
        *ids("KJ", "Thm6b-p2 Thm6b-p2+ Thm6b-p3 Thm6b-least Thm6b-tube Thm6b-two Def3 DD DD-l2-difference DD-util-onesided L15 L15-p2"),
        *ids("KJ", "L15-p3 L15-p4 L15-p4+ L15-p5 L15-p5+ T20-proved T20-mono T20-mono+ L16 L22 B-stab T19 T19-p0 T19-p0+ T19-p1"),
        *ids("KJ", "T19-p1+ T19+ B-pairs B-any B-any+ E1a E1a2 E1a2+ E1b E1b+ E1c E1c+ E1c-far E1d E1e E1e-word E3-IMC"),
        *ids("KJ", "E3-IMC-useful Def12 Def12-order spaced Def25 Thm13a Thm13b Thm13c Thm13d Thm13-p1 Thm13-p2 Thm13-p3 Thm13-p3+"),
        *ids("KJ", "Thm13-p4 Thm13-p5 Thm13-p5+ Thm13a-plain Thm13e-scale Thm13a-best Thm13-rounding Thm13b-best Thm13-worlds Thm14b"),
        *ids("KJ", "Thm14a-p Thm14a-exact Thm14-id Thm14-cor Thm14b-least Thm14b-two Thm14b-line Thm14b-cross F-mu Thm30 Thm30-breg"),
        *ids("KJ", "Thm30-lip Thm30-lip+ Thm30-3 Thm30-split Thm31-a Thm31-b Thm31-c Thm31-c-sharp Thm31-e Thm31-e-sharp Alg1-norm"),
        *ids("KJ", "D-smoothdef D-infconv D-eq1 D-huber D-sq1 D-sq1+ D-sq2 Thm5b Thm5-p1 Thm5-p3-ties Thm5-p4 Thm5b+ Thm5b-sharp"),
        *ids("KJ", "FC Alg2-desc Alg2-k-listing Thm8a Thm8b-tail Thm8-l1 Thm9-p2 Thm9-p4+ Thm9-p5 Thm9-p6"),
        *ids("KK", "alg1 alg2 L6.2 L6.3 YW wt wt+ kernel L1 L1sum L1-kkt L1pf L1pf+ 6/8 11b L3-kappa L3-algebra 13/14 L7pf L7pf+ LPAV"),
        *ids("KK", "defU L2-difference err norm E1c Tab T1txt T1txt+ T2 T2-run T2pf T2pf+ T2-powers L9 17 17/19/20-23"),
        *ids("KK", "L8pf L8pf+ eta2-terms sharp-1d"),
        *ids("RMW", "ccn 5.1 T16 T16-label-free T4 Gam Gam+ cont L7 L7+ KDE KDE+ MMD1 MMD2 6.5-tried Alg1 unif unif-set"),
        *ids("RMW", "unif-proof unif-steps cost L18 L18-herds 6.4 6.4-herds FW0 d-small 6.6a 6.6a+ 6.6b T8 T8-loss l01 l01+ lin0 phi"),
        *ids("RMW", "LS2-vertices marg T6lem T6 T6+ T6-labels T2 6-MC D10 corr L12-tried T20-KL T20-KL+ T20-quarter T13b"),
        *ids("RMW", "T13b+ T14-label-free T14b-literal SVMc SVMl SVMl-proof SVMl-path SVMl-direction SVMl-class 3.2-least"),
        *ids("RMW", "SVMc-range SVMc-mean T1a T1b T1c T1-half T1d-half T1d+ T1d T1e T22-tried T22b T22b+ T22b-true mono T17 T17+"),
        *ids("RMW", "2-boosting 3.2-normal 6-corrective 6-away 6.2-estimate 6.2-floor"),
    ],
    Evidence.INTERVAL: [
        *ids("AK", "D3.1 P5.1Gam+ T1sys+ T1conc+ 14-17 19 19-reversed 19-witness T3-sharp S5wp 11"),
        *ids("KJ", "DD-sum DD-small DD+ DD-l2 DD-util-mean L15+ L15-p1 T20 T20-linear T20-rad L16-rad L16-bounded L16+ L22-kl L22-rad"),
        *ids("KJ", "L22+ T18 F-other-slope Thm30-dec Thm30-half Thm30-64 Thm30-3+ Thm30-sl Thm31 Thm31-d"),
        *ids("KJ", "Thm31-d-sharp Thm31-better Thm5-p2 Thm5-p2-levels Thm5-p3 Thm5-p3-ours Thm5-p4+ Thm9b Thm9c Thm9-p1 Thm9-p1+"),
        *ids("KJ", "Thm9-p2+ Thm9-p4 cost-landmarks"),
        *ids("KK", "L6.1 L6.4 holdout L3 L3+ L3-steps L5 L5+ L5-sharp 10 10+ L2 L2-sharp P1 T1cor eta2 eta2-where"),
        *ids("RMW", "T3 T4+ T5 FW FW+ d D9 T19 T20h T20 T21 LS1-tried 11-normal"),
        *ids("RMW", "2-form 6.7-tradeoff"),
    ],
    Evidence.EXACT_STEPS: [
        *ids("AK", "D4.4 P4.5 B.G B.7 P5.1as T1deg+"),
        *ids("KJ", "H1 T19-sharp Thm13-p1+ Thm13b-where Thm13a-shift Thm13a+ Thm13b+ Thm13b-rounding Thm13b-all Thm13b-shift Thm13d+"),
        *ids("KJ", "F-ndcg F-eta Thm30-breg+ Thm30-CF Thm31-d-all Thm31-wide Thm31-lower loss Thm9-p5-regime Thm9b+"),
        *ids("KJ", "E1a+ Thm30+ Thm30-sharp"),
        *ids("KK", "parity P1+ T1cor+ T2-sharp sharp"),
        *ids("RMW", "T15 T15b T3-proof T4-ratio 6.7 6.5 LS2 LS2-threshold LS1-literal L23 L12 T20-steps LS1-criterion LS1 4.4 T13 T14"),
        *ids("RMW", "T2b 6-MMD 6-MC+ 11-normal+ MKL"),
        *ids("RMW", "2-boosting+ 3.2-normal+ 6.7-regulariser"),
        *ids("RMW", "T14b 3.2 T22 T22-sharp 13-ball 13-size"),
    ],
    Evidence.FLOAT: [
        *ids("AK", "LD.2 E.kern AppA P5.1+ Tab1 Tab1+ T1+ T1newt T3 T3+ open"),
        *ids("KJ", "Def7 Def2-mono Def4 Thm6a Thm6a-sharp E3-EXC E3-IMC-good Def26 Thm14a Thm14a-sharp Def28 Def29 F-other Alg1 cost"),
        *ids("KJ", "Alg2-gap Alg2-k D-chain Thm9-p3"),
        *ids("KK", "Fig2 E1 E1b E1d L7-explicit T1 T2+"),
        *ids("RMW", "SVMl-kernels SVMc-kernels"),
    ],
    Evidence.STATISTICAL: [
        *ids("KJ", "DD-util Thm13e Thm13-total Thm30-4th Thm30-growth Thm30-useful Thm5a Thm5c Thm5-p5 D-1k Thm9a Thm9-p5+"),
        *ids("KK", "subsample L7 P1-explicit T3 L8"),
    ],
}  # fmt: skip
KNOWN = {name: evidence for evidence, names in EVIDENCE.items() for name in names}
DEFECTS = {
    Defect.TYPO: [*ids("KJ", "D-sq1 L15-p5 Thm5-p4 Thm6b-p2 Thm9-p1 Thm9-p4"), *ids("KK", "T1txt L1pf T2pf")],
    Defect.CONSTANT: [
        *ids("KJ", "L15-p4 Thm5b Thm9-p2 Thm9-p5 Thm30-lip Thm30-3"),
        *ids("KK", "wt L7pf"),
        *ids("RMW", "T4 T20-KL T22b"),
    ],
    Defect.CONVENTION: [*ids("KJ", "E1a E1a2 Thm13-p1"), "KK-T1cor", "RMW-T6"],
    Defect.MISSING_HYPOTHESIS: [*ids("KJ", "Def2-rem1 E1b E1c L16 L22 Thm13-p5"), *ids("KK", "P1 L8pf"), "AK-E.1lam2"],
    Defect.SUBSTANTIVE: [*ids("KJ", "Thm9b Thm13a Thm13b Thm13d Thm13-p3"), *ids("RMW", "Gam L7")],
}
ON_DATA = [
    *ids("AK", "Tab1-each Tab1-each-fetched Tab1p"),
    *ids("KJ", "X1-data X1-data-fetched X5 X6 X6-fetched X7 X7-fetched X8 X8-fetched X8-regression X8-regression-fetched"),
    *ids("KK", "UCI UCI-each UCI-each-fetched"),
]
WITNESSES = ids("RMW", "l01 T1d KDE 6.6a T6 Gam L7 L7-half T4 T20-KL T22b mono")


@pytest.mark.parametrize("name", OURS)
def test_a_claim_bears_the_name_of_its_paper(name: str) -> None:
    assert catalogue.find(name).paper is PAPERS[name.partition("-")[0]]


@pytest.mark.parametrize("name", [name for name in OURS if name.startswith("KJ") and ".experiments." not in catalogue.find(name).module])
def test_section_of_kar_and_jain_is_that_of_the_folder(name: str) -> None:
    claim = catalogue.find(name)
    assert claim.section == ("ordinal" if claim.module.split(".")[3] in ("ordinal", "ranking") else "regression")


@pytest.mark.parametrize("row", ROWS)
def test_row_is_covered_and_refuted_where_the_paper_is_wrong(row: str) -> None:
    assert catalogue.find(row).expected is (Expected.REFUTED if row in VERDICTS[Verdict.REFUTED] else Expected.HOLDS)


@pytest.mark.parametrize("name", [name for name in OURS if catalogue.find(name).expected is Expected.REFUTED])
def test_what_is_refuted_is_corrected(name: str) -> None:
    corrected = catalogue.find(f"{name}+")
    assert corrected.id == f"{name}+" and corrected.corrects == name and corrected.expected is Expected.HOLDS


@pytest.mark.parametrize(("name", "defect"), [(name, defect) for defect, names in DEFECTS.items() for name in names])
def test_defect_is_of_the_kind_that_the_audits_name(name: str, defect: Defect) -> None:
    assert catalogue.find(name).defect is defect


UNPROVED = re.compile(r"not proved|unproved|proof gap|^a gap in general|^missing:", re.IGNORECASE)


@pytest.mark.parametrize("name", [name for name in OURS if catalogue.find(name).expected in (Expected.HOLDS, Expected.OPEN)])
def test_a_note_that_says_that_no_proof_is_known_is_a_status(name: str) -> None:
    claim = catalogue.find(name)
    assert bool(UNPROVED.search(claim.note)) is (claim.lacks(name) is not None) or name == "RMW-mono"


def test_what_lacks_a_proof_reads_so_beside_its_verdict() -> None:
    result = runner.run("RMW-T5")
    assert [status(result.claim, row) for row in result.rows.values()] == [ProofStatus.GAP, ProofStatus.IN_WORDS]
    result = runner.run("KK-L7")
    assert {status(result.claim, row) for row in result.rows.values()} == {ProofStatus.OPEN}
    result = runner.run("KK-err")
    assert status(result.claim, result.own) is (ProofStatus.PROVED if result.verdict is Verdict.PROVED else None)


@pytest.mark.parametrize("name", OURS)
def test_instances_repeat_with_the_seed(name: str) -> None:
    claim = catalogue.find(name)
    first, second = (list(claim.instances(quick(name, 3))) for _ in range(2))
    assert repr(first) == repr(second)


def test_every_claim_is_known_but_those_on_data_which_have_tests_of_their_own() -> None:
    assert set(KNOWN) == {"KK-Fig2", *(name for name in OURS if not catalogue.find(name).datasets)}
    assert {name for names in VERDICTS.values() for name in names} <= set(KNOWN)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [name if costs.seconds(catalogue.find(name)) <= 1.0 else pytest.param(name, marks=pytest.mark.slow) for name in KNOWN]
)
def test_verdict_and_evidence_under_another_seed(name: str) -> None:
    """`simopt verify` runs seed 0. A proof is accepted without simopt, a tampered one is not."""
    result = runner.run(name, seeds=(1,))
    assert result.ok, result.trace or result.own.reason
    assert result.verdict is next((verdict for verdict, names in VERDICTS.items() if name in names), Verdict.HOLDS)
    assert all(row.checks > 0 and row.evidence is KNOWN[name] for row in result.rows.values())
    assert bool(result.own.remains) == (KNOWN[name] is Evidence.EXACT_STEPS)
    if result.verdict is Verdict.PROVED or result.own.remains:
        assert result.own.proof is not None
        document = proof.document(catalogue.find(name), name, "exhaustive", result.own.proof, "")
        assert recheck.check(document)
        statement = document["statements"][0]
        statement["claim"] = [statement["claim"][0], statement["claim"][1], "-7"]
        document["digest"] = recheck.digest(document)
        with pytest.raises(recheck.Rejected):
            recheck.check(document)


@pytest.mark.parametrize("name", [name for name in OURS if catalogue.find(name).datasets])
@pytest.mark.usefixtures("no_data")
def test_without_its_data_a_claim_is_not_run(name: str) -> None:
    result = runner.run(name)
    assert result.verdict is Verdict.NOT_RUN and result.ok


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_DATA)
def test_what_the_paper_says_of_data_holds_on_them_and_its_mutants_do_not(name: str) -> None:
    runner.require(catalogue.find(name))
    result = runner.run(name, mutants=True)
    assert result.ok and result.verdict is Verdict.HOLDS
    assert result.mutants and all(mutant.caught for mutant in result.mutants)


@pytest.mark.parametrize("row", WITNESSES)
def test_witness_replays(row: str, tmp_path: Path) -> None:
    witness = runner.run(catalogue.find(row)).rows[row].witness
    assert witness is not None
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(witness.document()), encoding="utf-8")
    again = replay(path)
    assert again.same and again.verdict is Verdict.REFUTED
