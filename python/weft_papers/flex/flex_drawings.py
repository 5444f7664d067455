"""Draws Fig. 2 (links of FleX) and Fig. 7 (racks from above), and makes Table 1 (symbols of the paper)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.patches import FancyBboxPatch

from weft.design.families import flex_layers
from weft.plot import style
from weft_papers.common.graph_figures import OFF, OTHER, STRONG, Wire, bare, legend, network, numbers
from weft_papers.flex.networks import FLEX, TABLE_6, flex, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.graph_figures import Place
    from weft_papers.common.measured import Measured

# Number of routers along each side of a layer in Fig. 2, and number of layers.
_SIDE, _LAYERS = 3, 3


def _name(x: int, y: int, z: int) -> str:
    return f"{x},{y},{z}"


def _places() -> dict[str, Place]:
    """Return router positions for Fig. 2: layers are slanted squares side by side, and every second layer is higher."""
    every = ((x, y, z) for z in range(_LAYERS) for y in range(_SIDE) for x in range(_SIDE))
    return {_name(x, y, z): (x + 0.45 * y + 4.6 * z, 0.8 * y + 1.7 * (z % 2)) for x, y, z in every}


def _wires() -> list[Wire]:
    """Return the links of the FleX of Fig. 2, as Weft builds it.

    The links of the middle router (1,1,1) are separate kinds.
    """
    along_x, along_y, rest = "x of router 1,1,1", "y of router 1,1,1", "other links"
    wires = []
    centre = (1, 1, 1)
    for low, high, *_ in measured(flex(_SIDE, _LAYERS)).links.tolist():
        a, b = ((router % _SIDE, router // _SIDE % _SIDE, router // _SIDE**2) for router in (int(low), int(high)))
        kind = rest if centre not in (a, b) else along_x if a[0] != b[0] else along_y
        round_the_ring = abs(a[2] - b[2]) > 1
        wires.append(Wire((_name(*a), _name(*b)), kind, 0.25 if round_the_ring else 0.0))
    return sorted(wires, key=lambda wire: wire.kind != rest)


def fig2(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 2: three layers of 3x3 routers, with the links of one router in colour."""
    looks = {"x of router 1,1,1": STRONG, "y of router 1,1,1": OTHER, "other links": OFF | {"alpha": 0.6}}
    drawing = style.canvas(
        f"Fig. 2: FleX of {_LAYERS} layers of {_SIDE}x{_SIDE} routers", legend(looks), width=style.PAGE, height=3.4
    )
    axes = drawing.add_subplot()
    wires = _wires()
    network(axes, _places(), wires, looks, size=330)
    drawing.numbers = numbers({"Fig. 2": wires})
    return drawing


def cables() -> pl.DataFrame:
    """Count the cables between each pair of racks of Table 6's FleX. Columns are the layer and x of both racks."""
    parameters = TABLE_6[FLEX]["flex"]
    racks = flex_layers.layout(parameters).racks
    width = parameters["widths"][0]
    ends = racks[measured(TABLE_6[FLEX]).links[:, :2].astype(np.int64)]
    counts = Counter(tuple(sorted(pair)) for pair in ends.tolist())
    rows = [(a // width, a % width, b // width, b % width, count) for (a, b), count in sorted(counts.items())]
    return pl.DataFrame(rows, schema=["layer", "x", "layer_to", "x_to", "cables"], orient="row")


def fig7(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 7: the racks of the FleX of Table 6, and the cables of one rack."""
    frame = cables()
    parameters = TABLE_6[FLEX]["flex"]
    (width, depth), layers = parameters["widths"], parameters["layers"]
    drawing = style.canvas(f"Fig. 7: racks of FleX {width}x{depth}x{layers}", [], width=style.PAGE, height=2.6)
    axes = drawing.add_subplot()
    for layer in range(layers):
        axes.text(-0.9, -layer, f"layer {layer}", ha="right", va="center", fontsize=7)
        for x in range(width):
            _rack(axes, 2.0 * x, -layer, f"x = {x}\n{depth} routers")
    own = frame.filter((pl.col("layer") == 0) & (pl.col("x") == 0) & (pl.col("layer_to") == 1))
    for row in own.iter_rows(named=True):
        begin, end = (0.0, -0.27), (2.0 * row["x_to"], -0.73)
        axes.plot(*zip(begin, end, strict=True), zorder=1, label="_cables", **STRONG)
        axes.text(end[0], -0.62, str(row["cables"]), ha="center", va="bottom", fontsize=7, color=style.COLOURS[0])
    bare(axes)
    axes.set_aspect("auto")
    drawing.numbers = frame
    return drawing


def _rack(axes: Axes, x: float, y: float, words: str) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.75, y - 0.2),
            1.5,
            0.4,
            boxstyle="round,pad=0.05",
            facecolor="white",
            edgecolor="black",
            linewidth=0.8,
        )
    )
    axes.text(x, y, words, ha="center", va="center", fontsize=6.5)


def table_1(_: Measured) -> pl.DataFrame:
    """Make Table 1: the symbols of the paper, with their values for the FleX of Table 6."""
    network = measured(TABLE_6[FLEX])
    parameters = TABLE_6[FLEX]["flex"]
    (nx, ny), nz, each = parameters["widths"], parameters["layers"], parameters["terminals_per_router"]
    return pl.DataFrame(
        [
            ("N", "number of terminals of the network", int(network.terminals.sum())),
            ("p", "number of terminals per router", each),
            ("N_x", "number of routers along x in each layer", nx),
            ("N_y", "number of routers along y in each layer", ny),
            ("N_z", "layers", nz),
            ("k", "number of ports of a router", int(network.facts["radix_ports"])),
        ],
        schema=["Symbol", "Meaning", "FleX of Table 6"],
        orient="row",
    )
