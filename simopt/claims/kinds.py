"""The vocabulary of claims: kinds, what is expected, verdicts, evidence, scope, defects and quantifiers.

Every member is a string, so that a record written as JSON reads like the code.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The sort of statement that a claim is; it decides how its checks become a verdict."""

    DEFINITION = "definition"
    IDENTITY = "identity"
    INEQUALITY = "inequality"
    EXISTENCE = "existence"
    TIGHTNESS = "tightness"
    EQUIVALENCE = "equivalence"
    COUNTEREXAMPLE = "counterexample"
    HIGH_PROBABILITY = "high-probability"
    IN_EXPECTATION = "in-expectation"
    RATE = "rate"
    ALGORITHM = "algorithm"
    EXPERIMENT = "experiment"


class Expected(StrEnum):
    """The verdict that a claim expects. OPEN is for rows that nobody has decided; it names the verdict that its checks had last."""

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    VACUOUS = "VACUOUS"
    OPEN = "OPEN"


class Verdict(StrEnum):
    """The verdict of a run. ERROR is no verdict on the mathematics: the claim's own code raised."""

    PROVED = "PROVED"
    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    VACUOUS = "VACUOUS"
    NOT_RUN = "NOT_RUN"
    ERROR = "ERROR"

    def meets(self, expected: Expected, last: Verdict | None = None) -> bool:
        """Whether this verdict is what was expected; PROVED meets HOLDS, NOT_RUN fails nothing, ERROR always fails.

        An OPEN row meets the verdict that it had `last`: a change needs a reader.
        """
        if self is Verdict.ERROR:
            return False
        if self is Verdict.NOT_RUN:
            return True
        if expected is Expected.OPEN:
            return self is last
        if self is Verdict.PROVED:
            return expected is Expected.HOLDS
        return self.value == expected.value


class Evidence(StrEnum):
    """The kind of numbers behind a verdict, from the strongest to the weakest.

    EXACT_STEPS is given to a row and never to a check: its proof file was checked exactly, and says that it is less than the sentence.
    """

    EXACT = "exact"
    INTERVAL = "interval"
    EXACT_STEPS = "exact steps"
    FLOAT = "float"
    STATISTICAL = "statistical"

    @property
    def rank(self) -> int:
        """0 for the strongest evidence, 4 for the weakest."""
        return _STRENGTH[self]

    @property
    def rigorous(self) -> bool:
        """Whether the evidence carries no rounding and no chance."""
        return self in (Evidence.EXACT, Evidence.INTERVAL)


_STRENGTH = {evidence: rank for rank, evidence in enumerate(Evidence)}


def weakest(*evidence: Evidence) -> Evidence:
    """Weakest of several pieces of evidence; exact if there is none."""
    return max(evidence, key=lambda piece: piece.rank, default=Evidence.EXACT)


class Scope(StrEnum):
    """How much of what the claim quantifies over was tried."""

    EXHAUSTIVE = "exhaustive"
    WITNESS = "witness"
    SAMPLED = "sampled"


class ProofStatus(StrEnum):
    """The state of knowledge about the sentence itself, beside its checks.

    PROVED: a proof file holds the whole sentence. IN_WORDS: the paper or the claim's own text proves it. GAP: the printed proof does not
    show it, and no other proof is known. OPEN: undecided.
    """

    PROVED = "proved"
    IN_WORDS = "proved in words"
    GAP = "proof gap"
    OPEN = "open"


class Defect(StrEnum):
    """Why a refuted statement fails, so that the few substantive ones stand out from slips of the pen."""

    SUBSTANTIVE = "substantive"
    MISSING_HYPOTHESIS = "missing hypothesis"
    CONSTANT = "constant"
    CONVENTION = "convention"
    TYPO = "typo"


class Quantifier(StrEnum):
    """ALL: one refuted instance refutes. SOME: one instance on which every check is satisfied suffices."""

    ALL = "ALL"
    SOME = "SOME"


class Effort(StrEnum):
    """Counts of instances and draws: quick runs one seed, full runs five and more of everything."""

    QUICK = "quick"
    FULL = "full"
