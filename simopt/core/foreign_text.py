"""Untrusted text (names of files, columns and solvers), escaped for terminals, Markdown and plots."""

from __future__ import annotations

COMMANDS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}  # all but tab and line feed
TURNED = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}  # text from right to left looks like another
OBEYED = COMMANDS | TURNED
MARKUP = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_{}[]<>#|$&"})


def in_utf8(text: str) -> str:
    """The name of a file as text that UTF-8 can say: bytes that are none become escapes."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def on_terminal(text: str) -> str:
    """The text with escapes for the characters that a terminal would obey."""
    return text if text.isascii() and text.isprintable() else text.translate(OBEYED)


def in_markdown(text: str) -> str:
    """The text on one line of Markdown, in a table as well, as it stands: no HTML, no link, no picture; bold words stay bold."""
    parts = " ".join(on_terminal(text).split()).split("**")
    return ("**" if len(parts) % 2 else r"\*\*").join(part.translate(MARKUP) for part in parts)


def in_picture(text: str) -> str:
    """The text on a picture of matplotlib, which would typeset what stands between two dollars."""
    return in_utf8(on_terminal(text)).replace("$", "\\$")
