"""The bill of a year as a string in Python: the tables and notes that `weft analyse bill` prints."""

from __future__ import annotations

from weft.results.bill_lines import lines
from weft.results.yearly_bill import YearlyBill


class PrintedBill(YearlyBill):
    """A bill that prints as its tables. Its parameters and attributes are those of `YearlyBill`."""

    def __str__(self) -> str:
        """The tables and notes of `weft analyse bill`."""
        return "\n".join(lines(self))

    __repr__ = __str__
