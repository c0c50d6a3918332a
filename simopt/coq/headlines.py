"""The headline results that files of Coq beside this module state in full, claim by claim; of each a false sibling."""

from __future__ import annotations

from dataclasses import dataclass

from simopt.coq.preludes import source

FILES = ("Headlines", "Sparse", "Isotron", "Ranking", "Stability", "Ordinal", "Chain", "Quantifiers", "Expansions")


@dataclass(frozen=True)
class Headline:
    """Theorems of one claim, their file, what of its sentence they leave out, and a change of a constant that makes one of them false."""

    claim: str
    theorems: tuple[str, ...]
    left: str
    true: str
    false: str
    file: str = "Headlines"

    def mutant(self) -> str:
        """The whole file with the change."""
        text = source(self.file)
        if text.count(self.true) != 1:
            raise ValueError(f"{self.claim}: {self.true!r} stands {text.count(self.true)} times in {self.file}.v, not once")
        return text.replace(self.true, self.false)


HEADLINES = (
    Headline(
        "RMW-SVMl",
        ("RMW_SVMl_from_the_threshold_on", "RMW_SVMl_unique", "RMW_SVMl_only_there"),
        "",
        "(forall p, In p l -> inner (mean_map l) p <= lam) -> svm_optimal lam l (scale (/ lam) (mean_map l)).",
        "(forall p, In p l -> inner (mean_map l) p <= 2 * lam) -> svm_optimal lam l (scale (/ lam) (mean_map l)).",
    ),
    Headline(
        "RMW-T14-label-free",
        ("RMW_T14_label_free",),
        "",
        "Theorem RMW_T14_label_free : ~ forall loss",
        "Theorem RMW_T14_label_free : forall loss",
    ),
    Headline(
        "RMW-LS2-threshold",
        ("RMW_LS2_below_the_threshold", "RMW_LS2_only_below", "RMW_LS2_above_the_threshold"),
        "",
        "sigma < 12 * gamma / (5 + 24 * gamma) -> servedio_optimal gamma sigma c d",
        "sigma < 13 * gamma / (5 + 24 * gamma) -> servedio_optimal gamma sigma c d",
    ),
    Headline(
        "KJ-Thm6b-two",
        ("KJ_Thm6b_two",),
        "",
        "good_similarity linear (two_points gamma eps) eps B <-> 1 / (4 * eps * gamma ^ 2) <= B.",
        "good_similarity linear (two_points gamma eps) eps B <-> 1 / (5 * eps * gamma ^ 2) <= B.",
    ),
    Headline(
        "KJ-Thm14b-two",
        ("KJ_Thm14b_two",),
        "",
        "margin eps B <-> margin ^ 2 / (4 * eps * gamma ^ 2) <= B.",
        "margin eps B <-> margin ^ 2 / (5 * eps * gamma ^ 2) <= B.",
    ),
    Headline(
        "KJ-Thm13b-where",
        ("KJ_Thm13_threshold", "KJ_Thm13b_where"),
        "the 0-1 error, and a psi that is cut off at 0",
        "larger gamma <= delta /\\ 2 * (larger gamma - gamma) <= delta.",
        "larger gamma <= delta /\\ larger gamma - gamma <= delta.",
        "Ordinal",
    ),
    Headline(
        "KJ-Thm30+",
        ("KJ_Thm30_any", "KJ_Thm30_mean", "KJ_Thm30_two_attained"),
        "",
        "best_order g best -> regret g best <= constant (length g) * apart s (relevances g best).",
        "best_order g best -> regret g best <= 9 / 10 * constant (length g) * apart s (relevances g best).",
        "Ranking",
    ),
    Headline(
        "KJ-Thm30-sharp",
        ("KJ_Thm30_attained", "KJ_Thm30_constant_two"),
        "scores that are disturbed, not tied; the choice of c that makes the gain 1",
        "regret g best = constant m * apart s (relevances g best) /\\ ((2 <= m)",
        "regret g best = 2 * constant m * apart s (relevances g best) /\\ ((2 <= m)",
        "Ranking",
    ),
    Headline(
        "RMW-T22-sharp",
        ("RMW_T22_sharp", "RMW_T22_constant"),
        "",
        "q * (INR k / (INR k + 1)) * (2 * eps ^ 2 / INR (2 * k)) <= norm2 (minus omega v).",
        "q * 3 * (2 * eps ^ 2 / INR (2 * k)) <= norm2 (minus omega v).",
        "Sparse",
    ),
    Headline(
        "KK-T2-sharp",
        ("KK_T2_sharp_thirds", "KK_T2_sharp_fourths"),
        "",
        "C * Rpower (Rpower W (5 - 2 / INR k) / M) (1 / 3) < error",
        "C * Rpower (Rpower W (7 - 2 / INR k) / M) (1 / 3) < error",
        "Isotron",
    ),
    Headline(
        "KK-LPAV",
        ("KK_LPAV_two", "KK_LPAV_any", "KK_LPAV_exists"),
        "that straight lines between the points give a function with these values",
        "(0 < upto i (fun j => f j - y j) -> f (S i) - f i = d i)",
        "(0 < upto i (fun j => f j - y j) -> f (S i) = f i)",
        "Chain",
    ),
    Headline(
        "AK-T3-sharp",
        ("AK_T3_sharp_kept", "AK_T3_sharp_renewed"),
        "",
        "q * stability_bound 1 m lam <= Rabs (f - g).",
        "(1 + q) * stability_bound 1 m lam <= Rabs (f - g).",
        "Stability",
    ),
    Headline(
        "KK-T1cor",
        ("KK_T1cor_no_constant",),
        "",
        "sqrt (W ^ 2 * ln (INR m / delta) / INR m) <= K / sqrt (INR m).",
        "sqrt (W ^ 2 * ln (INR m / delta) / INR m) <= K / sqrt (INR m) * sqrt (ln (INR m / delta)).",
        "Quantifiers",
    ),
    Headline(
        "KK-T2",
        ("KK_T2_no_constant",),
        "part 2, of which KK_T2_sharp_fourths at k = 1 has the instances",
        "(fun x => u t (w t * x)) <= C * Rpower (W ^ 2 / M) (1 / 3)).",
        "(fun x => u t (w t * x)) <= C * Rpower (W ^ 5 / M) (1 / 3)).",
        "Quantifiers",
    ),
    Headline(
        "KK-P1",
        ("KK_P1_no_constant",),
        "the run: that the mean is at least 1/4 from t = m + 1 on",
        "~ 1 / 4 <= C * Rpower (ln (4 * INR m) / INR m) (1 / 4).",
        "~ 1 / 4 <= C * Rpower (ln (4 * INR m) / INR m) (0 / 4).",
        "Quantifiers",
    ),
    Headline(
        "AK-Ex.b",
        ("ridge_of_all_minimises", "ridge_of_others_minimises", "AK_Ex_b_no_constants"),
        "",
        "~ ridge_change n s <= C1 * (1 + C2 / s) / (INR n * s ^ 2).",
        "~ ridge_change n s <= C1 * (1 + C2 / s) ^ 2 / (INR n * s ^ 2).",
        "Quantifiers",
    ),
    Headline(
        "AK-D3.1",
        ("AK_D3_1_no_minimiser", "AK_D3_1_negated"),
        "",
        "strictly_convex f /\\ forall g, exists better, f better < f g.",
        "strictly_convex f /\\ forall g, exists better, f better < f better.",
        "Quantifiers",
    ),
    Headline(
        "AK-P4.7pf",
        ("AK_P4_7pf_no_limit", "AK_P4_7pf_negated"),
        "",
        "Theorem AK_P4_7pf_negated : ~ forall Phi",
        "Theorem AK_P4_7pf_negated : forall Phi",
        "Quantifiers",
    ),
    Headline(
        "AK-P5.1Gam",
        ("AK_P5_1Gam_no_radius", "AK_P5_1Gam_negated"),
        "",
        "~ exists Gamma, 0 < Gamma /\\ forall f, penalised_solution m lam f",
        "exists Gamma, 0 < Gamma /\\ forall f, penalised_solution m lam f",
        "Quantifiers",
    ),
    Headline(
        "RMW-2-boosting",
        ("RMW_2_boosting_no_similarity",),
        "",
        "| X, 1%nat => 1 / 2 | X, _ => - (1 / 2)",
        "| X, 1%nat => 1 / 2 | X, _ => 1 / 2",
        "Expansions",
    ),
    Headline(
        "RMW-3.2-normal",
        ("RMW_3_2_normal_solution", "RMW_3_2_normal_no_strength"),
        "",
        "solves (1, 1 / 2, 1 / 4) lam w",
        "solves (1, 1, 1) lam w",
        "Expansions",
    ),
)
