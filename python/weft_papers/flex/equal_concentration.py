"""Compares FleX and Slim Fly with the same number of terminals per router.

The paper gives FleX 10 terminals per router and Slim Fly 6.

Loads are per terminal. Therefore a router with more terminals must carry more traffic at the same load. We compare the
paper's FleX 6x6x3 with a Slim Fly of q = 7 that also has 10 terminals per router (980 in total). We compare the paper's
Slim Fly of q = 9 with a FleX 7x8x3 that also has 6 terminals per router (1,008 in total).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common.measured import LackingError
from weft_papers.flex.network_saturation import Saturation, bounds
from weft_papers.flex.networks import FLEX, SLIM_FLY
from weft_papers.flex.performance_frame import FLEX_OF_6, LBR, MINIMAL, SLIM_FLY_OF_10, UGAL, mechanism

if TYPE_CHECKING:
    from weft_papers.common.measured import Measured

RUNS = "concentration"
PATTERNS = ("bit_complement", "bit_reverse", "shuffle", "transpose")
_ROUTINGS = (MINIMAL, UGAL, LBR)
# Pairs of a FleX and a Slim Fly, by heading of the table's column: the networks of Table 6, and pairs in which all
# routers have 10 terminals, or 6.
_PAIRS = {"Table 6": (FLEX, SLIM_FLY), "10 per router": (FLEX, SLIM_FLY_OF_10), "6 per router": (FLEX_OF_6, SLIM_FLY)}


def _saturation(measured: Measured, pattern: str, network: str, routing: str) -> Saturation | None:
    name = pattern if network in (FLEX, SLIM_FLY) else RUNS
    if measured.has((name,)):
        with suppress(LackingError):
            return bounds(measured[name].filter(pattern=pattern), mechanism(network, routing))
    return None


def table(measured: Measured) -> pl.DataFrame:
    """Make the table of the loads at which FleX and Slim Fly saturate.

    The networks are those of Table 6, and networks with equal numbers of terminals per router.

    If points below a saturation had not settled, its cell has a lower and an upper bound.
    """
    rows = []
    for pattern in PATTERNS:
        for routing in _ROUTINGS:
            row: dict[str, str | None] = {"pattern": pattern.replace("_", " "), "routing": routing}
            for words, pair in _PAIRS.items():
                for short, network in zip((FLEX, SLIM_FLY), pair, strict=True):
                    own = _saturation(measured, pattern, network, routing)
                    row[f"{words}: {short} [flits/terminal/cycle]"] = None if own is None else str(own)
            rows.append(row)
    found = pl.DataFrame(rows, infer_schema_length=None)
    if all(found[column].null_count() == found.height for column in found.columns[2:]):
        raise LackingError("neither FleX nor Slim Fly was run")
    return found


def reversed_at_equal(measured: Measured, pattern: str, routing: str, ours: str, other: str) -> str:
    """Return text if FleX saturates above Slim Fly when both have equal terminals per router; else an empty string."""
    if {ours, other} != {FLEX, SLIM_FLY} or pattern not in PATTERNS:
        return ""
    values = []
    for words, pair in list(_PAIRS.items())[1:]:
        found = {name: _saturation(measured, pattern, name, routing) for name in pair}
        flex, slim = (found[name] for name in pair)
        if flex is not None and slim is not None and flex.above(slim):
            values.append(f"with {words} FleX accepts {flex}, Slim Fly {slim}")
    return "; ".join(values)
