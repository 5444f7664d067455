"""Draws how many packets take 0, 1, 2, ... hops (links between routers): a bar per number of hops and point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from weft.plot import distribution, numbers, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot
    from weft.plot.distribution import Floats

_MOST = len(style.HATCHES)


def figure(choice: Choice) -> Figure:
    """Draws a bar per number of hops and point, over all seeds.

    The bars of each point have a separate colour and hatching.
    """
    every = [_together(spots) for spots in choice.over_seeds(_MOST)]
    seen = [each for each in every if each.packets.any()]
    absent = distribution.without_packets([each.spot for each in every if each not in seen], "hops", of=len(every))
    handles: list[Artist] = [
        Patch(label=each.spot.label, **style.fill(number)) for number, each in enumerate(seen) if each.spot.label
    ]
    if seeds := max((len(each.runs) for each in seen if len(each.runs) > 1), default=0):
        handles.append(Line2D([], [], label=f"range of {seeds} seeds", color=style.ERROR_BAR["ecolor"], linewidth=0.8))
    drawing = style.canvas(choice.title, [*handles, *absent], width=style.COLUMN, height=2.2)
    axes = drawing.add_subplot()
    for number, each in enumerate(seen):
        _bars(axes, each, number, 0.8 / len(seen), (number - (len(seen) - 1) / 2) * 0.8 / len(seen))
    axes.set_xlabel("Hops [links]")
    axes.set_ylabel("Packets [%]")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="x")
    drawing.numbers = numbers.of_series((each.spot.label, _numbers(each)) for each in seen)
    return drawing


@dataclass(frozen=True, eq=False)
class _Seen:
    """Number of packets by number of hops, for each run of a point (one per seed); `spot` is the first run."""

    spot: Spot
    runs: list[Floats]

    @property
    def packets(self) -> Floats:
        packets: Floats = np.sum(self.runs, axis=0)
        return packets

    def shares(self) -> list[Floats]:
        """Percentage of the packets with each number of hops, for each run."""
        return [100 * packets / packets.sum() for packets in self.runs if packets.any()]


def _together(spots: Sequence[Spot]) -> _Seen:
    kept = [spot.summary["hop_histogram"] for spot in spots]
    longest = max(map(len, kept))
    return _Seen(spots[0], [np.asarray([*each, *[0] * (longest - len(each))], dtype=float) for each in kept])


def _numbers(seen: _Seen) -> pl.DataFrame:
    packets = seen.packets
    columns = {"hops_links": range(len(packets)), "packets": packets.astype(int)}
    columns |= {"packets_percent": 100 * packets / packets.sum()}
    if len(seen.runs) > 1:
        shares = seen.shares()
        columns |= {"packets_percent_least_seed": np.min(shares, axis=0)}
        columns |= {"packets_percent_most_seed": np.max(shares, axis=0)}
    return pl.DataFrame(columns)


def _bars(axes: Axes, seen: _Seen, number: int, width: float, shift: float) -> None:
    packets = seen.packets
    share, places = 100 * packets / packets.sum(), np.arange(len(packets)) + shift
    axes.bar(places, share, width=width, label=seen.spot.label, **style.fill(number))
    if len(seen.runs) > 1:
        shares = seen.shares()
        around = [share - np.min(shares, axis=0), np.max(shares, axis=0) - share]
        axes.errorbar(places, share, yerr=np.maximum(around, 0), label="_range", **style.ERROR_BAR)
