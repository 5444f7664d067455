"""How traffic recovers from faults: share delivered, latency before, during and after, time until it is back.

Source: the reliability argument of TCEP (ISCA 2018), section VII-D; the paper measures nothing there, the measures
are ours. Parameters: the cycles of the fault and of its end, and the share by which latency may exceed that
before. Guarantees: what is counted by creation time is complete once the run has drained. Not modelled: which packets
the fault touched. Validation: hand-made series.

A run needs `measure.transient`, whose bins are the resolution of the answer: take them so long that their means differ
by less than the tolerance without a fault. Faster is no deviation: a fault may leave more links on. Packets that were
dropped have no latency.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.analysis.prices import cycles_of
from weft.errors import ResultsError
from weft.frames import frame_of

if TYPE_CHECKING:
    from weft.results import Results


@dataclass(frozen=True)
class Recovery:
    """What a fault did to the packets created after it.

    Attributes
    ----------
    before_cycles : float
        Mean packet latency between the warm-up and the fault [cycles].
    during_cycles, after_cycles : float or None
        The same between the fault and its end, or that of the window, and from its end on; None without packets.
    worst_cycles : float
        Largest mean latency of a bin between the fault and its end [cycles].
    recovery_cycles : int or None
        From the fault to the begin of the first bin, after those out of tolerance, that is in it again [cycles]; 0 if
        none was out of it, None if none came back before the end of the fault.
    return_cycles : int or None
        The same from the end of the fault, when links wake again; None if it never ends, or none came back.
    delivered_share : float
        Delivered packets over those created in the window.
    dropped_share : float
        Packets that a dead router dropped, over those created in the window.
    """

    before_cycles: float
    during_cycles: float | None
    after_cycles: float | None
    worst_cycles: float
    recovery_cycles: int | None
    return_cycles: int | None
    delivered_share: float
    dropped_share: float


def recovery(
    results: Results, point: int, fault_cycle: int, until_cycle: int | None = None, *, tolerance: float = 0.05
) -> Recovery:
    """How a point recovers from a fault.

    Parameters
    ----------
    results : Results
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
        If the run has no series of latencies, or none of packets before or after the fault.
    """
    summary = results.summaries[point]
    bins, since = results.transient(point), summary["warmup_cycles"]
    end = since + summary["window_cycles"]
    back = end if until_cycle is None else min(until_cycle, end)
    # what returns is another change
    until_then = bins.filter(pl.col("from_cycle") + pl.col("bin_cycles") <= back)
    before, worst, cycles = from_series(until_then, since, fault_cycle, tolerance)
    means = mean_latency(bins, fault_cycle, back), mean_latency(bins, back, end)
    returned = bins.filter((pl.col("from_cycle") >= back) & (pl.col("from_cycle") + pl.col("bin_cycles") <= end))
    again = None if until_cycle is None else back_in(returned, before, back, tolerance)
    dropped = summary.get("dropped_packets", 0)
    packets = max(1, summary["packets"] + summary["missing_packets"] + dropped)
    return Recovery(before, *means, worst, cycles, again, summary["packets"] / packets, dropped / packets)


def table(results: Results, tolerance: float = 0.05) -> pl.DataFrame:
    """How each point that has faults recovers from the first of them.

    Parameters
    ----------
    results : Results
        With `measure.transient`.
    tolerance : float
        Share by which the mean latency of a bin may exceed that before.

    Returns
    -------
    polars.DataFrame
        A row per point with faults: its coordinates; ``fault``, what fails first; and the fields of `Recovery`.

    Raises
    ------
    ResultsError
        If no point has faults, or one has no series of latencies.
    """
    rows = []
    for point, about in enumerate(results.points):
        scenario = results.scenario(point)
        faults = [(_span(fault, scenario), fault) for fault in scenario.get("faults", [])]
        if not faults:
            continue
        (at, until), fault = min(faults, key=lambda one: one[0][0])
        found = recovery(results, point, at, until, tolerance=tolerance)
        what = f"router {fault['router']}" if "router" in fault else "link {}-{}".format(*fault["link"])
        rows.append(about["coordinates"] | {"fault": what} | asdict(found))
    if not rows:
        raise ResultsError.saying(f"no point of {results.root} has faults", "name some under `faults` in the scenario")
    return frame_of([{k: v for k, v in row.items() if k != "faults"} for row in rows])


def _span(fault: dict[str, Any], scenario: dict[str, Any]) -> tuple[int, int | None]:
    until = fault.get("until")
    return cycles_of(fault["at"], scenario), None if until is None else cycles_of(until, scenario)


def mean_latency(bins: pl.DataFrame, since_cycle: int, until_cycle: int) -> float | None:
    """Mean latency of packets created in whole bins between two cycles [cycles]; None without any."""
    begin, end = pl.col("from_cycle"), pl.col("from_cycle") + pl.col("bin_cycles")
    inside = bins.filter((begin >= since_cycle) & (end <= until_cycle) & (pl.col("packets") > 0))
    packets, means = inside["packets"].to_numpy(), inside["packet_latency_mean_cycles"].to_numpy()
    return float(packets @ means / packets.sum()) if len(inside) else None


def from_series(
    bins: pl.DataFrame, since_cycle: int, fault_cycle: int, tolerance: float
) -> tuple[float, float, int | None]:
    """Mean latency from `since_cycle` to the fault, the worst of a bin after it, and the time to recover [cycles]."""
    mean = mean_latency(bins, since_cycle, fault_cycle)
    after = bins.filter((pl.col("packets") > 0) & (pl.col("from_cycle") >= fault_cycle)).sort("from_cycle")
    if mean is None or after.is_empty():
        what = f"no packets in whole bins between the warm-up, cycle {since_cycle}, and the fault, or none after it"
        raise ResultsError.saying(what, f"measure from before cycle {fault_cycle} to after it, in shorter bins")
    worst = float(after["packet_latency_mean_cycles"].to_numpy().max())
    return mean, worst, back_in(after, mean, fault_cycle, tolerance)


def back_in(bins: pl.DataFrame, mean_cycles: float, since_cycle: int, tolerance: float) -> int | None:
    """Time from a cycle until a bin is in tolerance again after those that were not [cycles]; None if none was."""
    filled = bins.filter(pl.col("packets") > 0).sort("from_cycle")
    off = filled["packet_latency_mean_cycles"] > (1 + tolerance) * mean_cycles
    if not off.any():
        return 0
    first = off.arg_max() or 0
    back = filled[first:].filter(~off[first:])
    return int(back["from_cycle"][0]) - since_cycle if len(back) else None
