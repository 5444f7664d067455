"""Defines the networks in the tables and figures of the paper, and computes their numbers without a simulation.

"Full global bandwidth" is the paper's rule (section III-B) for the number of terminals p of a router. In a dragonfly a
router has p terminals and h = p global links, and a group has 2 p routers. In other networks of k-port routers, p is
floor(k / 3): a router has half as many terminals as links to other routers.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from weft.design.comparison_of_designs import compare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weft.design.measured_design import MeasuredDesign

FAT_TREE, DRAGONFLY, HYPERX, SLIM_FLY, FLEX = "Fat tree", "Dragonfly", "HyperX", "Slim Fly", "FleX"
# Names of the networks in a fixed order, which gives each network the same look in all figures.
NETWORKS = (FAT_TREE, DRAGONFLY, HYPERX, SLIM_FLY, FLEX)
# Name of the fat tree in the runs for latency and saturation. Some tables also have the paper's other fat tree, for
# which it prints prices.
K_ARY_TREE = "10-ary 3-tree"

Topology = dict[str, Any]


def fat_tree(k: int) -> Topology:
    """Return the fat tree of pods of M. Al-Fares et al. (SIGCOMM'08), with routers of k ports."""
    return {"fat_tree": {"k": k}}


def dragonfly(h: int) -> Topology:
    """Return a dragonfly with full global bandwidth."""
    sizes = {"routers_per_group": 2 * h, "terminals_per_router": h, "global_links_per_router": h}
    return {"dragonfly": sizes}


def hyperx(width: int, terminals: int | None = None) -> Topology:
    """Return a square HyperX; by default with full global bandwidth."""
    return {"hyperx": {"widths": [width, width], "terminals_per_router": terminals or width - 1}}


def slim_fly(q: int) -> Topology:
    """Return a Slim Fly with full global bandwidth."""
    degree = (3 * q - {0: 0, 1: 1, 3: -1}[q % 4]) // 2
    return {"slim_fly": {"q": q, "terminals_per_router": degree // 2}}


def flex(width: int, layers: int = 3, terminals: int | None = None, other: int | None = None) -> Topology:
    """Return a FleX; by default square, of three layers and with full global bandwidth."""
    widths = [width, other or width]
    return {"flex": {"widths": widths, "layers": layers, "terminals_per_router": terminals or sum(widths) - 2}}


# Networks of Table 6, with about 1,000 terminals. HyperX has one terminal per router more than full global bandwidth
# gives.
TABLE_6: dict[str, Topology] = {
    FAT_TREE: fat_tree(16),
    K_ARY_TREE: {"k_ary_n_tree": {"k": 10, "n": 3}},
    DRAGONFLY: dragonfly(4),
    HYPERX: hyperx(10, 10),
    SLIM_FLY: slim_fly(9),
    FLEX: flex(6),
}
# The larger FleX of Fig. 13.
LARGER = flex(8, terminals=5)

# Networks of Tables 4 and 5 by approximate number of terminals, which is all that the paper says about them. Among the
# networks of about this size with full global bandwidth, we take those whose bisections equal the printed ones of Table
# 4. Table 4 has no row for 500 terminals, so we chose these networks ourselves.
SIZES = (500, 1000, 2000, 5000, 10000)
OF_SIZE: dict[str, dict[int, Topology]] = {
    FAT_TREE: dict(zip(SIZES, map(fat_tree, (12, 16, 20, 28, 34)), strict=True)),
    DRAGONFLY: dict(zip(SIZES, map(dragonfly, (3, 4, 5, 6, 7)), strict=True)),
    HYPERX: dict(zip(SIZES, map(hyperx, (8, 10, 14, 18, 22)), strict=True)),
    SLIM_FLY: dict(zip(SIZES, map(slim_fly, (7, 9, 11, 13, 19)), strict=True)),
    FLEX: dict(zip(SIZES, map(flex, (5, 6, 8, 10, 12)), strict=True)),
}


@cache
def _measured(text: str) -> MeasuredDesign:
    return compare({"one": json.loads(text)}).designs[0]


def measured(topology: Mapping[str, Any]) -> MeasuredDesign:
    """Return a network with the quantities that `weft design` computes for it."""
    return _measured(json.dumps(topology))
