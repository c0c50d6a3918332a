"""Section 4: what Table 1a and the text say of the regression experiments, by the printed numbers themselves, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kj.experiments.printed_tables import KR, LAND_SP, MANHATTAN, SIGMOID, TABLE_1A, half_unit

SECTION = "regression"
SPLITS = 5


def printed_rows(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The six rows: means and deviations of both methods and similarities, as printed."""
    for name, entries in TABLE_1A.items():
        found: sc.Instance = {"row": name}
        for (similarity, method), (mean, sd) in entries.items():
            found[f"{similarity}, {method}"] = {
                "mean": Fraction(str(mean)),
                "sd": Fraction(str(sd)),
                "mean_rounded": half_unit(mean),
                "sd_rounded": half_unit(sd),
            }
        yield found


@sc.claim(
    "KJ-X1",
    section=SECTION,
    place="Section 4, Table 1a",
    kind=sc.IDENTITY,
    says=r"In all 12 cases of Table 1a, six sets and two similarities, the printed error of RegLand-Sp with 50 landmarks is less than that "
    r"of KR: **at most half of it**.",
    instances=printed_rows,
    exhaustive=True,
    resolution=0.0,
    knobs={"factor": Fraction(1, 2)},
    mutants={"at most a thirtieth": {"factor": Fraction(1, 30)}},
    note="This is about the printed numbers; KJ-X1-data computes them anew. KR has a larger error than a constant in all of them (KJ-X7), "
    "so the comparison says little.",
)
def sparse_is_below_kernel_regression(instance: sc.Instance, row: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both similarities of a row."""
    for k, similarity in enumerate((SIGMOID, MANHATTAN)):
        values = {f"{short}_{k}": instance[f"{similarity}, {method}"]["mean"] for short, method in (("sp", LAND_SP), ("kr", KR))}
        sparse, base = sc.inputs(**values)
        yield sc.at_most(sparse, trial["factor"] * base, f"{row}, {similarity}")


@sc.claim(
    "KJ-X4",
    section=SECTION,
    place="Section 4, Table 1a",
    kind=sc.IDENTITY,
    says=r"The Manhattan similarity seems to match or outperform the sigmoid on all the data sets: so it does in the column of "
    r"**RegLand-Sp**, in all six rows.",
    instances=printed_rows,
    exhaustive=True,
    resolution=0.0,
    knobs={"method": LAND_SP},
    mutants={"in the column of KR": {"method": KR}},
    note="The sentence follows one about RegLand-Sp. In the column of KR it is false: CPUData has 4.1e-2 with the sigmoid, 4.3e-2 with "
    "Manhattan.",
)
def manhattan_matches_the_sigmoid(instance: sc.Instance, row: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """One comparison a row."""
    values = {short: instance[f"{s}, {trial['method']}"]["mean"] for short, s in (("manhattan", MANHATTAN), ("sigmoid", SIGMOID))}
    manhattan, sigmoid = sc.inputs(**values)
    yield sc.at_most(manhattan, sigmoid, f"{row}, {trial['method']}")


@sc.claim(
    "KJ-X10",
    section=SECTION,
    place="Section 4, Table 1a",
    kind=sc.INEQUALITY,
    says=r"Means with deviations in brackets are over five random splits. All 24 printed pairs can be mean m and standard deviation s of "
    r"five numbers ≥ 0, that is s ≤ √5 m, up to rounding: m + 4u and four times m − u have s² = 5u². Since Σv² ≤ max v Σv, the largest of "
    r"the five is at least m + 4s²/(5m): for RegLand-Sp on Bodyfat with the sigmoid (s > m) one split has at least 2.3 times the mean "
    r"error.",
    instances=printed_rows,
    exhaustive=True,
    resolution=0.0,
    knobs={"splits": SPLITS, "times": Fraction(23, 10)},
    mutants={"two splits": {"splits": 2}, "three times the mean": {"times": Fraction(3)}},
    note="Both with s² = Σ(v − m)²/4. That the splits are random, and five, cannot be told from the table; that a single split decides an "
    "entry can. In kj-table1a, too, single test points decide those entries of Bodyfat.",
)
def deviations_are_those_of_five_splits(instance: sc.Instance, row: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """(s − rounding)² ≤ n (m + rounding)², and the largest value where s > m."""
    n = trial["splits"]
    m, u, s = sc.symbols("m u s")
    yield sc.equal(((m + 4 * u) + 4 * (m - u)) / 5, m, "the mean of m + 4u and four times m − u")
    yield sc.equal((((m + 4 * u) - m) ** 2 + 4 * ((m - u) - m) ** 2) / 4, 5 * u**2, "their s²")
    yield sc.equal((4 * s**2 + 5 * m**2) / (5 * m), m + 4 * s**2 / (5 * m), "Σv²/Σv, from s² = (Σv² − 5m²)/4")
    for k, (column, entry) in enumerate((key, value) for key, value in instance.items() if key != "row"):
        mean, sd, above, below = sc.inputs(**{f"{name}_{k}": entry[name] for name in ("mean", "sd", "mean_rounded", "sd_rounded")})
        least, most = sd - below, mean + above
        yield sc.at_most(least * least, n * most * most, f"{row}, {column}: s ≤ √n m")
        if entry["sd"] > entry["mean"]:
            yield sc.at_least(most * most + Fraction(n - 1, n) * least * least, trial["times"] * most * most, f"{column}: largest of five")
