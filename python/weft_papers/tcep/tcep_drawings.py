"""Draws Figs. 2, 7 and 8 (root networks and requests between routers), and makes Tables I and II."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import cos, pi, sin
from typing import TYPE_CHECKING

import polars as pl

from weft.analysis import examples
from weft.plot import style
from weft_papers.common.graph_figures import OFF, OTHER, PLAIN, STRONG, Wire, legend, network, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.plot.style import Picture as Drawing
    from weft_papers.common.graph_figures import Place
    from weft_papers.common.measured import Measured

# Number of routers of the line of Fig. 2a, and along each side of the squares of Figs. 2b and 8.
LINE, SIDE = 8, 4
# Indices of the source router and the intermediate router in Fig. 8.
FIG8 = (5, 10)
# Indices of the two routers in Fig. 7 that exchange a request, and number of routers in Fig. 7.
FIG7, FIG7_ROUTERS = (6, 7), 8

_ROOT, _OTHERS = "root network, always on", "may sleep"


def _name(router: int) -> str:
    return f"R{router}"


def subnetworks(side: int) -> list[list[int]]:
    """Return the rows and columns of a square of routers. Any two routers in the same row or column are neighbours."""
    rows = [[row * side + column for column in range(side)] for row in range(side)]
    return [*rows, *([row[column] for row in rows] for column in range(side))]


def star(routers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the links of the root network in a subnetwork: all links of its lowest-numbered router."""
    return [(routers[0], other) for other in routers[1:]]


def _split(subnetworks: Sequence[Sequence[int]], bend: float) -> list[Wire]:
    """Return the links of all subnetworks: links of the root network, and links that can sleep.

    Links between routers that are not adjacent are bent, so that all links are visible.
    """
    wires = []
    for routers in subnetworks:
        root = set(star(routers))
        for low, high in combinations(routers, 2):
            apart = routers.index(high) - routers.index(low)
            kind = _ROOT if (low, high) in root else _OTHERS
            wires.append(Wire((_name(low), _name(high)), kind, bend if apart > 1 else 0.0))
    return sorted(wires, key=lambda wire: wire.kind == _ROOT)


def _circle(routers: int) -> dict[str, Place]:
    angles = [pi / 2 - 2 * pi * router / routers for router in range(routers)]
    return {_name(router): (cos(angle), sin(angle)) for router, angle in enumerate(angles)}


def _square(side: int) -> dict[str, Place]:
    return {_name(router): (float(router % side), -float(router // side)) for router in range(side * side)}


def fig2(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 2: the root network of a line and of a square of routers."""
    looks = {_ROOT: STRONG, _OTHERS: OFF}
    drawing = style.canvas("Fig. 2: root networks", legend(looks), width=style.PAGE, height=3.1)
    panels = {
        f"1D, {LINE} routers": (_circle(LINE), _split([range(LINE)], 0.0)),
        f"2D, {SIDE}x{SIDE} routers": (_square(SIDE), _split(subnetworks(SIDE), 0.3)),
    }
    for axes, (name, (places, wires)) in zip(style.grid(drawing, 2, 2), panels.items(), strict=True):
        axes.set_title(name, loc="left")
        network(axes, places, wires, looks)
    drawing.numbers = numbers({name: wires for name, (_, wires) in panels.items()})
    return drawing


def fig7(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 7: an indirect request, by which a router makes another router activate a link of the other router."""
    source, target = FIG7
    active = examples.indirect_links()
    asked = examples.indirect_request(active, source, target)
    used, wanted, request = "used by the flow", "to be activated", "indirect request"
    looks = {"active": PLAIN, used: STRONG, wanted: OFF, request: OTHER}
    over = [middle for middle in range(FIG7_ROUTERS) if active[source, middle] and active[middle, target]]
    flows = {frozenset((source, target))} | {frozenset(hop) for m in over for hop in ((source, m), (m, target))}
    ends = [pair for pair in combinations(range(FIG7_ROUTERS), 2) if active[pair]]
    wires = [Wire((_name(a), _name(b)), used if frozenset((a, b)) in flows else "active") for a, b in ends]
    wires += [
        Wire((_name(asked), _name(target)), wanted),
        Wire((_name(source), _name(asked)), request, 0.25, arrow=True),
    ]
    drawing = style.canvas("Fig. 7: an indirect activation request", legend(looks), width=style.COLUMN, height=3.0)
    network(drawing.add_subplot(), _circle(FIG7_ROUTERS), wires, looks)
    drawing.numbers = numbers({"Fig. 7": wires})
    return drawing


def root_path(source: int, target: int) -> list[int]:
    """Return a shortest path over the root network of a square: of several paths, that with the lowest indices."""
    links = {link for routers in subnetworks(SIDE) for link in star(routers)}
    paths = [[source]]
    while not (ended := [path for path in paths if path[-1] == target]):
        ways = [(path, hop) for path in paths for hop in range(SIDE * SIDE) if hop not in path]
        paths = [[*path, hop] for path, hop in ways if (path[-1], hop) in links or (hop, path[-1]) in links]
    return min(ended)


def fig8(measured: Measured) -> Drawing:  # noqa: ARG001 # as all figures
    """Draw Fig. 8: hops to a random intermediate router, with all links on, and with only the root network on."""
    source, middle = FIG8
    corner = source - source % SIDE + middle % SIDE
    paths = {"all links on": [source, corner, middle], "root network only": root_path(source, middle)}
    path = "path to the intermediate router"
    looks = {_ROOT: PLAIN, _OTHERS: OFF, path: OTHER}
    drawing = style.canvas(f"Fig. 8: hops from R{source} to R{middle}", legend(looks), width=style.PAGE, height=3.1)
    panels = {}
    for axes, (name, routers) in zip(style.grid(drawing, 2, 2), paths.items(), strict=True):
        wires = [wire for wire in _split(subnetworks(SIDE), 0.3) if name == "all links on" or wire.kind == _ROOT]
        bent = {frozenset(wire.ends): wire for wire in wires}
        for hop in pairwise(routers):
            under = bent[frozenset(map(_name, hop))]
            same_way = under.ends == tuple(map(_name, hop))
            wires.append(Wire((_name(hop[0]), _name(hop[1])), path, under.bend * (1 if same_way else -1), arrow=True))
        axes.set_title(f"{name}: {len(routers) - 1} hops", loc="left")
        network(axes, _square(SIDE), wires, looks)
        panels[name] = wires
    drawing.numbers = numbers(panels)
    return drawing


def table_1(measured: Measured) -> pl.DataFrame:  # noqa: ARG001 # as all tables
    """Make Table I: the decision of the routing PAL for each state of the link on the minimal path."""
    return pl.DataFrame(
        [
            ("active", "any", "adaptive, by credits"),
            ("shadow", "free", "non-minimal"),
            ("shadow", "none free", "activate the shadow link, then minimal"),
            ("inactive", "any", "non-minimal"),
        ],
        schema=["Minimal output", "Credits of the non-minimal output", "Decision"],
        orient="row",
    )


def table_2(measured: Measured) -> pl.DataFrame:  # noqa: ARG001 # as all tables
    """Make Table II: the applications of the paper."""
    return pl.DataFrame(
        [
            ("BigFFT", "3D FFT, domain decomposed in 2D"),
            ("BoxMG", "multigrid solver of a combustion code (BoxLib)"),
            ("HILO", "neutron transport"),
            ("FB", "exchange of boundaries of a PDE solver"),
            ("MG", "V-cycle of a geometric multigrid solver"),
            ("NB", "Nekbone: Poisson equation by conjugate gradients"),
        ],
        schema=["Application", "What it is"],
        orient="row",
    )
