"""Describes a row with results of another simulator (the peer), and the scenario that should give the same results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from weft.results.response import Response

MustMatch = Literal["latency", "accepted", "order", "info"]


@dataclass(frozen=True)
class Numbers:
    """Measurements of a run; a number is ``None`` if the run did not measure it.

    Attributes
    ----------
    latency : float or None
        Mean packet latency from creation to delivery of the tail [cycles].
    hops : float or None
        Mean number of links between routers, also if the peer counts differently.
    accepted : float or None
        Accepted load [flits/terminal/cycle].
    """

    latency: float | None
    hops: float | None
    accepted: float | None


@dataclass(frozen=True)
class Change:
    """A change of the traffic pattern during a run, and the peer's numbers around this change.

    Attributes
    ----------
    of : str
        Text on network and traffic. Rows with the same text differ only in the routing, so the orders in which they
        settle are compared.
    cycle : int
        Cycle in which the pattern changes, counted from the start of the run.
    bin : int
        Width of the bins of the time of sending [cycles].
    theirs : Response
        The peer's latency by the time of sending, merged over its seeds.
    """

    of: str
    cycle: int
    bin: int
    theirs: Response


@dataclass(frozen=True)
class Case:
    """A row of peer results, with its scenario.

    Attributes
    ----------
    line : int
        Line in the file, from 1.
    peer, name : str
        The simulator, and the name of its run.
    load : float
        Offered load [flits/terminal/cycle].
    theirs : Numbers
        Measurements of the peer.
    must_match, why, band
        The criterion, its reason, and its band; see `weft_peers.validate.judge`. The band is an allowed difference, as
        a share of the peer's number.
    scenario : dict or None
        The same network for Weft. It is ``None`` if Weft cannot express the network; `refusal` then has the reason.
    oblivious : bool
        Whether the accepted load is at most the channel-load bound. An adaptive routing that takes detours can exceed
        this bound.
    change : Change or None
        If the pattern changes, the data that are compared instead of `theirs`.
    """

    line: int
    peer: str
    name: str
    load: float
    theirs: Numbers
    must_match: MustMatch
    why: str
    band: float
    scenario: dict[str, Any] | None
    refusal: str = ""
    oblivious: bool = True
    change: Change | None = None

    @property
    def title(self) -> str:
        """Title of the row. ``weft validate --filter`` searches it."""
        return f"{self.peer} {self.name} {self.load:g}"


def number(text: str) -> float | None:
    """Parse a number of the file; ``None`` if the field is empty."""
    return float(text) if text else None
