"""The files of Coq that exported ones stand on, beside this module: which of them a text needs, in the order in which they are compiled."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
REQUIRES = re.compile(r"^From Simopt Require (?:Import|Export) ([\w ]+)\.", re.MULTILINE)


@cache
def source(name: str) -> str:
    """The text of one of them."""
    return (FOLDER / f"{name}.v").read_text(encoding="utf-8")


def needed(text: str) -> list[str]:
    """Names of what a text requires, and of what that requires, each after what it stands on."""
    found: dict[str, None] = {}
    for line in REQUIRES.findall(text):
        for name in line.split():
            found |= dict.fromkeys([*needed(source(name)), name])
    return list(found)
