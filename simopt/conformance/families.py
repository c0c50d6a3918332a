"""The promises of a family of learners, checked: error bars that hold, one function a parameter, no jumps, a domain.

A `Family` gives for (λ, Z) a function and a radius in the H-norm that holds the true A(λ)(Z). So two computations of one member are never
farther apart than the sum of their radii. They may be on the same samples in another order, at a parameter that differs by a rounding, by
another solver or to a looser tolerance. A radius that is too small, a member that is not unique, and a path that jumps are found out that
way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

from simopt.backends.table import installed
from simopt.conformance.report import Row, outcome, rejected
from simopt.conformance.setting import NotConforming, require
from simopt.core.errors import InvalidProblem
from simopt.equivalence.decide import remembering
from simopt.equivalence.declared_family import DeclaredFamily
from simopt.equivalence.family import Family
from simopt.equivalence.path_search import FINE, JUMP
from simopt.equivalence.samples import sample_for, synthetic
from simopt.equivalence.training import KernelFunction, TrainingSet

ROUNDING = 1e-13  # of the norm: what the distance of two functions is rounded by
REACH = math.log(1e3)  # how far parameters are spread, in the coordinate of the domain
LOOSER = 1e4  # times the tolerance
SAMPLES = 8
HALVINGS = 100  # of pieces of the path


@dataclass(frozen=True)
class ClaimedFamily:
    """A family with what is claimed of it, on one training set.

    Attributes
    ----------
    family : Family
    Z : TrainingSet
    parameters : tuple of float
    others : tuple of Family
        computations of the same members, the family itself first; `family` makes each only once.
    continuous, monotone : bool
        whether λ ↦ A(λ)(Z) is continuous, and its norm monotone, as those of regularised learners are.
    """

    family: Family
    Z: TrainingSet
    parameters: tuple[float, ...]
    others: tuple[Family, ...]
    continuous: bool = True
    monotone: bool = True

    @property
    def members(self) -> Iterator[tuple[float, KernelFunction]]:
        """The members that can be computed."""
        for lam in self.parameters:
            try:
                yield lam, self.family(lam, self.Z)
            except ArithmeticError:
                continue

    @cached_property
    def halved(self) -> list[_PathPiece]:
        """The path in pieces, halved where it moves most."""
        return _halved(self)


def check_members(claimed: ClaimedFamily) -> None:
    """Radii are numbers ≥ 0 (∞ where nothing is known), and at least one member can be computed."""
    some = False
    for lam, f in claimed.members:
        some = True
        require(f.error >= 0.0, f"at {lam:.6g} the radius is {f.error}; it must be ≥ 0, and ∞ where nothing is known")
    require(some, "no member can be computed at any of the parameters")


def check_domain(claimed: ClaimedFamily) -> None:
    """Outside of the domain and at its ends there is no member; a refusal is an InvalidProblem."""
    domain = claimed.family.domain(claimed.Z)
    ends = (domain.low, domain.low - 1.0 - abs(domain.low), domain.high, domain.high + 1.0 + abs(domain.high))
    for x in (*ends, math.nan, math.inf, -math.inf):
        try:
            claimed.others[0](x, claimed.Z)
        except InvalidProblem:
            continue
        require(False, f"{x:g} is outside of {domain}; a member was given instead of an InvalidProblem")


def check_order(claimed: ClaimedFamily) -> None:
    """The samples in another order are the same training set: the functions agree within the radii."""
    reverse = claimed.Z.subset(range(claimed.Z.n - 1, -1, -1))
    for lam, f in claimed.members:
        _same(f, _fit(claimed.family, lam, reverse), f"at {lam:.6g}, with the samples in reverse order")


def check_perturbed(claimed: ClaimedFamily) -> None:
    """Other computations of a member lie within the radii: the same again, another solver, a looser tolerance."""
    for lam, f in claimed.members:
        for other in claimed.others:
            _same(f, _fit(other, lam, claimed.Z), f"at {lam:.6g}, computed by {other.name}")


def check_continuity(claimed: ClaimedFamily) -> None:
    """The path does not jump between neighbouring floats.

    Pieces are halved, that which moves most first: of a smooth path it moves half as much, of a jump all of it remains. So many halvings
    find jumps of more than about a fiftieth of the way that the path makes.
    """
    if claimed.continuous:
        _ = claimed.halved


def _halved(claimed: ClaimedFamily) -> list[_PathPiece]:
    """The path in the pieces of `check_continuity`, which is refused where it jumps."""
    domain = claimed.family.domain(claimed.Z)
    pieces = [_PathPiece(domain.coordinate(one), domain.coordinate(two), f, g) for (one, f), (two, g) in pairwise(claimed.members)]
    for _ in range(HALVINGS):
        piece = max(pieces, key=lambda each: each.moved, default=None)
        if piece is None or piece.moved <= JUMP:
            break
        low, high = domain.at(piece.low), domain.at(piece.high)
        require(
            piece.high - piece.low > FINE,
            f"between {low:.17g} and {high:.17g} the function jumps by {piece.moved:.3g} of its norm, and its radii do not explain "
            "it; say continuous=False if it may",
        )
        pieces.remove(piece)
        middle = piece.low + (piece.high - piece.low) / 2
        between = _fit(claimed.family, domain.at(middle), claimed.Z)
        if between is not None:
            pieces += [_PathPiece(piece.low, middle, piece.first, between), _PathPiece(middle, piece.high, between, piece.last)]
    return pieces


@dataclass(frozen=True, eq=False)
class _PathPiece:
    """The path between two coordinates, by its ends."""

    low: float
    high: float
    first: KernelFunction
    last: KernelFunction

    @cached_property
    def moved(self) -> float:
        """How far the ends are apart at least, relative to the larger norm."""
        size = max(self.first.norm(), self.last.norm())
        return _apart(self.first, self.last) / size if size > 0.0 else 0.0


def check_norms(claimed: ClaimedFamily) -> None:
    """The norm along the path rises or falls, and not both: `find_map` excludes parameters by that.

    Asked at the parameters, and of a continuous path where `check_continuity` has fitted it besides.
    """
    if not claimed.monotone:
        return
    at = claimed.family.domain(claimed.Z).at
    path = dict(claimed.members)
    if claimed.continuous:
        with suppress(NotConforming):  # a jump is for the check of continuity to tell
            path |= {at(piece.high): piece.last for piece in claimed.halved}
    known = [(lam, f.norm(), f.error + ROUNDING * f.norm()) for lam, f in sorted(path.items()) if math.isfinite(f.error)]
    rises = [(a, b) for i, a in enumerate(known) for b in known[i + 1 :] if b[1] - b[2] > a[1] + a[2]]
    falls = [(a, b) for i, a in enumerate(known) for b in known[i + 1 :] if b[1] + b[2] < a[1] - a[2]]
    if rises and falls:
        (up, top), (over, down) = rises[0], falls[0]
        require(False, f"the norm rises from {up[0]:.6g} to {top[0]:.6g} and falls from {over[0]:.6g} to {down[0]:.6g}; say monotone=False")


FAMILY_CHECKS: dict[str, Callable[[ClaimedFamily], None]] = {
    "members": check_members,
    "domain": check_domain,
    "order of the samples": check_order,
    "perturbed solves": check_perturbed,
    "continuity": check_continuity,
    "monotone norms": check_norms,
}


def check_family(
    family: Family,
    Z: TrainingSet | None = None,
    parameters: Sequence[float] | None = None,
    *,
    others: Sequence[Family] = (),
    continuous: bool | None = None,
    monotone: bool | None = None,
) -> None:
    """Hold a family against what families promise: on Z, by default on a small set with the first kind of targets that it is defined on.

    Parameters
    ----------
    parameters : sequence of float, optional
        λ in the domain; by default five spread over 1e-3 … 1e3 in its coordinate.
    others : sequence of Family
        other computations of the same members, say by another solver; of a declared family these are made.
    continuous, monotone : bool
        what is claimed of the path and of its norm; by default what the family says.

    Raises
    ------
    NotConforming
        with all that is wrong, one line each.

    >>> from simopt.theorems.ak.families import kernel_ridge
    >>> check_family(kernel_ridge())
    """
    rejected(family_rows(family, Z, parameters, others=others, continuous=continuous, monotone=monotone))


def family_rows(
    family: Family,
    Z: TrainingSet | None = None,
    parameters: Sequence[float] | None = None,
    *,
    others: Sequence[Family] = (),
    continuous: bool | None = None,
    monotone: bool | None = None,
) -> Iterator[Row]:
    """Every check, one row each and set; see `check_family`."""
    where = ""
    if Z is None:
        try:
            made = sample_for([family], synthetic(SAMPLES))
        except InvalidProblem as error:
            yield Row(family.name, "", "members", f"{error}; give a training set")
            return
        except Exception as error:
            said = f"the fit in the middle of the domain, or the domain, raised {type(error).__name__}: {error}"
            yield Row(family.name, "", "members", f"{said}; where there is no member a fit raises ArithmeticError")
            return
        Z, where = made.Z, f" on {made.kind} targets"
    try:
        usual = family.domain(Z).spaced(5, reach=REACH)
    except Exception as error:
        yield Row(family.name, "", "domain", f"it raised {type(error).__name__}: {error}; an Interval for each training set needed")
        return
    again = (family, *others, *perturbed(family))
    chosen = usual if parameters is None else parameters
    claims = family.continuous if continuous is None else continuous, family.monotone if monotone is None else monotone
    claimed = ClaimedFamily(remembering(family), Z, tuple(float(x) for x in chosen), again, *claims)
    for name, check in FAMILY_CHECKS.items():
        yield Row(family.name, "", f"{name}{where}", outcome(partial(check, claimed)))


def perturbed(family: Family) -> Iterator[DeclaredFamily]:
    """A declared family is also solved to a looser tolerance, and by another installed back end."""
    if not isinstance(family, DeclaredFamily):
        return
    yield family.again(tol=min(LOOSER * family.tol, 1e-3))
    others = [backend.name for backend in installed() if backend.name != family.solver]
    yield from (family.again(solver=name, tol=max(family.tol, 1e-6)) for name in others[:1])


def _fit(family: Family, parameter: float, Z: TrainingSet) -> KernelFunction | None:
    try:
        return family(parameter, Z)
    except ArithmeticError:
        return None


def _apart(f: KernelFunction, g: KernelFunction) -> float:
    """How far the true functions are apart at least."""
    return max(0.0, f.distance(g) - f.error - g.error - ROUNDING * max(f.norm(), g.norm()))


def _same(f: KernelFunction, g: KernelFunction | None, where: str) -> None:
    if g is not None and _apart(f, g) > 0.0:
        explained = f.error + g.error
        require(
            False,
            f"{where}: the functions are {f.distance(g):.3g} apart and their radii explain {explained:.3g}; a radius is too small, or "
            "the member is not unique",
        )
