"""Draws Figs. 1 and 2a: a small dragonfly, and the local link that limits Valiant routing under ADV+h."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

from weft.design.comparison_of_designs import compare
from weft.plot import style
from weft_papers.common.graph_figures import OTHER, PLAIN, STRONG, THIRD, Wire, legend, network, numbers
from weft_papers.ofar.closed_forms import transit_links

if TYPE_CHECKING:
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.graph_figures import Place
    from weft_papers.common.measured import Measured

# Number of global links of a router in Fig. 1, and in Fig. 2a. Fig. 2a shows only one group of its network.
SMALL, FIG2A = 2, 3
_LOCAL, _GLOBAL = "local link", "global link"


def links(h: int) -> list[tuple[int, int]]:
    """Return the links of the dragonfly that Weft builds, as pairs of router numbers. A group has 2 h routers."""
    sizes = {"routers_per_group": 2 * h, "terminals_per_router": h, "global_links_per_router": h}
    (network,) = compare({"one": {"dragonfly": sizes}}).designs
    return [(int(low), int(high)) for low, high, *_ in network.links.tolist()]


def _places(h: int) -> dict[str, Place]:
    """Return positions of routers: groups are on a circle, and the routers of a group on one arc of this circle."""
    routers, groups = 2 * h, 2 * h * h + 1
    places = {}
    for router in range(routers * groups):
        group, rank = divmod(router, routers)
        angle = pi / 2 - 2 * pi * (group + 0.72 * ((rank + 0.5) / routers - 0.5)) / groups
        away = 1.0 + 0.13 * (1 if rank in (0, routers - 1) else 0)
        places[str(router)] = (away * cos(angle), away * sin(angle))
    return places


def fig1(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 1: the dragonfly of 36 routers and 72 terminals."""
    looks = {_LOCAL: PLAIN, _GLOBAL: STRONG | {"linewidth": 0.9}}
    routers, groups = 2 * SMALL, 2 * SMALL**2 + 1
    title = f"Fig. 1: {groups} groups of {routers} routers of {SMALL} terminals"
    drawing = style.canvas(title, legend(looks), width=style.PAGE, height=5.2)
    wires = [
        Wire((str(low), str(high)), _LOCAL if low // routers == high // routers else _GLOBAL)
        for low, high in links(SMALL)
    ]
    axes = drawing.add_subplot()
    network(axes, _places(SMALL), wires, looks, size=130)
    for group in range(groups):
        angle = pi / 2 - 2 * pi * group / groups
        axes.text(1.32 * cos(angle), 1.32 * sin(angle), f"group {group}", ha="center", va="center", fontsize=7)
    drawing.numbers = numbers({"Fig. 1": wires})
    return drawing


def fig2a(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 2a: an intermediate group, with the traffic that arrives over one router's global links."""
    h = FIG2A
    into, on = transit_links(h, shift=h)[0]
    arriving, shared, leaving = "global links in", "local link with all traffic", "global links out"
    looks = {_LOCAL: PLAIN, arriving: STRONG, shared: OTHER, leaving: THIRD}
    places: dict[str, Place] = {str(router): (float(router), 0.0) for router in range(2 * h)}
    wires = [
        Wire((str(low), str(high)), _LOCAL, 0.4 if high - low > 1 else 0.0)
        for high in range(2 * h)
        for low in range(high)
        if {low, high} != {into, on}
    ]
    wires.append(Wire((str(into), str(on)), shared, arrow=True))
    for link in range(h):
        beside = 0.55 * (link - (h - 1) / 2)
        places |= {f"in {link}": (into + beside, 1.7), f"out {link}": (on + beside, -2.6)}
        wires.append(Wire((f"in {link}", str(into)), arriving, arrow=True))
        wires.append(Wire((str(on), f"out {link}"), leaving, arrow=True))
    names = {str(router): f"R{router}" for router in range(2 * h)}
    drawing = style.canvas(
        f"Fig. 2a: an intermediate group under ADV+{h}", legend(looks), width=style.COLUMN, height=3.2
    )
    axes = drawing.add_subplot()
    network(axes, places, wires, looks, size=170, names=names)
    axes.text(into, 2.1, f"{h} sending groups", ha="center", va="bottom", fontsize=6.5)
    axes.text(on, -3.0, f"{h} receiving groups", ha="center", va="top", fontsize=6.5)
    drawing.numbers = numbers({"Fig. 2a": wires})
    return drawing
