"""Converts latencies to microseconds, and loads to Gb/s per terminal.

The conversion needs results that state the length of a cycle and the size of a flit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError, WeftError
from weft.results import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weft.results.quantities import Quantity

CYCLES, SI = "cycles", "si"
UNITS = (CYCLES, SI)
# For each quantity in cycles or flits, its twin: the same quantity in microseconds or Gb/s.
TWINS: dict[Quantity, Quantity] = {
    q.LATENCY: q.LATENCY_US,
    q.OFFERED: q.OFFERED_GBPS,
    q.ACCEPTED: q.ACCEPTED_GBPS,
    **{own: q.PERCENTILES_US[name] for name, own in q.PERCENTILES.items()},
}
# Columns with the confidence intervals of single runs, which are converted like the quantities.
_OWN = {
    own.own_half_width: twin.own_half_width for own, twin in TWINS.items() if own.own_half_width and twin.own_half_width
}
_SECONDS, _BITS = "cycle_seconds", "flit_bits"


def checked(units: str | None) -> str | None:
    """Checks the units that a user requests; ``None`` leaves the choice to `chosen`.

    Raises
    ------
    WeftError
        If the units are unknown.
    """
    if units is not None and units not in UNITS:
        raise WeftError.saying(f"--units: there are no units {units!r}", f"choose {' or '.join(UNITS)}")
    return units


def chosen(units: str | None, summaries: Iterable[Mapping[str, Any]]) -> str:
    """The units of a table or figure: those that the user requests, or the default.

    The default is cycles and flits, or SI units if the points have cycles of different lengths.
    """
    if units is not None:
        return units
    known = {(summary.get(_SECONDS), summary.get(_BITS)) for summary in summaries}
    differ = len({seconds for seconds, _ in known}) > 1
    return SI if differ and all(seconds and bits for seconds, bits in known) else CYCLES


def in_units(quantity: Quantity, units: str) -> Quantity:
    """The quantity that is shown in these units: for SI units its twin in `TWINS`, if it has one, otherwise itself."""
    return TWINS.get(quantity, quantity) if units == SI else quantity


def beside(quantities: Iterable[Quantity], units: str) -> list[Quantity]:
    """The quantities, each followed by the same quantity in SI units if the user requests these."""
    pairs = ((each, in_units(each, units)) for each in quantities)
    return list(dict.fromkeys(one for pair in pairs for one in pair))


def factor(summary: Mapping[str, Any], unit: str) -> float | None:
    """Factor from a unit of the simulator to its SI unit; ``None`` if it is not known.

    Cycles are converted to microseconds, and flits per terminal and cycle to Gb/s.
    """
    seconds, bits = summary.get(_SECONDS), summary.get(_BITS)
    if not seconds:
        return None
    if unit == q.LATENCY.unit:
        return float(seconds) * 1e6
    return None if bits is None else float(bits) / float(seconds) * 1e-9


def scale(summary: Mapping[str, Any], quantity: Quantity, units: str) -> float:
    """Factor by which a value of a point is multiplied to get it in these units; 1 if its unit does not change."""
    has_twin = units == SI and quantity in TWINS
    return (factor(summary, quantity.unit) if has_twin else None) or 1.0


def derived(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """The numbers in a summary, converted to SI units, by the names of the SI columns."""
    return _derived(summary, summary)


def of_part(part: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, float | None]:
    """The numbers of a job or phase of a point, converted to SI units."""
    return _derived(part, summary)


def _derived(part: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, float | None]:
    pairs = [(own.column, twin.column, own.unit) for own, twin in TWINS.items()]
    pairs += [(own, twin, q.LATENCY.unit) for own, twin in _OWN.items()]
    found: dict[str, float | None] = {}
    for own, twin, unit in pairs:
        if own in part:
            value, by = part[own], factor(summary, unit)
            found[twin] = None if value is None or by is None else value * by
    return found


def check(summaries: Iterable[Mapping[str, Any]]) -> None:
    """Refuse results that lack the length of a cycle or the size of a flit.

    Raises
    ------
    ResultsError
        If an older version of Weft wrote the results.
    """
    if any(summary.get(_SECONDS) is None or summary.get(_BITS) is None for summary in summaries):
        what = "--units si: an older Weft wrote these results, without the size of a flit"
        raise ResultsError.saying(what, "run them again with --force, or write --units cycles")


def note(summaries: Iterable[Mapping[str, Any]]) -> str:
    """Text with the length of a cycle and the size of a flit; empty if the points differ in them."""
    known = {(summary[_SECONDS], summary[_BITS]) for summary in summaries}
    if len(known) != 1:
        return ""
    ((seconds, bits),) = known
    return (
        f"a cycle is {seconds * 1e9:.4g} ns, a flit {bits} bits: a flit per cycle is {bits / seconds * 1e-9:.4g} Gb/s"
    )
