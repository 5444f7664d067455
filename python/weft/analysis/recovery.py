"""How traffic recovers after a link has failed: share delivered, latency before and after, time until it is back.

Source: the reliability argument of TCEP (ISCA 2018), section VII-D; the paper measures nothing there, the measures
are ours. Parameters: the cycle of the fault, and the share by which latency may differ from that before. Guarantees:
what is counted by creation time is complete once the run has drained. Not modelled: which packets the fault touched.
Validation: hand-made series.

A run needs `measure.transient`, whose bins are the resolution of the answer: take them so long that their means differ
by less than the tolerance without a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from weft.errors import ResultsError

if TYPE_CHECKING:
    from weft.results import Results


@dataclass(frozen=True)
class Recovery:
    """What a fault did to the packets created after it.

    Attributes
    ----------
    before_cycles : float
        Mean packet latency between the warm-up and the fault [cycles].
    worst_cycles : float
        Largest mean latency of a bin from the fault on [cycles].
    recovery_cycles : int or None
        From the fault to the begin of the first bin, after those out of tolerance, that is in it again [cycles]; 0 if
        none was out of it, None if none came back.
    delivered_share : float
        Delivered packets over those created in the window.
    """

    before_cycles: float
    worst_cycles: float
    recovery_cycles: int | None
    delivered_share: float


def recovery(results: Results, point: int, fault_cycle: int, *, tolerance: float = 0.05) -> Recovery:
    """How a point recovers from a fault.

    Parameters
    ----------
    results : Results
        With `measure.transient`.
    point : int
        Row of the point.
    fault_cycle : int
        When the link failed [cycles].
    tolerance : float
        Share by which the mean latency of a bin may differ from that before.

    Raises
    ------
    ResultsError
        If the run has no series of latencies, or none of packets before or after the fault.
    """
    summary = results.summaries[point]
    bins = results.transient(point)
    before, worst, cycles = from_series(bins, summary["warmup_cycles"], fault_cycle, tolerance)
    packets = summary["packets"] + summary["missing_packets"]
    return Recovery(before, worst, cycles, summary["packets"] / packets if packets else 1.0)


def from_series(
    bins: pl.DataFrame, since_cycle: int, fault_cycle: int, tolerance: float
) -> tuple[float, float, int | None]:
    """Mean latency from `since_cycle` to the fault, the worst of a bin after it, and the time to recover [cycles]."""
    begin, end = pl.col("from_cycle"), pl.col("from_cycle") + pl.col("bin_cycles")
    filled = bins.filter(pl.col("packets") > 0).sort("from_cycle")
    before = filled.filter((begin >= since_cycle) & (end <= fault_cycle))
    after = filled.filter(begin >= fault_cycle)
    if before.is_empty() or after.is_empty():
        what = f"no packets in whole bins between the warm-up, cycle {since_cycle}, and the fault, or none after it"
        raise ResultsError.saying(what, f"measure from before cycle {fault_cycle} to after it, in shorter bins")
    packets, means = before["packets"].to_numpy(), before["packet_latency_mean_cycles"].to_numpy()
    mean = float(packets @ means / packets.sum())
    off = (after["packet_latency_mean_cycles"] - mean).abs() > tolerance * mean
    worst = float(after["packet_latency_mean_cycles"].to_numpy().max())
    if not off.any():
        return mean, worst, 0
    first = off.arg_max() or 0
    back = after[first:].filter(~off[first:])
    return mean, worst, int(back["from_cycle"][0]) - fault_cycle if len(back) else None
