"""Computes the energy that the links of a finished run would have used at the lowest sufficient rate.

Source: the ideal link DVFS of TCEP (ISCA 2018), section V, with Abts et al. (ISCA 2010). A channel has a few rates,
each a share of its bandwidth. The channel is billed at the lowest rate that is at least its utilisation in the run.
This bill (the computed energy) assumes that the utilisation is known in advance, and that a change of rate costs
nothing. The rates 1/4, 1/2 and 1 have the relative powers P(r) = 0.54, 0.69 and 1. The relative powers lie on a
straight line from full power at the full rate to 42 % at 1/16 of this rate. Abts et al. give 42 % for the slowest
InfiniBand mode. The TCEP paper prints no powers. The energy of a channel is P(r) times its energy at the full rate.
Therefore static and dynamic energy shrink by the same factor. This favours rate scaling over TCEP, because each flit
costs less at a lower rate.

Parameters: the rates (shares of the full rate) and their relative powers. Guarantees: if the full rate is the only one,
the computed energy equals the energy of the run. Not modelled: time and energy of a rate change, the latency of slower
links, and detours of traffic around slower links. Validation: tests bill hand-made channels and finished runs, per
channel and per sample.

Only the energy of channels between routers is scaled, and only in the cycles in which they draw power. If a policy
switches links off, the utilisation of a link counts only the cycles in which the link was on. Weft refuses a run whose
policy slowed links down, because their energy would be scaled twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from weft.analysis.prices import Prices
from weft.errors import ResultsError, WeftError
from weft.results import link_modes, soundness
from weft.results.choose import LOAD, POLICY
from weft.results.rows import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from weft.results.result_set import ResultSet

    Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """The rates at which a channel can run, and its power at each rate.

    Attributes
    ----------
    rates : tuple of float
        Shares of the full rate, ascending; the last is 1.
    powers : tuple of float
        Power at each rate as a share of the power at the full rate.

    Raises
    ------
    WeftError
        If the rates do not rise from a value above 0 to 1, if a power is missing, or if a power is not between 0 and 1.
    """

    rates: tuple[float, ...] = (0.25, 0.5, 1.0)
    powers: tuple[float, ...] = (0.54, 0.69, 1.0)

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in zip((0.0, *self.rates), self.rates, strict=False))
        if len(self.rates) != len(self.powers) or not rising or self.rates[-1:] != (1.0,):
            what = f"rates {self.rates} with powers {self.powers}: rates must rise from above 0 to 1, each with a power"
            raise WeftError.saying(what, "write e.g. rates 0.25, 0.5, 1 and powers 0.54, 0.69, 1")
        if self.powers[-1] != 1.0 or not all(0 <= power <= 1 for power in self.powers):
            what = f"powers {self.powers}: they must be shares of the power at the full rate, and the last must be 1"
            raise WeftError.saying(what, "write e.g. powers 0.54, 0.69, 1")

    def lowest(self, utilisation: Numbers) -> npt.NDArray[np.int64]:
        """Index of the lowest rate that is at least each utilisation (0 to 1); the last index if no rate is."""
        return np.minimum(np.searchsorted(self.rates, utilisation), len(self.rates) - 1)

    def scale(self, flits: Numbers, powered: Numbers, energy: Numbers, bandwidth: Numbers) -> tuple[Numbers, Numbers]:
        """Energy of channels if each runs at the lowest rate that carries its flits.

        Parameters
        ----------
        flits, powered, energy : ndarray
            Flits that each channel sent, the cycles in which the channel drew power, and its energy in these cycles.
            All arrays have the same shape; their last axis is the channels.
        bandwidth : ndarray
            Full rate of each channel [flits/cycle]; shape (channels,).

        Returns
        -------
        scaled, cycles : ndarray
            Energy at the lowest sufficient rate, with the shape and unit of `energy`; and the powered cycles at each
            rate, summed over all channels.
        """
        used = np.divide(flits, powered * bandwidth, out=np.zeros_like(energy), where=powered > 0)
        place = self.lowest(used)
        cycles = np.bincount(place.ravel(), weights=powered.ravel(), minlength=len(self.rates)).astype(float)
        return np.asarray(self.powers)[place] * energy, cycles


def rate_scaled(
    results: ResultSet, rates: Rates | None = None, *, over_time: bool = False, points: Sequence[int] | None = None
) -> pl.DataFrame:
    """Bill the links between routers of every point at the lowest rates that carry their traffic.

    Parameters
    ----------
    results : ResultSet
        Finished points, usually with links that are always on.
    rates : Rates, optional
        Rates of a channel, as shares of the full rate, with the relative power at each rate.
    over_time : bool
        Choose a rate for each sample of the time series of a channel, instead of one for the whole window.
    points : sequence of int, optional
        Row numbers of the points in the frame of the results; by default all points.

    Returns
    -------
    polars.DataFrame
        A row per point, with its coordinates and these columns:

        - ``baseline``: hash of the point. The energy at lower rates is compared with the energy of this point.
        - ``energy_network_j``, ``energy_network_scaled_j``: energy of the links between routers, without terminal
          links, in the run and at the lowest rates [J].
        - ``energy_per_flit_pj``, ``energy_scaled_per_flit_pj``: these two energies of the links between routers per
          delivered flit [pJ/flit]; null if no flit was delivered.
        - ``normalised_energy``: scaled energy divided by the energy in the run.
        - ``rate_<r>_share``: share of the cycles with power in which the rate is r.
        - ``flaw``: the flaw of the point, for example that it is saturated. A network in normal operation would not
          save as much as the row of a flawed point shows.

    Raises
    ------
    ResultsError
        If a point has no recorded time series of its channels, or no recorded power states although its links were
        switched. Also if the policy of a point slowed links down, or if one rate is requested for a load that changes
        in phases.
    """
    rates = rates or Rates()
    chosen = range(len(results)) if points is None else points
    return frame_of([_row(results, point, rates, over_time=over_time) for point in chosen])


def _row(results: ResultSet, point: int, rates: Rates, *, over_time: bool) -> dict[str, Any]:
    summary, prices = results.summaries[point], Prices.of(results.scenario(point))
    channels = results.channels(point).drop_nulls(["from_router", "to_router"])
    _refuse_slowed(results, point, channels)
    if not over_time:
        _refuse_phases(results, point)
    dark = float((channels["cycles_off"] * prices.per_cycle("off", channels)).sum())  # a link that is off has no rate
    counted = _of_samples(results, point, channels, prices) if over_time else _of_window(channels, prices)
    scaled, cycles = rates.scale(*counted, channels["bandwidth"].to_numpy())
    flits = summary["accepted_bits"] / prices.flit_bits
    unscaled, total = (float(energy.sum()) + dark for energy in (counted[2], scaled))
    shares = cycles / max(cycles.sum(), 1)
    return {
        **results.points[point]["coordinates"],
        "baseline": results.points[point]["hash"],
        "energy_network_j": unscaled * 1e-15,
        "energy_network_scaled_j": total * 1e-15,
        "energy_per_flit_pj": unscaled * 1e-3 / flits if flits else None,
        "energy_scaled_per_flit_pj": total * 1e-3 / flits if flits else None,
        "normalised_energy": total / unscaled if unscaled else None,
        **{f"rate_{rate:g}_share": float(share) for rate, share in zip(rates.rates, shares, strict=True)},
        **({"flaw": why} if (why := soundness.reason(summary)) else {}),
    }


def _refuse_slowed(results: ResultSet, point: int, channels: pl.DataFrame) -> None:
    """Refuse a point whose policy already ran links at lower rates, because their energy would be scaled twice."""
    spent = {state: int(channels[f"cycles_{state}"].sum()) for state in link_modes.slower(results.summaries[point])}
    if any(spent.values()):
        text = " and ".join(f"{cycles} cycles at {state} rate" for state, cycles in spent.items() if cycles)
        what = f"{results.describe(point)} already slowed its links down ({text}): their energy would be scaled twice"
        raise ResultsError.saying(what, results.with_another(point, POLICY, "always_on", LOAD))


def _refuse_phases(results: ResultSet, point: int) -> None:
    """Refuse to choose one rate for all phases of a load that changes.

    A rate that fits the mean load would be too low for the busiest phase.
    """
    if count := len(results.summaries[point].get("phases") or []):
        what = f"the load of {results.describe(point)} changes in {count} phases: a single rate can't follow it"
        remedy = "choose rates in each sample, with `--over-time` (`over_time=True`)"
        if (results.scenario(point)["measure"].get("series") or {}).get("of") != "channel":
            again = results.recording("measure.series={every: 1000cycles, of: channel}")
            remedy += f" and a series of the channels: {again}"
        raise ResultsError.saying(what, remedy)


def _of_window(channels: pl.DataFrame, prices: Prices) -> tuple[Numbers, Numbers, Numbers]:
    """Flits of each channel in the window, cycles in which it drew power, and its energy in these cycles [fJ]."""
    cycles = channels.select(pl.col("^cycles_.*$").exclude("cycles_off")).sum_horizontal()
    energy = channels["energy_fj"].cast(pl.Float64) - channels["cycles_off"] * prices.per_cycle("off", channels)
    flits, powered, used = (column.to_numpy().astype(float) for column in (channels["flits"], cycles, energy))
    return flits, powered, used


def _of_samples(
    results: ResultSet, point: int, channels: pl.DataFrame, prices: Prices
) -> tuple[Numbers, Numbers, Numbers]:
    """Flits, cycles with power and energy [fJ] of each channel in each sample of the window; shape (samples, channels).

    If only a part of a sample is inside the window, only that part counts. The dynamic energy of a channel in the
    window is divided among the samples in proportion to their flits.
    """
    series = results.series(point)
    if "channel" not in series.columns:
        what = f"{results.describe(point)} recorded a series of link classes, not of channels"
        raise ResultsError.saying(what, results.recording("measure.series={every: 1000cycles, of: channel}"))

    def samples(column: str) -> Numbers:
        return series[column].to_numpy().reshape(-1, series["channel"].n_unique()).astype(float)

    summary = results.summaries[point]
    first, last = summary["warmup_cycles"], summary["warmup_cycles"] + summary["window_cycles"]
    begin, length = samples("from_cycle")[:, 0], samples("interval_cycles")[:, 0]
    low, high = np.clip(begin, first, last), np.clip(begin + length, first, last)
    kept = high > low
    low, high, length = low[kept], high[kept], length[kept]
    flits = samples("flits")[kept][:, channels["channel"].to_numpy()] * ((high - low) / length)[:, None]
    cycles = _cycles(results, point, channels, low, high)
    # the series does not record in which power state a flit was sent, although the price of a flit depends on the
    # state; so the energy of a channel is divided among the samples in proportion to their flits
    weights = np.where(flits.sum(axis=0) > 0, flits, (high - low)[:, None])
    dynamic = channels["energy_dynamic_fj"].cast(pl.Float64).to_numpy()
    powered, energy = np.zeros_like(flits), dynamic * weights / weights.sum(axis=0)
    for state in cycles.keys() - {"off"}:
        powered += cycles[state]
        energy += prices.per_cycle(state, channels) * cycles[state]
    return flits, powered, energy


def _cycles(results: ResultSet, point: int, channels: pl.DataFrame, low: Numbers, high: Numbers) -> dict[str, Numbers]:
    """Cycles of each channel (column) in each power state between the times `low` and `high` of each sample (row)."""
    length = np.repeat((high - low)[:, None], channels.height, axis=1)
    summary = results.summaries[point]
    if (channels["cycles_on"] == summary["window_cycles"]).all():
        return {"on": length}
    spans = results.link_states(point).filter(pl.col("channel").is_in(channels["channel"].implode()))
    if not summary["link_states_complete"]:
        what = f"{results.describe(point)} did not record all states of its links"
        raise ResultsError.saying(what, "run the point with a larger measure.link_states.max_spans")
    states, of_span = np.unique(spans["state"].to_numpy(), return_inverse=True)
    column = np.searchsorted(channels["channel"].to_numpy(), spans["channel"].to_numpy())
    begin, end = spans["from_cycle"].to_numpy(), spans["to_cycle"].to_numpy()
    first, beyond = np.searchsorted(high, begin, "right"), np.searchsorted(low, end)
    touched = np.maximum(beyond - first, 0)  # samples that each span (time in one power state) overlaps
    span = np.repeat(np.arange(len(touched)), touched)
    sample = np.arange(len(span)) - np.repeat(np.cumsum(touched) - touched, touched) + first[span]
    inside = np.minimum(high[sample], end[span]) - np.maximum(low[sample], begin[span])
    spent = np.zeros((len(states), *length.shape))
    np.add.at(spent, (of_span[span], sample, column[span]), inside)
    cycles = dict(zip(states.tolist(), spent, strict=True))
    # a channel without recorded power states is always on, because no policy manages it
    cycles["on"] = cycles.get("on", 0) + length - spent.sum(axis=0)
    return cycles
