"""The language of claims is imported whole: no file has another meaning for one of its words."""

import builtins
import symtable
from pathlib import Path

import pytest

import simopt.claims

ROOT = Path(__file__).resolve().parents[2]
WORDS = set(simopt.claims.__all__)


def given_another_meaning(text: str) -> set[str]:
    """Words of the language that a file defines itself, or imports by name, for all of its functions."""
    symbols = symtable.symtable(text, "a file", "exec").get_symbols()
    return WORDS & {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()}


def test_no_file_has_another_meaning_for_a_word_of_the_language() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "theorems").rglob("*.py")}
    spoken = {path: text for path, text in texts.items() if "\nfrom simopt.claims import *\n" in text}
    assert len(spoken) > 100 and all(path in spoken for path, text in texts.items() if "\nfrom simopt.claims import" in text)
    shadowed = {path: words for path, text in spoken.items() if (words := given_another_meaning(text))}
    assert not shadowed, shadowed


@pytest.mark.parametrize(
    "text",
    [
        "from math import log",
        "from a import b as log",
        "import math as log",
        "def log(x): ...",
        "class log: ...",
        "x, log = 1, 2",
        "for log in (): ...",
        "if 1:\n    log: int = 2",
    ],
)
def test_another_meaning_is_found(text: str) -> None:
    assert given_another_meaning(f"from simopt.claims import *\n{text}\nrate(log)\n") == {"log"}


def test_a_variable_of_a_function_is_no_other_meaning() -> None:
    assert not given_another_meaning("def f(total):\n    rate = sum(log for log in total)\n    return rate\n[exp for exp in ()]")


def test_the_language_has_no_word_of_python_and_no_program() -> None:
    assert not WORDS & set(dir(builtins))
    assert not WORDS & {"claims", "find", "list_claims", "replay", "run", "select", "uncorrected"}
    assert WORDS <= set(vars(simopt.claims)) and len(WORDS) == len(simopt.claims.__all__)
