"""Draws Fig. 1: a router of each network of 64 nodes, with its terminals and its trunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.plot import style
from weft_papers.common.graph_figures import PLAIN, STRONG, Wire, legend, network, numbers
from weft_papers.torus.network_runs import NETWORKS

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.graph_figures import Place
    from weft_papers.common.measured import Measured

_TERMINAL, _TRUNK = "terminal", "link of a trunk"
_FROM = ("3D-1X", "2D-4X", "1D-16X")
# For each dimension, positions of the router's two neighbours: at the sides, above and below, in front and behind.
_SIDES = (((-2.4, 0.0), (2.4, 0.0)), ((0.0, -2.4), (0.0, 2.4)), ((-1.7, -1.7), (1.7, 1.7)))


def _places(widths: list[int], terminals: int) -> dict[str, Place]:
    """Return positions: the router in the middle, neighbours around it, terminals in rows of four at the upper left."""
    places: dict[str, Place] = {"R": (0.0, 0.0)}
    for axis in range(len(widths)):
        for sign, place in zip("-+", _SIDES[axis], strict=True):
            places[f"{'xyz'[axis]}{sign}"] = place
    for terminal in range(terminals):
        row, column = divmod(terminal, 4)
        places[f"T{terminal}"] = (-2.3 + 0.5 * column, 1.2 + 0.5 * row)
    return places


def _wires(widths: list[int], terminals: int, trunk: int) -> list[Wire]:
    wires = [Wire((f"T{terminal}", "R"), _TERMINAL) for terminal in range(terminals)]
    for axis in range(len(widths)):
        bends = [0.0] if trunk == 1 else [0.9 * (member / (trunk - 1) - 0.5) for member in range(trunk)]
        wires += [Wire(("R", f"{'xyz'[axis]}{sign}"), _TRUNK, bend) for sign in "-+" for bend in bends]
    return wires


def fig1(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 1: one router of each of the networks 3D-1X, 2D-4X and 1D-16X."""
    looks = {_TERMINAL: PLAIN, _TRUNK: STRONG | {"linewidth": 1.0}}
    drawing = style.canvas("Fig. 1: routers of the networks of 64 nodes", legend(looks), width=style.PAGE, height=2.9)
    panels = {}
    for axes, name in zip(style.grid(drawing, len(_FROM), len(_FROM)), _FROM, strict=True):
        widths, trunk, terminals = NETWORKS[name]
        wires = _wires(widths, terminals, trunk)
        places = _places(widths, terminals)
        axes.set_title(f"{name}: {len(wires)} ports", loc="left")
        network(axes, places, wires, looks, size=90, names={each: each for each in places if each[0] != "T"})
        axes.set_xlim(-3, 3)
        axes.set_ylim(-3, 3.4)
        panels[name] = wires
    drawing.numbers = numbers(panels)
    return drawing
