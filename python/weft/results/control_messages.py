"""Control packets of a power policy: chooses the ones to show, and says in words what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from weft._engine import CONTROL_PACKETS
from weft.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a packet of a kind says if its flag is not set, and if it is; a packet of another kind says the name of its kind.
_SAYS = {
    "activate_yours": ("activate your link to {about_router}",) * 2,
    "ack": ("ack", "ack (of activate_yours)"),
    "nack": ("nack", "nack (of activate_yours)"),
    "state": ("link {from_router}-{about_router} is not active", "link {from_router}-{about_router} is active"),
    "fault": ("link {from_router}-{about_router} has returned", "link {from_router}-{about_router} has failed"),
}
# From this value on the `value_flits` of a request is no count of flits but a rank above all counts: this one for a
# link of a star or of a router that has returned, one more for a link without which packets have no path.
FIRST_RANK = 2**32 - 2


@dataclass(frozen=True)
class Wanted:
    """Which control packets, and links, to show.

    Attributes
    ----------
    kinds : sequence of str
        Kinds that the engine knows (`CONTROL_PACKETS`); all if empty.
    routers : sequence of int
        Only links at these routers, and packets that they send, receive or that speak of them; all if empty.
    most : int
        At most so many packets: the first ones.
    """

    kinds: Sequence[str] = ()
    routers: Sequence[int] = ()
    most: int = 1000

    def check(self, routers: int) -> None:
        """Refuse what no run can have.

        Raises
        ------
        ScenarioError
            If a kind or a router is unknown.
        """
        if unknown := [kind for kind in self.kinds if kind not in CONTROL_PACKETS]:
            raise ScenarioError.saying(
                f"no control packet is called {unknown[0]!r}", f"the kinds are {', '.join(CONTROL_PACKETS)}"
            )
        if beyond := [router for router in self.routers if router >= routers]:
            what = f"there is no router {beyond[0]}: the network has {routers}"
            raise ScenarioError.saying(what, f"write 0 to {routers - 1}")

    def packets(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The wanted rows of a table of control packets, however many they are."""
        if self.kinds:
            frame = frame.filter(pl.col("kind").is_in(list(self.kinds)))
        return self._at(frame, "from_router", "to_router", "about_router")

    def channels(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The channels at the routers."""
        return self._at(frame, "from_router", "to_router")

    def _at(self, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
        return frame.filter(pl.any_horizontal(pl.col(columns).is_in(list(self.routers)))) if self.routers else frame


def words(packet: dict[str, Any]) -> str:
    """What a packet says, without sender and receiver: ``link 1-2 is active``."""
    kind: str = packet["kind"]
    return _SAYS.get(kind, (kind, kind))[bool(packet["flag"])].format_map(packet)
