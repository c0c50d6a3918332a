"""What the record of a row keeps of its checks."""

from simopt.claims import at_most, true
from simopt.claims.check import Outcome
from simopt.claims.measured import Ledger


def test_facts_are_counted_apart_from_what_is_compared() -> None:
    ledger = Ledger()
    for check in (true(True, "a fact"), true(True, "another"), at_most(1.0, 2.0, "a comparison")):
        ledger.add(check, Outcome.SATISFIED)
    told = ledger.document()
    assert (told["facts"], told["checks"], told["compared"]) == ({"satisfied": 2}, {"satisfied": 3}, 1)
