r"""Letters that a sentence quantifies over without end: "for all n", "every k ≥ 1", "any r", "for n ≥ 1", "for n = 1, 2, …".

A formula that is written out for n = 1, …, 5 says nothing of n = 6, and neither does one that has no n. A sentence about every n is proved
where n is a free symbol. Points, labels, functions and laws (x, y, f, P) enter formulas by their values, so that only letters for sizes,
degrees and numbers of things are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection

SIZES = frozenset("nmkdrtNMT")
LETTER = r"[^\W\d_](?:_\w+|['′₀-₉])*(?!\w)"
LETTERS = rf"({LETTER}(?:(?:,\s*and|,|\s+and)\s+{LETTER})*)"
NOUNS = r"(?:(?:integers?|natural|whole|real|odd|even|positive|numbers?|dimensions?|sizes?|degrees?|powers?)\s+)*"
QUANTIFIED = re.compile(rf"\b(?:all|every|each|any|whatever)\s+{NOUNS}(?:\d+\s*[≤<]\s*)?{LETTERS}", re.IGNORECASE)
COUNTED = re.compile(rf"\b(?:for|let)\s+{NOUNS}({LETTER})\s*(?:[≥>]\s*\d|=\s*[\d/, ]+…(?!,?\s*\d)|∈\s*\{{[\d/, ]+…\s*\}})", re.IGNORECASE)
NAMED = re.compile(rf"\barbitrary\s+{NOUNS}({LETTER})|(?<!\w)({LETTER})\s*(?:∈\s*ℕ|any\s+(?:natural|whole|positive)\s)", re.IGNORECASE)
BOUNDED = re.compile(r"\s*(?:[≤<]|up to\b|at most\b|(?:∈|in)\s*[{\[]|=\s*\d|from\s+\d+\s+to\b)")  # what ends behind the letter


def unstated(says: str, symbols: Collection[str]) -> list[str]:
    """The sizes that the sentence leaves without an upper end, and that are no symbols of its proof, each once."""
    found: dict[str, None] = {}
    for match in QUANTIFIED.finditer(says):
        if not BOUNDED.match(says, match.end()):
            found |= dict.fromkeys(re.split(r",\s*and\s+|,\s+|\s+and\s+", match[1]))
    found |= dict.fromkeys(match[1] for match in COUNTED.finditer(says))
    found |= dict.fromkeys(match[1] or match[2] for match in NAMED.finditer(says))
    return [letter for letter in found if letter in SIZES and letter not in symbols]


def remains(letters: Collection[str]) -> str:
    """The part that steps without a symbol for these letters leave to be shown, in words."""
    return f"every {', every '.join(letters)}: no formula has {'it' if len(letters) == 1 else 'them'} as a symbol"
