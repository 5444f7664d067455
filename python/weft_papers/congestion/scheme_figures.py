"""Draws Figs. 1 to 3 as groups of bars, and makes tables with more numbers of the same runs.

A scheme is a queueing scheme of the switches: 1q has a single queue, VOQsw, DBBM and others have several. A policy
saves power on links: with on/off a link goes off, with high/low it keeps one lane on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from weft_papers.common.bar_figures import grouped
from weft_papers.congestion.hot_spot_networks import DRAGONFLY, NAMES, NETWORKS, TORUS, TREE
from weft_papers.congestion.hot_spot_runs import FILL, READINGS, TERMINALS
from weft_papers.congestion.scheme_outcomes import ENERGY, LATENCY, NONE, POLICIES, THROUGHPUT, outcome, schemes

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured

AXES = {
    THROUGHPUT: "Accepted [flits/terminal/cycle]",
    LATENCY: "Latency [us]",
    ENERGY: "Energy per data [nJ/bit]",
}
# Columns of the table of flows: for each, the heading, the column of the frame, and the decimal places.
_FLOWS = (
    ("cold [flits/source/cycle]", "cold_load", 4),
    ("cold latency [us]", "cold_latency_us", 2),
    ("hot node [flits/cycle]", "hot_load", 3),
    ("latency from injection [us]", "network_latency_us", 2),
    ("energy without links of terminals [nJ/bit]", "energy_between_nj", 3),
    ("use of links [share]", "link_use", 4),
    ("changes [1/(link s)]", "transitions", 1),
)


def bars(network: str, measure: str, title: str) -> Callable[[Measured], Drawing]:
    """Make the function that draws a measure, such as throughput, in a network.

    Each queueing scheme has a group of bars, with a bar for each link power policy.
    """

    def draw(measured: Measured) -> Drawing:
        found = outcome(measured, network)
        names = schemes(found)
        heights = {
            saving: [found[name, saving].get(measure) if (name, saving) in found else None for name in names]
            for saving in POLICIES
        }
        drawing, _ = grouped(title, names, heights, AXES[measure], looks=POLICIES)
        return drawing

    return draw


def fill(measured: Measured) -> Drawing:
    """Draw the utilisation of links in the dragonfly, for windows that begin with an empty network.

    Each scheme has a bar for each window.
    """
    rows = measured[FILL].group_by("scheme", "window_us", maintain_order=True).agg(pl.col("link_use").mean())
    use = {(scheme, window): value for scheme, window, value in rows.rows()}
    names = list(dict.fromkeys(scheme for scheme, _ in use))
    windows = sorted({window for _, window in use})
    heights = {f"{window:g} us": [use.get((name, window)) for name in names] for window in windows}
    title = "Utilisation of links, starting with an empty network"
    drawing, _ = grouped(title, names, heights, "Use of links [share]", wide=True)
    return drawing


def flows(measured: Measured) -> pl.DataFrame:
    """Make the table of every scheme with every policy: loads of cold and hot flows, and state changes of links."""
    lines = [
        {
            "network": NAMES[network],
            "scheme": scheme,
            "policy": saving,
            **{words: round(row[number], digits) if number in row else None for words, number, digits in _FLOWS},
        }
        for network in NETWORKS
        for (scheme, saving), row in outcome(measured, network).items()
    ]
    return pl.DataFrame(lines)


def readings(measured: Measured) -> pl.DataFrame:
    """Make the table of the interpretations of the paper's text: those that the figures use, and alternative ones."""
    rows = pl.concat([measured[each] for each in (TORUS, TREE, DRAGONFLY, READINGS, TERMINALS)])
    kinds = [name for name in (*NETWORKS, READINGS, TERMINALS) for _ in range(measured[name].height)]
    means = (
        rows.with_columns(pl.Series("of", kinds))
        .filter((pl.col("of").is_in([READINGS, TERMINALS])) | (pl.col("saving") == NONE))
        .group_by("of", "network", "ascent", "scheme", "saving", maintain_order=True)
        .agg(pl.col(THROUGHPUT, LATENCY, "network_latency_us", ENERGY, "energy_between_nj", "cold_load").mean())
    )
    return means.select(
        network=pl.col("network"),
        scheme=pl.col("scheme"),
        policy=pl.col("saving"),
        digits=pl.col("ascent").fill_null(""),
        managed=pl.when(pl.col("of") == TERMINALS).then(pl.lit("between routers")).otherwise(pl.lit("all links")),
        **{
            "accepted [flits/terminal/cycle]": pl.col(THROUGHPUT).round(4),
            "cold [flits/source/cycle]": pl.col("cold_load").round(4),
            "latency [us]": pl.col(LATENCY).round(2),
            "from injection [us]": pl.col("network_latency_us").round(2),
            "energy [nJ/bit]": pl.col(ENERGY).round(3),
            "without links of terminals [nJ/bit]": pl.col("energy_between_nj").round(3),
        },
    )


def table_1(measured: Measured) -> pl.DataFrame:  # noqa: ARG001 # as all tables
    """Make Table I of the paper, with the printed values and the values in our runs."""
    lines = [
        ("t_transition", "10 us", "10 us: 500 cycles of 20 ns"),
        ("t_down", "11.1 us", "11.1 us: 555 cycles"),
        ("BW_link", "96 Gb/s", "96 Gb/s: a flit of 240 bytes in 20 ns"),
        ("#lanes", "12", "12: the mode low uses 1 of them"),
    ]
    return pl.DataFrame(lines, schema=["parameter", "printed", "run"], orient="row")
