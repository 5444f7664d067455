"""Draws control packets of a power policy over time, as arrows between the lines of routers, above the link states.

If there are too many packets for arrows, the figure has only a mark at the start of each packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from weft._engine import CONTROL_PACKETS
from weft.errors import ResultsError
from weft.plot import link_states, numbers, over_time, style
from weft.text.labels import at

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

# Maximum number of packets that are drawn as arrows, and maximum number of channels for which the figure writes names.
_ARROWS, _NAMES = 300, 32
# Sizes [inches]: distance between lines of routers and between rows of channels; smallest and greatest height of a
# panel.
_ROUTER, _CHANNEL, _LEAST, _MOST = 0.42, 0.16, 0.9, 4.0
_HEAD = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}


def figure(choice: Choice) -> Figure:
    """Draws the control packets and link states of one point."""
    spot = choice.spot()
    packets, cut = _packets(spot)
    spans, kept = link_states.spans_of(spot)
    routers = sorted({*packets["from_router"], *packets["to_router"]})
    kinds = [kind for kind in CONTROL_PACKETS if kind in packets["kind"].unique()]
    states = link_states.looks_in(spans, spot)
    heights = [
        min(_MOST, max(_LEAST, rows * of))
        for rows, of in ((len(routers), _ROUTER), (spans["channel"].n_unique(), _CHANNEL))
    ]
    missing = ", ".join(words for words in (cut, kept) if words)
    drawing = style.canvas(
        f"{choice.title} ({missing})" if missing else choice.title,
        [*_entries(kinds), *style.state_entries(states), *over_time.entries([spot])],
        width=style.PAGE,
        height=sum(heights) + 0.5,
    )
    above, below = drawing.subplots(2, 1, sharex=True, height_ratios=heights)
    _talk(above, packets, routers)
    link_states.gantt(below, spans, states)
    _name(below, spot, spans)
    over_time.axis(below, spot, float(spot.summary["cycles_total"]))
    over_time.mark(above, spot)
    drawing.numbers = numbers.of_series([("control packets", packets), ("link states", spans)])
    return drawing


def _packets(spot: Spot) -> tuple[pl.DataFrame, str]:
    """The control packets of a point, and a note if their record is not complete.

    Raises
    ------
    ResultsError
        If no control packets were recorded or sent.
    """
    packets = spot.results.control_packets(spot.point)
    where, policy = f"{spot.name} of {spot.results.root}", spot.summary.get("policy")
    complete = spot.summary["control_packets_complete"]
    if packets.is_empty() and not complete:
        most = at(spot.results.scenario(spot.point), "measure.control_packets.max_packets")
        what = f"{where}: the record of control packets has no packet, because max_packets is {most}"
        raise ResultsError.saying(what, "increase measure.control_packets.max_packets, and run the point again")
    if packets.is_empty() and spot.summary.get("control_packets") is None:
        what = f"{where}: routers send no control packets under {policy}"
        raise ResultsError.saying(
            what, "choose a power policy with control packets (`weft list power.policy`), and run the point again"
        )
    if packets.is_empty():
        what = f"{where}: no router sent a control packet"
        raise ResultsError.saying(what, "let the load change, or make the run longer, and run the point again")
    return packets, "" if complete else "cut off at measure.control_packets.max_packets"


def _talk(axes: Axes, packets: pl.DataFrame, routers: list[int]) -> None:
    """Draw an arrow for each packet, from the line of the sending router to that of the receiving router."""
    row = {router: place for place, router in enumerate(routers)}
    for kind in packets["kind"].unique(maintain_order=True):
        of_kind = packets.filter(pl.col("kind") == kind)
        look = _look(kind)
        axes.plot(of_kind["sent_cycle"], [row[router] for router in of_kind["from_router"]], **look | {"linestyle": ""})
        if packets.height > _ARROWS:
            continue
        for sent, arrived, source, target in of_kind.select(
            "sent_cycle", "arrived_cycle", "from_router", "to_router"
        ).iter_rows():
            if arrived is not None:
                arrow = _HEAD | {key: look[key] for key in ("color", "linestyle", "linewidth")}
                axes.annotate("", (arrived, row[target]), (sent, row[source]), arrowprops=arrow)
    axes.set_ylim(len(routers) - 0.5, -0.5)
    axes.set_ylabel("Router")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=20, integer=True))
    axes.yaxis.set_major_formatter(lambda place, _: f"{routers[int(place)]}" if 0 <= place < len(routers) else "")
    axes.grid(visible=False, axis="x")


def _entries(kinds: list[str]) -> list[Artist]:
    """Entries of the legend for the kinds of control packets."""
    return [Line2D([], [], **_look(kind)) for kind in kinds]


def _look(kind: str) -> dict[str, Any]:
    """Colour and marker of a kind of packet, which are the same in every figure.

    After the last colour, the colours are repeated with dashed lines.
    """
    number = CONTROL_PACKETS.index(kind)
    turn, count = number // len(style.COLOURS), len(style.MARKERS)
    return {
        "label": kind,
        "color": style.COLOURS[number % len(style.COLOURS)],
        "marker": style.MARKERS[(number + 3 * turn) % count],
        "markersize": 3.5,
        "linestyle": style.LINES[turn],
        "linewidth": 0.9,
    }


def _name(axes: Axes, spot: Spot, spans: pl.DataFrame) -> None:
    """Write the names of the routers at both ends of a channel next to its row, if there is enough room."""
    axes.set_ylabel("Channel (number in channels.parquet)")
    numbers = spans["channel"].unique().sort()
    if len(numbers) > _NAMES:
        return
    ends = spot.results.channels(spot.point).filter(pl.col("channel").is_in(numbers.implode())).sort("channel")
    names = [f"{source} to {target}" for source, target in ends.select("from_router", "to_router").iter_rows()]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylabel("Channel")
