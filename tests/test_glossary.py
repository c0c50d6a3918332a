"""Names and sentences are in the field's words: no name has a word that the glossary replaces, no sentence is too long."""

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
Names = dict[Path, list[tuple[str, str, int]]]
Docstrings = dict[Path, list[tuple[int, str]]]


@pytest.fixture(scope="module")
def glossary() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        return importlib.import_module("glossary")


@pytest.fixture(scope="module")
def defined(glossary: Any) -> tuple[Names, Docstrings]:
    names, docstrings = {}, {}
    for path in glossary.sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names[path], docstrings[path] = list(glossary.names(path, tree)), list(glossary.docstrings(tree))
    assert len(names) > 1000
    return names, docstrings


def report(left: list[str]) -> str:
    return f"{len(left)} left:\n" + "\n".join(left)


def test_no_name_has_a_word_that_the_glossary_replaces(glossary: Any, defined: tuple[Names, Docstrings]) -> None:
    left = []
    for path, names in defined[0].items():
        home = path.relative_to(ROOT).as_posix()
        private, all_words = glossary.vocabulary(home, glossary.PRIVATE), glossary.vocabulary(home, glossary.PRIVATE, glossary.PLAIN)
        for kind, name, line in names:
            a_sentence = name.startswith("test_") and kind in ("function", "module")  # plain English is allowed there
            vocabulary = private if a_sentence else all_words
            left += [
                f"{home}:{line}: {kind} {name}: {word} → {vocabulary[word]}" for word in sorted(glossary.replaced(name, vocabulary, home))
            ]
    assert not left, report(left)


def test_no_sentence_of_a_docstring_has_more_words_than_one_can_hold(glossary: Any, defined: tuple[Names, Docstrings]) -> None:
    left = []
    for path, docstrings in defined[1].items():
        for line, text in docstrings:
            counted = [(glossary.length(sentence), sentence) for sentence in glossary.sentences(text)]
            left += [f"{path.relative_to(ROOT)}:{line}: {n} words: {each[:90]}" for n, each in counted if n > glossary.LONGEST]
    assert not left, report(left)


def test_every_exception_is_used(glossary: Any, defined: tuple[Names, Docstrings]) -> None:
    spelled = {
        path.relative_to(ROOT).as_posix(): {"_".join(glossary.parts(name)) for _, name, _ in names} for path, names in defined[0].items()
    }
    everywhere = {f"_{name}_" for names in spelled.values() for name in names}
    assert not [phrase for phrase in glossary.PHRASES if not any(f"_{phrase}_" in name for name in everywhere)]
    for name, (places, _) in glossary.EXCEPTIONS.items():
        for place in places:
            assert any(name in names for path, names in spelled.items() if path.startswith(place)), (name, place)


def test_the_page_is_of_these_tables(glossary: Any) -> None:
    assert glossary.PAGE.read_text(encoding="utf-8") == glossary.page(), "docs/glossary.py writes another page: run it"
    assert not glossary.forbidden(glossary.PRIVATE).keys() & glossary.forbidden(glossary.PLAIN).keys()


def test_words_of_names_and_sentences_are_read(glossary: Any) -> None:
    assert glossary.parts("readCSVFile_2nd") == ["read", "csv", "file", "2nd"] and glossary.parts("_HeldOut") == ["held", "out"]
    words = {"held": "", "price": "", "word": ""}
    assert glossary.replaced("held_out_price", words) == {"price"} == glossary.replaced("price", words)
    home = "simopt/solving/solution.py"
    assert glossary.replaced("word", words, home) == set() and glossary.replaced("last_word", words, home) == {"word"}
    assert glossary.replaced("word", words, "simopt/solving/run.py") == {"word"} == glossary.replaced("word", words)
    assert "ball" in glossary.vocabulary("simopt/arithmetic/interval.py") and "ball" not in glossary.vocabulary("problems/bounds.py")
    source = "class A:\n    b: int = 1\n    def c(self, *d, e=1):\n        self.f = g = 1\nh = lambda i: i\n"
    names = glossary.names(Path("a.py"), ast.parse(source))
    assert {name for _, name, _ in names} == {"a", "A", "b", "c", "self", "d", "e", "f", "h"}
    text = "One two. Three\nfour::\n\n    code here\n    >>> more\n\n* five six\n* seven x = 3\nrow    of a table\n"
    text += "\nParameters\n----------\nnine : int\n    ten words.\neleven : int\n    twelve."
    counts = [glossary.length(sentence) for sentence in glossary.sentences(text)]
    assert [count for count in counts if count] == [2, 2, 2, 3, 4, 1, 1, 2, 1, 1]
    text = "f is convex. x of **K.** 15 of them, e.g. two (here.) λ → 0"
    assert [glossary.length(sentence) for sentence in glossary.sentences(text)] == [3, 3, 6, 2]
