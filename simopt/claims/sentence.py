"""The sentence of a claim as pages print it beside its verdict: with the conditions under which its identities in symbols hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def stated(row: Mapping[str, Any]) -> str:
    """The statement of a row of a record, with its domain: an identity in symbols says nothing where a denominator vanishes."""
    return f"{row['says']} (Where no denominator vanishes: {row['where']}.)" if row["where"] else str(row["says"])
