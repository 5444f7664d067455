"""Judges claims about structure: ports, links, diameters, distances, numbers of shortest paths and largest sizes.

Weft counts ports, links and paths in the networks that the engine builds; for FleX, from the paper's eqs. (4) and (5).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weft.design import moore
from weft.design.families import FAMILIES
from weft.design.families.slim_flies import has_construction as built
from weft.plot import style
from weft_papers.common import line_figures
from weft_papers.common.line_figures import Series
from weft_papers.common.rules import exact, trend
from weft_papers.flex.networks import DRAGONFLY, FLEX, HYPERX, NETWORKS, SLIM_FLY, TABLE_6, flex, measured

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from weft.design.measured_design import MeasuredDesign
    from weft.plot.style import Picture as Drawing
    from weft_papers.common.measured import Measured
    from weft_papers.common.rules import Rule

# Two widths and the terminals per router of the FleX networks in which rules test the paper's formulas.
_SOME = ((3, 3, 1), (4, 5, 2), (6, 6, 10), (7, 3, 4))
_LAYERS = (2, 3, 4, 5, 8)
_RADIX = 100
# Printed diameters of Table 2, by the name of the network.
_DIAMETERS = {"Fat tree": 4, DRAGONFLY: 3, HYPERX: 2, SLIM_FLY: 2, FLEX: 2}


def _flexes(*layers: int) -> list[tuple[tuple[int, int, int, int], MeasuredDesign]]:
    """Return some FleX networks, each with its widths, layers and terminals per router."""
    return [((nx, ny, nz, p), measured(flex(nx, nz, terminals=p, other=ny))) for nx, ny, p in _SOME for nz in layers]


def _every(words: str, holds: list[bool]) -> tuple[bool, str]:
    return all(holds), f"{words} in {sum(holds)} of {len(holds)} networks"


def _ports(_: Measured) -> tuple[bool, str]:
    found = _flexes(*(each for each in _LAYERS if each > 2))
    return _every("as computed", [d.facts["radix_ports"] == 2 * nx + 2 * ny + p - 4 for (nx, ny, _, p), d in found])


def _ports_of_two(_: Measured) -> tuple[bool, str]:
    return _every("as computed", [d.facts["radix_ports"] == nx + ny + p - 2 for (nx, ny, _, p), d in _flexes(2)])


def _links(_: Measured) -> tuple[bool, str]:
    found = _flexes(*_LAYERS)
    counts = [len(d.links) == nx * ny * nz * (d.facts["radix_ports"] - p) // 2 for (nx, ny, nz, p), d in found]
    holds, shown = _every("as computed", counts)
    return holds, f"{shown}; eq. (7) counts the links of two layers twice: Lz must be 1 for them, not 2"


def _neighbours(_: Measured) -> str:
    """Return text that names the formula for the number of neighbours of a router in FleX networks of three layers."""
    formulas: dict[str, Callable[[int, int], int]] = {
        "2Nx+2Ny-1": lambda nx, ny: 2 * nx + 2 * ny - 1,
        "2Nx+2Ny-4": lambda nx, ny: 2 * nx + 2 * ny - 4,
    }
    counts = [(nx, ny, d.facts["degree_max_links"]) for (nx, ny, _, _), d in _flexes(3)]
    return next(words for words, of in formulas.items() if all(of(nx, ny) == count for nx, ny, count in counts))


def _pairs(_: Measured) -> tuple[bool, str]:
    found = _flexes(3)
    counts = [int(d.distances.filter(hops=1)["router_pairs"].sum()) // 2 for _, d in found]
    asked = [3 * nx * ny * (2 * nx + 2 * ny - 4) // 2 for (nx, ny, _, _), _ in found]
    return _every("as computed", [a == b for a, b in zip(counts, asked, strict=True)])


@cache
def _paths_of_two(nx: int, ny: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count paths of two links between all pairs of routers (FleX of three layers), and return the routers' x, y, z."""
    links = measured(flex(nx, terminals=1, other=ny)).links.astype(np.int64)
    routers = 3 * nx * ny
    joined = np.zeros((routers, routers), dtype=np.int64)
    joined[links[:, 0], links[:, 1]] = joined[links[:, 1], links[:, 0]] = 1
    number = np.arange(routers)
    return joined @ joined, np.stack([number % nx, number // nx % ny, number // (nx * ny)], axis=1)


def _counted(same_layer: bool, differ: int) -> dict[tuple[int, int], list[tuple[int, set[int]]]]:
    """Count paths of two links between routers, in FleX networks of several widths.

    Source and destination differ in `differ` of the coordinates x and y. They are in the same layer if `same_layer` is
    true, otherwise in different layers. The keys of the result are the widths of a network. A value of the result lists
    each axis (0 is x, 1 is y) along which the routers can differ, with the set of all numbers of paths that were
    counted.
    """
    found = {}
    for nx, ny, _ in _SOME:
        paths, at = _paths_of_two(nx, ny)
        apart = at[:, None, :] != at[None, :, :]
        fits = (apart[..., 2] != same_layer) & (apart[..., :2].sum(axis=2) == differ)
        cases = [(axis, fits & apart[..., axis]) for axis in (0, 1)] if differ else [(0, fits)]
        found[nx, ny] = [(axis, {*paths[case].tolist()}) for axis, case in cases]
    return found


def _path_rule(printed: str, same_layer: bool, differ: int, of: Callable[[int, int, int], int]) -> Rule:
    """Make a rule for the paper's formula for the number of paths between two routers.

    `of` is the formula. Its arguments are the two widths of the network, and the width along the axis in which the
    routers differ.
    """

    def counted(_: Measured) -> tuple[bool, str]:
        found = _counted(same_layer, differ)
        holds = all(counts == {of(*widths, widths[axis])} for widths, cases in found.items() for axis, counts in cases)
        text = "; ".join(
            f"{nx}x{ny}: {', '.join(sorted({str(n) for _, counts in cases for n in counts}, key=int))}"
            for (nx, ny), cases in found.items()
        )
        return holds, text

    return trend(
        f"{printed} in all pairs of {len(_SOME)} networks",
        counted,
        cause="by the paper's eqs. (4) and (5) any other router of the third layer in the same row or column is on a "
        "shortest path: (Nx-1)+(Ny-1)",
    )


def _flex_share(_: Measured) -> float:
    width = (_RADIX + 4) // 4
    return 100 * moore.share(3 * width * width, 4 * width - 4, 2)


def _dragonfly_routers(radix: int) -> tuple[int, int, int]:
    """Return the largest dragonfly with `radix` links per router.

    The result is its number of routers, the number of routers per group, and the number of global links per router.
    """
    return max((a * (a * (radix + 1 - a) + 1), a, radix + 1 - a) for a in range(1, radix + 1))


def _dragonfly_share(_: Measured) -> float:
    return 100 * _dragonfly_routers(_RADIX)[0] / moore.bound(_RADIX, 3)


def _slim_fly_routers(radix: int) -> int:
    """Return the routers of the largest Slim Fly with at most `radix` links per router; 0 if no Slim Fly exists."""
    plans = [FAMILIES["slim_fly"].plan({"q": q, "terminals_per_router": 1}) for q in range(3, radix) if built(q)]
    return max((plan.routers for plan in plans if plan.degree <= radix), default=0)


def _slim_fly_share(_: Measured) -> float:
    """Return the routers of the Slim Fly of q = 67, as a percentage of the Moore bound for 100 links per router.

    This Slim Fly has 101 links per router. Among all Slim Fly networks, its percentage is nearest to the printed
    number.
    """
    return 100 * FAMILIES["slim_fly"].plan({"q": 67, "terminals_per_router": 1}).routers / moore.bound(_RADIX, 2)


def scalability(_: Measured) -> Drawing:
    """Draw Fig. 3: largest number of routers of a network, over the number of links of a router to other routers."""
    radixes = list(range(12, _RADIX + 1, 8))
    series = [
        Series("Moore bound, diameter 3", radixes, [moore.bound(radix, 3) for radix in radixes]),
        Series(DRAGONFLY, radixes, [_dragonfly_routers(radix)[0] for radix in radixes]),
        Series("Moore bound, diameter 2", radixes, [moore.bound(radix, 2) for radix in radixes]),
        Series(SLIM_FLY, radixes, [_slim_fly_routers(radix) for radix in radixes]),
        Series(HYPERX, radixes, [(radix // 2 + 1) ** 2 for radix in radixes]),
        Series(FLEX, radixes, [3 * ((radix + 4) // 4) ** 2 for radix in radixes]),
    ]
    words = "Fig. 3: routers over network radix", "Links of a router to others [links]", "Routers [count]"
    drawing, axes = line_figures.curves(*words, series, looks=[*NETWORKS, *(each.label for each in series)])
    axes.set_yscale("log")
    axes.set_ylim(10, 3 * moore.bound(_RADIX, 3))
    style.plain_log(axes.yaxis)
    return drawing


def table_2(_: Measured) -> pl.DataFrame:
    """Make Table 2: printed and computed diameter of each network, and its mean distance [hops]."""
    found = {name: measured(TABLE_6[name]).facts for name in NETWORKS}
    return pl.DataFrame(
        {
            "network": NETWORKS,
            "diameter, printed [hops]": [_DIAMETERS[name] for name in NETWORKS],
            "diameter [hops]": [found[name]["diameter_hops"] for name in NETWORKS],
            "mean distance of routers [hops]": [found[name]["mean_distance_hops"] for name in NETWORKS],
        }
    )


def _diameter(name: str) -> Callable[[Measured], float]:
    return lambda _: float(measured(TABLE_6[name]).facts["diameter_hops"])


def _diameters_of_layers(_: Measured) -> str:
    found = {nz: measured(flex(6, nz, terminals=1)).facts["diameter_hops"] for nz in (4, 5, 6, 7)}
    return ", ".join(map(str, sorted({*found.values()})))


_NO_SIZE = (
    "the best sizes with 100 links per router give 15.42 % (67 routers per group); no other sizes give 15.38: 15.41 "
    "(66), 15.42 (68), 15.39 (69)"
)
_SIZE_67 = "q = 67 has 101 links per router, and 88.0 % of the bound for 101; at most 100 links allow q = 64: 81.9 %"
RULES: dict[str, Rule] = {
    "F-001": trend("2Nx+2Ny+p-4 ports in the networks that the engine builds", _ports),
    "F-002": trend("Nx+Ny+p-2 ports in the networks that the engine builds", _ports_of_two),
    "F-003": trend("NxNyNz(k-p)/2 links in the networks that the engine builds", _links),
    "F-004": exact(20.28, _flex_share, digits=2, unit="% of the bound"),
    "F-005": exact(15.38, _dragonfly_share, digits=2, unit="% of the bound", cause=_NO_SIZE),
    "F-006": exact(90.00, _slim_fly_share, digits=2, unit="% of the bound", cause=_SIZE_67),
    **{
        f"F-{number:03}": exact(float(_DIAMETERS[name]), _diameter(name), unit="hops")
        for number, name in enumerate(NETWORKS, 7)
    },
    "F-012": exact("2Nx+2Ny-1", _neighbours, cause="a typo: the paper's next formula has 2Nx+2Ny-4"),
    "F-013": trend("3NxNy(2Nx+2Ny-4)/2 pairs in the networks that the engine builds", _pairs),
    "F-070": _path_rule("4", same_layer=True, differ=2, of=lambda *_: 4),
    "F-071": _path_rule("2(N-2)", same_layer=True, differ=1, of=lambda _nx, _ny, n: 2 * (n - 2)),
    "F-072": _path_rule("Nx-2", same_layer=False, differ=0, of=lambda nx, _ny, _n: nx - 2),
    "F-073": _path_rule("N-2", same_layer=False, differ=1, of=lambda _nx, _ny, n: n - 2),
    "F-130": exact("3", _diameters_of_layers, unit="hops"),
}
