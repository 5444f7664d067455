"""Chooses the layout of a network: the layout of its family, or a layout that follows the order of its routers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft.design.families import FAMILIES
from weft.design.packaging import Layout, filled, folded, in_racks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from weft.design.packaging import Packaging

# Number of routers per rack if neither the topology nor the size of a rack determines it.
_IN_A_RACK = 16


def layout(
    topology: Mapping[str, Any],
    places: Mapping[str, Any],
    terminals: npt.NDArray[np.uint32],
    packaging: Packaging,
) -> Layout:
    """Layout of the routers of a network.

    Parameters
    ----------
    topology : mapping
        Name and parameters, as in a scenario.
    places : mapping
        Result of `Design.places` of the engine.
    terminals : array of int, shape (routers,)
        Number of terminals of each router.
    packaging : Packaging
        Assumptions about racks, such as their size.

    Raises
    ------
    WeftError
        If a router and its terminals do not fit into a rack.
    """
    natural = _natural(topology, places, len(terminals))
    return filled(natural, terminals, packaging) if packaging.has_sizes else natural


def _natural(topology: Mapping[str, Any], places: Mapping[str, Any], routers: int) -> Layout:
    """Layout in racks of unlimited size, in which routers that belong together share a rack."""
    ((name, parameters),) = topology.items()
    if name in FAMILIES and (found := FAMILIES[name].layout(parameters)) is not None:
        return found
    if places["kind"] == "grid":
        at = np.array(places["routers"], dtype=np.int64).reshape(routers, -1)
        if places["wraps"]:
            for axis, width in enumerate(places["widths"]):
                at[:, axis] = folded(width)[at[:, axis]]
        lines = np.arange(routers, dtype=np.int64) // places["widths"][0]
        return Layout(at, lines, "one place per router on a grid, one rack per line of dimension 0", is_grid=True)
    if places["kind"] == "groups":
        return in_racks(np.array([group for group, _ in places["routers"]]), "one rack per group")
    racks = np.arange(routers, dtype=np.int64) // _IN_A_RACK
    return in_racks(racks, f"{_IN_A_RACK} routers per rack, in the order of their numbers")
