"""Which learners are one? Every ordered pair of registered families measured on a small sample, beside what registered equivalences claim.

An entry says no more than what was measured. Weak: A's functions at these λ are B's, and back between the images. Strong: so they are by
one Φ on samples near this one, of one size or all. No: at one λ no parameter of B gives A's function. Else it is undecided. The entries of
(A, B) and (B, A) may differ: A's functions can be a part of B's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations

from simopt.core import registry, validate
from simopt.core.errors import Interrupted, InvalidProblem, UnknownName
from simopt.core.threads import until_stopped
from simopt.equivalence.decide import Progress, decide, remembering
from simopt.equivalence.decide_strong import decide_strong
from simopt.equivalence.equivalence import Answer, Equivalence, Strength
from simopt.equivalence.family import Family, Interval, RegistryEntry
from simopt.equivalence.samples import KINDS, Kind, sample_for, synthetic, undefined
from simopt.equivalence.strong import neighbours
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import check_resolution, verify_weak

SAMPLES = 6
COORDINATES = (-3.0, 1.0)  # of λ in the domain of A
RESOLUTION = 1e-5  # what solvers that stop at a gap can tell


class Relation(Enum):
    """The answer in an entry of the matrix."""

    STRONG = "strong"
    SAME_SIZE = "strong (one size)"
    WEAK = "weak"
    NO = "no"
    UNDECIDED = "undecided"
    APART = "–"  # no kind of targets suits both


@dataclass(frozen=True)
class MatrixEntry:
    """The answer for (A, B): the word, the targets it was measured on, the λ of A, and the reason where it is not an equivalence."""

    source: str
    target: str
    relation: Relation = field(metadata={"json": "word"})
    kind: Kind | None
    parameters: tuple[float, ...]
    reason: str


@dataclass(frozen=True)
class ClaimedEquivalence:
    """A registered equivalence, and what `verify_weak` measured of it between the ends that it names.

    Attributes
    ----------
    name, summary, source, module : str
        of the registered entry; `source` is the sentence of its docstring that names the statement, or empty.
    between : (str, str)
        names of the families.
    strength : Strength
        what is claimed.
    answer : Answer or None
        None where it exists on none of the samples.
    parameters : tuple of float
    reason : str
    """

    name: str
    summary: str
    source: str
    module: str
    between: tuple[str, str]
    strength: Strength
    answer: Answer | None
    parameters: tuple[float, ...]
    reason: str


@dataclass(frozen=True)
class Matrix:
    """All entries that were measured, in the order of `names`, and all registered equivalences.

    Attributes
    ----------
    names : tuple of str
    samples : int
        size of the training sets.
    resolution : float
    pairs, claims : tuple
        fewer than all after an interrupt.
    """

    names: tuple[str, ...]
    samples: int
    resolution: float
    pairs: tuple[MatrixEntry, ...]
    claims: tuple[ClaimedEquivalence, ...]

    def entry(self, source: str, target: str) -> MatrixEntry | None:
        """The entry of (A, B); None where it was not measured."""
        return next((pair for pair in self.pairs if (pair.source, pair.target) == (source, target)), None)

    def rows(self) -> Iterator[tuple[str, list[str]]]:
        """Each family with its entries, in words."""
        for name in self.names:
            found = [self.entry(name, other) for other in self.names]
            yield (
                name,
                [
                    "=" if other == name else "?" if pair is None else pair.relation.value
                    for other, pair in zip(self.names, found, strict=True)
                ],
            )

    def __str__(self) -> str:
        """The matrix with numbered columns, and the equivalences."""
        width = max((len(name) for name in self.names), default=0) + 4
        cells = {relation: relation.value for relation in Relation} | {Relation.SAME_SIZE: "size", Relation.UNDECIDED: "?"}
        lines = [" " * width + "".join(f"{i + 1:>7}" for i in range(len(self.names)))]
        for i, name in enumerate(self.names):
            found = [self.entry(name, other) for other in self.names]
            row = [
                "=" if other == name else "" if pair is None else cells[pair.relation]
                for other, pair in zip(self.names, found, strict=True)
            ]
            lines.append(f"{i + 1:>3} {name:<{width - 4}}" + "".join(f"{cell:>7}" for cell in row))
        lines += ["", f"n = {self.samples}, to {self.resolution:g}; size: strong among samples of one size; ?: undecided", ""]
        for claim in self.claims:
            answer = "exists on no sample" if claim.answer is None else claim.answer.value
            lines.append(f"{claim.name}: {answer}" + (f" ({claim.reason})" if claim.reason else ""))
        return "\n".join(lines)


def matrix(
    names: Sequence[str] | None = None,
    *,
    samples: int = SAMPLES,
    resolution: float = RESOLUTION,
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> Matrix:
    """Measure every ordered pair of families, and every registered equivalence on its own interval.

    Takes some ten minutes of one core with the families of simopt.

    Parameters
    ----------
    names : sequence of str, optional
        registered families, all by default; of the equivalences those between them are measured.
    samples : int
        size of the synthetic sample, whose targets are real, labels or classes, the first kind that suits both families.
    resolution : float
        relative distance up to which functions count as one.
    jobs : int or None
        processes, each of which measures a row at a time; None for one a core. They know families of plug-ins, but none that this process
        has registered itself.
    progress : callable, optional
        (done, wanted, text), called after each pair.

    Raises
    ------
    UnknownName
        for a name that is not registered.
    Interrupted
        at Ctrl-C; `done` is the Matrix so far.
    """
    registry.load()
    chosen = registry.names("family") if names is None else list(names)
    for name in chosen:
        if not registry.has("family", name):
            raise UnknownName("family", name, registry.names("family"))
    settings = tuple(chosen), validate.whole("samples", samples, minimum=3), check_resolution(resolution)
    processes = validate.jobs("jobs", jobs, len(chosen))
    work = _MatrixBuilder(*settings)
    claims = [(entry, entry.build()) for _, entry in registry.items("equivalence")]
    claims = [(entry, built) for entry, built in claims if names is None or {*_ends(built)} <= {*chosen}]
    wanted, done = len(chosen) * (len(chosen) - 1) + len(claims), 0
    try:
        for pair in _pairs(work, settings, processes):
            work.pairs.append(pair)
            done += 1
            if progress is not None:
                progress(done, wanted, f"{pair.source}, {pair.target}: {pair.relation.value}")
        for entry, built in claims:
            claim = work.claim(entry, built)
            done += 1
            if progress is not None:
                progress(done, wanted, f"{entry.name}: {'nowhere' if claim.answer is None else claim.answer.value}")
    except KeyboardInterrupt:
        raise Interrupted(work.matrix()) from None
    return work.matrix()


def _pairs(work: _MatrixBuilder, settings: tuple[tuple[str, ...], int, float], jobs: int) -> Iterator[MatrixEntry]:
    """All entries as they come, those of a row one after the other."""
    if jobs == 1:
        yield from (work.pair(*pair) for pair in permutations(work.names, 2))
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for row in until_stopped(parallel(delayed(_row)(settings, source) for source in work.names), lambda: None):
        yield from row


def _row(settings: tuple[tuple[str, ...], int, float], source: str) -> list[MatrixEntry]:
    """The entries of one family, in a process of its own."""
    from threadpoolctl import threadpool_limits

    registry.load()
    work = _MatrixBuilder(*settings)
    with threadpool_limits(1):
        return [work.pair(source, target) for target in work.names if target != source]


class _MatrixBuilder:
    """The matrix in the making: families and training sets that are made once, and what is known of them."""

    def __init__(self, names: Sequence[str], samples: int, resolution: float) -> None:
        self.names, self.samples, self.resolution = names, samples, resolution
        data = synthetic(samples)
        self.sets: dict[Kind, TrainingSet] = {kind: sample_for([], data, kind=kind).Z for kind in KINDS}
        self.near: dict[Kind, list[TrainingSet]] = {}
        self.families: dict[str, Family] = {}
        self.suits: dict[tuple[str, Kind], bool] = {}
        self.pairs: list[MatrixEntry] = []
        self.claims: list[ClaimedEquivalence] = []

    def matrix(self) -> Matrix:
        """The entries by now."""
        places = {name: place for place, name in enumerate(self.names)}
        ordered = sorted(self.pairs, key=lambda pair: (places[pair.source], places[pair.target]))
        return Matrix(tuple(self.names), self.samples, self.resolution, tuple(ordered), tuple(self.claims))

    def family(self, name: str) -> Family:
        """The family, each of whose fits is made once."""
        if name not in self.families:
            self.families[name] = remembering(registry.get("family", name).build())
        return self.families[name]

    def kind(self, *names: str) -> Kind | None:
        """The first kind of targets on which all are defined."""
        for kind, Z in self.sets.items():
            for name in names:
                if (name, kind) not in self.suits:
                    self.suits[name, kind] = undefined(self.family(name), Z) is None
            if all(self.suits[name, kind] for name in names):
                return kind
        return None

    def pair(self, source: str, target: str) -> MatrixEntry:
        """One entry."""
        kind = self.kind(source, target)
        if kind is None:
            return MatrixEntry(source, target, Relation.APART, None, (), "no kind of targets suits both")
        return MatrixEntry(source, target, *self._measured(self.family(source), self.family(target), self.sets[kind], kind))

    def _measured(self, A: Family, B: Family, Z: TrainingSet, kind: Kind) -> tuple[Relation, Kind, tuple[float, ...], str]:
        """The first λ alone may refute; only if it does not are the others, and other sets, tried."""
        domain = A.domain(Z)
        lams = tuple(domain.at(t) for t in COORDINATES)
        first = decide(A, B, Z, lams[:1], resolution=self.resolution)
        if first.answer is Answer.FAILS:
            return Relation.NO, kind, lams[:1], first.reason or ""
        weak = decide(A, B, Z, lams, resolution=self.resolution)
        if weak.answer is not Answer.HOLDS:
            return Relation.NO if weak.answer is Answer.FAILS else Relation.UNDECIDED, kind, lams, weak.reason or ""
        relation, reason = self._strong(A, B, kind)
        return relation, kind, lams, reason

    def _strong(self, A: Family, B: Family, kind: Kind) -> tuple[Relation, str]:
        """The relation of A and B on sets near this one, at one λ that all share; and why it is not STRONG."""
        near = self.near.setdefault(kind, _near(self.sets[kind]))
        usable = [Z for Z in near if undefined(A, Z) is None and undefined(B, Z) is None]
        low, high = max(A.domain(Z).low for Z in usable), min(A.domain(Z).high for Z in usable)
        if not low < high:
            return Relation.WEAK, "the samples near this one share no parameter"
        found = decide_strong(A, B, usable, [Interval(low, high).at(COORDINATES[0])], resolution=self.resolution)
        words = {Strength.STRONG: Relation.STRONG, Strength.SAME_SIZE: Relation.SAME_SIZE, Strength.WEAK: Relation.WEAK}
        return words[found.strength], found.sentence if found.strength is not Strength.STRONG else ""

    def claim(self, entry: RegistryEntry, built: Equivalence) -> ClaimedEquivalence:
        """A registered equivalence on the first sample where it exists."""
        answer, lams, reason = self._verified(built)
        found = ClaimedEquivalence(
            entry.name,
            entry.summary,
            _source(entry.build),
            entry.build.__module__,
            _ends(built),
            built.strength,
            answer,
            lams,
            reason,
        )
        self.claims.append(found)
        return found

    def _verified(self, built: Equivalence) -> tuple[Answer | None, tuple[float, ...], str]:
        reasons: list[str] = []
        for Z in self.sets.values():
            try:
                missing = built.exists(Z)
                lams = () if missing else tuple(built.intervals(Z)[0].at(t) for t in COORDINATES)
                report = verify_weak(built, Z, lams, resolution=self.resolution)
            except (ArithmeticError, InvalidProblem) as error:
                reasons.append(str(error))
                continue
            if report.missing is None:
                return report.answer, lams, report.reason or ""
            reasons.insert(0, report.missing)
        return None, (), reasons[0]


def _ends(built: Equivalence) -> tuple[str, str]:
    """Under which names the two families are registered."""
    source, target = (family.origin[0] if family.origin else family.name for family in (built.source, built.target))
    return source, target


def _near(Z: TrainingSet) -> list[TrainingSet]:
    """Z, with its targets doubled, with them reversed, and without its last sample."""
    *rest, smaller = neighbours(Z)
    return [*rest[:3], smaller]


def _source(build: Callable[..., object]) -> str:
    """The source that the docstring names."""
    text = " ".join((build.__doc__ or "").split())
    return text.split("Source: ")[1].strip() if "Source: " in text else ""
