"""Computes FleX networks (layers of routers, each a grid) by formula.

Source: FleX (IEEE Access 2022), sections III-A, III-B and IV-A (Fig. 7: the layout). For three layers, eq. (8) of the
paper is the bisection if the narrower axis has an even number of routers. A cut with this number of links exists. No
cut is smaller, because the second smallest eigenvalue of the Laplacian gives the same number as a lower bound. If the
narrower axis is odd, every balanced cut has more links than eq. (8) gives. Weft then divides all layers like the best
cut of a HyperX of the same widths. Between the halves, each pair of neighbouring layers has twice as many links as this
HyperX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.design.families.hamming import half_cut
from weft.design.packaging import Layout
from weft.design.plan import CUT, ESTIMATE, EXACT, Plan, rising, terminals_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Maximum number of layers of a candidate. With more layers the diameter is larger: it grows by 1 for every two layers.
_LAYERS = 16


def plan(parameters: Mapping[str, Any]) -> Plan:
    """Computes the numbers of a FleX whose layers are at least 3 routers wide."""
    (nx, ny), nz, each = parameters["widths"], parameters["layers"], parameters["terminals_per_router"]
    routers, gaps, up = nx * ny * nz, nz if nz > 2 else 1, nx + ny - 2
    degree = up * (2 if nz > 2 else 1)
    # the length of a link along x is |x - x'| + |z - z'|. Its layers z and z' are neighbours, or the first and last
    # one, nz - 1 apart
    across = gaps * (ny * nx * (nx * nx - 1) + nx * ny * (ny * ny - 1)) // 3
    along = nx * ny * up * (2 * (nz - 1) if nz > 2 else 1)
    links = nx * ny * gaps * up
    return Plan(
        routers=routers,
        terminals=routers * each,
        radix=degree + each,
        most_terminals=each,
        links=links,
        degree=degree,
        diameter=2 if nz == 3 else max(3, nz // 2),
        bisection=_bisection(nx, ny, nz, gaps),
        bisection_kind=ESTIMATE if nx * ny % 2 else EXACT if nz == 3 and min(nx, ny) % 2 == 0 else CUT,
        inside=0,
        distance=across + along,
        longest=max(nx, ny) - 1 + (nz - 1 if nz > 2 else 1),
        racks=nx * nz,
    )


def _bisection(nx: int, ny: int, nz: int, gaps: int) -> int:
    along_a_plane = 2 * gaps * half_cut(sorted((nx, ny)), nx * ny // 2)
    if nz % 2:
        return along_a_plane
    return min(along_a_plane, min(gaps, 2) * nx * ny * (nx + ny - 2))


def layout(parameters: Mapping[str, Any]) -> Layout:
    """Layout with a separate place for each router, at its coordinates x, y and layer.

    Routers with the same x in a layer share a rack.
    """
    (nx, ny), nz = parameters["widths"], parameters["layers"]
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    places = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1).astype(np.int64)
    racks = (z * nx + x).ravel().astype(np.int64)
    return Layout(places, racks, "one place per router by x, y and layer, one rack per x and layer", is_grid=True)


def candidates(terminals: int, radix: int) -> Iterator[dict[str, Any]]:
    """Parameters of all FleX of 2 to `_LAYERS` layers of at least 3 by 3 routers, with the narrower axis first."""
    for nx, ny in rising(3, 2, terminals // 2, radix + 1):
        for layers in range(2, min(_LAYERS, terminals // (nx * ny)) + 1):
            degree = (nx + ny - 2) * (2 if layers > 2 else 1)
            if each := terminals_each(terminals, nx * ny * layers, radix - degree):
                yield {"widths": [nx, ny], "layers": layers, "terminals_per_router": each}
