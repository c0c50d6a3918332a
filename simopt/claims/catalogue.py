"""Finding claims: loading them, selecting by id, row, paper and section, and what links them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from simopt.claims.claim import Claim, InvalidClaim
from simopt.claims.kinds import Expected
from simopt.claims.papers import PAPERS, recalled
from simopt.core import registry
from simopt.core.errors import UnknownName


def claims() -> list[Claim]:
    """Every registered claim, in the order of registration, after loading `simopt.theorems` and the plug-ins.

    Raises
    ------
    InvalidClaim
        if a claim corrects one that does not exist or is not refuted, or if two claims decide one row.
    """
    registry.load("theorems")
    found = registered()
    check_links(found)
    return found


def registered() -> list[Claim]:
    """Claims registered so far, nothing loaded."""
    return [cast(Claim, entry) for _, entry in registry.items("claim")]


def check_links(entries: Sequence[Claim]) -> None:
    """Refuse dangling links between claims; see `claims`."""
    by_id = {claim.id: claim for claim in entries}
    owners: dict[str, Claim] = {}
    for claim in entries:
        for row in claim.rows:
            owner = owners.setdefault(row, claim)
            if owner is not claim:
                raise InvalidClaim(f"row {row} is decided twice: by {owner.id} in {owner.module} and by {claim.id} in {claim.module}")
    for claim in entries:
        if claim.corrects is None:
            continue
        target = by_id.get(claim.corrects)
        if target is None:
            raise InvalidClaim(f"claim {claim.id} in {claim.module}: corrects=: {UnknownName('claim', claim.corrects, by_id)}")
        if target.expected is not Expected.REFUTED:
            raise InvalidClaim(f"claim {claim.id} in {claim.module} corrects {target.id}, which is expected to come out {target.expected}")


def find(name: str) -> Claim:
    """Return the claim with this id, or the one that decides this catalogue row (any case).

    Raises
    ------
    UnknownName
        with the nearest id.
    """
    if (known := dict(registry.items("claim")).get(name)) is not None:
        return cast(Claim, known)
    for pool in (registered, lambda: saying([name]), claims):  # what is registered already needs no loading
        for claim in pool():
            if name.casefold() in (row.casefold() for row in claim.rows):
                return claim
    raise UnknownName("claim", name, [row for claim in registered() for row in claim.rows])


def saying(names: Iterable[str]) -> list[Claim]:
    """Claims registered once all modules are loaded in whose source one of `names` stands, and those of what these claims correct."""
    left, asked = set(names), set[str]()
    while left:
        for name in left:
            registry.load_saying("claim", name)
        asked |= left
        left = {claim.corrects for claim in registered() if claim.corrects is not None} - asked
    found = registered()
    if any(claim.corrects is not None and not registry.has("claim", claim.corrects) for claim in found):  # a plug-in's
        return claims()
    check_links(found)
    return found


def select(names: Sequence[str] = (), section: str | None = None) -> list[Claim]:
    """Claims named by id, covered row or paper key (all, if nothing is named), narrowed to a section.

    Raises
    ------
    UnknownName
        for an unknown id, paper or section, with the nearest that exists.
    """
    everything = saying(names) if names else claims()
    decided = {row.casefold() for claim in everything for row in claim.rows}
    if not all(name.casefold() in decided for name in names):  # a paper, something mistyped, or a plug-in's
        everything = claims()
    chosen: dict[str, Claim] = {}
    for name in names:
        chosen |= {claim.id: claim for claim in _named(name, everything)}
    kept = list(chosen.values()) if names else everything
    if section is None:
        return kept
    known = {claim.section for claim in kept if claim.section} | {part for claim in kept for part in claim.paper.sections}
    if section.casefold() not in {each.casefold() for each in known}:
        raise UnknownName("section", section, known)
    return [claim for claim in kept if claim.section.casefold() == section.casefold()]


def _named(name: str, everything: Sequence[Claim]) -> list[Claim]:
    folded = name.casefold()
    papers = {key.casefold() for paper in PAPERS.values() for key in (paper.key, paper.prefix)}
    papers |= {claim.paper.key.casefold() for claim in everything}
    if folded in papers:
        return [claim for claim in everything if folded in (claim.paper.key.casefold(), claim.paper.prefix.casefold())]
    for claim in everything:
        if folded in (row.casefold() for row in claim.rows):
            return [claim]
    meant = recalled(name, {claim.paper.key: claim.paper for claim in everything}.values())
    raise UnknownName("claim", name, [*(row for claim in everything for row in claim.rows), *PAPERS], meant)


def comparing() -> dict[frozenset[str], list[Claim]]:
    """For each pair of families, by their names, the claims that say whether they are one; corrections are beside what they correct."""
    found: dict[frozenset[str], list[Claim]] = {}
    everything = {claim.id: claim for claim in claims()}
    for claim in everything.values():
        for pair in claim.pairs or (everything[claim.corrects].pairs if claim.corrects else ()):
            found.setdefault(pair, []).append(claim)
    return found


def list_claims() -> list[dict[str, Any]]:
    """Every claim as plain data: id, covers, paper, section, place, kind, expected, corrects, defect."""
    return [claim.describe() for claim in claims()]
