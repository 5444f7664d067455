"""Converts rows with results of the simulator FOGSim in which the traffic pattern changes during the run.

Such rows have latencies by time of sending, instead of a mean latency.

The field ``pattern`` of such a row is, for example, ``transient UN->ADV+2``. The pattern changes
``transientTrafficCycle`` cycles after the warm-up. ``packet_latency`` is a list of bins in the form ``cycle after the
change:latency:share of misrouted packets``. The list begins with bins before the change. FOGSim's numbers are means
over the packets of all its seeds.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weft.results.response import Response
from weft_peers.expressible import NotExpressible, amount
from weft_peers.validate.case import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERNS = re.compile(r"transient (.+)->(.+)")
_BIN = re.compile(r"(-?\d+):(\d+\.?\d*):\d+\.?\d*")
# Parameters of network and run that must be equal in rows whose order of settling is compared.
_SHARED = ("simulator", "warmup", "transientTrafficCycle")


def patterns(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return the traffic patterns of a row in order of time."""
    found = _PATTERNS.fullmatch(row["pattern"])
    return found.groups() if found else (row["pattern"],)


def change(row: Mapping[str, str], params: Mapping[str, str]) -> Change | None:
    """Return the change of the pattern in a row; ``None`` if its pattern does not change.

    Raises
    ------
    ValueError
        If the row has no bins before or after its change.
    """
    if len(patterns(row)) == 1:
        return None
    _, _, text = row["packet_latency"].partition(": ")
    begins, latencies = [], []
    for each in text.split("|"):
        found = _BIN.fullmatch(each)
        if found is None:
            raise ValueError(
                f"a bin of latency by sending time is cycle:latency:share, such as -50:125.4:0.029, not {each!r}"
            )
        begins.append(int(found[1]))
        latencies.append(float(found[2]))
    widths = {later - earlier for earlier, later in pairwise(begins)}
    if len(widths) != 1 or min(widths) <= 0 or 0 not in begins[1:]:
        raise ValueError(
            "latency by sending time needs bins of equal width before and after 0, and a bin that begins at 0"
        )
    (width,) = widths
    after = int(params["transientTrafficCycle"])
    if after + begins[-1] + width > int(params["window"]):
        raise ValueError(f"bins up to {begins[-1] + width} cycles after the change exceed the window")
    words = [row["topology"], row["pattern"], row["load"], *(params[key] for key in _SHARED)]
    middles = [begin + width / 2 for begin in begins]
    return Change(", ".join(words), int(params["warmup"]) + after, width, Response(middles, latencies))


def phases(change: Change, after: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of the scenario key ``traffic`` that change the pattern to `after`."""
    return {"phases": [{"from": amount(change.cycle, "cycle"), "pattern": after}]}


def recording(change: Change) -> dict[str, Any]:
    """Return the entries of the scenario key ``measure`` that record the same data as FOGSim.

    Raises
    ------
    NotExpressible
        If the change is inside a bin.
    """
    if change.cycle % change.bin:
        raise NotExpressible(f"no bin of {change.bin} cycles begins with the change at {change.cycle}")
    return {"transient": {"bin": amount(change.bin, "cycle")}}
