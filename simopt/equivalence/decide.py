r"""Two families, are they one? The map sought in both directions, and one of three answers, from nothing but how to fit them.

Weak equivalence asks on each Z for a bijection Φ of the two parameter intervals with A(λ)(Z) = B(Φ(λ))(Z). So `find_map` seeks Φ(λ) at
parameters of A and Φ⁻¹(μ) at parameters of B:

* holds: a parameter is found each time, to the resolution and at the parameters measured; both paths are one-to-one there;
* fails: at one parameter no parameter of the other family gives the function, or a path stands still where the other does not;
* undecided: the radii of the learners, the reach of the search or the floats support neither.

`simopt.equivalence.map_search` says which assumption each outcome rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from simopt.core import validate
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import MapOutcome, MapValue, find_map
from simopt.equivalence.path_search import FINE, JUMP
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.equivalence.weak import RESOLUTION, check_resolution, relative_distance

Side = Literal["source", "target"]
Direction = Literal["increasing", "decreasing", "not monotone", "not told"]
Progress = Callable[[int, int, str], None]

SIDES: tuple[Side, Side] = ("source", "target")
COUNT = 9
FURTHER = 5  # parameters of each family at most, where the slope of the map
OUT_OF_LINE = 1.1  # is this factor out of line with that beside it
STEEP = 3.0  # times the slope on either side: what the map leaps over is asked of the other family
REACH = math.log(1e4)  # how far parameters spread by default, in the coordinate of the domain


@dataclass(frozen=True)
class Plateau:
    """Neighbouring parameters of one family whose functions cannot be told apart.

    Attributes
    ----------
    side : "source" or "target"
    low, high : float
        first and last of the parameters.
    proven : bool
        whether the functions are equal without error, not only within their radii.
    matched : bool
        whether the other family stands still there, too, so that a bijection of the parameters remains possible.
    single : bool
        whether the other family has the functions at one parameter only, to 1e-9 in the coordinate: it moves away on both sides.
    """

    side: Side
    low: float
    high: float
    proven: bool
    matched: bool = False
    single: bool = False


@dataclass(frozen=True)
class Jump:
    """A parameter at which a path jumps: between the neighbouring floats `low` and `high` its norm goes from `before` to `after`."""

    side: Side
    low: float
    high: float
    before: float
    after: float


@dataclass(frozen=True)
class Decision:
    """The answer on one training set, with everything that it rests on.

    Attributes
    ----------
    source, target : str
        names of A and B.
    samples, fingerprint : int, str
        size and hash of the training set.
    resolution : float
        relative size of a distance up to which "holds" is said.
    domains : (Interval, Interval)
        parameters of A and of B on this set.
    forward, backward : tuple of MapValue
        Φ at parameters of A, and Φ⁻¹ at parameters of B, in their order.
    wanted : (int, int)
        how many parameters were to be measured; more than there are rows after an interrupt.
    plateaus, jumps : tuple
        where neighbouring parameters give functions that cannot be told apart, and where a path jumps.
    continuous : bool
        whether both families say that their paths are, so that a bijection of their parameters rises or falls, and not both.
    """

    source: str
    target: str
    samples: int
    fingerprint: str
    resolution: float
    domains: tuple[Interval, Interval]
    forward: tuple[MapValue, ...]
    backward: tuple[MapValue, ...]
    wanted: tuple[int, int]
    plateaus: tuple[Plateau, ...] = ()
    jumps: tuple[Jump, ...] = ()
    continuous: bool = True

    @property
    def answer(self) -> Answer:
        """HOLDS where all is found and one-to-one, FAILS with a witness, else UNDECIDED."""
        if self.witness is not None or self._unmatched(proven=True):
            return Answer.FAILS
        doubtful = self._open or self._unmatched(proven=False) or self._folded is not None
        return Answer.HOLDS if self.complete and not doubtful else Answer.UNDECIDED

    @property
    def holds(self) -> bool:
        """Whether the answer is HOLDS."""
        return self.answer is Answer.HOLDS

    @property
    def complete(self) -> bool:
        """Whether every parameter was measured, and at least one of each family."""
        return (len(self.forward), len(self.backward)) == self.wanted and min(self.wanted) > 0

    @property
    def counts(self) -> tuple[int, int]:
        """At how many parameters of A Φ is found, and at how many of B its inverse."""
        forward, backward = (sum(row.answer is Answer.HOLDS for row in rows) for rows in (self.forward, self.backward))
        return forward, backward

    @property
    def witness(self) -> MapValue | None:
        """The clearest parameter whose function the other family does not have; of A if there is one."""
        for rows in (self.forward, self.backward):
            against = [row for row in rows if row.answer is Answer.FAILS]
            if against:
                return max(against, key=_clear)
        return None

    @property
    def monotone(self) -> Direction:
        """Which way Φ goes, as far as the error bars tell."""
        return _way(self.forward)

    @property
    def reason(self) -> str | None:
        """The witness of a failure, or why it is undecided; None where it holds."""
        witness = self.witness
        if witness is not None:
            return self._line(witness)
        for piece in self._unmatched(proven=True):
            return f"{self._still(piece)} gives one function, and {self._other(piece.side)} has one parameter for it: no bijection"
        for row in self._open:
            still = [piece for piece in self.plateaus if piece.low <= row.parameter <= piece.high and piece.side == self._side(row)]
            return self._line(row) + "".join(f"; {self._still(piece)} cannot be told apart" for piece in still) + self._coarser()
        for piece in self._unmatched(proven=False):
            return f"{self._still(piece)} cannot be told apart within the radii, so that Φ may not be one-to-one there"
        if (side := self._folded) is not None:
            ends = (self.source, self.target) if side == "source" else (self.target, self.source)
            if (pair := _twice(self.forward if side == "source" else self.backward)) is not None:
                where = f"at {pair[0]:.6g} and {pair[1]:.6g}"
                return f"{ends[0]} has functions {where} that cannot be told apart, and others between: no bijection"
            return (
                f"from the parameters of {ends[0]} to those of {ends[1]} the map both rises and falls, as no bijection between continuous "
                "paths does; a family whose path may jump says continuous=False"
            )
        return None if self.complete else f"{sum(self.wanted)} parameters were asked for, {self._rows} are measured"

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        if self.answer is Answer.HOLDS:
            (forward, backward), (asked, back) = self.counts, self.wanted
            there = f"Φ found at {forward} of {asked} λ, and back at {backward} of {back} μ"
            return f"weakly equivalent on this sample, to {self.resolution:g}: {there}"
        said = "not weakly equivalent on this sample" if self.answer is Answer.FAILS else "undecided"
        return f"{said}: {self.reason}"

    @property
    def _folded(self) -> Side | None:
        """The side from which the map both rises and falls: to one image twice, or although both paths are said to be continuous."""
        for side, rows in zip(SIDES, (self.forward, self.backward), strict=True):
            if _twice(rows) is not None or (self.continuous and _way(rows) == "not monotone"):
                return side
        return None

    @property
    def _open(self) -> list[MapValue]:
        return [row for row in (*self.forward, *self.backward) if row.answer is Answer.UNDECIDED]

    def _coarser(self) -> str:
        """The resolution that the radii allow, where nothing else keeps the answer open."""
        if not all(row.outcome is MapOutcome.UNDECIDED and row.distance <= row.errors < row.norm for row in self._open):
            return ""
        worst = max((row.distance + row.errors) / row.norm for row in self._open)
        return f"; the radii allow a resolution of {1.01 * worst:.1e}" if worst < 0.1 else ""

    @property
    def _rows(self) -> int:
        return len(self.forward) + len(self.backward)

    def _unmatched(self, proven: bool) -> list[Plateau]:
        return [piece for piece in self.plateaus if not piece.matched and (piece.proven and piece.single) is proven]

    def _side(self, row: MapValue) -> Side:
        return "source" if any(row is each for each in self.forward) else "target"

    def _line(self, row: MapValue) -> str:
        name, symbol = (self.source, "λ") if self._side(row) == "source" else (self.target, "μ")
        return f"at {symbol} = {row.parameter:.6g} of {name}: {row.reason or row.outcome.value}"

    def _still(self, piece: Plateau) -> str:
        return f"{self.source if piece.side == 'source' else self.target} from {piece.low:.6g} to {piece.high:.6g}"

    def _other(self, side: Side) -> str:
        return self.target if side == "source" else self.source


def decide(
    source: Family,
    target: Family,
    Z: TrainingSet,
    parameters: Iterable[float] | None = None,
    *,
    resolution: float = RESOLUTION,
    progress: Progress | None = None,
) -> Decision:
    """Are A and B weakly equivalent on Z? Φ is sought at parameters of A, its inverse at parameters of B.

    Costs some 20 fits a parameter, some hundreds where there is no map.

    Parameters
    ----------
    parameters : iterable of float, optional
        λ in the domain of A; the inverse is then sought at as many μ between the images. By default nine of each, evenly spread over
        1e-4 … 1e4 in the coordinate of each domain. Up to five more of each come where the slope of the map is out of line: across a jump.
    resolution : float
        relative distance up to which "holds" is said, radii included. A distance that the radii cannot explain is a failure also below it.
    progress : callable, optional
        (done, wanted, text), called after each parameter.

    Raises
    ------
    InvalidProblem
        for λ outside the domain, none at all, a resolution that is not between 0 and 1, and sets on which a family is not defined.
    Interrupted
        at Ctrl-C; `done` is the Decision so far.
    """
    resolution = check_resolution(resolution)
    A, B = remembering(source), remembering(target)
    work = _DecisionBuilder(A, B, Z, resolution, progress)
    there = _spaced(work.domains[0]) if parameters is None else listed(parameters, work.domains[0], A.name)
    work.wanted = len(there), len(there) if parameters is not None else COUNT
    try:
        for lam in there:
            work.measure("source", lam)
        back = work.between(len(there)) if parameters is not None else _spaced(work.domains[1])
        work.wanted = len(there), len(back)
        for mu in back:
            work.measure("target", mu)
        if parameters is None:
            work.refine()
        work.shape()
    except KeyboardInterrupt:
        raise Interrupted(work.decision()) from None
    return work.decision()


class _DecisionBuilder:
    """A decision in the making."""

    def __init__(self, source: Family, target: Family, Z: TrainingSet, resolution: float, progress: Progress | None) -> None:
        self.families: dict[Side, Family] = {"source": source, "target": target}
        self.Z, self.resolution, self.progress = Z, resolution, progress
        self.domains = source.domain(Z), target.domain(Z)
        self.rows: dict[Side, list[MapValue]] = {"source": [], "target": []}
        self.wanted = (0, 0)
        self.plateaus: list[Plateau] = []
        self.jumps: list[Jump] = []

    def measure(self, side: Side, parameter: float) -> None:
        """One row."""
        other: Side = "target" if side == "source" else "source"
        row = find_map(self.families[side], self.families[other], parameter, self.Z, resolution=self.resolution)
        self.rows[side].append(row)
        if self.progress is not None:
            done, symbol = sum(map(len, self.rows.values())), "λ" if side == "source" else "μ"
            self.progress(done, sum(self.wanted), f"{symbol} = {parameter:.4g} of {self.families[side].name}: {row.outcome.value}")

    def between(self, count: int) -> list[float]:
        """At most `count` parameters of B, evenly spread between the images; over its domain where there is none."""
        domain = self.domains[1]
        rows = [row for row in self.rows["source"] if row.answer is not Answer.FAILS]
        known = [row for row in rows if domain.low < row.low <= row.value <= row.high < domain.high]
        images = [domain.coordinate(row.value) for row in known]
        if not images:
            return _spaced(domain, count)
        if max(images) - min(images) <= FINE:  # one image of all
            return [domain.at(images[0])]
        return [domain.at(float(t)) for t in np.linspace(min(images), max(images), count)]

    def refine(self) -> None:
        """Further parameters where the slope of the map is out of line with its neighbours, as it is across a jump."""
        for home, side in enumerate(SIDES):
            for _ in range(FURTHER):
                t = self._out_of_line(side)
                if t is None or any(row.answer is Answer.FAILS for rows in self.rows.values() for row in rows):
                    break
                self._further(side, self.domains[home].at(t))
        for side in SIDES:
            self._leapt(side)

    def _further(self, side: Side, parameter: float) -> None:
        """One row more than was wanted."""
        self.wanted = (self.wanted[0] + (side == "source"), self.wanted[1] + (side == "target"))
        self.measure(side, parameter)

    def _leapt(self, side: Side) -> None:
        """Two parameters of the other family in the gap that the map leaps over, where it does: there that may stand still."""
        other: Side = "target" if side == "source" else "source"
        away = self.domains[1 if side == "source" else 0]
        points, logs = self._slopes(side)
        over = {i: min(b - a, b - c) for i, (a, b, c) in enumerate(zip(logs, logs[1:], logs[2:], strict=False), start=1)}
        steep = max(over, key=lambda i: over[i], default=0)
        if not over or over[steep] <= math.log(STEEP) or any(row.answer is Answer.FAILS for rows in self.rows.values() for row in rows):
            return
        first, last = points[steep][1], points[steep + 1][1]
        asked = {row.parameter for row in self.rows[other]}
        for share in (1 / 3, 2 / 3):
            if (mu := away.at(first + share * (last - first))) not in asked:
                self._further(other, mu)

    def _slopes(self, side: Side) -> tuple[list[tuple[float, float]], list[float]]:
        """The map from one side in coordinates, and the logarithm of its slope between each two of its points."""
        home, away = self.domains if side == "source" else self.domains[::-1]
        known = [row for row in self.rows[side] if row.outcome is MapOutcome.FOUND and row.value in away]
        points = sorted((home.coordinate(row.parameter), away.coordinate(row.value)) for row in known)
        return points, [math.log(max(abs(v - u) / (t - s), 1e-9)) for (s, u), (t, v) in pairwise(points)]

    def _out_of_line(self, side: Side) -> float | None:
        """The middle of the interval whose slope lies farthest outside those of both neighbours."""
        points, logs = self._slopes(side)
        off = {
            i: max(middle - max(before, after), min(before, after) - middle)
            for i, (before, middle, after) in enumerate(zip(logs, logs[1:], logs[2:], strict=False), start=1)
        }
        worst = max(off, key=lambda i: off[i], default=0)
        return (points[worst][0] + points[worst + 1][0]) / 2 if off and off[worst] > math.log(OUT_OF_LINE) else None

    def shape(self) -> None:
        """Plateaus and jumps, from the rows."""
        for side in SIDES:
            self.plateaus += self._plateaus(side)
            self.jumps += self._jumps(side)
        self.plateaus = [self._matched(piece) for piece in self.plateaus]

    def _plateaus(self, side: Side) -> list[Plateau]:
        pieces: list[Plateau] = []
        for one, two in pairwise(sorted(self.rows[side], key=lambda row: row.parameter)):
            same = self._same(side, one, two)
            if same is None or one.outcome is MapOutcome.EVERY:
                continue
            if pieces and pieces[-1].high == one.parameter:
                before = pieces.pop()
                pieces.append(Plateau(side, before.low, two.parameter, before.proven or same))
            else:
                pieces.append(Plateau(side, one.parameter, two.parameter, same))
        return pieces

    def _same(self, side: Side, one: MapValue, two: MapValue) -> bool | None:
        """Whether two functions are equal without error; None where they differ."""
        try:
            f, g = (self.families[side](row.parameter, self.Z) for row in (one, two))
        except (ArithmeticError, InvalidProblem):
            return None
        distance, error = relative_distance(f, g)
        if distance > error:
            return None
        return f.error == g.error == 0.0 and f.distance(g) == 0.0

    def _matched(self, piece: Plateau) -> Plateau:
        """With what is known of the other family where the images are."""
        inside = [row for row in self.rows[piece.side] if piece.low <= row.parameter <= piece.high]
        found = [row for row in inside if row.answer is Answer.HOLDS]
        away = self.domains[1 if piece.side == "source" else 0]
        others = [other for other in self.plateaus if other.side != piece.side]
        matched = any(other.low <= row.high and row.low <= other.high for row in found for other in others)
        narrow = [row.outcome is MapOutcome.FOUND and away.coordinate(row.high) - away.coordinate(row.low) <= FINE for row in inside]
        return replace(piece, matched=matched, single=all(narrow))

    def _jumps(self, side: Side) -> list[Jump]:
        """Jumps of one family, which the search for parameters of the other has met."""
        searched: Side = "target" if side == "source" else "source"
        domain = self.domains[0 if side == "source" else 1]
        found: dict[float, Jump] = {}
        for row in self.rows[searched]:
            if row.answer is not Answer.FAILS or not domain.low < row.low < row.high < domain.high:
                continue
            if domain.coordinate(row.high) - domain.coordinate(row.low) > FINE:
                continue
            try:
                before, after = (self.families[side](x, self.Z).norm() for x in (row.low, row.high))
            except (ArithmeticError, InvalidProblem):
                continue
            if abs(before - after) > JUMP * max(before, after):
                found.setdefault(row.low, Jump(side, row.low, row.high, before, after))
        return list(found.values())

    def decision(self) -> Decision:
        """The decision by now."""
        Z, (one, two) = self.Z, (self.families[side].name for side in SIDES)
        forward, backward = (tuple(sorted(self.rows[side], key=lambda row: row.parameter)) for side in SIDES)
        shape = tuple(self.plateaus), tuple(self.jumps)
        whole = all(family.continuous for family in self.families.values())
        return Decision(one, two, Z.n, Z.fingerprint(), self.resolution, self.domains, forward, backward, self.wanted, *shape, whole)


def listed(parameters: Iterable[float], domain: Interval, name: str) -> list[float]:
    """Parameters of a family in order, each once.

    Raises
    ------
    InvalidProblem
        for one outside the domain, with its index, and for none.
    """
    given: Any = list(parameters) if isinstance(parameters, Iterable) and not hasattr(parameters, "__array__") else parameters
    values = validate.vector("parameters", given).tolist()
    for i, lam in enumerate(values):
        if lam not in domain:
            raise InvalidProblem(f"parameters: {lam:g} (index {i}) is outside {domain}, where {name} is defined on this set")
    return [float(lam) for lam in np.unique(values)]


def _spaced(domain: Interval, count: int = COUNT) -> list[float]:
    return [float(x) for x in domain.spaced(count, reach=REACH)]


def _way(known: tuple[MapValue, ...]) -> Direction:
    """Which way the enclosures go, by the parameters."""
    rows = [row for row in known if row.outcome is MapOutcome.FOUND]
    rises = any(one.high < two.low for i, one in enumerate(rows) for two in rows[i + 1 :])
    falls = any(one.low > two.high for i, one in enumerate(rows) for two in rows[i + 1 :])
    if rises and falls:
        return "not monotone"
    if len(rows) > 1 and all(one.high < two.low for one, two in pairwise(rows)):
        return "increasing"
    return "decreasing" if len(rows) > 1 and all(one.low > two.high for one, two in pairwise(rows)) else "not told"


def _twice(known: tuple[MapValue, ...]) -> tuple[float, float] | None:
    """Two parameters whose images cannot be told apart, while that of one between is elsewhere."""
    rows = [row for row in known if row.outcome is MapOutcome.FOUND]
    for i, one in enumerate(rows):
        for j in range(i + 2, len(rows)):
            if _overlap(one, rows[j]) and not all(_overlap(row, one) or _overlap(row, rows[j]) for row in rows[i + 1 : j]):
                return one.parameter, rows[j].parameter
    return None


def _overlap(one: MapValue, two: MapValue) -> bool:
    return one.low <= two.high and two.low <= one.high


def _clear(row: MapValue) -> float:
    """How far the distance of a witness exceeds what the radii explain, relative to the norm."""
    excess = (row.distance - row.errors) / max(row.norm, row.distance, 1e-300)
    return excess if math.isfinite(excess) else -1.0


def remembering(family: Family) -> Family:
    """The family with every fit made once a parameter and set."""
    fits: dict[tuple[float, int], KernelFunction] = {}
    sets: dict[int, TrainingSet] = {}  # kept, so that no other set takes the number

    def fit(parameter: float, Z: TrainingSet) -> KernelFunction:
        key = (parameter, id(sets.setdefault(id(Z), Z)))
        if key not in fits:
            fits[key] = family.fit(parameter, Z)
        return fits[key]

    return Family(family.name, fit, family.domain, family.monotone, family.continuous, family.origin)
