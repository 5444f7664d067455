"""Measures the response of latency to a change of the traffic, and the time until the latency settles.

The same definition of the response is used for Weft and for the simulators with which it is compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

# Latencies are means over time bins. A bin is off if its latency differs from the final latency by more than the share
# `OFF`. The final latency is the mean of the last bins after the change. `END` is the share of the bins after the
# change that count as the last ones.
OFF, END = 0.10, 0.25


@dataclass(frozen=True)
class Response:
    """Mean latency of packets by the time at which they were sent, before and after a change of the traffic.

    Attributes
    ----------
    times, latencies : list of float
        Middles of the time bins, counted from the change, and the mean latency of the packets sent in each bin
        [cycles].
    """

    times: list[float]
    latencies: list[float]

    @property
    def is_complete(self) -> bool:
        """Whether the response has bins before and after the change."""
        return bool(self._before()) and bool(self._after())

    @property
    def before(self) -> float:
        """Mean latency of the bins before the change [cycles]."""
        before = self._before()
        return sum(before) / len(before)

    @property
    def final(self) -> float:
        """Mean latency at the end of the response [cycles]."""
        after = self._after()
        tail = after[-max(1, round(END * len(after))) :]
        return sum(latency for _, latency in tail) / len(tail)

    @property
    def peak(self) -> float:
        """Highest latency after the change [cycles]."""
        return max(latency for _, latency in self._after())

    @property
    def adapted(self) -> float:
        """Time from the change until the latency settles: middle of the last bin that is off [cycles]; 0 if none is."""
        final = self.final
        off = [time for time, latency in self._after() if abs(latency / final - 1) > OFF]
        return off[-1] if off else 0.0

    def _before(self) -> list[float]:
        return [latency for time, latency in zip(self.times, self.latencies, strict=True) if time < 0]

    def _after(self) -> list[tuple[float, float]]:
        return [(time, each) for time, each in zip(self.times, self.latencies, strict=True) if time > 0]


def merged(bins: pl.DataFrame, first: float, last: float) -> Response:
    """The combined response of runs with several seeds: in each bin the mean over the packets of all runs.

    Parameters
    ----------
    bins : DataFrame
        Rows of all seeds, with the columns ``time`` (middle of the bin, counted from the change), ``latency`` (mean)
        [cycles] and ``packets``.
    first, last : float
        Middles of the first and the last bin to keep [cycles].
    """
    weighed = (pl.col("latency") * pl.col("packets")).sum() / pl.col("packets").sum()
    kept = bins.filter((pl.col("packets") > 0) & pl.col("time").is_between(first, last))
    means = kept.group_by("time").agg(weighed.alias("latency")).sort("time")
    return Response(means["time"].to_list(), means["latency"].to_list())
