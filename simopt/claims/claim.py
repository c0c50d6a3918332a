"""The decorator that turns a function into a registered claim, and everything it refuses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from simopt.claims.check import Check
from simopt.claims.kinds import Defect, Expected, Kind, ProofStatus, Quantifier, Verdict
from simopt.claims.papers import Paper, of_package
from simopt.claims.trial import Trial
from simopt.core import registry
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

Instance = dict[str, Any]
Instances = Callable[[Trial], Iterable[Instance]]
Decode = Callable[[Array, Trial], "Instance | None"]
Verdicts = Callable[..., Iterator[Check]]  # takes entries of the instance by name, and `instance` or `trial`

TIGHTEN: Mapping[str, Mapping[str, Any]] = MappingProxyType({"bounds tightened past what was reached": {"tighten": True}})
"""Automatic mutant: every bound is multiplied by tightness/1.1. It counts only where the tightness reached is at least 0.5."""

RESERVED = ("instances", "decode", "dimension", "tighten")
MAY_LACK_MUTANT = (Kind.DEFINITION, Kind.EXPERIMENT, Kind.COUNTEREXAMPLE)
SOMETHING_EXISTS = re.compile(  # the sentence says so of a constant, a minimiser or a limit, in the words that claims use for it
    r"\bthere (?:is|are|exists?)\b|\bexists\b|\bsome (?:constant|(?-i:[A-Z])\b)|\b(?:universal|absolute|suitable) constant|\bO\(|≲"
    r"|\btends? to\b|\bin the limit\b|\bas n → ∞|→ 0 as n",
    re.IGNORECASE,
)
COQ_THEOREM = re.compile(r"\b[A-Z]{2,}_\w+")  # as KK_P1_no_constant, by the prefix of its paper
HOW = re.compile(rf"[=<>≤≥≠]|{COQ_THEOREM.pattern}")  # a formula is checked by who reads it, a theorem by Coq; "trust me" by nobody
NEVER_OPEN = (Kind.DEFINITION, Kind.IDENTITY, Kind.COUNTEREXAMPLE)


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: what is stated of it is in symbols or in constants."""
    yield {}


class InvalidClaim(InvalidProblem):
    """A claim that is not well formed; the message names the claim, the field and what would be right."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement of a paper: what it says, the instances it is tried on, and the function that checks one instance."""

    id: str
    paper: Paper
    place: str
    kind: Kind
    expected: Expected
    says: str
    instances: Instances
    function: Verdicts
    section: str = ""
    decode: Decode | None = None
    dimension: int = 0
    exhaustive: bool = False
    quantifier: Quantifier = Quantifier.ALL
    resolution: float = 1e-12
    knobs: Mapping[str, Any] = field(default_factory=dict)
    mutants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    no_mutant: str | None = None
    covers: tuple[str, ...] = ()
    corrects: str | None = None
    defect: Defect | None = None
    note: str = ""
    requires: tuple[str, ...] = ()
    cost: float | None = None
    evaluations: tuple[int, int] = (150, 1500)
    remains: str | Mapping[str, str] = ""
    status: ProofStatus | Mapping[str, ProofStatus] | None = None
    last: Verdict | None = None
    constants: tuple[str, ...] = ()
    defeats: str = ""
    compares: tuple[str, ...] = ()

    def checks(self, instance: Instance, trial: Trial) -> Iterator[Check]:
        """The checks of one instance. The function gets what its parameters name: entries of the instance, `instance` or `trial`.

        Two parameters that name nothing of this are the instance and the trial, as in `lambda i, t: …`.

        Raises
        ------
        InvalidClaim
            if the instance lacks an entry that the function takes, or, for a function with defaults, has one that it does not take.
        """
        parameters = inspect.signature(self.function).parameters
        given = {**instance, "instance": instance, "trial": trial}
        if len(parameters) == 2 and not any(name in given or each.default is not each.empty for name, each in parameters.items()):
            return self.function(instance, trial)
        lacking = [name for name, each in parameters.items() if name not in given and each.default is each.empty]
        defaults = any(name not in given for name in parameters)
        unread = [key for key in instance if key not in parameters] if defaults and "instance" not in parameters else []
        if lacking or unread:
            wrong = f"has no entry {lacking[0]!r}" if lacking else f"has an entry {unread[0]!r}"
            raise InvalidClaim(f"claim {self.id}: an instance {wrong}; the function takes {', '.join(parameters) or 'nothing'}")
        return self.function(**{name: given[name] for name in parameters if name in given})

    @property
    def rows(self) -> tuple[str, ...]:
        """Catalogue rows that this claim decides: its own and those it covers."""
        return (self.id, *self.covers)

    @property
    def pairs(self) -> tuple[frozenset[str], ...]:
        """The two names of each pair of families that it compares."""
        return tuple(frozenset(pair.split(" ~ ")) for pair in self.compares)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets without which it is NOT_RUN."""
        return tuple(name for kind, _, name in (need.rpartition(":") for need in self.requires) if kind == "dataset")

    @property
    def module(self) -> str:
        """Module that defines the claim."""
        return self.function.__module__

    def left(self, row: str) -> str:
        """The part of the sentence that the statements about `row` leave to be shown, in words; empty if nothing is left."""
        return self.remains if isinstance(self.remains, str) else self.remains.get(row, "")

    def lacks(self, row: str) -> ProofStatus | None:
        """GAP or OPEN where no proof of `row` is known; None where one is."""
        if self.expected is Expected.OPEN:
            return ProofStatus.OPEN
        return self.status.get(row) if isinstance(self.status, Mapping) else self.status

    def met_by(self, verdict: Verdict) -> bool:
        """Whether the verdict is what is expected of the claim's rows."""
        return verdict.meets(self.expected, self.last)

    def describe(self) -> dict[str, Any]:
        """Plain data, as `simopt list theorems --json` shows it."""
        return {
            "id": self.id,
            "covers": list(self.covers),
            "paper": self.paper.key,
            "section": self.section,
            "place": self.place,
            "kind": self.kind.value,
            "expected": self.expected.value,
            "corrects": self.corrects,
            "defect": None if self.defect is None else self.defect.value,
        }


def claim(
    id: str,
    *,
    place: str,
    kind: Kind,
    says: str,
    paper: Paper | None = None,
    expected: Expected = Expected.HOLDS,
    instances: Instances = once,
    section: str = "",
    decode: Decode | None = None,
    dimension: int = 0,
    exhaustive: bool = False,
    quantifier: Quantifier = Quantifier.ALL,
    resolution: float = 1e-12,
    knobs: Mapping[str, Any] | None = None,
    mutants: Mapping[str, Mapping[str, Any]] | None = None,
    no_mutant: str | None = None,
    covers: Sequence[str] = (),
    corrects: str | None = None,
    defect: Defect | None = None,
    note: str = "",
    requires: Sequence[str] = (),
    cost: float | None = None,
    evaluations: tuple[int, int] = (150, 1500),
    remains: str | Mapping[str, str] = "",
    status: ProofStatus | Mapping[str, ProofStatus] | None = None,
    last: Verdict | None = None,
    constants: Sequence[str] = (),
    defeats: str = "",
    compares: Sequence[str] = (),
) -> Callable[[Verdicts], Verdicts]:
    """Register the decorated function as the claim `id`; it yields the checks of one instance. `simopt.claims` explains each field.

    The parameters of the function name what it gets (`Claim.checks`).
    A claim in `simopt.theorems.<key>` is of the paper with that key; elsewhere `paper=` names it.

    Raises
    ------
    InvalidClaim
        at registration, naming the claim and what would be right.
    registry.DuplicateName
        if another module has registered the id.
    """

    def decorate(function: Verdicts) -> Verdicts:
        """Build, validate and register the claim; the function itself stays as it was."""
        own = paper or of_package(function.__module__)
        if own is None:
            raise InvalidClaim(
                f"claim {id} in {function.__module__}: paper= is missing; only claims in the folders of our papers go without"
            )
        made = Claim(
            id, own, place, kind, expected, says, instances, function, section, decode, dimension, exhaustive, quantifier, resolution,
            dict(knobs or {}), dict(mutants or {}), no_mutant, tuple(covers), corrects, defect, note, tuple(requires),
            cost, evaluations, remains if isinstance(remains, str) else dict(remains),
            dict(status) if isinstance(status, Mapping) else status, last, tuple(constants), defeats,
            tuple(compares),
        )  # fmt: skip
        validate(made)
        registry.register("claim", id, made, function.__module__, function.__qualname__)
        return function

    return decorate


def validate(claim: Claim) -> None:
    """Refuse a claim that is not well formed.

    Raises
    ------
    InvalidClaim
        for the first defect found.
    """
    for complaint in _complaints(claim):
        raise InvalidClaim(f"claim {claim.id or '(no id)'} in {claim.module}: {complaint}")


def _complaints(c: Claim) -> Iterator[str]:
    if not c.id or any(letter.isspace() for letter in c.id):
        yield "id must be a non-empty word, such as 'AK-T1'"
    if not isinstance(c.paper, Paper):
        yield f"paper must be a Paper, such as simopt.claims.AUDIFFREN_KADRI, got {c.paper!r}"
    words: tuple[tuple[str, object, type[StrEnum]], ...] = (
        ("kind", c.kind, Kind),
        ("expected", c.expected, Expected),
        ("quantifier", c.quantifier, Quantifier),
    )
    for name, value, allowed in words:
        if not isinstance(value, allowed):
            yield f"{name} must be one of {', '.join(allowed)}, got {value!r}"
    if not c.place.strip() or not c.says.strip():
        yield "place and says must be written out: where the statement stands and what it says, with every hypothesis"
    if not 0 <= c.resolution < 1:
        yield f"resolution must lie in [0, 1), got {c.resolution}"
    if (c.decode is None) != (c.dimension == 0):
        yield f"decode and dimension come together: decode maps [0, 1]^dimension to instances, got dimension={c.dimension}"
    for name, each in inspect.signature(c.function).parameters.items():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            yield f"the function takes {each}: every parameter must be `trial`, `instance` or an entry of an instance, by name ({name})"
    yield from _complaints_about_expectation(c)
    yield from _complaints_about_remains(c)
    yield from _complaints_about_status(c)
    yield from _complaints_about_constants(c)
    yield from _complaints_about_mutants(c)
    if any(len(pair) != 2 or "" in pair for pair in c.pairs):
        yield f"compares= has pairs of registered families, such as 'm-power-rls ~ kernel-ridge', got {', '.join(map(repr, c.compares))}"
    repeated = {row for row in c.rows if c.rows.count(row) > 1}
    if repeated:
        yield f"covers lists {', '.join(sorted(repeated))} more than once (its own row is always covered)"


def _complaints_about_expectation(c: Claim) -> Iterator[str]:
    if c.expected is Expected.REFUTED and not isinstance(c.defect, Defect):
        yield f"expected=REFUTED needs defect=, one of {', '.join(Defect)}"
    if c.expected is not Expected.REFUTED and c.defect is not None:
        yield f"defect={c.defect} belongs to expected=REFUTED"
    if c.expected is Expected.OPEN and (c.kind in NEVER_OPEN or not c.note.strip()):
        yield f"expected=OPEN needs a note that says what is missing to decide it, and is never allowed for {', '.join(NEVER_OPEN)}"
    if c.corrects is not None and c.corrects == c.id:
        yield "corrects= must name another claim"


def _complaints_about_status(c: Claim) -> Iterator[str]:
    if (c.last is None) is (c.expected is Expected.OPEN):
        yield "last= is the verdict that the checks of an expected=OPEN claim had last, such as Verdict.HOLDS, and belongs to no other"
    if c.status is None:
        return
    declared = c.status if isinstance(c.status, Mapping) else dict.fromkeys(c.rows, c.status)
    for row, status in declared.items():
        if row not in c.rows:
            yield f"status= speaks of {row!r}; the rows are {', '.join(c.rows)}"
        if status not in (ProofStatus.GAP, ProofStatus.OPEN):
            yield f"status= says that no proof of {row} is known, as {ProofStatus.GAP!r} or {ProofStatus.OPEN!r}; what is proved is seen"
    if c.expected is not Expected.HOLDS or not c.note.strip():
        yield "status= belongs to expected=HOLDS, and needs a note that says what is missing"


def _complaints_about_constants(c: Claim) -> Iterator[str]:
    refutes = c.expected is Expected.REFUTED and c.quantifier is Quantifier.ALL
    if refutes and SOMETHING_EXISTS.search(c.says) and not c.defeats.strip():
        yield (
            "says that something exists, and one value that fails refutes no such sentence: give constants=, the entries of an instance "
            "that are claimed to exist, make the rest of the instance a function of them, and say in defeats= how every value is defeated"
        )
    if c.constants and not c.defeats.strip():
        yield f"constants={c.constants!r} needs defeats=: how every value of them is defeated, in words"
    if c.defeats.strip() and not HOW.search(c.defeats):
        yield f"defeats={c.defeats!r} says nothing of how: it needs a formula, with one of = < > ≤ ≥ ≠, or the name of a theorem of Coq"
    if (c.constants or c.defeats) and c.quantifier is Quantifier.SOME:
        yield "constants= and defeats= belong to quantifier=ALL; SOME asks for one instance already"


def _complaints_about_remains(c: Claim) -> Iterator[str]:
    words = {c.id: c.remains} if isinstance(c.remains, str) else c.remains
    for row, left in words.items():
        if row not in c.rows:
            yield f"remains= speaks of {row!r}; the rows are {', '.join(c.rows)}"
        if c.remains and not left.strip():
            yield f"remains= must say in words what is left to be shown for {row}"
    if c.remains and c.expected in (Expected.REFUTED, Expected.VACUOUS):
        yield f"remains= belongs to what is expected to hold; this one is expected to come out {c.expected}"


def _complaints_about_mutants(c: Claim) -> Iterator[str]:
    if not c.mutants and not (c.no_mutant or "").strip():
        yield "mutants= is missing: give an altered constant or a dropped hypothesis that changes the verdict (or no_mutant='reason')"
    if c.no_mutant is not None and c.kind not in MAY_LACK_MUTANT:
        yield f"no_mutant= is accepted only for {', '.join(MAY_LACK_MUTANT)}; this one is a {c.kind}"
    if c.mutants and c.no_mutant is not None:
        yield "give mutants= or no_mutant=, not both"
    for name, changes in c.mutants.items():
        if not isinstance(changes, Mapping) or not changes:
            yield f"mutant {name!r} must map knobs to altered values, got {changes!r}"
            continue
        unknown = [key for key in changes if key not in c.knobs and key not in RESERVED]
        if unknown:
            yield f"mutant {name!r} changes {unknown[0]!r}; the knobs are {sorted(c.knobs)} (besides {', '.join(RESERVED)})"
        same = [key for key in changes if key in c.knobs and changes[key] is c.knobs[key]]
        if len(same) == len(changes):
            yield f"mutant {name!r} changes nothing"
    if any(key in RESERVED for key in c.knobs):
        yield f"{', '.join(RESERVED)} cannot be names of knobs"
