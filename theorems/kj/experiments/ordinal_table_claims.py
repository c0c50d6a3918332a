"""Section 4 and Section 5: what the text says of Table 1b and of both tables, by the printed numbers themselves, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kj.experiments.printed_ordinal import ORLAND, TABLE_1B
from simopt.theorems.kj.experiments.printed_tables import KR, LAND_SP, MANHATTAN, SIGMOID, TABLE_1A

SECTION = "ordinal"
EXCEPTION = "Wine-White, Sigmoid"
BOTH = (SIGMOID, MANHATTAN)


def printed_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The 24 cases of Tables 1a and 1b: means and deviations of the paper's method and of KR, as printed."""
    for table, method, entries in (("1a", LAND_SP, TABLE_1A), ("1b", ORLAND, TABLE_1B)):
        for name, row in entries.items():
            for similarity in BOTH:
                ours, base = row[similarity, method], row[similarity, KR]
                yield {
                    "table": table,
                    "case": f"{name}, {similarity}",
                    "ours": Fraction(str(ours[0])),
                    "ours_sd": Fraction(str(ours[1])),
                    "kr": Fraction(str(base[0])),
                    "kr_sd": Fraction(str(base[1])),
                }


def of_table(trial: sc.Trial, tables: str) -> Iterator[sc.Instance]:
    """The cases of these tables."""
    return (instance for instance in printed_pairs(trial) if instance["table"] in tables.split())


@sc.claim(
    "KJ-X2",
    section=SECTION,
    place="Section 4, Table 1b",
    kind=sc.IDENTITY,
    says=r"In almost all cases ORLand gives a much better performance than KR: in 11 of the 12 cases of Table 1b, all but Wine-White with "
    r"the sigmoid, the printed error of ORLand is less than that of KR **by more than both printed deviations together**.",
    instances=lambda trial: of_table(trial, "1b"),
    exhaustive=True,
    resolution=0.0,
    knobs={"but": EXCEPTION, "times": 1},
    mutants={"in all cases": {"but": ""}, "by ten times the deviations": {"times": 10}},
    note="This is about the printed numbers; KJ-X2-data computes them anew. 'Much' is ours: the paper has no measure of it; the quotient "
    "of the errors is .21 to .62 where labels are binned, and .62, .67, .79 on wine. KR is hardly better than the median of the labels, "
    "and mostly worse (kj-table1b), so the comparison says little.",
)
def orland_is_below_kernel_regression(
    ours: Fraction, kr: Fraction, ours_sd: Fraction, kr_sd: Fraction, case: str, trial: sc.Trial
) -> Iterator[sc.Check]:
    """One comparison a case; the exception is one where KR is better."""
    ours, base, first, second = sc.inputs(ours=ours, kr=kr, ours_sd=ours_sd, kr_sd=kr_sd)
    if case == trial["but"]:
        yield sc.at_least(ours, base, case, strict=True)
    else:
        yield sc.at_most(ours + trial["times"] * (first + second), base, case, strict=True)


@sc.claim(
    "KJ-X3",
    section=SECTION,
    place="Section 5",
    kind=sc.IDENTITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"In all cases the paper's learning methods consistently outperformed the kernel regression baseline: in all 24 cases of Tables "
    r"1a and 1b the printed error of the method is less than that of KR.",
    instances=lambda trial: of_table(trial, trial["tables"]),
    exhaustive=True,
    resolution=0.0,
    knobs={"tables": "1a 1b"},
    mutants={"in Table 1a": {"tables": "1a"}},
    note="Wine-White with the sigmoid: ORLand has 0.89 (0.85), KR 0.62 (0.020). Section 4 itself says 'in almost all cases' (KJ-X2). "
    "KJ-X2-data does not find this exception again: solved to optimality, ORLand is better than KR there, too.",
)
def methods_outperform_in_all_cases(ours: Fraction, kr: Fraction, case: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """One comparison a case."""
    ours, base = sc.inputs(ours=ours, kr=kr)
    yield sc.at_most(ours, base, case, strict=True)


@sc.claim(
    "KJ-X3+",
    section=SECTION,
    place="Section 5, corrected",
    kind=sc.IDENTITY,
    corrects="KJ-X3",
    says=r"In 23 of the 24 cases the printed error of the method is less than that of KR. In the other one, Wine-White with the sigmoid, "
    r"it is larger, by less than its own printed deviation over the splits: there the table does not say which is better.",
    instances=printed_pairs,
    exhaustive=True,
    resolution=0.0,
    knobs={"but": EXCEPTION, "deviation": "ours_sd"},
    mutants={"by less than the deviation of KR": {"deviation": "kr_sd"}, "another exception": {"but": "Wine-Red, Sigmoid"}},
    note="The deviation, 0.85, is as large as the mean: of five errors with mean 0.89 one is at least 1.54 (KJ-X10). One split of five "
    "that is off is what gradient descent that was stopped early, or outlying points, would give.",
)
def methods_outperform_in_all_cases_but_one(
    instance: sc.Instance, case: str, ours: Fraction, kr: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """One comparison a case; for the exception also with the deviation."""
    ours, base, deviation = sc.inputs(ours=ours, kr=kr, deviation=instance[trial["deviation"]])
    if case == trial["but"]:
        yield sc.at_least(ours, base, case, strict=True)
        yield sc.at_most(ours, base + deviation, f"{case}: within the deviation")
    else:
        yield sc.at_most(ours, base, case, strict=True)


def printed_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The rows of Table 1b with both similarities."""
    for name, row in TABLE_1B.items():
        found: sc.Instance = {"set": name}
        for method in (ORLAND, KR):
            for similarity in BOTH:
                mean, sd = row[similarity, method]
                found[f"{method}, {similarity}"] = {"mean": Fraction(str(mean)), "sd": Fraction(str(sd))}
        yield found


@sc.claim(
    "KJ-X9",
    section=SECTION,
    place="Section 4, Table 1b",
    kind=sc.IDENTITY,
    says=r"The sigmoid seems to outperform Manhattan on a couple of data sets: in the column of ORLand **on two of the six, Wine-Red and "
    r"Bank-8**, and on no other. **Both differences are less than a printed deviation**, so that it does no more than seem so.",
    instances=printed_sets,
    exhaustive=True,
    resolution=0.0,
    knobs={"method": ORLAND, "two": "Wine-Red Bank-8"},
    mutants={"in the column of KR": {"method": KR}, "on three": {"two": "Wine-Red Bank-8 House-8"}},
    note="Differences 0.03 (deviations 0.038, 0.032) and 0.02 (0.044, 0.017). KJ-X9-data computes them anew.",
)
def sigmoid_is_better_on_two_sets(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """One comparison a set; where the sigmoid has less, also with the larger deviation."""
    entries = {s: instance[f"{trial['method']}, {s}"] for s in BOTH}
    widest = max(BOTH, key=lambda s: entries[s]["sd"])
    sigmoid, manhattan, sd = sc.inputs(sigmoid=entries[SIGMOID]["mean"], manhattan=entries[MANHATTAN]["mean"], sd=entries[widest]["sd"])
    if instance["set"] in trial["two"].split():
        yield sc.at_most(sigmoid, manhattan, instance["set"], strict=True)
        yield sc.at_most(manhattan, sigmoid + sd, f"{instance['set']}: within the deviation")
    else:
        yield sc.at_most(manhattan, sigmoid, instance["set"])
