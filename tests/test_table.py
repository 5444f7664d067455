"""Tables as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft import table

if TYPE_CHECKING:
    from weft.results import Results


def test_columns_are_flush() -> None:
    assert table.columns(["name", "n"], [["a", "1"], ["bcdefg", "10"]]) == [
        "name     n",
        "------  --",
        "a        1",
        "bcdefg  10",
    ]


def test_loads_go_down_and_series_across(made_up: Results) -> None:
    assert table.loads(made_up).splitlines()[10:] == [
        "",
        "tornado",
        "        always_on                    idle_timeout",
        "load    latency  accepted  energy    latency  accepted  energy",
        "----    -------  --------  ------    -------  --------  ------",
        " 0.1       21.0     0.100   500.0       26.0     0.100   200.0",
        " 0.2       22.0     0.200   250.0       27.0     0.200   100.0",
        " 0.3        sat     0.250   200.0        sat     0.250    80.0",
        " 0.4        sat     0.250   200.0        sat     0.250    80.0",
    ]


def test_what_does_not_fit_goes_below(made_up: Results) -> None:
    lines = table.loads(made_up, width=40).splitlines()[1:]
    assert max(map(len, lines)) <= 40
    assert sum(line.startswith("load") for line in lines) == 4
