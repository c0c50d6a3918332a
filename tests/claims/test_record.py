"""What the record of a row keeps of its checks."""

from simopt.claims import at_most, true
from simopt.claims.check import Outcome
from simopt.claims.measured import POINTS, Ledger


def test_facts_are_counted_apart_from_what_is_compared() -> None:
    ledger = Ledger()
    for check in (true(True, "a fact"), true(True, "another"), at_most(1.0, 2.0, "a comparison")):
        ledger.add(check, Outcome.SATISFIED)
    told = ledger.document()
    assert (told["facts"], told["checks"], told["compared"]) == ({"satisfied": 2}, {"satisfied": 3}, 1)


def test_the_points_of_a_picture_are_thinned_out_only_where_they_are_twice_too_many() -> None:
    ledger = Ledger()
    for number in range(2 * POINTS + 1):
        assert len(ledger.points) == number
        ledger.add(at_most(1.0, 2.0 + number), Outcome.SATISFIED)
    assert len(ledger.points) == POINTS + 1 and ledger.stride == 2 and ledger.seen == 2 * POINTS + 1
