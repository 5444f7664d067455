"""Draws the power states of links as a Gantt chart over the whole run: a row per channel that a power policy manages.

A span is the time in which a channel is in one state. The chart shows the exact spans if `measure.link_states` recorded
them. Otherwise the chart shows samples of every channel (`measure.series`). Each sample has the state of the channel at
the end of an interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from weft.errors import ResultsError
from weft.plot import over_time, style
from weft.results import link_modes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot

# If a chart has more spans than this number, they are drawn as pixels, without hatching and without gaps between rows.
_MANY = 5_000
# Sizes [inches]: greatest height of a row; smallest and greatest height of all rows together.
_ROW, _LEAST, _MOST = 0.16, 1.5, 6.5


def figure(choice: Choice) -> Figure:
    """Draws the power states of one point."""
    spot = choice.spot()
    spans, kept = spans_of(spot)
    shown = looks_in(spans, spot)
    channels = spans["channel"].n_unique()
    title = f"{choice.title} ({kept})" if kept else choice.title
    drawing = style.canvas(
        title,
        [*style.state_entries(shown), *over_time.entries([spot])],
        width=style.PAGE,
        height=min(_MOST, max(_LEAST, _ROW * channels)),
    )
    axes = drawing.add_subplot()
    gantt(axes, spans, shown)
    axes.set_ylabel("Channel (number in channels.parquet)")
    over_time.axis(axes, spot, float(spans["to_cycle"].max()))  # type: ignore[arg-type] # a number
    drawing.numbers = spans
    return drawing


def looks_in(spans: pl.DataFrame, spot: Spot) -> dict[str, style.StateLook]:
    """Look (colour and hatching) of each power state that occurs in the spans of a point."""
    looks = style.state_looks(link_modes.of(spot.summary))
    return {state: look for state, look in looks.items() if state in spans["state"].unique()}


def gantt(axes: Axes, spans: pl.DataFrame, states: Mapping[str, style.StateLook]) -> None:
    """Draw a row per channel, named by the number of the channel."""
    channels = sorted(spans["channel"].unique())
    rows = spans["channel"].replace_strict(channels, range(len(channels)))
    for state, look in states.items():
        of_state = spans["state"] == state
        _bars(axes, spans.filter(of_state), rows.filter(of_state).to_numpy(), (state, look), many=spans.height > _MANY)
    axes.set_ylim(len(channels) - 0.5, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=20, integer=True))
    axes.yaxis.set_major_formatter(lambda row, _: f"{channels[int(row)]}" if 0 <= row < len(channels) else "")
    axes.grid(visible=False, axis="y")


def _bars(
    axes: Axes, spans: pl.DataFrame, rows: npt.NDArray[np.int64], state: tuple[str, style.StateLook], *, many: bool
) -> None:
    name, look = state
    half = 0.5 if many else 0.45
    left, right, top, bottom = spans["from_cycle"], spans["to_cycle"], rows - half, rows + half
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
    fill = style.state_fill(look) | ({"hatch": None, "antialiased": False} if many else {})
    # all rectangles of a state form one path of matplotlib, because hatching thousands of paths takes seconds
    whole = Path.make_compound_path_from_polys(corners)
    axes.add_collection(PathCollection([whole], label=name, rasterized=many, **fill), autolim=False)


def spans_of(spot: Spot) -> tuple[pl.DataFrame, str]:
    """The spans of the states of every channel, and a note if their record is not complete.

    Raises
    ------
    ResultsError
        If no states were recorded, or if all channels were on in the whole run.
    """
    folder = spot.results.folder(spot.point)
    exact, sampled = ((folder / f"{name}.parquet").is_file() for name in ("link_states", "series"))
    if not exact and sampled and "channel" in (series := spot.results.series(spot.point)).columns:
        spans, kept = _sampled(series, spot), "sampled"
    else:
        spans = spot.results.link_states(spot.point)
        kept = "" if spot.summary["link_states_complete"] else "cut off at measure.link_states.max_spans"
    if spans.is_empty():
        what = f"{spot.name} of {spot.results.root}: no link ever left the state on"
        remedy = "set power.policy, e.g. {idle_timeout: {idle: 20cycles}}, and run the point again"
        raise ResultsError.saying(what, remedy)
    return spans, kept


def _sampled(series: pl.DataFrame, spot: Spot) -> pl.DataFrame:
    """Spans of states, made from samples.

    Link classes are left out if all their channels were always on.

    Consecutive samples with equal states form one span.
    """
    names = style.state_looks(link_modes.of(spot.summary))
    states = [pl.when(pl.col(f"channels_{state}") > 0).then(pl.lit(state)) for state in names]
    channels = spot.results.channels(spot.point)
    rows = series.sort("channel", "from_cycle").select(
        "channel",
        "from_cycle",
        to_cycle=pl.col("from_cycle") + pl.col("interval_cycles"),
        state=pl.coalesce(states),
    )
    rows = rows.join(channels.select("channel", "link_class"), on="channel", maintain_order="left")
    rows = rows.filter((pl.col("state") != "on").any().over("link_class"))
    rows = rows.with_columns(run=pl.struct("channel", "state").rle_id())
    return rows.group_by("run", "channel", "state", maintain_order=True).agg(
        pl.col("from_cycle").min(), pl.col("to_cycle").max()
    )
