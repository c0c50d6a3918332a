"""The errors name what would have been right, and travel between processes."""

import pickle

import pytest

from simopt.core.errors import InvalidFile, InvalidProblem, NotAvailable, UnknownName, nearest


def test_the_nearest_name_is_offered() -> None:
    assert str(UnknownName("solver", "Clarabell", ["clarabel", "ecos"])) == "unknown solver 'Clarabell'; did you mean 'clarabel'?"
    assert nearest("kernel_ridge", ["m-power-rls", "kernel-ridge"]) == "kernel-ridge"
    assert str(UnknownName("problem", "IMC", ["imc-ordinal", "imc-ordinal-penalised", "exc-ordinal"])) == (
        "unknown problem 'IMC'; did you mean 'imc-ordinal' or 'imc-ordinal-penalised'?"
    )
    assert nearest("KJ-E1bplus", ["KJ-E1b", "KJ-E1b+", "KJ-E1c"]) == "KJ-E1b+"
    assert nearest("xyz", ["clarabel"]) is None


def test_without_a_near_name_they_are_listed() -> None:
    assert str(UnknownName("solver", "xyz", ["scs", "ecos"])) == "unknown solver 'xyz'; there are ecos, scs"
    assert str(UnknownName("solver", "xyz", [])) == "unknown solver 'xyz'; none is registered"
    assert str(UnknownName("claim", "???", [f"name{i:02}" for i in range(20)])).endswith("name11, …")


def test_errors_are_pickled_whole() -> None:
    error = UnknownName("solver", "esco", ["ecos"])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.known == ("ecos",)


def test_callers_can_catch_the_standard_kinds() -> None:
    assert issubclass(InvalidProblem, ValueError) and issubclass(UnknownName, ValueError) and issubclass(NotAvailable, RuntimeError)


@pytest.mark.parametrize("start", ["file", "file:", "file: a", "file: an", "file: one"])
def test_a_message_that_is_cut_is_the_same_after_a_pickle(start: str) -> None:
    """The cut may fall behind a word or within one; an error that a pickle changes reaches the caller as another class."""
    error = InvalidFile(start + " word" * 400)
    assert 700 < len(str(error)) <= 800
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
