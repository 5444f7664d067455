"""Draws time series of a point: utilisation of each link class, and power states of classes that were not always on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft.plot import over_time, style
from weft.results import link_modes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from weft.plot.choice import Choice, Spot


def figure(choice: Choice) -> Figure:
    """Draws the two panels one below the other, or only the first if all channels were on in the whole run."""
    spot = choice.spot()
    frame = samples(spot)
    looks = style.looks(frame["link_class"].unique(maintain_order=True).to_list())
    every_look = style.state_looks(link_modes.of(spot.summary))
    states = _states(frame, list(every_look))
    shown = {state: look for state, look in every_look.items() if states is not None and (states[state] > 0).any()}
    drawing = style.canvas(
        choice.title,
        [*style.entries(looks, saturated=False), *style.state_entries(shown), *over_time.entries([spot])],
        width=style.PAGE,
        height=1.9 if states is None else 3.6,
    )
    upper, *lower = style.grid(drawing, 1 if states is None else 2, 1)
    end = float((frame["from_cycle"] + frame["interval_cycles"]).max() or 0)  # type: ignore[arg-type] # a number
    for name, look in looks.items():
        x, y = over_time.steps(frame.filter(pl.col("link_class") == name), "utilisation")
        upper.plot(x, y, drawstyle="steps-post", label=name, **look.dense)
    upper.set_ylabel("Mean channel utilisation\n[share of bandwidth]")
    upper.set_ylim(bottom=0)
    over_time.axis(upper, spot, end)
    for axes in lower:
        assert states is not None
        _stack(axes, states, shown)
        over_time.axis(axes, spot, end)
    drawing.numbers = frame
    return drawing


def samples(spot: Spot) -> pl.DataFrame:
    """The recorded samples of a point: a row per sample and link class; samples of single channels are summed by class.

    Raises
    ------
    ResultsError
        If no samples were recorded.
    """
    frame = spot.results.series(spot.point)
    if "channel" not in frame.columns:
        return frame
    classes = spot.results.channels(spot.point).select("channel", "link_class")
    states = [column for column in frame.columns if column.startswith("channels_")]
    parts = frame.join(classes, on="channel").group_by(
        "from_cycle", "interval_cycles", "link_class", maintain_order=True
    )
    together = parts.agg(pl.col("flits").sum(), pl.col("utilisation").mean(), pl.col(states).sum())
    return together.sort("from_cycle", maintain_order=True)


def _states(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame | None:
    """Share of channels in each power state at the end of each sample [%], for classes that were not always ``on``."""
    counts = [f"channels_{state}" for state in names]
    away = frame.filter(pl.sum_horizontal(counts) > pl.col("channels_on"))["link_class"].unique()
    if away.is_empty():
        return None
    managed = frame.filter(pl.col("link_class").is_in(away.to_list()))
    sums = managed.group_by("from_cycle", "interval_cycles", maintain_order=True).agg(pl.col(counts).sum())
    shares = [(100 * pl.col(f"channels_{state}") / pl.sum_horizontal(counts)).alias(state) for state in names]
    return sums.select("from_cycle", "interval_cycles", *shares)


def _stack(axes: Axes, states: pl.DataFrame, shown: Mapping[str, style.StateLook]) -> None:
    floor = [0.0] * (states.height + 1)
    for state, look in shown.items():
        x, shares = over_time.steps(states, state)
        top = [below + share for below, share in zip(floor, shares, strict=True)]
        axes.fill_between(x, floor, top, step="post", label=state, **style.state_fill(look))
        floor = top
    axes.set_ylabel("Channels in state [%]")
    axes.set_ylim(0, 100)
