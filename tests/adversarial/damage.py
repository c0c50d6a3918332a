"""Every way in which one place of a JSON document can be wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from counted import case

GONE = object()
DEEP: Any = 0
for _ in range(300):
    DEEP = [DEEP]
CHANGES: dict[str, Any] = {
    "deleted": GONE, "null": None, "true": True, "zero": 0, "negative": -1, "half": 0.5, "huge": 10**400, "large": 10**15, "1e308": 1e308,
    "1e999": "1e999 as it is", "NaN": float("nan"), "infinite": float("inf"), "text": "x", "number as text": "1", "no text": "",
    "long text": "x" * 100_000, "list": [], "list of null": [None], "list of texts": ["x", "y"], "ragged": [[1], [1, 2]], "object": {},
    "object of object": {"x": {"y": 1}}, "deep": DEEP, "5000 digits": "5000 digits as they are", "control": "\u0000\u202e\ud800<script>",
}  # fmt: skip
FIRST = ("deleted", "negative", "huge", "NaN", "list")  # what the usual run tries; `make full` tries all
SHORT = 2  # entries of a list that are changed one by one


def tried_first(changes: Iterable[str], first: Iterable[str] = FIRST) -> list[Any]:
    """The changes, all but the first ones marked slow."""
    return [each if each in first else pytest.param(each, marks=pytest.mark.slow) for each in changes]


def paths(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything in a document, itself included; of long lists the first entries and the last."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from paths(value, (*path, key))
    elif isinstance(document, list):
        for i in sorted({*range(min(SHORT, len(document))), len(document) - 1} - {-1}):
            yield from paths(document[i], (*path, i))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in that place, or without it."""
    if not path:
        return None if value is GONE else value
    made = copy.deepcopy(document)
    place = made
    for key in path[:-1]:
        place = place[key]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


def damaged(document: Any, change: str) -> Iterator[tuple[str, str]]:
    """(place, text of the file) for each place of a document, changed in one way."""
    for path in paths(document):
        text = json.dumps(changed(document, path, CHANGES[change]))
        text = text.replace('"1e999 as it is"', "1e999").replace('"5000 digits as they are"', "9" * 5000)
        case()
        yield "/".join(map(str, path)) or "(all)", text
