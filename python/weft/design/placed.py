"""The layout of a network: that of its family, or one by the order in which its routers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.design.families import FAMILIES
from weft.design.packaging import Layout, folded, in_racks, on_grid

if TYPE_CHECKING:
    from collections.abc import Mapping


def layout(topology: Mapping[str, Any], places: Mapping[str, Any], routers: int, per_rack: int) -> Layout:
    """Where the routers of a network stand.

    Parameters
    ----------
    topology : mapping
        Name and parameters, as a scenario writes them.
    places : mapping
        What `Design.places` of the engine says.
    routers : int
        Their number.
    per_rack : int
        Routers of a rack where the network has no order.
    """
    ((name, parameters),) = topology.items()
    if name in FAMILIES and (found := FAMILIES[name].layout(parameters)) is not None:
        return found
    if places["kind"] == "grid":
        at = np.array(places["routers"], dtype=np.int64).reshape(routers, -1)
        if places["wraps"]:
            for axis, width in enumerate(places["widths"]):
                at[:, axis] = folded(width)[at[:, axis]]
        return on_grid(
            at, routers // places["widths"][0], "a place per router on a grid, a rack per line of dimension 0"
        )
    if places["kind"] == "groups":
        return in_racks(np.array([group for group, _ in places["routers"]]), "a rack per group")
    racks = np.arange(routers, dtype=np.int64) // per_rack
    return in_racks(racks, f"{per_rack} routers to a rack, in the order of their numbers")
