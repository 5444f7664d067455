"""How traffic recovers from a fault: packets delivered; latency before, during and after it; time until it is normal.

Source: the reliability argument of TCEP (ISCA 2018), section VII-D; the paper measures nothing there, so the measures
are ours. Parameters: the cycles in which the fault begins and ends, and the tolerance: the share by which latency may
exceed the latency before the fault. Guarantees: counts by creation time are complete once the run has drained. Not
modelled: which packets the fault touched. Validation: hand-made series.

A run needs `measure.transient`. Its bins are the resolution of the answer: take them so long that without a fault their
means differ by less than the tolerance. Lower latency is no deviation: after a fault more links may be on. Packets that
were dropped have no latency.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis.prices import cycles_of
from weft.errors import ResultsError
from weft.results import soundness
from weft.results.rows import frame_of

if TYPE_CHECKING:
    from weft.results.result_set import ResultSet


@dataclass(frozen=True)
class Recovery:
    """What a fault did to the packets created after it.

    Attributes
    ----------
    before_cycles : float or None
        Mean packet latency from the warm-up to the fault [cycles]; None if no whole bin there has packets.
    during_cycles, after_cycles : float or None
        The same from the fault to its end (or to that of the window), and from its end on.
    worst_cycles : float or None
        Largest mean latency of a bin between the fault and its end [cycles].
    recovery_cycles : int or None
        From the fault to the begin of the first bin that is within the tolerance again [cycles]; 0 if all bins are;
        None if none is before the end of the fault, or if there is nothing to compare.
    return_cycles : int or None
        The same from the end of the fault, when links wake again; None also if the fault does not end in the window.
    delivered_share : float
        Delivered packets over those created in the window.
    dropped_share : float
        Packets that a router dropped because of the fault, over those created in the window.
    note : str or None
        Why numbers are missing (for which times the series has no bins), or say little (the point is saturated or the
        like).
    """

    before_cycles: float | None
    during_cycles: float | None
    after_cycles: float | None
    worst_cycles: float | None
    recovery_cycles: int | None
    return_cycles: int | None
    delivered_share: float
    dropped_share: float
    note: str | None


def recovery(
    results: ResultSet, point: int, fault_cycle: int, until_cycle: int | None = None, *, tolerance: float = 0.05
) -> Recovery:
    """How a point recovers from a fault.

    Parameters
    ----------
    results : ResultSet
        With `measure.transient`.
    point : int
        Row of the point.
    fault_cycle : int
        When the link or router failed [cycles].
    until_cycle : int, optional
        When it returned [cycles].
    tolerance : float
        Share by which the mean latency of a bin may exceed that before.

    Raises
    ------
    ResultsError
        If the run has no series of latencies, or the tolerance is negative.
    """
    if not 0 <= tolerance < math.inf:
        what = f"a tolerance of {tolerance:g} is no share by which latency may grow"
        raise ResultsError.saying(what, "write 0 or more, such as 0.05")
    summary = results.summaries[point]
    bins, since = results.transient(point), summary["warmup_cycles"]
    end = since + summary["window_cycles"]
    back = end if until_cycle is None else min(until_cycle, end)
    # what happens after the return of the link or router is judged by itself
    until_then = bins.filter(pl.col("from_cycle") + pl.col("bin_cycles") <= back)
    before, worst, cycles = from_series(until_then, since, fault_cycle, tolerance)
    during, after = mean_latency(bins, fault_cycle, back), mean_latency(bins, back, end)
    returned = bins.filter((pl.col("from_cycle") >= back) & (pl.col("from_cycle") + pl.col("bin_cycles") <= end))
    ends = until_cycle is not None and until_cycle < end
    again = back_in(returned, before, back, tolerance) if ends and before is not None else None
    lacks = {
        f"before the fault, cycles {since} to {fault_cycle}": before is None,
        f"in the fault, cycles {fault_cycle} to {back}": during is None,
        f"after it, cycles {back} to {end}": ends and after is None,
    }
    named = [where for where, empty in lacks.items() if empty]
    lacking = [f"no packets in whole bins {', nor '.join(named)}: measure longer, or in shorter bins"] if named else []
    flaw = soundness.reason(summary)
    note = "; ".join([*lacking, *([f"the point is {flaw}"] if flaw else [])]) or None
    dropped = summary.get("dropped_packets", 0)
    packets = max(1, summary["packets"] + summary["missing_packets"] + dropped)
    shares = summary["packets"] / packets, dropped / packets
    return Recovery(before, during, after, worst, cycles, again, *shares, note)


def table(results: ResultSet, tolerance: float = 0.05) -> pl.DataFrame:
    """How each point that has faults recovers from the first of them.

    Parameters
    ----------
    results : ResultSet
        With `measure.transient`.
    tolerance : float
        Share by which the mean latency of a bin may exceed that before.

    Returns
    -------
    polars.DataFrame
        A row per point with faults: its coordinates; ``fault``, what fails and when [cycles], the first one first; and
        the fields of `Recovery`, with the point in its note.

    Raises
    ------
    ResultsError
        If no point has faults, one of them has no series of latencies, or the tolerance is negative.
    """
    rows = []
    for point, about in enumerate(results.points):
        scenario = results.scenario(point)
        faults = [(*_span(fault, scenario), fault) for fault in scenario.get("faults", [])]
        if not faults:
            continue
        faults.sort(key=lambda one: one[0])
        at, until, _ = faults[0]
        found = recovery(results, point, at, until, tolerance=tolerance)
        if found.note is not None:
            found = replace(found, note=f"{results.describe(point)}: {found.note}")
        rows.append(about["coordinates"] | {"fault": "; ".join(_words(*one) for one in faults)} | asdict(found))
    if not rows:
        raise ResultsError.saying(f"no point of {results.root} has faults", "name some under `faults` in the scenario")
    return frame_of([{k: v for k, v in row.items() if k != "faults"} for row in rows])


def _span(fault: dict[str, Any], scenario: dict[str, Any]) -> tuple[int, int | None]:
    until = fault.get("until")
    return cycles_of(fault["at"], scenario), None if until is None else cycles_of(until, scenario)


def _words(at: int, until: int | None, fault: dict[str, Any]) -> str:
    what = f"router {fault['router']}" if "router" in fault else "link {}-{}".format(*fault["link"])
    return f"{what} from {at} on" if until is None else f"{what} at {at}-{until}"


def mean_latency(bins: pl.DataFrame, since_cycle: int, until_cycle: int) -> float | None:
    """Mean latency of the packets created in the whole bins between two cycles [cycles]; None if there are none."""
    begin, end = pl.col("from_cycle"), pl.col("from_cycle") + pl.col("bin_cycles")
    inside = bins.filter((begin >= since_cycle) & (end <= until_cycle) & (pl.col("packets") > 0))
    packets, means = inside["packets"].to_numpy(), inside["packet_latency_mean_cycles"].to_numpy()
    return float(packets @ means / packets.sum()) if len(inside) else None


def from_series(
    bins: pl.DataFrame, since_cycle: int, fault_cycle: int, tolerance: float
) -> tuple[float | None, float | None, int | None]:
    """Mean latency from `since_cycle` to the fault, highest mean of a bin after it, and time to recover [cycles].

    Each is None where no whole bin has packets.
    """
    mean = mean_latency(bins, since_cycle, fault_cycle)
    after = bins.filter((pl.col("packets") > 0) & (pl.col("from_cycle") >= fault_cycle))
    worst = None if after.is_empty() else float(after["packet_latency_mean_cycles"].to_numpy().max())
    return mean, worst, None if mean is None else back_in(after, mean, fault_cycle, tolerance)


def back_in(bins: pl.DataFrame, mean_cycles: float, since_cycle: int, tolerance: float) -> int | None:
    """Time from a cycle until a bin is within the tolerance again [cycles].

    0 if all bins are within it. None if no bin has packets, or if none after the first that is not within it is.
    """
    filled = bins.filter(pl.col("packets") > 0).sort("from_cycle")
    if filled.is_empty():
        return None
    off = filled["packet_latency_mean_cycles"] > (1 + tolerance) * mean_cycles
    if not off.any():
        return 0
    first = off.arg_max() or 0
    back = filled[first:].filter(~off[first:])
    return int(back["from_cycle"][0]) - since_cycle if len(back) else None
