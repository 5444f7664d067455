"""The yearly bill in Python: printing it shows the tables and notes of `weft analyse bill`."""

from __future__ import annotations

from weft.results.bill_lines import lines
from weft.results.yearly_bill import YearlyBill


class PrintedBill(YearlyBill):
    """A yearly bill whose text form is its tables. Parameters and attributes are those of `YearlyBill`."""

    def __str__(self) -> str:
        """The tables and notes of `weft analyse bill`."""
        return "\n".join(lines(self))

    __repr__ = __str__
