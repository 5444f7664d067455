"""Selects control packets (with which power policies negotiate states of links), and writes their meanings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from weft._engine import CONTROL_PACKETS
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Meanings of a control packet without and with its flag, as text, by kind of packet. If a kind is missing here, its
# text is its name.
_SAYS = {
    "activate_yours": ("activate your link to {about_router}",) * 2,
    "ack": ("ack", "ack (of activate_yours)"),
    "nack": ("nack", "nack (of activate_yours)"),
    "state": ("link {from_router}-{about_router} is not active", "link {from_router}-{about_router} is active"),
    "fault": ("link {from_router}-{about_router} has returned", "link {from_router}-{about_router} has failed"),
}
# Usually `value_flits` of a request is a number of flits, and a request with more flits has priority. Values from this
# one on are no numbers of flits, but give a request priority over all others. `FIRST_RANK` requests a link of a star
# (all links of a hub), or a link of a router that works again after a fault. `FIRST_RANK` + 1 requests a link without
# which packets have no path.
FIRST_RANK = 2**32 - 2


@dataclass(frozen=True)
class Wanted:
    """Selects the control packets and the links that are displayed.

    Attributes
    ----------
    kinds : sequence of str
        Kinds of packets to display, out of `CONTROL_PACKETS` of the engine; if empty, all kinds.
    routers : sequence of int or str
        Routers, by number or by name in a graph file. Only links at these routers are displayed, and only packets that
        these routers send or receive, or that concern them. If `routers` is empty, all links and packets are displayed.
    most : int
        Maximum number of displayed packets, which are the first ones.
    """

    kinds: Sequence[str] = ()
    routers: Sequence[int | str] = ()
    most: int = 1000

    def check(self, network: Mapping[str, Any]) -> None:
        """Refuse kinds of packets and routers that no run of this network can have.

        `network` is the result of `weft._engine.Point.network`.

        Raises
        ------
        ScenarioError
            If a kind or a router is unknown.
        """
        if unknown := [kind for kind in self.kinds if kind not in CONTROL_PACKETS]:
            raise ScenarioError.saying(
                f"there is no control packet {unknown[0]!r}", f"the kinds are {', '.join(CONTROL_PACKETS)}"
            )
        count, ids = network["router_count"], network["names"]
        known = set(map(str, range(count)) if ids is None else ids)
        if beyond := [router for router in self.routers if str(router) not in known]:
            what = f"there is no router {beyond[0]}: the network has {count}"
            remedy = (
                f"write a number from 0 to {count - 1}"
                if ids is None
                else f"write ids of the graph file, such as {ids[0]}"
            )
            raise ScenarioError.saying(what, remedy)

    def packets(self, frame: pl.DataFrame) -> pl.DataFrame:
        """All selected rows of a table of control packets, also more than `most`."""
        if self.kinds:
            frame = frame.filter(pl.col("kind").is_in(list(self.kinds)))
        return self._at(frame, "from_router", "to_router", "about_router")

    def channels(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The channels of a table that begin or end at the selected routers."""
        return self._at(frame, "from_router", "to_router")

    def _at(self, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
        if not self.routers:
            return frame
        wanted = [str(router) for router in self.routers]
        return frame.filter(pl.any_horizontal(pl.col(columns).cast(pl.String).is_in(wanted)))


def words(packet: dict[str, Any]) -> str:
    """Meaning of a packet as a string, without sender and receiver: ``link 1-2 is active``."""
    kind: str = packet["kind"]
    return _SAYS.get(kind, (kind, kind))[bool(packet["flag"])].format_map(packet)
