"""Words in Markdown that stand there as they are, whoever wrote them: no markup, no address, no second line."""

from __future__ import annotations

SPECIAL = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_{}[]<>#|$&"})


def plain(text: str) -> str:
    """Text that Markdown prints as it stands, in one line, bold words excepted."""
    parts = " ".join(text.split()).split("**")
    return ("**" if len(parts) % 2 else r"\*\*").join(part.translate(SPECIAL) for part in parts)
