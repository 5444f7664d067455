"""Describes a row with results of another simulator (the peer), and the scenario that should give equal results."""

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
        Mean number of links between routers that a packet crosses, converted if the peer counts differently.
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
        Text on network and traffic. Rows with equal text differ only in the routing. For such rows, Weft and the peer
        must agree on the order in which the latencies of the routings settle.
    cycle : int
        Cycle in which the pattern changes, counted from the start of the run.
    bin : int
        Width of the bins into which packets are sorted by time of sending [cycles].
    theirs : Response
        The peer's latency by time of sending, over the packets of all its seeds.
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
        The criterion, the reason for it, and the allowed difference as a share of the peer's number; see
        `weft_peers.validate.judge`.
    scenario : dict or None
        Weft's scenario of the peer's run. It is ``None`` if Weft cannot express the run; `refusal` then has the reason.
    oblivious : bool
        Whether the accepted load cannot exceed the bound that channel loads give. An adaptive routing that takes
        detours can exceed the bound.
    change : Change or None
        If the traffic pattern changes during the run: the data that are compared instead of `theirs`.
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
