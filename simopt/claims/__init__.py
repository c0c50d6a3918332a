r"""Statements of papers made executable: how to write a claim.

A claim is two functions and a header. `instances(trial)` yields the cases to try, as dictionaries of plain data (numbers, Fractions,
strings, lists, arrays), so that a witness can be written to a file and replayed. The parameters of the decorated function are entries of an
instance, by name, `trial`, and `instance` for all of it; an entry that an instance may lack has a default. It checks ONE instance::

    from collections.abc import Iterator
    from fractions import Fraction

    import simopt.claims as sc

    def pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
        for s in range(5):                                 # sampled claims: `for _ in range(trial.count(20, 200))`, with trial.rng:
            for t in range(5):                             # counts depend on the effort, never on the clock
                yield {"s": s, "t": t}

    @sc.claim(
        "AK-19+",                                          # the row; `<row>+`: corrected
        paper=sc.AUDIFFREN_KADRI,                          # only outside of its folder
        place="Appendix D, (19), p = m/2", kind=sc.INEQUALITY,
        says=r"For integers 0 ≤ s, t ≤ 4 and 1 ≤ p ≤ 3:  (s+t)^p ≤ 2^{p-1} (s^p + t^p).",   # our words, EVERY hypothesis
        instances=pairs, exhaustive=True,                  # all there are
        knobs={"base": 2}, mutants={"base 2 → 1": {"base": 1}},
        corrects="AK-19",
    )
    def power_means(s: int, t: int, trial: sc.Trial) -> Iterator[sc.Check]:
        s, t = sc.inputs(s=s, t=t)                         # exact formulas that a proof file can state
        for p in (1, 2, 3):
            yield sc.at_most((s + t) ** p, trial["base"] ** (p - 1) * (s**p + t**p), f"p = {p}")   # measured, bound, name

Rules
-----
* `paper` is the one in whose folder `simopt.theorems.<key>` the module stands, `expected` is HOLDS, and `instances` is `once`: one instance
  that is empty. Only what differs is written. A claim outside of these folders names its paper.
* Verdict code reads its constants through `trial["knob"]`, so that mutants reach it. Every claim needs a mutant that CHANGES THE
  VERDICT (a claim expected to be REFUTED must hold with it). It is an altered constant `{"c": 1/7}`, or a dropped hypothesis through
  other instances `{"instances": generator}` (and `"decode": …` or `None`). `mutants=TIGHTEN` tightens every bound past the tightness
  reached and counts only if that is ≥ 0.5. `no_mutant="reason"` is accepted for definitions, experiments, counterexamples.
* `exhaustive=True` says that the instances are all there are. It is believed only if neither they nor the checks ask for `trial.rng`,
  `trial.seed`, `trial.effort` or a `trial.count` that depends on the effort, and there is no `decode`.
* Randomness comes from `trial.rng` only (seeded by claim, seed and index; the generator of instances and each check have their own).
* `expected`: HOLDS, REFUTED, VACUOUS or OPEN. REFUTED has `defect=` SUBSTANTIVE, MISSING_HYPOTHESIS, CONSTANT, CONVENTION or TYPO, and a
  second claim `<id>+` with `corrects=<id>`. OPEN is for U and R rows only: `note=` says what is missing, `last=Verdict.HOLDS` the verdict
  it had last (another one fails).
* `status=ProofStatus.GAP` (the printed proof does not show it, and no other is known) or `ProofStatus.OPEN`, of all rows or by row, stands
  beside HOLDS; `note=` says what is missing. Without it HOLDS reads "proved in words": by the paper, or by the claim's own text.
* A sentence that says that something exists ("there is a constant", "O(·)", "argmin exists", "→ 0 as n → ∞") is refuted for every value
  of it or not at all. `constants=("C",)` names the entries of an instance that are claimed to exist, the rest of the instance being a
  function of them. REFUTED needs a failing check for each value tried, and `defeats=` says how every value is defeated: by a formula, or
  by the name of a theorem of Coq.
* `quantifier=ALL`: one refuted instance refutes. `SOME`: one instance ALL of whose checks are satisfied suffices; only an exhaustive
  search refutes. Existence, tightness and counterexamples are usually SOME.
* `covers=("AK-18",)`: the function also decides these rows; their checks say `row="AK-18"`, checks without a row decide the claim's own
  id. Every row must get a check of its own. All rows of a claim share its `expected`; split the claim otherwise.
* `compares=("m-power-rls ~ kernel-ridge",)`: registered families of learners of which the sentence says whether they are one, a pair each;
  docs/equivalences.md shows it beside what was measured. What corrects a claim compares what that does, unless it says so itself.
* `requires=("dataset:concrete", "sklearn")`: data sets and modules without which the claim is NOT_RUN. `trial.dataset(name)` and
  `trial.require(module)` do the same on the spot. A statement about each of several sets is registered with `claim_on_each`
  (`simopt.claims.each_set`): two claims, on the sets that the repository carries and on those that may not be passed on.
* `resolution` r: a slack ≥ −r is satisfied, < −r refuted (r = 0 for exact evidence). Pass `scale=` in checks so that r is relative to the
  natural unit. Seconds at quick effort, for the order of work, stand in `theorems/costs.json` (see `simopt.claims.costs`); a plug-in
  gives them as `cost=`.
* `note` is for the reader: a proof gap (status G), a choice of ours, a reading of the text.

Checks (evidence is inferred: int/Fraction → exact, Interval → interval, float and NumPy's integers → float; the weakest part counts)
-------------------------------------------------------------------------------------------------------------------------------------
* at_most(measured, bound, name, error=, scale=, strict=, row=): measured ≤ bound; arrays: worst entry; gives slack and tightness
* at_least(measured, bound, …): measured ≥ bound
* equal(left, right, …): identity, slack −max|left − right|/scale
* distinct(left, right, error=…): they differ, beyond the error
* true(condition, name, evidence=EXACT): a yes-or-no fact, a bool
* vacuous(condition, name): the claim says nothing here (all checks vacuous → VACUOUS)
* between(lower, upper): a value known by two bounds (a certificate's), to be passed as `measured` or `bound`
* outcome(bad, delta, group): one draw of P(bad) ≤ delta. One instance is one setting. Draw in a loop `for _ in trial.draws(100_000):`. It
  ends when Clopper–Pearson has decided every group drawn in it; checks behind the loop are read as well.
* probability(low, high, delta): the same with the probability known (equal ends: exactly)
* expectation(value, bound, group, support=(a, b)): one draw of E[value] ≤ bound, a ≤ value ≤ b always (without it draws decide nothing)
* rate(sizes, values, slope, direction="at most", window=(lo, hi), tolerance=0.1): log-log slope; never refutes a hidden constant

`error=` is the optimisation error of `measured` (for a norm distance: Problem.distance(gap)); it widens the enclosure, and a slack
smaller than it is undecided, not held.

A proof file needs formulas, and exhaustive instances or SOME. Build both sides from `inputs(x=…)`, `rational`, + − * / **, abs, `minimum`,
`maximum`, `total`, and `root`, `exp`, `log`, which enclose. Inputs are the DATA of the instance by name. A number that is not among them is
called computed, and leaves no proof unless a hypothesis of the check says what it is. So is a number of more than two digits in a formula,
unless it is a datum, stands in `says` or is a power of ten or two. Write `rational(2)**k * 3`, and not the 3072 that Python computed.
Arrays of formulas need one check an entry. Exact Fractions without a formula give "HOLDS (exact, N instances)".
`symbols("x y")` are free: `equal((x + y)**2, x**2 + 2*x*y + y**2)` is PROVED by expansion, for all values where nothing that is divided by
vanishes. These conditions are printed, and `says` must have them. A statement without data is tried on one empty instance, `once`.
`check.assuming(at_least(s, 0), …)` adds hypotheses that the proof file states and checks.

Statements and steps in a proof file
------------------------------------
A statement IS the claim (one of its cases), or it is a STEP of a proof: an algebraic identity, an inequality for the first few n, a
constant. PROVED is for files with the whole sentence of `says`. Every quantifier of it is in the instances, in symbols or in the witness,
and every word of it ("K is useful", "the algorithm returns") is in the formulas. Ask: if somebody is handed the file alone, do they know
that `says` is true? If not:

* claim(..., remains="the induction over the rounds"): every statement of the claim is a step, and this is left to be shown, in words
* claim(..., remains={"AK-18": "…"}): the same for the rows named (a claim with `covers`)
* at_most(…).step("…what this one leaves to be shown…"): one check of a claim that mixes (its own words count first)

A sentence about every n (m, k, d, r, t, N, M, T) needs n as a symbol: with numbers for n its formulas are steps, said or not.
A row with a step HOLDS by "exact steps". Its file is written and rechecked as any other, and its scope stands beside it. The table, the
report, the JSON (`remains`) and `simopt show` say what remains. Steps may be sampled; what is said to be the claim may not.

Attack: `decode(point, trial) -> Instance | None` maps [0, 1]^dimension to instances (None: outside the hypotheses); the engine then also
minimises the slack over the cube (SOME: maximises it), `evaluations=(quick, full)` times. An instance that it finds counts like any other.

Trying it:  `simopt.claims.run("AK-19+")` returns a `ClaimResult`; `run("AK-19+", mutants=True)` also runs the mutants;
`simopt.claims.verification.verify(["AK-19+"])` gives the record that the command line prints.
"""

from simopt.claims.catalogue import claims as claims
from simopt.claims.catalogue import find as find
from simopt.claims.catalogue import list_claims as list_claims
from simopt.claims.catalogue import select as select
from simopt.claims.check import Check, at_least, at_most, distinct, equal, expectation, outcome, probability, true, vacuous
from simopt.claims.check import DrawnCheck as DrawnCheck
from simopt.claims.claim import TIGHTEN, Claim, Instance, InvalidClaim, claim, once
from simopt.claims.enclosure import Enclosure, NotComparable, between, enclose
from simopt.claims.expression import Expr, exp, inputs, log, maximum, minimum, rational, root, symbols, total
from simopt.claims.kinds import Defect, Effort, Evidence, Expected, Kind, ProofStatus, Quantifier, Scope, Verdict
from simopt.claims.papers import AUDIFFREN_KADRI, KAKADE_KALAI_KANADE_SHAMIR, KAR_JAIN, VAN_ROOYEN_MENON_WILLIAMSON, Paper
from simopt.claims.papers import PAPERS as PAPERS
from simopt.claims.rates import rate
from simopt.claims.replay import Replay as Replay
from simopt.claims.replay import replay as replay
from simopt.claims.runner import ClaimResult as ClaimResult
from simopt.claims.runner import run as run
from simopt.claims.trial import Trial
from simopt.claims.witness import BadWitness as BadWitness

DEFINITION = Kind.DEFINITION
IDENTITY = Kind.IDENTITY
INEQUALITY = Kind.INEQUALITY
EXISTENCE = Kind.EXISTENCE
TIGHTNESS = Kind.TIGHTNESS
EQUIVALENCE = Kind.EQUIVALENCE
COUNTEREXAMPLE = Kind.COUNTEREXAMPLE
HIGH_PROBABILITY = Kind.HIGH_PROBABILITY
IN_EXPECTATION = Kind.IN_EXPECTATION
RATE = Kind.RATE
ALGORITHM = Kind.ALGORITHM
EXPERIMENT = Kind.EXPERIMENT

HOLDS = Expected.HOLDS
REFUTED = Expected.REFUTED
VACUOUS = Expected.VACUOUS
OPEN = Expected.OPEN

ALL = Quantifier.ALL
SOME = Quantifier.SOME

SUBSTANTIVE = Defect.SUBSTANTIVE
MISSING_HYPOTHESIS = Defect.MISSING_HYPOTHESIS
CONSTANT = Defect.CONSTANT
CONVENTION = Defect.CONVENTION
TYPO = Defect.TYPO

EXACT = Evidence.EXACT
INTERVAL_EVIDENCE = Evidence.INTERVAL

__all__ = [  # the language of claims; the programs that run them (`as` themselves above) stand beside it
    "ALGORITHM",
    "ALL",
    "AUDIFFREN_KADRI",
    "CONSTANT",
    "CONVENTION",
    "COUNTEREXAMPLE",
    "DEFINITION",
    "EQUIVALENCE",
    "EXACT",
    "EXISTENCE",
    "EXPERIMENT",
    "HIGH_PROBABILITY",
    "HOLDS",
    "IDENTITY",
    "INEQUALITY",
    "INTERVAL_EVIDENCE",
    "IN_EXPECTATION",
    "KAKADE_KALAI_KANADE_SHAMIR",
    "KAR_JAIN",
    "MISSING_HYPOTHESIS",
    "OPEN",
    "RATE",
    "REFUTED",
    "SOME",
    "SUBSTANTIVE",
    "TIGHTEN",
    "TIGHTNESS",
    "TYPO",
    "VACUOUS",
    "VAN_ROOYEN_MENON_WILLIAMSON",
    "Check",
    "Claim",
    "Defect",
    "Effort",
    "Enclosure",
    "Evidence",
    "Expected",
    "Expr",
    "Instance",
    "InvalidClaim",
    "Kind",
    "NotComparable",
    "Paper",
    "ProofStatus",
    "Quantifier",
    "Scope",
    "Trial",
    "Verdict",
    "at_least",
    "at_most",
    "between",
    "claim",
    "distinct",
    "enclose",
    "equal",
    "exp",
    "expectation",
    "inputs",
    "log",
    "maximum",
    "minimum",
    "once",
    "outcome",
    "probability",
    "rate",
    "rational",
    "root",
    "symbols",
    "total",
    "true",
    "vacuous",
]
