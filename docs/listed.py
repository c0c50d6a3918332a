"""Which problems the pages of methods name, and which have no page yet."""

from __future__ import annotations

import re
from pathlib import Path

from simopt.core import registry

PAGES = Path(__file__).parent / "methods"


def named() -> list[str]:
    """The problems that the pages name, in their order."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md")))
    return " ".join(re.findall(r"^:::\{problems\} (.*)", texts, re.M)).split()


def unnamed() -> list[str]:
    """The problems of ours that no page names."""
    known = named()
    return [name for name, cls in registry.items("problem") if cls.__module__.startswith("simopt.problems.") and name not in known]
