"""Names and sentences are in the field's words: no name has a word that the glossary replaces, no docstring a sentence of more than 40 words."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def glossary(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("glossary")


def listed(left: list[str]) -> str:
    return f"{len(left)} left:\n" + "\n".join(left)


def everywhere(glossary: Any, look_at: Callable[[Path], list[str]]) -> list[str]:
    files = list(glossary.sources())
    assert len(files) > 1000
    return [f"{path.relative_to(ROOT)}:{text}" for path in files for text in look_at(path)]


def test_no_name_has_a_word_that_the_glossary_replaces(glossary: Any) -> None:
    strict, all_words = glossary.forbidden(glossary.PRIVATE), glossary.forbidden(glossary.PRIVATE, glossary.PLAIN)

    def wrong(path: Path) -> list[str]:
        rows = []
        for kind, name, line in glossary.names(path):
            sentence = name.startswith("test_") and kind in ("function", "module")  # plain English is allowed there
            words = strict if sentence else all_words
            rows += [f"{line}: {kind} {name}: {word} → {words[word]}" for word in sorted(glossary.wrong_words(name, words))]
        return rows

    left = everywhere(glossary, wrong)
    assert not left, listed(left)


def test_no_sentence_of_a_docstring_has_more_words_than_one_can_hold(glossary: Any) -> None:
    def long(path: Path) -> list[str]:
        found = [(line, each, glossary.length(each)) for line, text in glossary.docstrings(path) for each in glossary.sentences(text)]
        return [f"{line}: {count} words: {each[:90]}" for line, each, count in found if count > glossary.LONGEST]

    left = everywhere(glossary, long)
    assert not left, listed(left)


def test_every_exception_is_used(glossary: Any) -> None:
    spelled = {"_".join(glossary.parts(name)) for path in glossary.sources() for _, name, _ in glossary.names(path)}
    unused = [each for each in glossary.EXCEPTIONS if not any(f"_{each}_" in f"_{name}_" for name in spelled)]
    assert not unused


def test_the_page_is_of_these_tables(glossary: Any) -> None:
    assert glossary.PAGE.read_text(encoding="utf-8") == glossary.page(), "docs/glossary.py writes another page: run it"
    twice = [row for row in glossary.PRIVATE if row in glossary.PLAIN]
    assert not twice


def test_words_of_names_and_sentences_are_told_apart(glossary: Any, tmp_path: Path) -> None:
    assert glossary.parts("readCSVFile_2nd") == ["read", "csv", "file", "2nd"] and glossary.parts("_HeldOut") == ["held", "out"]
    words = {"held": "", "price": "", "word": ""}
    assert glossary.wrong_words("held_out_price", words) == {"price"}
    assert glossary.wrong_words("word", words) == set() and glossary.wrong_words("last_word", words) == {"word"}
    source = tmp_path / "a.py"
    source.write_text("class A:\n    b: int = 1\n    def c(self, *d, e=1):\n        self.f = g = 1\nh = lambda i: i\n", encoding="utf-8")
    assert {name for _, name, _ in glossary.names(source)} == {"a", "A", "b", "c", "self", "d", "e", "f", "h"}
    text = "One two. Three\nfour::\n\n    code here\n    >>> more\n\n* five six\n* seven x = 3\n\nParameters\n----------\nnine : int\n    ten words."
    counted = [(each, glossary.length(each)) for each in glossary.sentences(text)]
    assert [count for _, count in counted if count] == [2, 2, 2, 1, 1, 1, 2], counted
