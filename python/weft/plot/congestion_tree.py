"""Draws the congestion tree of a point: the routers whose queues are full because of a busy destination.

The figure shows the number of full ports over time, by distance from the hot destination (the terminal that receives
the most flits), and a map of ports at one time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from weft.errors import ResultsError, WeftError
from weft.plot import over_time, style
from weft.results.router_places import placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

    Ints = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

# A port counts as full if the buffer of its fullest VC is filled to at least this share. Flits on the link and
# returning credits also occupy buffer space, so a queue that moves never fills its whole buffer.
FULL = 0.5
# Further destinations count as hot if they receive at least this share of the flits of the busiest destination.
_AS_HOT = 0.95
# Maximum number of areas in the upper panel. Each area is for a distance from the destination, the last one for all
# larger distances.
_BANDS = len(style.HATCHES)

# Look of the line that marks the time of the map. Then the look of the mark of routers whose terminals wait.
_SHOWN: dict[str, Any] = {"color": "#000000", "linewidth": 1.0, "linestyle": "-", "zorder": 6}
_BLOCKED: dict[str, Any] = {"color": "#D55E00", "marker": "o", "markersize": 4, "linestyle": ""}


@dataclass(frozen=True)
class Tree:
    """Samples of the queues at the input ports of all routers.

    Attributes
    ----------
    ports : polars.DataFrame
        A row per port: ``channel``, ``from_router`` (null at a terminal), ``to_router``, ``distance``.
    times : list of int
        Cycles of the samples.
    filled : array
        Filled share of the buffer of the port's fullest VC, by sample and port.
    distance : array of int
        Distance of each router from the nearest hot destination [hops]; -1 if there is no path.
    hot : list of int
        Terminals that are hot destinations.
    """

    ports: pl.DataFrame
    times: list[int]
    filled: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    distance: Ints
    hot: list[int]


def figure(choice: Choice) -> Figure:
    """Draws two panels one below the other: full ports over time, and the map."""
    spot = choice.spot()
    tree = measured(spot)
    full = tree.filled >= (FULL if choice.full is None else choice.full)
    sample = _sample(tree, full, choice.at)
    areas = _areas(tree, full)
    fills: list[dict[str, Any]] = [
        {"facecolor": _shade(k, len(areas)), "hatch": style.HATCHES[k], "linewidth": 0} for k in range(len(areas))
    ]
    bands: list[Patch | Line2D] = [Patch(label=name, **fill) for (name, _), fill in zip(areas, fills, strict=True)]
    shown = Line2D([], [], label=f"map: cycle {tree.times[sample]:,}", **_SHOWN)
    blocked = Line2D([], [], label="router with a full terminal port", **_BLOCKED)
    handles = [*bands, shown, blocked, *over_time.entries([spot])]
    drawing = style.canvas(choice.title, handles, width=style.PAGE, height=4.6)
    upper, lower = style.grid(drawing, 2, 1)
    floor = np.zeros(len(tree.times))
    for (name, counts), fill in zip(areas, fills, strict=True):
        upper.fill_between(tree.times, floor, floor + counts, step="mid", label=name, **fill)
        floor = floor + counts
    upper.axvline(tree.times[sample], **{key: each for key, each in _SHOWN.items() if key != "marker"})
    upper.set_ylabel("Full input ports [ports]")
    upper.set_ylim(0, max(1.0, 1.05 * float(floor.max())))
    over_time.axis(upper, spot, float(tree.times[-1]))
    _map(drawing, lower, tree, tree.filled[sample], full[sample])
    drawing.numbers = _numbers(tree, full, sample)
    return drawing


def measured(spot: Spot) -> Tree:
    """Reads the input ports of the network, and the number of flits that waited in them.

    Raises
    ------
    ResultsError
        If no queues were recorded, or no terminal received a flit in the window.
    """
    kept = spot.results.recorded(spot.point, "occupancy")
    names = spot.results.network(spot.point)["names"]
    channels = placed(spot.results.channels(spot.point), names)
    arrivals = channels.filter(pl.col("to_router").is_null())
    most = arrivals["flits"].max()
    if not most:
        what = f"{spot.name} of {spot.results.root}: no flit reached a terminal in the window, so no destination is hot"
        raise ResultsError.saying(what, "draw a point with a longer window, or with a load above 0")
    hot = arrivals.filter(pl.col("flits") >= _AS_HOT * pl.lit(most))
    distance = _distances(channels, hot["from_router"].unique().to_numpy().astype(np.int64))
    ports = kept.select("channel").unique().sort("channel").join(channels, on="channel", maintain_order="left")
    ports = ports.select("channel", "from_router", "to_router")
    ports = ports.with_columns(pl.Series("distance", distance[ports["to_router"].to_numpy().astype(np.int64)]))
    times = kept["cycle"].unique(maintain_order=True).to_list()
    share = (kept["fullest_vc_flits"] / kept["vc_buffer_flits"]).to_numpy()
    return Tree(ports, times, share.reshape(len(times), ports.height), distance, hot["terminal"].to_list())


def _distances(channels: pl.DataFrame, roots: Ints) -> Ints:
    """Distance of every router from the nearest router in `roots` [hops]; -1 if there is no path."""
    between = channels.drop_nulls(["from_router", "to_router"])
    sender, receiver = (between[end].to_numpy().astype(np.int64) for end in ("from_router", "to_router"))
    ends = pl.concat([channels["from_router"].cast(pl.Int64), channels["to_router"].cast(pl.Int64)]).drop_nulls()
    distance = np.full(int(ends.max()) + 1, -1)  # type: ignore[arg-type] # a number
    distance[roots] = 0
    hops = 0
    while (reached := (distance[receiver] == hops) & (distance[sender] < 0)).any():
        hops += 1
        distance[sender[reached]] = hops
    return distance


def _sample(tree: Tree, full: np.ndarray[tuple[int, int], np.dtype[np.bool_]], at: int | None) -> int:
    """The sample for the map: the one nearest to the cycle `at`, by default the first with the most full ports."""
    if at is None:
        return int(full.sum(axis=1).argmax())
    if not 0 <= at <= tree.times[-1]:
        what = f"--at {at}: the samples are of cycles {tree.times[0]} to {tree.times[-1]}"
        raise WeftError.saying(what, "choose a cycle of the run, or omit --at for the time with the most full ports")
    return int(np.abs(np.asarray(tree.times) - at).argmin())


def _areas(
    tree: Tree, full: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
) -> list[tuple[str, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Number of full ports over time for each distance, the nearest distance first."""
    distance = tree.ports["distance"].to_numpy()
    kinds = sorted(set(distance.tolist()))
    areas = []
    for k, hops in enumerate(kinds[:_BANDS]):
        last = k == _BANDS - 1 and len(kinds) > _BANDS
        here = distance >= hops if last else distance == hops
        words = f"{hops} hop{'' if hops == 1 else 's'}{' or more' if last else ''} from the hot destination"
        areas.append((words if k == 0 else words.removesuffix(" from the hot destination"), full[:, here].sum(axis=1)))
    return areas


def _shade(number: int, of: int) -> tuple[float, ...]:
    """Colour of the area of a distance, from dark (at the destination) to pale."""
    return tuple(colormaps[style.HEAT](1 - number / max(1, of)))


def _map(
    drawing: Figure,
    axes: Axes,
    tree: Tree,
    filled: np.ndarray[tuple[int], np.dtype[np.float64]],
    full: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> None:
    """Draw routers in rows by distance, and a line per channel between routers.

    The colour of a line is the filled share of the buffer behind the channel (`filled`).
    """
    ends = tree.ports.select("from_router", "to_router")
    between = ends["from_router"].is_not_null().to_numpy()
    sender = ends["from_router"].fill_null(0).to_numpy().astype(np.int64)
    receiver = ends["to_router"].to_numpy().astype(np.int64)
    x = _spread(tree, sender[between], receiver[between])
    y = tree.distance
    order = np.flatnonzero(between & (filled > 0))
    order = order[np.argsort(filled[order], kind="stable")]
    lines = [[(x[sender[k]], y[sender[k]]), (x[receiver[k]], y[receiver[k]])] for k in order]
    drawn = LineCollection(lines, cmap=style.HEAT, array=filled[order], linewidths=0.3 + 1.5 * filled[order])
    drawn.set_clim(0, 1)
    axes.add_collection(drawn)
    seen = np.flatnonzero(y >= 0)
    blocked = np.zeros(len(y), dtype=bool)
    blocked[receiver[~between & full]] = True
    axes.plot(x[seen], y[seen], linestyle="", marker="o", markersize=2, color=style.GREY, label="_router")
    axes.plot(x[blocked], y[blocked], label="_blocked", **_BLOCKED)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_ylim(-0.4, float(y.max()) + 0.4)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False)
    axes.set_xlabel("Routers at each distance, next to their next hops")
    axes.set_ylabel("Distance from the\nhot destination [hops]")
    drawing.colorbar(drawn, ax=axes, label="Fullest VC\n[share of its buffer]", pad=0.02)


def _spread(tree: Tree, sender: Ints, receiver: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Position of each router in its row of the map. Routers are near the routers to which their channels lead."""
    distance = tree.distance
    x = np.full(len(distance), 0.5)
    for hops in range(int(distance.max()) + 1):
        row = np.flatnonzero(distance == hops)
        if hops:
            toward = (distance[sender] == hops) & (distance[receiver] == hops - 1)
            sums, counts = np.zeros(len(distance)), np.zeros(len(distance))
            np.add.at(sums, sender[toward], x[receiver[toward]])
            np.add.at(counts, sender[toward], 1)
            row = row[np.argsort(sums[row] / counts[row], kind="stable")]
        x[row] = (np.arange(len(row)) + 0.5) / len(row)
    return x


def _numbers(tree: Tree, full: np.ndarray[tuple[int, int], np.dtype[np.bool_]], sample: int) -> pl.DataFrame:
    """Numbers of the figure: a row per sample and distance with the full ports, then a row per port of the map."""
    distance = tree.ports["distance"].to_numpy()
    rows = [
        {"cycle": time, "distance_hops": hops, "full_ports": int(full[k, here].sum()), "ports": int(here.sum())}
        for k, time in enumerate(tree.times)
        for hops in sorted(set(distance.tolist()))
        for here in [distance == hops]
    ]
    at_once = tree.ports.select(
        pl.lit(tree.times[sample]).alias("cycle"),
        pl.col("distance").alias("distance_hops"),
        "channel",
        "from_router",
        "to_router",
        pl.Series("fullest_vc_share", tree.filled[sample]),
    )
    return pl.concat([pl.DataFrame(rows), at_once], how="diagonal_relaxed")
