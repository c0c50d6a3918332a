"""A statement about each of several data sets: two claims, so that a clone decides what needs no data but those that it carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

from simopt.claims.claim import Instance, InvalidClaim, Verdicts, claim
from simopt.claims.trial import Trial
from simopt.data.datasets import describe

FETCHED = "-fetched"
SETS = "all the sets"  # stands in `says` for their names


def claim_on_each(
    id: str,
    sets: Mapping[str, str],
    *,
    says: str,
    instances: Callable[[Trial, Sequence[str]], Iterable[Instance]],
    covers: Sequence[str] = (),
    alone: Mapping[str, Mapping[str, Any]] | None = None,
    all_carried: bool = False,
    **rest: Any,
) -> Callable[[Verdicts], Verdicts]:
    """Register the function as the claim `id` on those of `sets` (name in the paper: name of the data set) that the repository carries.

    On the others, whose licences do not let them be passed on, it is `id`-fetched. The rows in `covers` are named likewise (see `row`).

    `instances` gets the names too; "all the sets" in `says` becomes them. `alone` has fields of one part, by the ending of its
    id ("" or "-fetched"): its `says` is added to the common one, other fields take their place. `all_carried`
    says that the repository carries all sets, so that the ids can be read from the source. The rest is as in `claim`.

    Raises
    ------
    InvalidClaim
        if it does not carry all of them although `all_carried` says so, or does although it does not.
    """
    if all_carried is (FETCHED in parts(sets)):
        raise InvalidClaim(
            f"claim {id}: all_carried={all_carried}, but the repository {'lacks some' if all_carried else 'carries all'} of its sets"
        )

    def decorate(function: Verdicts) -> Verdicts:
        for ending, names in parts(sets).items():
            own = dict((alone or {}).get(ending, {}))
            text = says.replace(SETS, listed(names)) + own.pop("says", "")
            for name in covers:
                text = text.replace(name, name + ending)
            claim(
                id + ending,
                says=text,
                instances=_only(instances, names),
                covers=[name + ending for name in covers],
                requires=[f"dataset:{sets[name]}" for name in names],
                **{**rest, **own},
            )(function)
        return function

    return decorate


def parts(sets: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of the carried sets under "", of the others under "-fetched"; a part without sets is left out."""
    carried = {name: describe(data).carried for name, data in sets.items()}
    found = {ending: tuple(name for name in sets if carried[name] is (not ending)) for ending in ("", FETCHED)}
    return {ending: names for ending, names in found.items() if names}


def row(name: str, trial: Trial) -> str:
    """The name of a covered row in the claim that is being checked."""
    return name + FETCHED * trial.claim.endswith(FETCHED)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _only(instances: Callable[[Trial, Sequence[str]], Iterable[Instance]], names: Sequence[str]) -> Callable[[Trial], Iterable[Instance]]:
    @wraps(instances)
    def chosen(trial: Trial) -> Iterable[Instance]:
        return instances(trial, names)

    return chosen
